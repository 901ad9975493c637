"""Redmine from Debian, on SQLite, served by Puma; all over its REST API."""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

from bench.peers.peer import (
    CREATE,
    LIST,
    RARE,
    READ,
    READABLE,
    SEARCH,
    Asked,
    free_port,
    new_texts,
    request,
    run,
    served,
    texts,
)  # fmt: skip
from bench.serving import Server

HOME = Path("/usr/share/redmine")
FILL = """
require "json"
Setting.rest_api_enabled = "1"
Setting.notified_events = []
admin = User.find_by(login: "admin")
admin.update_columns(must_change_passwd: false)
project = Project.create!(name: "Bench", identifier: "bench", trackers: Tracker.all)
shared = { project: project, tracker: project.trackers.first, author: admin,
           priority: IssuePriority.default || IssuePriority.first, status: IssueStatus.first }
Issue.transaction do
  JSON.parse(File.read(ENV["TEXTS"])).each do |title, description|
    Issue.create!(subject: title, description: description, **shared)
  end
end
File.write(ENV["TOLD"], JSON.generate(key: admin.api_key, project: project.id, first: Issue.minimum(:id)))
"""


class Redmine:
    """An instance of its own, in the folder; what Debian set up isn't touched."""

    name = "Redmine"
    created = b"2"
    hits = 50

    def missing(self, folder: Path) -> str | None:
        """It comes from Debian."""
        there = (HOME / "config.ru").exists() and shutil.which("puma")
        return None if there else "apt-get install --no-install-recommends redmine redmine-sqlite puma"

    def install(self, folder: Path) -> str:
        """Its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run("dpkg-query", "--show", "--showformat", "${Version}", "redmine")

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        instance, port = folder.absolute() / f"instance-{tickets}", free_port()
        shutil.rmtree(instance, ignore_errors=True)
        for name in ("config", "files", "log", "tmp/cache", "public"):
            (instance / name).mkdir(parents=True)
        database = f"production:\n  adapter: sqlite3\n  database: {instance}/redmine.db\n  timeout: 20000\n"
        (instance / "config/database.yml").write_text(database)
        (instance / "config/secret_key.txt").write_text(secrets.token_hex(32))
        (instance / "texts.json").write_text(json.dumps(list(texts(tickets))))
        (instance / "fill.rb").write_text(FILL)
        environment = {
            "RAILS_ENV": "production", "REDMINE_LANG": "en", "SCHEMA": "/dev/null",
            "REDMINE_INSTANCE": os.path.relpath(instance, HOME / "instances"),
            "TEXTS": str(instance / "texts.json"), "TOLD": str(instance / "told.json"),
        }  # fmt: skip
        for task in ("db:migrate", "redmine:load_default_data"):
            run("ruby", str(HOME / "bin/rake"), task, cwd=HOME, **environment)
        run("ruby", str(HOME / "bin/rails"), "runner", str(instance / "fill.rb"), cwd=HOME, **environment)
        told = json.loads((instance / "told.json").read_text())
        command = ["puma", "--bind", f"tcp://127.0.0.1:{port}", "--environment", "production", "--threads", "4:4",
                   "--quiet", str(HOME / "config.ru")]  # fmt: skip
        with served(command, port, HOME, **environment) as server:
            yield server, _asked(server, told, tickets)


def _asked(server: Server, told: dict[str, int | str], tickets: int) -> Asked:
    known, fresh = {"X-Redmine-API-Key": str(told["key"])}, new_texts()

    def create() -> bytes:
        title, description = next(fresh)
        given = {"issue": {"project_id": told["project"], "subject": title, "description": description}}
        body = json.dumps(given).encode()
        return request("POST", "/issues.json", server, {**known, "Content-Type": "application/json"}, body)

    first = int(told["first"])
    return {
        READ: [
            request("GET", f"/issues/{number}.json", server, known)
            for number in range(first, first + min(tickets, READABLE))
        ],
        LIST: [request("GET", "/issues.json?limit=50&sort=updated_on:desc&project_id=bench", server, known)],
        SEARCH: [request("GET", f"/search.json?q={RARE}&issues=1&limit=50", server, known)],
        CREATE: create,
    }

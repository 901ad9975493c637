"""Redmine from Debian, on SQLite, served by Puma, over its REST API."""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

from bench.launch import Server
from bench.peers.peer import (
    CREATE,
    LIST,
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    Requests,
    free_port,
    new_ticket_texts,
    request,
    run_command,
    start_server,
    ticket_texts,
)  # fmt: skip

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
File.write(ENV["RESULT"], JSON.generate(key: admin.api_key, project: project.id, first: Issue.minimum(:id)))
"""


class Redmine:
    """A separate instance in the folder; Debian's instance isn't changed."""

    name = "Redmine"
    create_status = b"2"
    search_page_size = 50

    def missing_requirement(self, folder: Path) -> str | None:
        """Return the command that installs it from Debian, unless it is installed."""
        is_installed = (HOME / "config.ru").exists() and shutil.which("puma")
        return None if is_installed else "apt-get install --no-install-recommends redmine redmine-sqlite puma"

    def install(self, folder: Path) -> str:
        """Return its version."""
        folder.mkdir(parents=True, exist_ok=True)
        return run_command("dpkg-query", "--show", "--showformat", "${Version}", "redmine")

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        instance, port = folder.absolute() / f"instance-{tickets}", free_port()
        shutil.rmtree(instance, ignore_errors=True)
        for name in ("config", "files", "log", "tmp/cache", "public"):
            (instance / name).mkdir(parents=True)
        database = f"production:\n  adapter: sqlite3\n  database: {instance}/redmine.db\n  timeout: 20000\n"
        (instance / "config/database.yml").write_text(database)
        (instance / "config/secret_key.txt").write_text(secrets.token_hex(32))
        (instance / "texts.json").write_text(json.dumps(list(ticket_texts(tickets))))
        (instance / "fill.rb").write_text(FILL)
        environment = {
            "RAILS_ENV": "production", "REDMINE_LANG": "en", "SCHEMA": "/dev/null",
            "REDMINE_INSTANCE": os.path.relpath(instance, HOME / "instances"),
            "TEXTS": str(instance / "texts.json"), "RESULT": str(instance / "result.json"),
        }  # fmt: skip
        for task in ("db:migrate", "redmine:load_default_data"):
            run_command("ruby", str(HOME / "bin/rake"), task, cwd=HOME, **environment)
        run_command("ruby", str(HOME / "bin/rails"), "runner", str(instance / "fill.rb"), cwd=HOME, **environment)
        instance_data = json.loads((instance / "result.json").read_text())
        command = ["puma", "--bind", f"tcp://127.0.0.1:{port}", "--environment", "production", "--threads", "4:4",
                   "--quiet", str(HOME / "config.ru")]  # fmt: skip
        with start_server(command, port, HOME, **environment) as server:
            yield server, _build_requests(server, instance_data, tickets)


def _build_requests(server: Server, instance_data: dict[str, int | str], tickets: int) -> Requests:
    headers, fresh = {"X-Redmine-API-Key": str(instance_data["key"])}, new_ticket_texts()

    def create() -> bytes:
        title, description = next(fresh)
        issue = {"issue": {"project_id": instance_data["project"], "subject": title, "description": description}}
        body = json.dumps(issue).encode()
        return request("POST", "/issues.json", server, {**headers, "Content-Type": "application/json"}, body)

    first = int(instance_data["first"])
    return {
        READ: [
            request("GET", f"/issues/{number}.json", server, headers)
            for number in range(first, first + min(tickets, READ_COUNT))
        ],
        LIST: [request("GET", "/issues.json?limit=50&sort=updated_on:desc&project_id=bench", server, headers)],
        SEARCH: [request("GET", f"/search.json?q={RARE}&issues=1&limit=50", server, headers)],
        CREATE: create,
    }

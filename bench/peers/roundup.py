"""Roundup, its classic tracker on SQLite, served by gunicorn. It reads and lists over its REST API."""

import contextlib
import json
import shutil
from collections.abc import Generator
from pathlib import Path

import httpx

from bench.peers.peer import (
    CREATE,
    LIST,
    PASSWORD,
    RARE,
    READ,
    READABLE,
    SEARCH,
    Asked,
    cookies,
    form,
    free_port,
    gunicorn,
    new_texts,
    request,
    run,
    served,
    texts,
    venv,
)  # fmt: skip
from bench.serving import Server

VERSION = "2.6.0"
FILL = """
import json, sys
import roundup.instance

db = roundup.instance.open(sys.argv[1]).open("admin")
priority = db.priority.list()[0]
for title, description in json.load(open(sys.argv[2])):
    message = db.msg.create(content=description, author="1", summary=title)
    db.issue.create(title=title, priority=priority, messages=[message])
db.commit()
"""


class Roundup:
    """A search has no REST call, nor has a ticket with its text in one: these two are its web pages."""

    name = "Roundup"
    created = b"3"
    hits = 50

    def missing(self, folder: Path) -> str | None:
        """It comes from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it."""
        venv(folder, f"roundup=={VERSION}", "gunicorn")
        return VERSION

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        found, home, port = venv(folder), folder / f"tracker-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        run(str(found / "roundup-admin"), "-i", str(home), "install", "classic", "sqlite")
        config = home / "config.ini"
        said = config.read_text()
        for name, value in (("web", f"http://127.0.0.1:{port}/"), ("domain", "localhost"), ("host", "localhost")):
            said = said.replace(f"\n#{name} = NO DEFAULT", f"\n{name} = {value}")
        config.write_text(said.replace("\ndebug = \n", f"\ndebug = {home}/mails\n"))
        run(str(found / "roundup-admin"), "-i", str(home), "initialise", PASSWORD)
        (folder / "texts.json").write_text(json.dumps(list(texts(tickets))))
        (folder / "fill.py").write_text(FILL)
        run(str(found / "python"), "fill.py", str(home), "texts.json", cwd=folder)
        (folder / "application.py").write_text(
            f"from roundup.cgi.wsgi_handler import RequestDispatcher\napplication = RequestDispatcher({str(home)!r})\n"
        )
        with served(gunicorn(found, "application:application", port), port, folder) as server:
            yield server, _asked(server, tickets)


def _asked(server: Server, tickets: int) -> Asked:
    with httpx.Client(base_url=server.url, headers={"Referer": server.url + "/"}) as client:
        client.post("/", data={"@action": "login", "__login_name": "admin", "__login_password": PASSWORD})
        signed_in = cookies(client)
    rest, fresh = {**signed_in, "X-Requested-With": "rest", "Referer": server.url + "/"}, new_texts()

    def create() -> bytes:
        title, description = next(fresh)
        given = {"@action": "new", "title": title, "@note": description, "priority": "1"}
        return form("/issue", server, signed_in, given)

    fields = "@fields=title,status,priority,activity,assignedto&@sort=-activity"
    page = "@columns=id,activity,title,status,assignedto&@sort=-activity&@pagesize=50&@startwith=0"
    return {
        READ: [
            request("GET", f"/rest/data/issue/{number}", server, rest) for number in range(1, min(tickets, READABLE))
        ],
        LIST: [request("GET", f"/rest/data/issue?@page_size=50&{fields}", server, rest)],
        SEARCH: [request("GET", f"/issue?@search_text={RARE}&{page}", server, signed_in)],
        CREATE: create,
    }

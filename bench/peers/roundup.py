"""Roundup's classic tracker on SQLite, served by gunicorn. Reads and lists use its REST API."""

import contextlib
import json
import shutil
from collections.abc import Generator
from pathlib import Path

import httpx

from bench.launch import Server
from bench.peers.peer import (
    CREATE,
    LIST,
    PASSWORD,
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    Requests,
    cookie_header,
    form_request,
    free_port,
    gunicorn,
    make_venv,
    new_ticket_texts,
    request,
    run_command,
    start_server,
    ticket_texts,
)  # fmt: skip

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
    """Uses web pages to search and to create: its REST API has no search, and no single call for a ticket with text."""

    name = "Roundup"
    create_status = b"3"
    search_page_size = 50

    def missing_requirement(self, folder: Path) -> str | None:
        """Return None: `install` gets it from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it; return its version."""
        make_venv(folder, f"roundup=={VERSION}", "gunicorn")
        return VERSION

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        programs, home, port = make_venv(folder), folder / f"tracker-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        run_command(str(programs / "roundup-admin"), "-i", str(home), "install", "classic", "sqlite")
        config = home / "config.ini"
        text = config.read_text()
        for name, value in (("web", f"http://127.0.0.1:{port}/"), ("domain", "localhost"), ("host", "localhost")):
            text = text.replace(f"\n#{name} = NO DEFAULT", f"\n{name} = {value}")
        config.write_text(text.replace("\ndebug = \n", f"\ndebug = {home}/mails\n"))
        run_command(str(programs / "roundup-admin"), "-i", str(home), "initialise", PASSWORD)
        (folder / "texts.json").write_text(json.dumps(list(ticket_texts(tickets))))
        (folder / "fill.py").write_text(FILL)
        run_command(str(programs / "python"), "fill.py", str(home), "texts.json", cwd=folder)
        (folder / "application.py").write_text(
            f"from roundup.cgi.wsgi_handler import RequestDispatcher\napplication = RequestDispatcher({str(home)!r})\n"
        )
        with start_server(gunicorn(programs, "application:application", port), port, folder) as server:
            yield server, _build_requests(server, tickets)


def _build_requests(server: Server, tickets: int) -> Requests:
    with httpx.Client(base_url=server.url, headers={"Referer": server.url + "/"}) as client:
        client.post("/", data={"@action": "login", "__login_name": "admin", "__login_password": PASSWORD})
        signed_in = cookie_header(client)
    rest, fresh = {**signed_in, "X-Requested-With": "rest", "Referer": server.url + "/"}, new_ticket_texts()

    def create() -> bytes:
        title, description = next(fresh)
        fields = {"@action": "new", "title": title, "@note": description, "priority": "1"}
        return form_request("/issue", server, signed_in, fields)

    fields = "@fields=title,status,priority,activity,assignedto&@sort=-activity"
    page = "@columns=id,activity,title,status,assignedto&@sort=-activity&@pagesize=50&@startwith=0"
    return {
        READ: [
            request("GET", f"/rest/data/issue/{number}", server, rest) for number in range(1, min(tickets, READ_COUNT))
        ],
        LIST: [request("GET", f"/rest/data/issue?@page_size=50&{fields}", server, rest)],
        SEARCH: [request("GET", f"/issue?@search_text={RARE}&{page}", server, signed_in)],
        CREATE: create,
    }

"""Trac on SQLite, served by gunicorn. Tickets and lists are tab-separated, its fastest format."""

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
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    USER,
    Requests,
    cookie_header,
    form_field,
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

VERSION = "1.6"
FILL = """
import json, sys
from trac.env import Environment
from trac.ticket.model import Ticket

env = Environment(sys.argv[1])
with env.db_transaction:
    for title, description in json.load(open(sys.argv[2])):
        ticket = Ticket(env)
        ticket["summary"], ticket["description"], ticket["reporter"], ticket["status"] = title, description, "x", "new"
        ticket.insert()
"""
APPLICATION = """
import os

os.environ["TRAC_ENV"] = {home!r}
from trac.web.main import dispatch_request


def application(environ, start_response):
    environ["REMOTE_USER"] = {user!r}
    return dispatch_request(environ, start_response)
"""


class Trac:
    """The WSGI application sets the user, as a server in front of Trac does."""

    name = "Trac"
    create_status = b"3"
    search_page_size = 10  # fixed by Trac

    def missing_requirement(self, folder: Path) -> str | None:
        """Return None: `install` gets it from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it; return its version."""
        make_venv(folder, f"Trac=={VERSION}", "gunicorn", "setuptools<81")
        return VERSION

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        programs, home, port = make_venv(folder), folder / f"trac-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        run_command(str(programs / "trac-admin"), str(home), "initenv", "Bench", "sqlite:db/trac.db")
        run_command(str(programs / "trac-admin"), str(home), "permission", "add", USER, "TRAC_ADMIN")
        (folder / "texts.json").write_text(json.dumps(list(ticket_texts(tickets))))
        (folder / "fill.py").write_text(FILL)
        run_command(str(programs / "python"), "fill.py", str(home), "texts.json", cwd=folder)
        (folder / "application.py").write_text(APPLICATION.format(home=str(home), user=USER))
        with start_server(gunicorn(programs, "application:application", port), port, folder) as server:
            yield server, _build_requests(server, tickets)


def _build_requests(server: Server, tickets: int) -> Requests:
    with httpx.Client(base_url=server.url) as client:
        token = form_field(client.get("/newticket").text, "__FORM_TOKEN")
        headers, fresh = cookie_header(client), new_ticket_texts()

    def create() -> bytes:
        title, description = next(fresh)
        fields = {
            "__FORM_TOKEN": token, "field_summary": title, "field_description": description, "field_type": "defect",
            "field_priority": "major", "field_status": "new", "action": "create", "submit": "Create ticket",
        }  # fmt: skip
        return form_request("/newticket", server, headers, fields)

    columns = "&".join(f"col={name}" for name in ("id", "summary", "status", "priority", "owner", "changetime"))
    wanted = f"status=!closed&max=50&order=changetime&desc=1&format=tab&{columns}"
    return {
        READ: [
            request("GET", f"/ticket/{number}?format=tab", server, headers)
            for number in range(1, min(tickets, READ_COUNT))
        ],
        LIST: [request("GET", f"/query?{wanted}", server, headers)],
        SEARCH: [request("GET", f"/search?q={RARE}&ticket=on&noquickjump=1", server, headers)],
        CREATE: create,
    }

"""Trac on SQLite, served by gunicorn. Tickets and lists come as tables of text, which it makes fastest."""

import contextlib
import json
import shutil
from collections.abc import Generator
from pathlib import Path

import httpx

from bench.peers.peer import (
    CREATE,
    LIST,
    RARE,
    READ,
    READABLE,
    SEARCH,
    USER,
    Asked,
    cookies,
    form,
    free_port,
    gunicorn,
    hidden,
    new_texts,
    request,
    run,
    served,
    texts,
    venv,
)  # fmt: skip
from bench.serving import Server

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
    """The server in front of it says who calls, as Trac expects; that costs it nothing."""

    name = "Trac"
    created = b"3"
    hits = 10  # a constant of its

    def missing(self, folder: Path) -> str | None:
        """It comes from PyPI."""
        return None

    def install(self, folder: Path) -> str:
        """Install it."""
        venv(folder, f"Trac=={VERSION}", "gunicorn", "setuptools<81")
        return VERSION

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        found, home, port = venv(folder), folder / f"trac-{tickets}", free_port()
        shutil.rmtree(home, ignore_errors=True)
        run(str(found / "trac-admin"), str(home), "initenv", "Bench", "sqlite:db/trac.db")
        run(str(found / "trac-admin"), str(home), "permission", "add", USER, "TRAC_ADMIN")
        (folder / "texts.json").write_text(json.dumps(list(texts(tickets))))
        (folder / "fill.py").write_text(FILL)
        run(str(found / "python"), "fill.py", str(home), "texts.json", cwd=folder)
        (folder / "application.py").write_text(APPLICATION.format(home=str(home), user=USER))
        with served(gunicorn(found, "application:application", port), port, folder) as server:
            yield server, _asked(server, tickets)


def _asked(server: Server, tickets: int) -> Asked:
    with httpx.Client(base_url=server.url) as client:
        token = hidden(client.get("/newticket").text, "__FORM_TOKEN")
        known, fresh = cookies(client), new_texts()

    def create() -> bytes:
        title, description = next(fresh)
        given = {
            "__FORM_TOKEN": token, "field_summary": title, "field_description": description, "field_type": "defect",
            "field_priority": "major", "field_status": "new", "action": "create", "submit": "Create ticket",
        }  # fmt: skip
        return form("/newticket", server, known, given)

    columns = "&".join(f"col={name}" for name in ("id", "summary", "status", "priority", "owner", "changetime"))
    wanted = f"status=!closed&max=50&order=changetime&desc=1&format=tab&{columns}"
    return {
        READ: [
            request("GET", f"/ticket/{number}?format=tab", server, known) for number in range(1, min(tickets, READABLE))
        ],
        LIST: [request("GET", f"/query?{wanted}", server, known)],
        SEARCH: [request("GET", f"/search?q={RARE}&ticket=on&noquickjump=1", server, known)],
        CREATE: create,
    }

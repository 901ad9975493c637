"""ticketbox with the peers' tickets in it, over REST and over MCP."""

import asyncio
import contextlib
import json
import sqlite3
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from bench.client import get, post
from bench.mcp import NEWEST, message
from bench.peers.peer import CREATE, LIST, PASSWORD, RARE, READ, READABLE, SEARCH, Asked, new_texts, texts
from bench.seed import MOST_PER_MINUTE
from bench.serving import Server, ticketbox
from ticketbox import __version__
from ticketbox.cli.common import operate
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.limits import RateLimiter
from ticketbox.jobs import search_merge
from ticketbox.operations.catalogue import registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database


class Own:
    """REST, with authentication, limits and visibility on as always."""

    name = "ticketbox"
    created = b"2"

    def __init__(self, hits: int = 50) -> None:
        self.hits = hits

    def missing(self, folder: Path) -> str | None:
        """Nothing is."""
        return None

    def install(self, folder: Path) -> str:
        """It is here."""
        return __version__

    @contextlib.contextmanager
    def serving(self, folder: Path, tickets: int) -> Generator[tuple[Server, Asked]]:
        """Serve it."""
        token, project, db = _filled(folder, tickets)
        with contextlib.closing(sqlite3.connect(db)) as connection:
            chosen = [row[0] for row in connection.execute("SELECT public_id FROM ticket LIMIT ?", (READABLE,))]
        with ticketbox(db) as server:
            yield server, self.asked(server, token, project, chosen)

    def asked(self, server: Server, token: str, project: str, chosen: list[str]) -> Asked:
        """What is asked over REST."""
        host, fresh = server.host, new_texts()

        def create() -> bytes:
            title, description = next(fresh)
            body = {"project_id": project, "title": title, "description": description}
            return post("/api/v1/tickets", host, token, json.dumps(body).encode())

        return {
            READ: [get(f"/api/v1/tickets/{ticket}", host, token) for ticket in chosen],
            LIST: [get(f"/api/v1/tickets?project_id={project}&limit=50", host, token)],
            SEARCH: [get(f"/api/v1/search?q={RARE}&limit={self.hits}", host, token)],
            CREATE: create,
        }


class OverMcp(Own):
    """The same through MCP, as agents ask it."""

    name = "ticketbox, MCP"

    def asked(self, server: Server, token: str, project: str, chosen: list[str]) -> Asked:
        """What is asked over MCP."""
        fresh = new_texts()

        def call(name: str, **arguments: Any) -> bytes:
            return message(server, NEWEST, "tools/call", {"name": name, "arguments": arguments}, token)

        def create() -> bytes:
            return call("create_ticket", project_id=project, **next(fresh)._asdict())

        return {
            READ: [call("get_ticket", ticket_id=ticket) for ticket in chosen],
            LIST: [call("list_tickets", project_id=project, limit=50)],
            SEARCH: [call("search_tickets", q=RARE, limit=self.hits)],
            CREATE: create,
        }


def _filled(folder: Path, tickets: int) -> tuple[str, str, Path]:
    """A new file with the tickets: a token, the project, the file."""
    folder.mkdir(parents=True, exist_ok=True)
    db = folder / f"{tickets}.db"
    for left in folder.glob(f"{db.name}*"):
        left.unlink()
    given = {"email": "bench@example.org", "name": "Bench", "company": "Bench", "project": "Bench"}
    made = operate(db, "initialize", {**given, "password": PASSWORD}, create=True)
    wanted = {"user": made.user_id, "label": "bench", "scopes": ["tickets:write"]}
    token = operate(db, "issue_token", wanted).secret
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE company SET reads_per_minute = :most, writes_per_minute = :most", (MOST_PER_MINUTE,))
    asyncio.run(_fill(db, token, made.project_id, tickets))
    return token, made.project_id, db


async def _fill(db: Path, token: str, project: str, tickets: int) -> None:
    database = await Database.open(db, readers=1)
    services = Services(database, RateLimiter(time.monotonic), "")
    dispatcher, create, digest = Dispatcher(services), registry()["create_ticket"], secrets.hash_secret(token)
    made = [
        dispatcher.dispatch(create, {"project_id": project, **text._asdict()}, RequestContext(secret_hash=digest))
        for text in texts(tickets)
    ]
    await asyncio.gather(*made)
    await search_merge.merge(services, asyncio.Event(), whole=True)  # as a server does within its first minute
    services.close()
    await database.close()

"""ticketbox with the same tickets as the peers, over REST and over MCP."""

import asyncio
import contextlib
import json
import sqlite3
import time
from collections.abc import Generator
from pathlib import Path

from bench.client import get, post
from bench.launch import Server, launch_ticketbox
from bench.peers.peer import (
    CREATE,
    LIST,
    PASSWORD,
    RARE,
    READ,
    READ_COUNT,
    SEARCH,
    Requests,
    new_ticket_texts,
    ticket_texts,
)
from bench.seed import MOST_PER_MINUTE
from ticketbox import __version__
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.jobs import search_merge
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.services import Services
from ticketbox.store.file.database import Database


class Ticketbox:
    """ticketbox over REST, with authentication, limits and visibility."""

    name = "ticketbox"
    create_status = b"2"

    def __init__(self, search_page_size: int = 50) -> None:
        self.search_page_size = search_page_size

    def missing_requirement(self, folder: Path) -> str | None:
        """Return None: it is installed."""
        return None

    def install(self, folder: Path) -> str:
        """Return its version."""
        return __version__

    @contextlib.contextmanager
    def serve(self, folder: Path, tickets: int) -> Generator[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets."""
        token, project, db = _create_file(folder, tickets)
        with contextlib.closing(sqlite3.connect(db)) as connection:
            chosen = [row[0] for row in connection.execute("SELECT public_id FROM ticket LIMIT ?", (READ_COUNT,))]
        with launch_ticketbox(db) as server:
            yield server, self.build_requests(server, token, project, chosen)

    def build_requests(self, server: Server, token: str, project: str, chosen: list[str]) -> Requests:
        """Build the REST requests."""
        host, fresh = server.host, new_ticket_texts()

        def create() -> bytes:
            title, description = next(fresh)
            body = {"project_id": project, "title": title, "description": description}
            return post("/api/v1/tickets", host, token, json.dumps(body).encode())

        return {
            READ: [get(f"/api/v1/tickets/{ticket}", host, token) for ticket in chosen],
            LIST: [get(f"/api/v1/tickets?project_id={project}&limit=50", host, token)],
            SEARCH: [get(f"/api/v1/search?q={RARE}&limit={self.search_page_size}", host, token)],
            CREATE: create,
        }


def _create_file(folder: Path, tickets: int) -> tuple[str, str, Path]:
    """Create a file with tickets; return a token, the project and the file."""
    folder.mkdir(parents=True, exist_ok=True)
    db = folder / f"{tickets}.db"
    for left in folder.glob(f"{db.name}*"):
        left.unlink()
    owner = {"email": "bench@example.org", "name": "Bench", "company": "Bench", "project": "Bench"}
    created = run_operation(db, "initialize", {**owner, "password": PASSWORD}, create=True)
    wanted = {"user": created.user_id, "label": "bench", "scopes": ["tickets:write"]}
    token = run_operation(db, "issue_token", wanted).secret
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE company SET reads_per_minute = :most, writes_per_minute = :most", (MOST_PER_MINUTE,))
    asyncio.run(_create_tickets(db, token, created.project_id, tickets))
    return token, created.project_id, db


async def _create_tickets(db: Path, token: str, project: str, tickets: int) -> None:
    database = await Database.open(db, readers=1)
    services = Services(database, RateLimiter(time.monotonic), "")
    dispatcher, create, digest = Dispatcher(services), load_registry()["create_ticket"], secrets.hash_secret(token)
    calls = [
        dispatcher.dispatch(create, {"project_id": project, **text._asdict()}, RequestContext(secret_hash=digest))
        for text in ticket_texts(tickets)
    ]
    await asyncio.gather(*calls)
    await search_merge.merge_segments(
        services, asyncio.Event(), full=True
    )  # a server does that within its first minute
    services.close()
    await database.close()

"""A database that is set up, for tests to copy and break, and the checks of an intact database."""

import contextlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import msgspec
from PIL import Image

from tests.support.server import PASSWORD, Box, ok, ticketbox
from ticketbox.cli.core.operations import run_operation

EMAIL = "root@example.org"
SCOPES = ["tickets:write", "tickets:assign"]


class Seed(msgspec.Struct, frozen=True):
    """The original: an owner with a token that no limit slows down, a company, a project, its columns."""

    db: Path
    token: str
    user: str
    company: str
    project: str
    columns: list[str]

    def copy(self, folder: Path, name: str = "ticketbox.db") -> Path:
        """A copy to break."""
        return Path(shutil.copy(self.db, folder / name))

    def sign_in(self, box: Box) -> httpx.Client:
        """A client of the owner with a web session."""
        client = box.client()
        ok(client.post("/session", json={"email": EMAIL, "password": PASSWORD}))
        return client

    def box(self, folder: Path, *arguments: str) -> Box:
        """A server on a copy; `with` stops it."""
        return Box(self.copy(folder), *arguments)


def create_seed(folder: Path) -> Seed:
    """Create a new original."""
    db = folder / "seed.db"
    done = ticketbox(
        "init", "--email", EMAIL, "--name", "Root", "--company", "Acme", "--project", "Shop", "--password-stdin",
        db=db, stdin=PASSWORD,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    token = run_operation(db, "issue_token", {"user": EMAIL, "label": "writer", "scopes": SCOPES}).secret
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE company SET reads_per_minute = 1000000, writes_per_minute = 1000000")
        connection.commit()
    columns = [column["id"] for column in output["columns"]]
    return Seed(db, token, output["user_id"], output["company_id"], output["project_id"], columns)


class PatchedServer(Box):
    """A server that a small Python script starts after patching it, or a command such as `prlimit`."""

    launcher: str | list[str]

    def __init__(self, launcher: str | list[str], db: Path, *arguments: str, log: Path | None = None) -> None:
        self.launcher = launcher
        super().__init__(db, *arguments, log=log)

    def command(self) -> list[str]:
        """The launcher, and what it launches."""
        whole = super().command()
        if isinstance(self.launcher, str):
            return [sys.executable, "-c", self.launcher, *whole[3:]]
        return [*self.launcher, *whole]


# Limits that time doesn't refill.
NO_REFILLS = """
from ticketbox.domain.core.fairness.limits import RateLimiter
create = RateLimiter.__init__
RateLimiter.__init__ = lambda self, monotonic: create(self, lambda: 0.0)
from ticketbox.cli import main
main()
"""


def png(number: int, side: int = 16) -> bytes:
    """A picture that no other number has."""
    buffer = io.BytesIO()
    Image.new("RGB", (side, side), (number % 256, number // 256 % 256, number // 65536 % 256)).save(buffer, "PNG")
    return buffer.getvalue() + number.to_bytes(8, "big")


def capture_parts(project: str, number: int, **more: Any) -> list[tuple[str, tuple[str | None, Any, str]]]:
    """The multipart body of a capture with a screenshot and a console line that depend on `number`."""
    envelope = {
        "id": f"capture-{number:012}",
        "project_id": project,
        "page": {"url": f"https://shop.example/{number}", "title": f"Capture {number}"},
        "captured_at": 1_795_253_400_000,
        "health": {stream: {"status": "ok"} for stream in ("console", "network", "errors")},
        **more,
    }
    line = {"seq": 1, "ts": 1_795_253_400_000, "level": "error", "args": [f"line {number}"]}
    return [
        ("capture", (None, json.dumps(envelope), "application/json")),
        ("screenshot", ("shot.png", png(number), "image/png")),
        ("console", (None, json.dumps([line]), "application/json")),
    ]


HALVES = {
    "tickets without exactly one ticket.created event": """
        SELECT t.public_id FROM ticket t
        WHERE (SELECT count(*) FROM event e WHERE e.ticket_id = t.id AND e.type = 'ticket.created') <> 1""",
    "comments without exactly one comment.created event": """
        SELECT c.public_id FROM comment c WHERE (SELECT count(*) FROM event e WHERE e.ticket_id = c.ticket_id
          AND e.type = 'comment.created' AND e.data ->> 'comment_id' = c.public_id) <> 1""",
    "comment.created events without their comment": """
        SELECT e.id FROM event e WHERE e.type = 'comment.created'
          AND NOT EXISTS (SELECT 1 FROM comment c WHERE c.public_id = e.data ->> 'comment_id')""",
    "tickets whose count of comments is wrong": """
        SELECT t.public_id FROM ticket t
        WHERE t.comment_count <> (SELECT count(*) FROM comment c WHERE c.ticket_id = t.id)""",
    "captures without exactly one capture.attached event": """
        SELECT c.public_id FROM capture c WHERE (SELECT count(*) FROM event e WHERE e.ticket_id = c.ticket_id
          AND e.type = 'capture.attached' AND e.data ->> 'capture_id' = c.public_id) <> 1""",
    "captures without their screenshot": """
        SELECT c.public_id FROM capture c
        WHERE (SELECT count(*) FROM asset a WHERE a.capture_id = c.id AND a.kind = 'screenshot') <> 1""",
    "captures that aren't their ticket's": """
        SELECT c.public_id FROM capture c JOIN ticket t ON t.id = c.ticket_id WHERE t.capture_id IS NULL""",
    "assets and captures without their contents": """
        SELECT a.public_id FROM asset a WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = a.blob_id)
        UNION ALL SELECT c.public_id
          FROM capture c, json_each(json_array(c.excerpt, c.console, c.network, c.errors, c.actions, c.replay)) s
          WHERE s.value IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = s.value)""",
    "labels that are only on the ticket or only in the index": """
        SELECT t.public_id FROM ticket t
        WHERE json_array_length(t.labels) <> (SELECT count(*) FROM ticket_label l WHERE l.ticket_id = t.id)""",
    "companies whose stored bytes are wrong": """
        SELECT co.public_id FROM company co LEFT JOIN company_storage s ON s.company_id = co.id
        WHERE s.bytes IS NOT (
          SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM project p
          JOIN ticket t ON t.project_id = p.id JOIN (
            SELECT ticket_id, blob_id FROM asset
            UNION ALL SELECT c.ticket_id, b.id FROM capture c
            JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions, c.replay)
          ) s ON s.ticket_id = t.id JOIN blob b ON b.id = s.blob_id WHERE p.company_id = co.id)""",
}


def faults(db: Path) -> dict[str, list[Any]]:
    """Whatever is half or broken in a file; empty for a whole one."""
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        result = {name: [row[0] for row in connection.execute(sql)] for name, sql in HALVES.items()}
        integrity = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        result["integrity"] = [] if integrity == ["ok"] else integrity
        result["foreign keys"] = connection.execute("PRAGMA foreign_key_check").fetchall()
    return {name: rows for name, rows in result.items() if rows}


def public_ids(db: Path, table: str) -> set[str]:
    """Every public id of a table."""
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        return {row[0] for row in connection.execute(f"SELECT public_id FROM {table}")}


NAMESPACE = ["unshare", *([] if os.name == "nt" or os.geteuid() == 0 else ["--map-root-user"]), "--mount"]


def can_mount() -> bool:
    """Whether a process can mount a small file system here."""
    try:
        mount = [*NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/tmp"]
        return subprocess.run(mount, capture_output=True, timeout=60, check=False).returncode == 0
    except OSError:
        return False

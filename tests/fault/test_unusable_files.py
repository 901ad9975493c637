"""Files that can't be served: refused with status 1 and words that help, and never touched."""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import run
from tests.support.seed import Seed, faults
from tests.support.server import Box, ok, ticketbox

PAGE = 8192
RESTORE = "Restore a backup: ticketbox restore BACKUP --force (docs/operate/backups.md)"


def foreign(data: bytes) -> bytes:
    """Another program's database."""
    connection = sqlite3.connect(":memory:")
    with contextlib.closing(connection):
        connection.execute("CREATE TABLE bookmark (url TEXT)")
        return connection.serialize()


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut in half": (lambda data: data[: len(data) // 2], RESTORE),
    "cut to its header": (lambda data: data[:100], RESTORE),
    "one page short": (lambda data: data[:-PAGE], RESTORE),
    "a byte short": (lambda data: data[:-1], RESTORE),
    "a garbled header": (lambda data: os.urandom(100) + data[100:], RESTORE),
    "a garbled schema": (lambda data: data[:4096] + os.urandom(4096) + data[PAGE:], RESTORE),
    "garbled pages": (lambda data: data[: 5 * PAGE] + os.urandom(9 * PAGE) + data[14 * PAGE :], RESTORE),
    "zeros": (lambda data: bytes(len(data)), RESTORE),
    "a text": (lambda data: b"Dear diary,\n" * 1000, RESTORE),
    "another program's": (foreign, "this is an SQLite file of another program; choose another with --db"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_unusable_file_is_rejected_and_unchanged(seed: Seed, tmp_path: Path, damage: str) -> None:
    change, words = DAMAGE[damage]
    db = tmp_path / "ticketbox.db"
    db.write_bytes(change(seed.db.read_bytes()))
    before = hashlib.sha256(db.read_bytes()).hexdigest()
    for command in (["serve", "--port", "0", "--no-open"], ["user", "list"], ["serve", "--port", "0"]):
        done = run(*command, "--db", db)  # twice: beside what the first may have left
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"ticketbox: {db}: ")
        assert words in done.stderr
        assert hashlib.sha256(db.read_bytes()).hexdigest() == before
    checked = run("check", "--db", db)
    assert checked.exit_code == 1
    assert "  problem  " in checked.stdout
    assert hashlib.sha256(db.read_bytes()).hexdigest() == before


@pytest.mark.long
def test_wal_of_a_killed_server_is_part_of_the_database(seed: Seed, tmp_path: Path) -> None:
    """The write-ahead log alone holds the newest rows; damage at its end takes no committed row along."""
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        tickets = [
            ok(client.post("/tickets", json={"project_id": seed.project, "title": f"Ticket {number}"}))["id"]
            for number in range(20)
        ]
        box.process.kill()
        box.process.wait()
        log = box.db.with_name(box.db.name + "-wal")
        assert log.stat().st_size > 0
        with log.open("ab") as end:
            end.write(os.urandom(3 * PAGE + 7))
        checked = ticketbox("check", "--json", db=box.db)
        assert checked.returncode == 0, checked.stdout
        again = Box(box.db)
        with again, again.client(seed.token) as reader:
            for ticket in tickets:
                ok(reader.get(f"/tickets/{ticket}"))
        assert faults(box.db) == {}

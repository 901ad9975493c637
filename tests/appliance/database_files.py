"""What the tests of whole files ask of them."""

import contextlib
import hashlib
import sqlite3
from pathlib import Path

import pytest

from tests.support.seed import faults, public_ids
from ticketbox.store.file.connection import add_functions

TABLES = ("user", "company", "project", "ticket", "comment", "capture", "asset")

# Changes of the number of rows that leave a file sound.
OTHER_ROWS = [
    pytest.param("DELETE FROM event WHERE id = (SELECT max(id) FROM event)", id="fewer"),
    pytest.param("INSERT INTO idempotency SELECT id, 'key', x'', x'', 0 FROM credential", id="more"),
]


def rows(db: Path) -> dict[str, set[str]]:
    """The ids of everything in a sound file."""
    assert faults(db) == {}
    return {table: public_ids(db, table) for table in TABLES}


def digest(path: Path) -> str:
    """A file's bytes, in short."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def change(db: Path, *statements: str) -> None:
    """Do to a file what only damage or a stranger does."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        add_functions(connection)
        for statement in statements:
            connection.execute(statement)


def names(folder: Path) -> list[str]:
    """The names in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())

"""A connection to the SQLite file: its settings and its thread.

The only module that relies on aiosqlite's internals: its public methods take one statement to the thread at a time.
tests/test_private_apis.py names the version that this was tested with.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

import aiosqlite

from ticketbox.domain.tickets.search_words import separate_words

T = TypeVar("T")

BUSY_SECONDS = 5.0
MOST_LOG = 64 * 1024 * 1024
LEFT_LOG = 8 * 1024 * 1024  # what the log shrinks to after a reader or a backup has let it grow


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that runs a whole unit of work in one hop to its thread."""

    @classmethod
    async def open(cls, connector: Callable[[], sqlite3.Connection]) -> Self:
        """Start the connection's thread and connect on it."""
        connection = cls(connector, iter_chunk_size=64)
        await connection
        return connection

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection's thread and return its result."""
        result: T = await self._execute(work, self._conn)  # pyright: ignore[reportUnknownMemberType]
        return result


def connect(path: Path, *, writes: bool, checkpoints: bool = False, wait: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open the file with the settings that every connection shares.

    Only the server's writer checkpoints: SQLite before 3.51.3 can damage a file when two connections write and
    checkpoint at the same time.
    """
    connection = sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=400
    )
    add_functions(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("PRAGMA secure_delete = ON")  # the default of Debian's SQLite, not of all
    if not writes:
        connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {1000 if checkpoints else 0}")
    connection.execute(f"PRAGMA journal_size_limit = {LEFT_LOG}")  # a long backup lets the log grow
    return connection


def add_functions(connection: sqlite3.Connection) -> None:
    """Add the functions that the file's triggers use."""
    connection.execute("PRAGMA trusted_schema = ON")  # the default, unless SQLite was built without it
    connection.create_function("separate_words", 1, separate_words, deterministic=True)


def get_log_paths(db: Path) -> tuple[Path, Path]:
    """Return the paths of a file's write-ahead log and of its index; SQLite follows symbolic links."""
    db = db.resolve()
    return db.with_name(f"{db.name}-wal"), db.with_name(f"{db.name}-shm")

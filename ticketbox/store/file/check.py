"""Checks of a file that don't change it, also while a server is running.

The connection only reads: it takes no lock that a writer waits for, and never checkpoints. Each
check is a separate transaction, so that a long one doesn't prevent the server from emptying its
write-ahead log.
"""

import contextlib
import hashlib
import sqlite3
import sys
from collections.abc import Callable, Container, Generator, Iterator
from pathlib import Path

import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.store.file.connection import get_log_paths
from ticketbox.store.file.database import Row
from ticketbox.store.file.folder.contents import AssetsFolder
from ticketbox.store.file.folder.location import read_location
from ticketbox.store.file.folder.sweep import list_unused
from ticketbox.store.file.migrate import APPLICATION_ID, UnusableFile, read_schema_number
from ticketbox.store.file.orphans import IS_ORPHAN

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_FAULTS = 20
# Before this version, two connections that write and checkpoint at the same time can damage a file (WAL-reset).
SAFE_SQLITE = (3, 51, 3)
_CHUNK = 1 << 20

sqlite_version = sqlite3.sqlite_version


def has_wal_fault() -> bool:
    """Whether this SQLite has the WAL-reset bug, because of which commands beside a server never checkpoint."""
    return sqlite3.sqlite_version_info < SAFE_SQLITE


class UnusedContents(msgspec.Struct, frozen=True):
    """The number and size of stored contents that nothing refers to any more."""

    count: int
    bytes: int


class BlobCheck(msgspec.Struct, frozen=True):
    """A stored content: its key, its bytes as they are stored, whether they match its hash, and its file, if any."""

    key: int
    stored: int
    sound: bool
    file: Path | None = None


class StorageFault(msgspec.Struct, frozen=True):
    """A company, how many bytes it stores by the count that its limit is compared with, and how many it really does."""

    company: str
    counted: int | None
    stored: int


class EmailFailures(msgspec.Struct, frozen=True):
    """Emails that will be retried, emails that were given up, and the newest error (None: nothing failed)."""

    failing: int
    dead: int
    error: str | None


class Inspection:
    """An open file to inspect. Damage raises UnusableFile."""

    def __init__(self, connection: sqlite3.Connection, folder: AssetsFolder | None = None) -> None:
        self._connection = connection
        self.folder = folder
        self.location = read_location(connection)

    def is_ticketbox_file(self) -> bool:
        """Whether the file was created by ticketbox."""
        return self._fetch_value("PRAGMA application_id") == APPLICATION_ID

    def read_schema_number(self) -> int:
        """Return the number of the file's schema."""
        with _report_damage():
            return read_schema_number(self._connection)

    def list_page_faults(self) -> list[str]:
        """List faults in pages, indexes and constraints that SQLite finds; empty for a sound file. Slow."""
        return [line for (line,) in self._fetch_rows(f"PRAGMA integrity_check({MAX_FAULTS})") if line != "ok"]

    def list_broken_references(self) -> list[str]:
        """List broken foreign keys as `table row -> other table`; empty for a sound file."""
        rows = self._fetch_rows("PRAGMA foreign_key_check")
        return [f"{table} {row} -> {other}" for table, row, other, _ in rows[:MAX_FAULTS]]

    def count_rows(self) -> dict[str, int]:
        """Count the rows of each table."""
        tables = self._fetch_rows(SELECT_TABLES)
        return {name: self._fetch_value(f'SELECT count(*) FROM "{name}"') for (name,) in tables}

    def measure_orphans(self) -> UnusedContents:
        """Return the unused contents that the server's housekeeping will delete."""
        return UnusedContents(*self._fetch_rows(ORPHANS)[0])

    def list_unused_files(self) -> list[str]:
        """List the files in the assets folder that no content refers to; the server's housekeeping erases them."""
        return [] if self.folder is None else sorted(list_unused(self._connection, self.folder))

    def check_blobs(self, known: Container[bytes] = ()) -> Iterator[BlobCheck]:
        """Read every stored content, one at a time, and compare it with its hash. Slow.

        The files of `known` hashes aren't read.
        """
        after = -1
        while row := next(iter(self._fetch_rows(SELECT_NEXT_BLOB, (after,))), None):
            after, sha256, encoding, size, data, stored = row
            if stored is None:
                yield BlobCheck(after, len(data), is_sound(sha256, encoding, size, data))
            elif sha256 not in known:
                yield self._check_file(after, sha256, encoding, size, stored)

    def _check_file(self, key: int, sha256: bytes, encoding: str, size: int, stored: int) -> BlobCheck:
        if self.folder is None:
            return BlobCheck(key, stored, sound=False)
        try:
            sound = is_sound(sha256, encoding, size, self.folder.read(sha256, stored))
        except Problem:
            sound = False
        return BlobCheck(key, stored, sound, self.folder.get_path(sha256))

    def list_files(self) -> Iterator[tuple[bytes, int]]:
        """List the contents that are files: their hashes and lengths."""
        if self.location is not None:
            yield from self._fetch_rows(SELECT_FILES)

    def list_storage_faults(self) -> list[StorageFault]:
        """List companies whose count of stored bytes is wrong. The file must have this version's schema."""
        return [StorageFault(*row) for row in self._fetch_rows(STORAGE)]

    def find_newest_change(self) -> int:
        """Return the time of the newest event in epoch milliseconds; 0 if there is none."""
        return self._fetch_value("SELECT ifnull((SELECT at FROM event WHERE id = (SELECT max(id) FROM event)), 0)")

    def load_email_failures(self) -> EmailFailures:
        """Return the email failures so far. The file must have this version's schema."""
        return EmailFailures(*self._fetch_rows(MAIL)[0])

    def measure_free_bytes(self) -> int:
        """Return the unused bytes in the file that compacting frees (`ticketbox check --compact`)."""
        return self._fetch_value("PRAGMA freelist_count") * self._fetch_value("PRAGMA page_size")

    def interrupt_when(self, is_cancelled: Callable[[], bool], steps: int) -> None:
        """Interrupt queries when `is_cancelled` returns true. An interrupted query raises sqlite3.OperationalError."""
        self._connection.set_progress_handler(is_cancelled, steps)

    def measure_blob_bytes(self) -> int:
        """Return the number of bytes that `check_blobs` will read."""
        return self._fetch_value(BLOB_BYTES)

    def _fetch_rows(self, sql: str, parameters: Row = ()) -> list[Row]:
        with _report_damage():
            return self._connection.execute(sql, parameters).fetchall()

    def _fetch_value(self, sql: str) -> int:
        with _report_damage():
            return self._connection.execute(sql).fetchone()[0]


SELECT_TABLES = """
SELECT name FROM pragma_table_list
WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
"""

BLOB_BYTES = "SELECT ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM blob b"
ORPHANS = f"SELECT count(*), ifnull(sum(ifnull(b.stored, length(b.data))), 0) FROM blob b WHERE {IS_ORPHAN}"

# What the triggers of schema/storage.sql add up.
STORAGE = """
WITH part (project_id, blob_id) AS (
  SELECT project_id, blob_id FROM source_map
  UNION ALL SELECT t.project_id, a.blob_id FROM asset a JOIN ticket t ON t.id = a.ticket_id
  UNION ALL SELECT t.project_id, b.id FROM capture c JOIN ticket t ON t.id = c.ticket_id
  JOIN blob b ON b.id IN (c.console, c.network, c.errors, c.actions, c.replay)
), stored (company_id, bytes) AS (
  SELECT p.company_id, sum(ifnull(b.stored, length(b.data)))
  FROM part JOIN project p ON p.id = part.project_id JOIN blob b ON b.id = part.blob_id GROUP BY p.company_id
)
SELECT co.public_id, counted.bytes, ifnull(stored.bytes, 0)
FROM company co LEFT JOIN company_storage counted ON counted.company_id = co.id
LEFT JOIN stored ON stored.company_id = co.id WHERE counted.bytes IS NOT ifnull(stored.bytes, 0)
"""

MAIL = """
SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'dead'),
  (SELECT error FROM mail WHERE error IS NOT NULL ORDER BY last_at DESC LIMIT 1)
FROM mail WHERE error IS NOT NULL
"""

SELECT_FILES = "SELECT sha256, stored FROM blob WHERE stored IS NOT NULL ORDER BY id"
SELECT_NEXT_BLOB = """
SELECT b.id, b.sha256, b.encoding, b.bytes, b.data, b.stored FROM blob b WHERE b.id > ? ORDER BY b.id LIMIT 1
"""


@contextlib.contextmanager
def open_inspection(path: Path, *, alone: bool = False, folder: AssetsFolder | None = None) -> Generator[Inspection]:
    """Open a file to inspect it. With `alone`, no other process may have it open, and no file is created beside it.

    Its assets are in `folder`, or where the file says. A server erases none of them meanwhile.

    Raises UnusableFile when it can't be read as an SQLite file.
    """
    with _report_damage(), contextlib.closing(open_read_only(path, alone=alone)) as connection:
        location = read_location(connection)
        if folder is None and location is not None:
            folder = AssetsFolder(location.resolve(path))
        with contextlib.nullcontext() if folder is None else folder.hold():
            yield Inspection(connection, folder)


def open_read_only(path: Path, *, alone: bool = False) -> sqlite3.Connection:
    """Open a read-only connection. Raises sqlite3.DatabaseError when the file can't be read."""
    if alone:
        return _open_immutable(path)
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        log, _ = get_log_paths(path)
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or (log.exists() and log.stat().st_size):
            raise
        # A read-only folder, such as a mounted backup: no process writes there, so immutable mode is safe.
        connection = _open_immutable(path)
    return connection


def _open_immutable(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


@contextlib.contextmanager
def _report_damage() -> Generator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise
        raise UnusableFile(str(error)) from error


def is_sound(sha256: bytes, encoding: str, size: int, data: bytes) -> bool:
    """Whether a content as it is stored matches its hash and its length."""
    hashed, length = hashlib.sha256(), 0
    try:
        for part in _decompress(data) if encoding == "zstd" else (data,):
            hashed.update(part)
            length += len(part)
            if length > size:
                return False
    except zstd.ZstdError:
        return False
    return length == size and hashed.digest() == sha256


def _decompress(data: bytes) -> Iterator[bytes]:
    """Yield the content in parts, so that the size in a damaged frame is never allocated."""
    reader = zstd.ZstdDecompressor()
    yield reader.decompress(data, _CHUNK)
    while not reader.eof and not reader.needs_input:
        yield reader.decompress(b"", _CHUNK)

"""Migration of a file to this version's schema: each migration and its record in one transaction.

A file of a newer version is refused unchanged, and an existing file is copied before its first
change (docs/operate/maintenance.md, "Upgrades").
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec

from ticketbox.store.file.connection import connect, get_log_paths
from ticketbox.store.file.migrations.functions import register_functions

APPLICATION_ID = 0x74626F78  # "tbox"
PAGE_SIZE = 8192
PAGE_CHECK_SECONDS = 1.0


class UnusableFile(Exception):
    """The file can't be used; the text says why and what to do."""


class Migration(msgspec.Struct, frozen=True):
    """A migration of the schema: `0001_initial.sql` is number 1."""

    number: int
    name: str
    sql: str


def list_migrations() -> list[Migration]:
    """List all migrations, oldest first. The list only grows."""
    folder = resources.files("ticketbox.store.file") / "migrations"
    migrations: list[Migration] = []
    for entry in folder.iterdir():
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name)
        if match:
            migrations.append(Migration(int(match[1]), match[2], entry.read_text("utf-8")))
    return sorted(migrations, key=lambda migration: migration.number)


def prepare_file(path: Path, report: Callable[[str], None] = lambda _: None) -> None:
    """Create the file if it is missing, and migrate it to the newest schema.

    Raises UnusableFile for a file that isn't ticketbox's, is damaged, or is of a newer version; such a file stays
    unchanged.
    """
    try:
        if not path.exists() or path.stat().st_size == 0:
            _create_file(path)
        else:
            _check_existing(path)
        with contextlib.closing(connect(path, writes=True)) as connection:
            _migrate(connection, path, report)
    except sqlite3.DatabaseError as error:
        raise UnusableFile(_explain_unusable(path, error)) from error
    except OSError as error:
        raise UnusableFile(f"{path}: can't create or open the file: {error.strerror}") from error


def _migrate(connection: sqlite3.Connection, path: Path, report: Callable[[str], None]) -> None:
    applied = read_applied_number(connection)
    connection.execute("PRAGMA journal_mode = WAL")  # a restored copy isn't in WAL mode
    pending = [migration for migration in list_migrations() if migration.number > applied]
    if pending and applied:
        _copy_before_migrating(connection, path, applied, report)
    register_functions(connection, report)
    for migration in pending:
        if applied:
            report(f"applying migration {migration.number:04} {migration.name}")
        _apply_migration(connection, migration)


def read_applied_number(connection: sqlite3.Connection) -> int:
    """Read the number of the last migration applied to the file; 0 for an empty file."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone():
        return 0
    return connection.execute("SELECT ifnull(max(number), 0) FROM migration").fetchone()[0]


def find_newest_number() -> int:
    """Return the number of this version's last migration."""
    return list_migrations()[-1].number


def _create_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _check_existing(path: Path) -> None:
    """Check an existing file without changing it."""
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        applied = read_applied_number(connection)
        if is_ours and applied:
            connection.execute("SELECT count(*) FROM user").fetchone()
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
            if path.stat().st_size < pages * size and not _has_wal(path):
                raise UnusableFile(_explain_damage(path, "the file is shorter than its header says"))
            _check_pages(connection, path)
    if not is_ours:
        raise UnusableFile(f"{path}: this is an SQLite file of another program; choose another with --db")
    if applied > find_newest_number():
        raise UnusableFile(
            f"{path}: the file has schema {applied:04} and this version supports up to {find_newest_number():04}; "
            "run the newer ticketbox that wrote it"
        )


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Check the file's pages for up to a second; `ticketbox check` reads all of them."""
    deadline = time.monotonic() + PAGE_CHECK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    else:
        if verdict != "ok":
            raise UnusableFile(_explain_damage(path, verdict))


def _has_wal(path: Path) -> bool:
    wal, _ = get_log_paths(path)  # reading the file may have left an empty one
    return wal.exists() and wal.stat().st_size > 0


def _explain_unusable(path: Path, error: sqlite3.DatabaseError) -> str:
    """Explain why a file can't be used: not every error is damage that a backup would fix."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return f"{path}: the disk is full; the file is unchanged. Free some space"
        case sqlite3.SQLITE_IOERR:
            return f"{path}: reading or writing failed ({error}); the file is unchanged. See the kernel log"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return f"{path}: the file and its folder must be writable ({error})"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path}: another command has the file locked; try again"
        case _:
            return _explain_damage(path, error)


def _explain_damage(path: Path, error: object) -> str:
    return (
        f"{path}: the file is damaged ({error}); it was left unchanged. "
        "Restore a backup: ticketbox restore BACKUP --force (docs/operate/backups.md)"
    )


def _copy_before_migrating(
    connection: sqlite3.Connection, path: Path, applied: int, report: Callable[[str], None]
) -> None:
    """Copy the file beside itself. The copy's name ends in `.part` until it is complete."""
    copy = path.with_name(f"{path.name}.before-{applied + 1:04}-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}")
    part = path.with_name(f"{path.name}.copy.part")
    with contextlib.closing(connect(path, writes=True)) as guard:
        guard.execute("BEGIN IMMEDIATE")  # prevents writes, and another command's copy
        if read_applied_number(guard) > applied:
            return
        report(f"copying the file to {copy}")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(copy)


def _apply_migration(connection: sqlite3.Connection, migration: Migration) -> None:
    # executescript() would commit first; BEGIN inside the script keeps the whole step in one transaction.
    # The record comes first, so that the second of two concurrent commands stops there.
    table = (
        "CREATE TABLE IF NOT EXISTS migration "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
    )
    record = (
        "INSERT INTO migration (number, name, applied_at) "
        f"VALUES ({migration.number}, '{migration.name}', {time.time_ns() // 1_000_000})"
    )
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {table}; {record}; {migration.sql}\n; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if read_applied_number(connection) < migration.number:
            raise

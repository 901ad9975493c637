"""The file's schema: a new file gets it whole, an older one in steps, each with its number in one transaction.

A file of a version that is newer, or too old, is refused unchanged, and an existing file is copied before its first
change (docs/operate/maintenance.md, "Upgrades").
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from ticketbox.store.file.connection import connect, get_log_paths

APPLICATION_ID = 0x74626F78  # "tbox"
PAGE_SIZE = 8192
PAGE_CHECK_SECONDS = 1.0
# The files of the schema. A trigger comes after its table.
SUBJECTS = (
    "core", "accounts", "companies", "tickets", "work", "captures", "git", "reports", "events", "storage", "search",
)  # fmt: skip


class UnusableFile(Exception):
    """The file can't be used; the text says why and what to do."""


class Migration(msgspec.Struct, frozen=True):
    """A step to the schema of this number: `0053_one_schema.sql`."""

    number: int
    name: str
    sql: str


@cache
def list_migrations() -> tuple[Migration, ...]:
    """List the steps between schemas, oldest first; the last one's number is that of this version's schema."""
    migrations: list[Migration] = []
    for entry in (resources.files("ticketbox.store.file") / "migrations").iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name):
            migrations.append(Migration(int(match[1]), match[2], entry.read_text("utf-8")))
    return tuple(sorted(migrations, key=lambda migration: migration.number))


@cache
def read_schema() -> str:
    """Read the schema of a new file."""
    folder = resources.files("ticketbox.store.file") / "schema"
    return "\n".join((folder / f"{subject}.sql").read_text("utf-8") for subject in SUBJECTS)


def prepare_file(path: Path, report: Callable[[str], None] = lambda _: None) -> None:
    """Create the file if it is missing, and migrate it to this version's schema.

    Raises UnusableFile for a file that isn't ticketbox's, is damaged, or that this version can't migrate; such a file
    stays unchanged.
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
    number = read_schema_number(connection)
    connection.execute("PRAGMA journal_mode = WAL")  # a restored copy isn't in WAL mode
    if not number:
        _run_script(connection, find_newest_number(), read_schema())
        return
    pending = [migration for migration in list_migrations() if migration.number > number]
    if pending:
        _copy_before_migrating(connection, path, pending[0].number, report)
    for migration in pending:
        report(f"applying migration {migration.number:04} {migration.name}")
        _run_script(connection, migration.number, migration.sql)


def read_schema_number(connection: sqlite3.Connection) -> int:
    """Read the number of the file's schema; 0 for an empty file."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if number or not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone():
        return number
    return connection.execute("SELECT max(number) FROM migration").fetchone()[0]  # until schema 52


def find_newest_number() -> int:
    """Return the number of this version's schema."""
    return list_migrations()[-1].number


def find_schema_fault(number: int) -> str | None:
    """Explain why this version can't use a file of a schema, and what to do; None if it can."""
    oldest, newest = list_migrations()[0].number - 1, find_newest_number()
    if number > newest:
        return (
            f"the file has schema {number:04} and this version supports up to {newest:04}; "
            "use the newer ticketbox that wrote it"
        )
    if number < oldest:
        return (
            f"the file has schema {number:04}, which a development version wrote, and this version supports "
            f"{oldest:04} and newer; migrate it first with an older ticketbox "
            '(docs/operate/maintenance.md, "Files of development versions")'
        )
    return None


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
        number = read_schema_number(connection)
        if is_ours and number:
            connection.execute("SELECT count(*) FROM user").fetchone()
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
            if path.stat().st_size < pages * size and not _has_wal(path):
                raise UnusableFile(_explain_damage(path, "the file is shorter than its header says"))
            _check_pages(connection, path)
    if not is_ours:
        raise UnusableFile(f"{path}: this is an SQLite file of another program; choose another with --db")
    if number and (fault := find_schema_fault(number)):
        raise UnusableFile(f"{path}: {fault}")


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
    connection: sqlite3.Connection, path: Path, number: int, report: Callable[[str], None]
) -> None:
    """Copy the file beside itself. The copy's name ends in `.part` until it is complete."""
    copy = path.with_name(f"{path.name}.before-{number:04}-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}")
    part = path.with_name(f"{path.name}.copy.part")
    with contextlib.closing(connect(path, writes=True)) as guard:
        guard.execute("BEGIN IMMEDIATE")  # prevents writes, and another command's copy
        if read_schema_number(guard) >= number:
            return
        report(f"copying the file to {copy}")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(copy)


def _run_script(connection: sqlite3.Connection, number: int, sql: str) -> None:
    """Run a script and record the schema's number in one transaction, unless another command has done it meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if read_schema_number(connection) < number:
            for statement in _split_statements(sql):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _split_statements(sql: str) -> Iterator[str]:
    """Split a script after each statement, since executescript() would commit first."""
    statement = ""
    for part in sql.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

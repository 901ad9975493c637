"""SQLite's errors: which of them a caller can understand, and which pass when a read is repeated."""

import sqlite3

from ticketbox.domain.core.problems import Problem, StorageFull, Unavailable

_DISK_FULL_CODES = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
}
_PASSING_CODES = {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_passing(error: sqlite3.OperationalError) -> bool:
    """Whether the same statement can succeed later: it was interrupted, or the file was busy."""
    return error.sqlite_errorcode & 0xFF in _PASSING_CODES


def translate_error(error: Exception) -> Exception:
    """Translate SQLite's errors that a caller can understand into problems; return others unchanged."""
    if isinstance(error, Problem) or not isinstance(error, sqlite3.OperationalError):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    if code in _DISK_FULL_CODES:
        return StorageFull()
    if code == sqlite3.SQLITE_INTERRUPT:
        return Unavailable("the query took too long; narrow it by project, status or time")
    if code is not None and code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Unavailable("the database is busy with another command; try again")
    return error

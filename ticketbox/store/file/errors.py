"""SQLite's errors: which of them a caller can understand, and which pass when a read is repeated."""

import contextlib
import errno
import os
import sqlite3
from pathlib import Path

from ticketbox.domain.core.problems import Problem, StorageFull, Unavailable
from ticketbox.store.file.connection import get_log_paths

FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PASSING_CODES = {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PAGE = 8192


class DiskFailed(Unavailable):
    """The disk returned an error other than that it is full."""

    def __init__(self) -> None:
        super().__init__("the disk failed (I/O error); see the kernel log of the server")


class FileLost(Unavailable):
    """The file or its write-ahead log is no longer the one that was opened, or is damaged."""


def name_failure(error: BaseException) -> str:
    """Name the reason why a write failed, for the metrics."""
    if isinstance(error, StorageFull):
        return "disk_full"
    if isinstance(error, DiskFailed):
        return "disk_failed"
    if isinstance(error, FileLost):
        return "file_lost"
    return "busy" if isinstance(error, Unavailable) else "other"


def is_passing(error: sqlite3.OperationalError) -> bool:
    """Whether the same statement can succeed later: it was interrupted, or the file was busy."""
    return error.sqlite_errorcode & 0xFF in _PASSING_CODES


def translate_error(error: Exception, db: Path) -> Exception:
    """Translate SQLite's errors that a caller can understand into problems; return others unchanged."""
    if isinstance(error, Problem) or not isinstance(error, sqlite3.OperationalError):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return error
    if code == sqlite3.SQLITE_INTERRUPT:
        return Unavailable("the query took too long; narrow it by project, status or time")
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StorageFull()
        case sqlite3.SQLITE_IOERR if code == sqlite3.SQLITE_IOERR_READ:
            return DiskFailed()
        case sqlite3.SQLITE_IOERR if code != sqlite3.SQLITE_IOERR_SHORT_READ:
            return StorageFull() if _find_write_error(db) in FULL_ERRORS else DiskFailed()
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Unavailable("the database is busy with another command; try again")
        case _:
            return error


def _find_write_error(db: Path) -> int | None:
    """Write a page to a file beside the database, as far from its start as SQLite did; return the error's number.

    SQLite reports an exceeded quota or limit of file sizes like a failing disk, and not what the system said.
    """
    probe = db.with_name(f"{db.name}.probe")
    try:
        end = max(path.stat().st_size for path in (db, get_log_paths(db)[0]))
        handle = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.lseek(handle, end, os.SEEK_SET)
            left = _PAGE
            while left:
                left -= os.write(handle, bytes(left))
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        return error.errno
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    return None

"""Compaction: return a file's free pages to the disk in small steps, also beside a running server."""

import contextlib
import sqlite3
import time
from pathlib import Path

from ticketbox.store.file.backup import ReportProgress
from ticketbox.store.file.connection import MOST_LOG, connect, get_log_paths
from ticketbox.store.file.migrate import UnusableFile

STEP_PAGES = 64
_STEP_PAGES_ALONE = 4096
_REST_SECONDS = 0.005
_MAX_WAIT_SECONDS = 180


def compact_file(db: Path, *, checkpoints: bool, report: ReportProgress = lambda doing, share: None) -> int:
    """Move pages from the file's end into free ones; return the bytes that were freed.

    Beside a server (`checkpoints` false), each step is a transaction of milliseconds, so that no writer waits for long,
    and the file shrinks when the server next empties its log. Raises UnusableFile.
    """
    try:
        with contextlib.closing(connect(db, writes=True, checkpoints=checkpoints)) as connection:
            before = left = _read_value(connection, "PRAGMA freelist_count")
            size = _read_value(connection, "PRAGMA page_size")
            pages = _STEP_PAGES_ALONE if checkpoints else STEP_PAGES
            while left:
                report("freeing empty pages", 1 - left / before if left <= before else None)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
                connection.execute("COMMIT")
                now = _read_value(connection, "PRAGMA freelist_count")
                if now == left:
                    break
                left = now
                if not checkpoints:
                    time.sleep(_REST_SECONDS)
                    _wait_for_server(db, report)
            if checkpoints:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return max(before - left, 0) * size
    except sqlite3.DatabaseError as error:
        raise UnusableFile(
            f"{db}: compacting stopped: {error}; the file is intact, and you can continue later"
        ) from error


def _wait_for_server(db: Path, report: ReportProgress) -> None:
    """Wait until the server empties its log, so that it doesn't grow too large."""
    log, _ = get_log_paths(db)
    deadline = time.monotonic() + _MAX_WAIT_SECONDS
    while log.exists() and log.stat().st_size > MOST_LOG and time.monotonic() < deadline:
        report("waiting for the server to empty its log", None)
        time.sleep(1)


def _read_value(connection: sqlite3.Connection, sql: str) -> int:
    return connection.execute(sql).fetchone()[0]

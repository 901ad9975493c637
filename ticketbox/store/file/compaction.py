"""Giving a file's empty room back to the disk, in small steps, beside a running server or without one."""

import contextlib
import sqlite3
import time
from pathlib import Path

from ticketbox.store.file.backup import ReportProgress
from ticketbox.store.file.connection import MOST_LOG, connect
from ticketbox.store.file.migrate import UnusableFile

STEP_PAGES = 64
_REST_SECONDS = 0.005
_MAX_WAIT_SECONDS = 180


def compact_file(db: Path, *, checkpoints: bool, tell: ReportProgress = lambda doing, share: None) -> int:
    """Move what is at the file's end into its holes; returns the bytes that are given back.

    Each step is a transaction of milliseconds, so no writer waits for long. Beside a server (`checkpoints`
    false) the file gets shorter when that next empties its log. Raises UnusableFile.
    """
    try:
        with contextlib.closing(connect(db, writes=True, checkpoints=checkpoints)) as connection:
            before = left = _read_value(connection, "PRAGMA freelist_count")
            size = _read_value(connection, "PRAGMA page_size")
            while left:
                tell("giving empty room back", 1 - left / before if left <= before else None)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()
                connection.execute("COMMIT")
                now = _read_value(connection, "PRAGMA freelist_count")
                if now == left:
                    break
                left = now
                time.sleep(_REST_SECONDS)
                if not checkpoints:
                    _wait_for_server(db, tell)
            if checkpoints:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return max(before - left, 0) * size
    except sqlite3.DatabaseError as error:
        raise UnusableFile(f"{db}: compacting stopped: {error}; the file is sound, and you can go on later") from error


def _wait_for_server(db: Path, tell: ReportProgress) -> None:
    """Let the server empty its log before it grows out of bounds."""
    log = db.with_name(f"{db.name}-wal")
    deadline = time.monotonic() + _MAX_WAIT_SECONDS
    while log.exists() and log.stat().st_size > MOST_LOG and time.monotonic() < deadline:
        tell("waiting for the server to empty its log", None)
        time.sleep(1)


def _read_value(connection: sqlite3.Connection, sql: str) -> int:
    return connection.execute(sql).fetchone()[0]

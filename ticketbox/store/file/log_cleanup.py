"""Emptying the write-ahead log and erasing unused files, which hold what was destroyed as long as somebody reads it."""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Awaitable, Callable

from ticketbox.store.file.connection import BUSY_SECONDS
from ticketbox.store.file.errors import is_passing
from ticketbox.store.file.folder.sweep import UnusedFiles

RETRY_SECONDS = 0.5

log = logging.getLogger("ticketbox.store")


class LogCleanup:
    """What is left to clean up. Methods with a connection run on the writer's thread."""

    def __init__(self, unused_files: UnusedFiles, *, checkpoints: bool) -> None:
        self._unused_files = unused_files
        self._checkpoints = checkpoints
        self.must_truncate = False
        self._retrying: asyncio.Task[None] | None = None

    def is_due(self) -> bool:
        """Whether the log or a file still holds what was destroyed."""
        return bool(self.must_truncate and self._checkpoints) or self._unused_files.are_waiting()

    def truncate_log(self, connection: sqlite3.Connection) -> None:
        """Checkpoint and empty the log, unless somebody reads from it or checkpoints are left to another program."""
        if not self._checkpoints:
            return
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self.must_truncate = bool(is_busy)
        except sqlite3.OperationalError as error:
            if not is_passing(error):
                raise
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def retry(self, clean_up: Callable[[], Awaitable[None]]) -> None:
        """Call `clean_up` now and then until nothing is due."""
        if self.is_due() and self._retrying is None:
            self._retrying = asyncio.create_task(self._retry(clean_up))

    async def _retry(self, clean_up: Callable[[], Awaitable[None]]) -> None:
        try:
            while self.is_due():
                await asyncio.sleep(RETRY_SECONDS)
                await clean_up()
        except Exception:
            log.exception("emptying the write-ahead log failed; the next write tries it again")
        finally:
            self._retrying = None

    async def close(self) -> None:
        """Stop retrying."""
        if self._retrying is not None:
            self._retrying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._retrying

"""The reading connections, which callers get round robin."""

import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.fairness.fair_queue import FairQueue, FairShare
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.store.file.connection import Connection, connect
from ticketbox.store.file.errors import is_passing, translate_error
from ticketbox.store.file.folder.contents import AssetsFolder, MissingContent
from ticketbox.store.file.transactions import PROGRESS_STEPS, SHORT_PROGRESS_STEPS, NeedsThread, Read

T = TypeVar("T")

READERS = 3
READ_SECONDS = 5.0
# An inline read may take this many times SHORT_PROGRESS_STEPS, about 5 ms. Steps, not time: on a busy machine time
# passes without the read being slow. Counted for the read: SQLite counts a statement's steps over all its runs.
INLINE_CHECKS = 25


class Readers:
    """A few connections, each with its own thread, and one for inline reads on the event loop's thread."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        public_url: str,
        times: QueueTimes,
        wait_seconds: float,
        folder: AssetsFolder | None = None,
    ) -> None:
        self._path = path
        self._clock = clock
        self._public_url = public_url
        self._folder = folder
        self._times = times
        self._wait_seconds = wait_seconds
        self._all: list[Connection] = []
        self._idle: list[Connection] = []
        self._inline: sqlite3.Connection | None = None
        self._checks_left = 0
        self.queue = FairQueue("readers", 0, times, wait_seconds=wait_seconds)

    async def open(self, count: int) -> None:
        """Open the connections."""
        for _ in range(count):
            self._all.append(await Connection.open(partial(connect, self._path, writes=False)))
        self._idle = list(self._all)
        quotas = (None, max(1, count - 1))  # a credential leaves one to the others
        self.queue = FairQueue("readers", count, self._times, quotas=quotas, wait_seconds=self._wait_seconds)
        self._inline = connect(self._path, writes=False, wait=0)
        self._inline.set_progress_handler(self._is_too_long, SHORT_PROGRESS_STEPS)

    async def close(self) -> None:
        """Close the connections."""
        for reader in self._all:
            await reader.close()
        if self._inline is not None:
            self._inline.close()

    async def read(self, work: Callable[[Read], T], *, inline: bool = False, fair_share: FairShare | None = None) -> T:
        """Run a unit that only reads, on a free reading connection.

        An `inline` unit, a few indexed look-ups, runs on the event loop's thread; if it takes too long, raises
        NeedsThread or the file is busy, it runs again on another one. Switching threads takes longer than such a unit:
        with it, one core answers 1,700 instead of 2,800 calls of get_ticket in a second (bench/reads.py).
        Callers get the readers round robin, by their fair shares; the server itself (None) waits as long as it takes.
        Raises Unavailable if the unit exceeds the time limit for reads, or has waited too long.
        """
        if inline:
            assert self._inline is not None
            self._reset_checks()
            try:
                return self._read_snapshot(work, self._inline, self._reset_checks, inline=True)
            except NeedsThread:
                pass
            except sqlite3.OperationalError as error:
                if not is_passing(error):
                    raise translate_error(error, self._path) from error
        async with self.queue.hold(fair_share or (0, 0), patient=fair_share is None):
            reader = self._idle.pop()
            try:
                return await reader.run(partial(self._read_with_deadline, work))
            except sqlite3.OperationalError as error:
                raise translate_error(error, self._path) from error
            finally:
                self._idle.append(reader)

    def _reset_checks(self) -> None:
        self._checks_left = INLINE_CHECKS

    def _is_too_long(self) -> bool:
        self._checks_left -= 1
        return self._checks_left < 0

    def _read_with_deadline(self, work: Callable[[Read], T], connection: sqlite3.Connection) -> T:
        deadline = time.monotonic() + READ_SECONDS
        overdue = lambda: time.monotonic() > deadline  # noqa: E731
        remove_limit = lambda: connection.set_progress_handler(None, 0)  # noqa: E731
        connection.set_progress_handler(overdue, PROGRESS_STEPS)
        try:
            return self._read_snapshot(work, connection, remove_limit, overdue)
        except MissingContent:  # unless it was deleted since the transaction began
            connection.set_progress_handler(overdue, PROGRESS_STEPS)
            return self._read_snapshot(work, connection, remove_limit, overdue)

    def _read_snapshot(
        self,
        work: Callable[[Read], T],
        connection: sqlite3.Connection,
        remove_limit: Callable[[], None],
        overdue: Callable[[], bool] = lambda: False,
        inline: bool = False,
    ) -> T:
        """Run a unit within a limit, then call `remove_limit`, because the limit would interrupt COMMIT too."""
        connection.execute("BEGIN")
        try:
            return work(Read(connection, self._clock.now(), overdue, self._public_url, inline, self._folder))
        finally:
            remove_limit()
            connection.execute("COMMIT")

"""The SQLite file: one writing connection, a few reading ones, and the transactions on them.

A unit of work is a plain function that runs completely on its connection's thread, so that nothing runs between
its statements and a cancelled request never leaves a partial one. The writer takes all waiting units, runs each in a
SAVEPOINT, commits them together, and only then returns their results (docs/develop/architecture.md, "The writer").
"""

import asyncio
import contextlib
import logging
import shutil
import sqlite3
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.fairness.fair_queue import FairQueue, FairShare
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.problems import Problem, StorageFull, Unavailable
from ticketbox.settings import DEFAULT_QUEUE_SECONDS
from ticketbox.store.file.connection import Connection, connect, get_log_paths
from ticketbox.store.file.errors import DiskFailed, FileLost, name_failure, translate_error
from ticketbox.store.file.folder.contents import AssetsFolder
from ticketbox.store.file.folder.sweep import UnusedFiles
from ticketbox.store.file.guard import FileGuard
from ticketbox.store.file.log_cleanup import LogCleanup
from ticketbox.store.file.readers import READERS, Readers
from ticketbox.store.file.transactions import CommittedEvent, Origin, Read, Row, Write
from ticketbox.store.file.units import UnitOfWork, UnitResult, return_results

__all__ = ["CommittedEvent", "Database", "FileSizes", "Origin", "Read", "Row", "Write"]

T = TypeVar("T")

MAX_UNITS = 128
LONG_LOG = 16 * 1024 * 1024

log = logging.getLogger("ticketbox.store")


class FileSizes(msgspec.Struct, frozen=True):
    """Bytes of the file, of its write-ahead log, and free on its disk."""

    file: int
    log: int
    free: int


class Database:
    """The open file. Use `await Database.open(path)`, then `read` and `write`."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        publish: Callable[[list[CommittedEvent]], None],
        public_url: str = "",
        wait_seconds: float = DEFAULT_QUEUE_SECONDS,
        checkpoints: bool = True,
        folder: AssetsFolder | None = None,
    ) -> None:
        self.path = path
        self._folder = folder
        self._unused_files = UnusedFiles(folder)
        self.public_url = public_url
        self.clock = clock
        self._publish = publish
        self.queue_times = QueueTimes()
        self._readers = Readers(path, clock, public_url, self.queue_times, wait_seconds, folder)
        self._writer: Connection | None = None
        self._waiting: deque[UnitOfWork] = deque()
        self._guard: FileGuard | None = None
        self._checkpoints = checkpoints
        self._cleanup = LogCleanup(self._unused_files, checkpoints=checkpoints)
        self.word_deletions = 0  # units that deleted text, whose words stay in the search index until it is merged
        self._disk_fault: StorageFull | DiskFailed | None = None  # of the last write
        self.write_failures: Counter[str] = Counter()
        self.written = self.commits = 0
        self._drain_task: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        path: Path,
        clock: Clock | None = None,
        *,
        readers: int = READERS,
        checkpoints: bool = True,
        publish: Callable[[list[CommittedEvent]], None] = lambda _: None,
        public_url: str = "",
        guard: FileGuard | None = None,
        folder: AssetsFolder | None = None,
        wait_seconds: float = DEFAULT_QUEUE_SECONDS,
    ) -> Self:
        """Open a migrated file. Only the server checkpoints, or a replicator in its place; commands never do.

        With a `guard`, reads and writes stop when the file is no longer the one that was locked. Without the `folder`
        of its assets, which the caller has locked, contents in it can't be read and new ones stay in the file.
        """
        self = cls(path, clock or Clock(), publish, public_url, wait_seconds, checkpoints, folder)
        self._guard = guard
        self._writer = await Connection.open(partial(connect, path, writes=True, checkpoints=checkpoints))
        await self._readers.open(readers)
        if guard is not None:
            guard.watch_log()
        await self._writer.run(self._unused_files.sweep)
        return self

    async def close(self) -> None:
        """Run the waiting units, then close every connection."""
        while self._drain_task is not None:
            await self._drain_task
        await self._cleanup.close()
        await self._readers.close()
        if self._writer is not None:
            await self._writer.close()

    @property
    def queue(self) -> FairQueue:
        """The queue of the reads that wait."""
        return self._readers.queue

    @property
    def backlog(self) -> int:
        """The number of units that wait for the writer."""
        return len(self._waiting)

    def measure_sizes(self) -> FileSizes:
        """Measure the file on its disk; `free` is that of the assets folder's disk if it has less."""
        log, _ = get_log_paths(self.path)
        taken = log.stat().st_size if log.exists() else 0
        free = shutil.disk_usage(self.path.absolute().parent).free
        if self._folder is not None:
            with contextlib.suppress(OSError):
                free = min(free, shutil.disk_usage(self._folder.path).free)
        return FileSizes(self.path.stat().st_size, taken, free)

    async def read(self, work: Callable[[Read], T], *, inline: bool = False, fair_share: FairShare | None = None) -> T:
        """Run a unit that only reads. Raises Unavailable if it takes too long, or waits too long for its turn."""
        return await self._readers.read(work, inline=inline, fair_share=fair_share)

    async def check_reads(self) -> None:
        """Check that the file and its assets folder are there, whole and readable, and that the last write succeeded.

        A full disk doesn't count: reads go on. Raises Unavailable.
        """
        self.refuse_damage()
        if isinstance(self._disk_fault, DiskFailed):
            raise DiskFailed
        if self._folder is not None and (fault := self._folder.find_fault()):
            raise Unavailable(f"{fault}; mount or restore it (docs/operate/assets.md)")
        await self.read(lambda tx: tx.fetch_value("SELECT 1"))

    def require_room(self, size: int) -> None:
        """Refuse slow work for a write of at least this size that will fail. Raises Unavailable and StorageFull.

        Free pages of the file can take a write on a full disk, so only a write that failed for lack of space says so.
        """
        self.refuse_damage()
        if isinstance(self._disk_fault, StorageFull) and self.measure_sizes().free < size:
            raise StorageFull

    def refuse_damage(self) -> None:
        """Raise FileLost if the file or its log is no longer the one that was opened, or is damaged; or DiskFailed."""
        try:
            fault = None if self._guard is None else self._guard.find_fault()
        except OSError as error:
            raise DiskFailed from error
        if fault is not None:
            raise FileLost(fault)

    async def check_writes(self) -> None:
        """Check that the file can be written. Raises the same errors as `write`."""
        await self.write(lambda _: None)

    async def write(self, work: Callable[[Write], T]) -> T:
        """Run a unit that writes; returns after its commit is on the disk.

        A unit that raises changes nothing. If the caller is cancelled, the unit still runs completely or not at all.
        Raises StorageFull if the disk is full.
        """
        loop = asyncio.get_running_loop()
        unit = UnitOfWork(work, loop.create_future(), loop.time())
        self._waiting.append(unit)
        if self._drain_task is None:
            self._drain_task = asyncio.create_task(self._drain())
        return await unit.future

    async def _drain(self) -> None:
        assert self._writer is not None
        now = asyncio.get_running_loop().time
        try:
            while self._waiting:
                count = min(len(self._waiting), MAX_UNITS)
                taken = [self._waiting.popleft() for _ in range(count)]
                units = [unit for unit in taken if not unit.future.done()]
                for unit in units:
                    self.queue_times.record_wait("writer", now() - unit.since)
                if not units:
                    continue
                try:
                    results = await self._writer.run(partial(self._commit, units))
                except Exception as error:
                    problem = translate_error(error, self.path)
                    known = isinstance(problem, Problem)
                    self.write_failures[name_failure(problem)] += len(units)
                    log.log(logging.WARNING if known else logging.ERROR, "a group of %d writes failed: %s", len(units),
                            error, exc_info=not known)  # fmt: skip
                    results = [UnitResult(error=problem) for _ in units]
                faults = [each.error for each in results if isinstance(each.error, StorageFull | DiskFailed)]
                self._disk_fault = faults[0] if faults else None
                self.written += len(units)
                self.commits += 1
                self._publish_events(results)
                return_results(units, results)
        finally:
            self._drain_task = None
            self._cleanup.retry(self.shrink_log)

    def _commit(self, units: list[UnitOfWork], connection: sqlite3.Connection) -> list[UnitResult]:
        self._require_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            results = [self._run_unit(unit, connection) for unit in units]
            connection.execute("COMMIT")
            self._require_log(connection)  # nothing is acknowledged that a kill would lose
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._unused_files.erase(connection)
            raise
        self.word_deletions += sum(result.deletes_words for result in results)
        if any(result.destroys for result in results):
            self._cleanup.must_truncate = True
        if self._cleanup.must_truncate:
            self._cleanup.truncate_log(connection)
        self._unused_files.erase(connection)
        return results

    def _require_log(self, connection: sqlite3.Connection) -> None:
        """Refuse damage as `refuse_damage`; first save what a lost log still holds for this connection."""
        try:
            self.refuse_damage()
        except FileLost:
            if self._guard is not None and not self._guard.has_damaged_log() and self._guard.find_lost_log():
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            raise

    def _clean_up(self, connection: sqlite3.Connection) -> None:
        self._require_log(connection)
        self._cleanup.truncate_log(connection)
        self._unused_files.erase(connection)

    async def sweep_folder(self) -> None:
        """Erase unused files in some parts of the assets folder, such as those of a command that was killed."""
        assert self._writer is not None
        await self._writer.run(self._unused_files.sweep_next)

    async def truncate_log(self) -> None:
        """Empty the write-ahead log, which holds what was destroyed. Only for the server."""
        self._cleanup.must_truncate = True
        await self.shrink_log()

    async def shrink_log(self) -> None:
        """Empty the write-ahead log if it is long, or has content that was destroyed. Only for the server."""
        assert self._writer is not None
        if self._cleanup.is_due() or (self._checkpoints and self.measure_sizes().log > LONG_LOG):
            await self._writer.run(self._clean_up)

    def _run_unit(self, unit: UnitOfWork, connection: sqlite3.Connection) -> UnitResult:
        tx = Write(connection, self.clock.now(), self.public_url, self._folder)
        connection.execute("SAVEPOINT unit")
        try:
            result = UnitResult(unit.work(tx), None, tx.events, tx.destroys, tx.after_commit, tx.deletes_words)
        except Exception as error:
            if not connection.in_transaction:  # SQLite rolled the whole group back, as on a full disk
                raise
            connection.execute("ROLLBACK TO unit")
            result = UnitResult(error=translate_error(error, self.path))
            if isinstance(result.error, StorageFull | DiskFailed):
                self.write_failures[name_failure(result.error)] += 1
        finally:
            self._unused_files.add(tx.unused_files)
        connection.execute("RELEASE unit")
        return result

    def _publish_events(self, results: list[UnitResult]) -> None:
        events = [event for result in results for event in result.events]
        try:
            if events:
                self._publish(events)
        except Exception:
            log.exception("publishing %d events failed; they are stored", len(events))

"""The SQLite file: one writing connection, a few reading ones, and the transactions on them.

A unit of work is a plain function that runs whole on its connection's own thread, so nothing can
come between its statements and a cancelled request leaves no half of one. The writer takes all
units that wait, gives each a SAVEPOINT, commits them together and only then answers
(docs/develop/architecture.md, "The writer").
"""

import asyncio
import logging
import shutil
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from ticketbox.domain.core.clock import Clock
from ticketbox.domain.core.problems import Problem, StorageFull, Unavailable
from ticketbox.store.file.connection import Connection, connect

T = TypeVar("T")
Row = tuple[Any, ...]
Parameters = Mapping[str, Any] | Sequence[Any]

READERS = 3
MAX_UNITS = 128
READ_SECONDS = 5.0
# A brief read has so many steps of SQLite's machine, about 5 ms, on the event loop's own thread. Steps and
# not time: on a busy machine time runs out without a fault of the read's own. They are counted in strides,
# because SQLite counts a statement's steps over all its runs.
BRIEF_STRIDES = 25
_STRIDE = 2_000
_PROGRESS_STEPS = 20_000
_DISK_FULL_CODES = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
}

_RETRY_ON_THREAD_CODES = {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

log = logging.getLogger("ticketbox.store")


class CommittedEvent(msgspec.Struct, frozen=True):
    """An event as it left its transaction, for those who listen; 0 as its id says that no row stands for it."""

    id: int
    type: str
    company: int | None
    project: int | None
    ticket: int | None
    credential: int | None


class Read:
    """A transaction that reads: a consistent picture of the file at one moment."""

    def __init__(self, connection: sqlite3.Connection, now: int, overdue: Callable[[], bool] = lambda: False) -> None:
        self.connection = connection
        self.now = now
        self._overdue = overdue

    def all(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run a query and return every row."""
        return self.connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, parameters: Parameters = ()) -> Row | None:
        """Run a query and return its first row, if any."""
        return self.connection.execute(sql, parameters).fetchone()

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Run a query and return the first column of its first row, or None."""
        row = self.connection.execute(sql, parameters).fetchone()
        return row[0] if row else None

    def some(self, sql: str, parameters: Parameters, deadline: float) -> tuple[list[Row], bool]:
        """Run a query until a moment of the monotonic clock; returns its rows so far, and whether it came to its end.

        Not for brief units, whose limit is counted in steps.
        """
        rows: list[Row] = []
        late = lambda: time.monotonic() > deadline or self._overdue()  # noqa: E731
        self.connection.set_progress_handler(late, _STRIDE)
        try:
            rows.extend(self.connection.execute(sql, parameters))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT or self._overdue():
                raise
            return rows, False
        finally:
            self.connection.set_progress_handler(self._overdue, _PROGRESS_STEPS)
        return rows, True


class Write(Read):
    """A transaction that changes rows. Its events leave after the commit."""

    def __init__(self, connection: sqlite3.Connection, now: int) -> None:
        super().__init__(connection, now)
        self.events: list[CommittedEvent] = []

    def wake_jobs(self) -> None:
        """Make the jobs look at once, after the commit, for work that no event tells them of."""
        self.events.append(
            CommittedEvent(0, "work.waits", 0, None, None, None)
        )  # of no company, so no listener's concern

    def run(self, sql: str, parameters: Parameters = ()) -> int:
        """Run a statement and return the number of rows that it changed."""
        return self.connection.execute(sql, parameters).rowcount

    def insert(self, sql: str, parameters: Parameters = ()) -> int:
        """Run an INSERT and return the new row's key."""
        key = self.connection.execute(sql, parameters).lastrowid
        assert key is not None
        return key

    def many(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Run a statement once for each row of parameters."""
        self.connection.executemany(sql, rows)

    def step(self, work: Callable[[], T]) -> T:
        """Run a part that is undone as a whole if it raises, while the transaction goes on."""
        self.connection.execute("SAVEPOINT step")
        kept = len(self.events)
        try:
            return work()
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO step")
            del self.events[kept:]
            raise
        finally:
            if self.connection.in_transaction:
                self.connection.execute("RELEASE step")


class UnitOfWork(msgspec.Struct):
    """A unit of work that waits for the writer."""

    work: Callable[[Write], Any]
    future: asyncio.Future[Any]


class UnitResult(msgspec.Struct):
    """What became of a unit, before anyone is told."""

    value: Any = None
    error: BaseException | None = None
    events: list[CommittedEvent] = []


class FileSizes(msgspec.Struct, frozen=True):
    """Bytes of the file, of its write-ahead log, and of free room on its disk."""

    file: int
    log: int
    free: int


class Database:
    """The open file. Use `await Database.open(path)`, then `read` and `write`."""

    def __init__(self, path: Path, clock: Clock, publish: Callable[[list[CommittedEvent]], None]) -> None:
        self.path = path
        self.clock = clock
        self._publish = publish
        self._readers: list[Connection] = []
        self._idle: list[Connection] = []
        self._vacant = asyncio.Semaphore(0)
        self._here: sqlite3.Connection | None = None
        self._strides = 0
        self._writer: Connection | None = None
        self._waiting: deque[UnitOfWork] = deque()
        self.written = self.commits = 0
        self._draining: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        path: Path,
        clock: Clock | None = None,
        *,
        readers: int = READERS,
        checkpoints: bool = True,
        publish: Callable[[list[CommittedEvent]], None] = lambda _: None,
    ) -> Self:
        """Open a migrated file. `checkpoints` is for the one server; commands beside it never do."""
        self = cls(path, clock or Clock(), publish)
        self._writer = await Connection.open(partial(connect, path, writes=True, checkpoints=checkpoints))
        for _ in range(readers):
            reader = await Connection.open(partial(connect, path, writes=False))
            self._readers.append(reader)
            self._idle.append(reader)
            self._vacant.release()
        self._here = connect(path, writes=False, wait=0)
        self._here.set_progress_handler(self._step, _STRIDE)
        return self

    async def close(self) -> None:
        """Finish what waits for the writer, then close every connection."""
        while self._draining is not None:
            await self._draining
        for reader in self._readers:
            await reader.close()
        if self._here is not None:
            self._here.close()
        if self._writer is not None:
            await self._writer.close()

    @property
    def backlog(self) -> int:
        """How many units wait for the writer."""
        return len(self._waiting)

    def sizes(self) -> FileSizes:
        """What the file takes on its disk."""
        log = self.path.with_name(f"{self.path.name}-wal")
        taken = log.stat().st_size if log.exists() else 0
        return FileSizes(self.path.stat().st_size, taken, shutil.disk_usage(self.path.absolute().parent).free)

    async def read(self, work: Callable[[Read], T], *, brief: bool = False) -> T:
        """Run a unit that only reads, on a free reading connection.

        A `brief` unit, a few indexed look-ups, costs less than the way to another thread and back, so it
        runs right here; should it take longer than it promised, or the file be busy, it is broken off and
        run again on a thread. Raises Unavailable when the unit runs into the time limit for reads.
        """
        if brief:
            assert self._here is not None
            self._allow_brief()
            try:
                return self._glance(work, self._here, self._allow_brief)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _RETRY_ON_THREAD_CODES:
                    raise _translate_error(error) from error
        async with self._vacant:
            reader = self._idle.pop()
            try:
                return await reader.run(partial(self._look, work))
            except sqlite3.OperationalError as error:
                raise _translate_error(error) from error
            finally:
                self._idle.append(reader)

    def _allow_brief(self) -> None:
        self._strides = BRIEF_STRIDES

    def _step(self) -> bool:
        self._strides -= 1
        return self._strides < 0

    def _look(self, work: Callable[[Read], T], connection: sqlite3.Connection) -> T:
        deadline = time.monotonic() + READ_SECONDS
        overdue = lambda: time.monotonic() > deadline  # noqa: E731
        connection.set_progress_handler(overdue, _PROGRESS_STEPS)
        return self._glance(work, connection, lambda: connection.set_progress_handler(None, 0), overdue)

    def _glance(
        self,
        work: Callable[[Read], T],
        connection: sqlite3.Connection,
        lift: Callable[[], None],
        overdue: Callable[[], bool] = lambda: False,
    ) -> T:
        """Run a unit within a limit, and `lift` the limit for the end: COMMIT would be broken off by it too."""
        connection.execute("BEGIN")
        try:
            return work(Read(connection, self.clock.now(), overdue))
        finally:
            lift()
            connection.execute("COMMIT")

    async def ping(self) -> None:
        """Prove that the file can still be read."""
        await self.read(lambda tx: tx.value("SELECT 1"))

    async def pulse(self) -> None:
        """Prove that the writer takes units. Raises what a write would."""
        await self.write(lambda _: None)

    async def write(self, work: Callable[[Write], T]) -> T:
        """Run a unit that writes; returns after its commit is on the disk.

        A unit that raises leaves nothing behind. Cancelling the caller doesn't cut a unit in two: it
        is then done whole or not at all. Raises StorageFull when the disk is full.
        """
        unit = UnitOfWork(work, asyncio.get_running_loop().create_future())
        self._waiting.append(unit)
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return await unit.future

    async def _drain(self) -> None:
        assert self._writer is not None
        try:
            while self._waiting:
                count = min(len(self._waiting), MAX_UNITS)
                taken = [self._waiting.popleft() for _ in range(count)]
                units = [unit for unit in taken if not unit.future.done()]
                if not units:
                    continue
                try:
                    outcomes = await self._writer.run(partial(self._commit, units))
                except Exception as error:
                    problem = _translate_error(error)
                    known = isinstance(problem, Problem)
                    log.log(logging.WARNING if known else logging.ERROR, "a group of %d writes failed: %s", len(units),
                            error, exc_info=not known)  # fmt: skip
                    outcomes = [UnitResult(error=problem) for _ in units]
                self.written += len(units)
                self.commits += 1
                self._answer(units, outcomes)
        finally:
            self._draining = None

    def _commit(self, units: list[UnitOfWork], connection: sqlite3.Connection) -> list[UnitResult]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            outcomes = [self._attempt(unit, connection) for unit in units]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return outcomes

    def _attempt(self, unit: UnitOfWork, connection: sqlite3.Connection) -> UnitResult:
        tx = Write(connection, self.clock.now())
        connection.execute("SAVEPOINT unit")
        try:
            outcome = UnitResult(value=unit.work(tx), events=tx.events)
        except Exception as error:
            if not connection.in_transaction:  # SQLite gave the whole group up, as on a full disk
                raise
            connection.execute("ROLLBACK TO unit")
            outcome = UnitResult(error=_translate_error(error))
        connection.execute("RELEASE unit")
        return outcome

    def _answer(self, units: list[UnitOfWork], outcomes: list[UnitResult]) -> None:
        events = [event for outcome in outcomes for event in outcome.events]
        try:
            if events:
                self._publish(events)
        except Exception:
            log.exception("telling of %d events failed; they are in the file", len(events))
        for unit, outcome in zip(units, outcomes, strict=True):
            if unit.future.done():
                continue
            if outcome.error is not None:
                unit.future.set_exception(outcome.error)
            else:
                unit.future.set_result(outcome.value)


def _translate_error(error: Exception) -> Exception:
    """Turn SQLite's own errors that a caller can understand into problems; keep all others."""
    if isinstance(error, Problem) or not isinstance(error, sqlite3.OperationalError):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    if code in _DISK_FULL_CODES:
        return StorageFull()
    if code == sqlite3.SQLITE_INTERRUPT:
        return Unavailable("the question took too long; narrow it by project, status or time")
    if code is not None and code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Unavailable("the database is busy with another command; try again")
    return error

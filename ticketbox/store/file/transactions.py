"""Transactions: how a unit of work reads and writes, and the events that are published after its commit."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.store.file.folder.contents import AssetsFolder

T = TypeVar("T")
Row = tuple[Any, ...]
Parameters = Mapping[str, Any] | Sequence[Any]

# How many steps of SQLite's virtual machine run between two checks of a time limit.
PROGRESS_STEPS = 20_000
SHORT_PROGRESS_STEPS = 2_000

DEFAULT_CEILINGS = Ceilings()


class CommittedEvent(msgspec.Struct, frozen=True):
    """An event as published to listeners after the commit. The id is 0 if it isn't stored."""

    id: int
    type: str
    company: int | None
    project: int | None
    ticket: int | None
    credential: int | None


class NeedsThread(Exception):
    """A unit of work on the event loop's thread turned out to be slow; it runs again on another thread."""


class Read:
    """A reading transaction: a consistent snapshot of the file.

    `public_url` is the server's, for links, and `ceilings` are the operator's. `inline` says whether it runs on
    the event loop's thread. `folder` has the large contents, if the file has one.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        now: int,
        overdue: Callable[[], bool] = lambda: False,
        public_url: str = "",
        inline: bool = False,
        folder: AssetsFolder | None = None,
    ) -> None:
        self.connection = connection
        self.now = now
        self.public_url = public_url
        self.ceilings = DEFAULT_CEILINGS
        self.folder = folder
        self._overdue = overdue
        self._inline = inline

    def require_thread(self) -> None:
        """Continue only on a thread where slow work delays nobody. Raises NeedsThread elsewhere."""
        if self._inline:
            raise NeedsThread

    def fetch_all(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run a query and return every row."""
        return self.connection.execute(sql, parameters).fetchall()

    def fetch_one(self, sql: str, parameters: Parameters = ()) -> Row | None:
        """Run a query and return its first row, if any."""
        return self.connection.execute(sql, parameters).fetchone()

    def fetch_value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Run a query and return the first column of its first row, or None."""
        row = self.connection.execute(sql, parameters).fetchone()
        return row[0] if row else None

    def fetch_until(self, sql: str, parameters: Parameters, deadline: float) -> tuple[list[Row], bool]:
        """Run a query until a deadline of the monotonic clock; return its rows so far, and whether it finished.

        Not for inline units, whose limit is counted in steps.
        """
        rows: list[Row] = []
        is_late = lambda: time.monotonic() > deadline or self._overdue()  # noqa: E731
        self.connection.set_progress_handler(is_late, SHORT_PROGRESS_STEPS)
        try:
            rows.extend(self.connection.execute(sql, parameters))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT or self._overdue():
                raise
            return rows, False
        finally:
            self.connection.set_progress_handler(self._overdue, PROGRESS_STEPS)
        return rows, True


class Origin(msgspec.Struct, frozen=True):
    """Where a call comes from, for sessions and security events: the client's address and program, if it is known.

    `device_hash` is the hash of the secret in the cookie of the device. `sends_email` says whether the server has a
    mail server, and `has_waited` whether the call waited, so that its client may be gone.
    """

    address: str = ""
    user_agent: str = ""
    device_hash: bytes | None = None
    sends_email: bool = False
    has_waited: bool = False


class Write(Read):
    """A writing transaction. Its events are published after the commit, and then `after_commit` is called.

    Files of `unused_files` are erased after the commit, unless a row refers to them then.
    """

    def __init__(
        self, connection: sqlite3.Connection, now: int, public_url: str = "", folder: AssetsFolder | None = None
    ) -> None:
        super().__init__(connection, now, public_url=public_url, folder=folder)
        self.events: list[CommittedEvent] = []
        self.after_commit: list[Callable[[], None]] = []
        self.origin = Origin()
        self.deletes_words = False  # whether words must also disappear from the search index
        self.unused_files: set[str] = set()
        self.destroys = False  # whether bytes must also disappear from the write-ahead log

    def wake_jobs(self) -> None:
        """Wake the jobs after the commit, for work that has no event."""
        # Without a company, so that event streams ignore it.
        self.events.append(CommittedEvent(0, "work.waits", 0, None, None, None))

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run a statement and return the number of rows that it changed."""
        return self.connection.execute(sql, parameters).rowcount

    def insert(self, sql: str, parameters: Parameters = ()) -> int:
        """Run an INSERT and return the new row's key."""
        key = self.connection.execute(sql, parameters).lastrowid
        assert key is not None
        return key

    def execute_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Run a statement once for each row of parameters."""
        self.connection.executemany(sql, rows)

    def run_step(self, work: Callable[[], T]) -> T:
        """Run a step that is rolled back if it raises, while the transaction continues."""
        self.connection.execute("SAVEPOINT step")
        before = len(self.events)
        try:
            return work()
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO step")
            del self.events[before:]
            raise
        finally:
            if self.connection.in_transaction:
                self.connection.execute("RELEASE step")

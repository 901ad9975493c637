"""Listeners for new events: open event streams and waiting calls. Commits wake them; their number is limited.

A listener holds only a flag and reads its events from the database, so a slow one uses no memory (docs/use/events.md).
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence

import msgspec

from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import RateLimited, Unavailable
from ticketbox.domain.events.records import Event
from ticketbox.store.file import database

HEARTBEAT_SECONDS = 20.0
# The pause between two reads of one listener: it reads the first event immediately, and batches those that follow.
PAUSE_SECONDS = 0.1
MAX_LISTENERS = 500
MAX_LISTENERS_PER_CREDENTIAL = 20
MAX_WAITING = 4000
MAX_WAITING_PER_CREDENTIAL = 250
_RETRY_SECONDS = 10


class EventBatch(msgspec.Struct, frozen=True):
    """New events. `last` is the id to continue after; `more` says that more events are available now.

    `reset` says that the id in the request is greater than the newest event's: the database was restored from an
    older backup, and the caller must reload its data.
    """

    items: list[Event]
    last: str
    more: bool
    reset: bool


class Interest(msgspec.Struct, frozen=True):
    """The events about tickets that wake a listener: of these types, and of one project. None means all."""

    types: frozenset[str] | None = None
    project: int | None = None

    def includes(self, event: database.CommittedEvent) -> bool:
        """Whether an event is of interest. One that isn't about a ticket always is: it can change the access."""
        return event.ticket is None or (
            (self.types is None or event.type in self.types) and self.project in {None, event.project}
        )


EVERYTHING = Interest()


class Listener:
    """A listener: the companies and events that it waits for, and whether there may be new ones."""

    def __init__(self, actor: Actor) -> None:
        self.credential = actor.credential
        self.companies = collect_company_keys(actor)
        self.interest = EVERYTHING
        self.ended = False
        self._woken = asyncio.Event()
        self._rested = 0.0

    def wake(self) -> None:
        """Report that there may be new events."""
        self._woken.set()

    def end(self) -> None:
        """End the stream, or the wait."""
        self.ended = True
        self._woken.set()

    def is_concerned(self, events: Sequence[database.CommittedEvent]) -> bool:
        """Whether one of these events may be new for the listener."""
        return any(
            (event.company is None or event.company in self.companies) and self.interest.includes(event)
            for event in events
        )

    async def wait(self, seconds: float) -> bool:
        """Wait for new events, and for the end of the pause after the last read. Return False after a timeout."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        now = asyncio.get_running_loop().time
        if not self.ended and self._rested > now():
            await asyncio.sleep(self._rested - now())
        self._woken.clear()
        self._rested = now() + PAUSE_SECONDS
        return True


class _Group:
    """The listeners of one kind, and how many each credential has."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.count_by_credential: Counter[int] = Counter()


class Listeners:
    """All open event streams and waiting calls."""

    def __init__(self) -> None:
        self._streams = _Group()
        self._calls = _Group()
        self._callbacks: list[Callable[[], None]] = []
        self._closed = False
        self._queue: deque[Listener] = deque()
        self._waking: asyncio.Task[None] | None = None
        self.published = 0

    def __len__(self) -> int:
        return len(self._streams.listeners) + len(self._calls.listeners)

    @property
    def waiting(self) -> int:
        """The number of waiting calls."""
        return len(self._calls.listeners)

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Add a function to call after each commit that records events."""
        self._callbacks.append(callback)

    def publish(self, events: Sequence[database.CommittedEvent]) -> None:
        """Wake the listeners that the events concern; an event without a company concerns all companies."""
        self.published += 1
        for group in (self._streams, self._calls):
            self._queue.extend(listener for listener in group.listeners if listener.is_concerned(events))
        if self._queue and self._waking is None:
            self._waking = asyncio.create_task(self._wake_queued())
        for callback in self._callbacks:
            callback()

    async def _wake_queued(self) -> None:
        """Wake one listener in each round of the event loop, so that other requests run in between."""
        try:
            while self._queue:
                self._queue.popleft().wake()
                await asyncio.sleep(0)
        finally:
            self._waking = None

    def listen(self, actor: Actor) -> contextlib.AbstractContextManager[Listener]:
        """Open an event stream for the length of a `with` block.

        Raises RateLimited if the credential has too many, and Unavailable if the server has, or is stopping.
        """
        return self._open(self._streams, actor, MAX_LISTENERS, MAX_LISTENERS_PER_CREDENTIAL, "open event streams")

    def wait(self, actor: Actor) -> contextlib.AbstractContextManager[Listener]:
        """Open a waiting call for the length of a `with` block. Raises the same as `listen`."""
        return self._open(self._calls, actor, MAX_WAITING, MAX_WAITING_PER_CREDENTIAL, "waiting calls")

    @contextlib.contextmanager
    def _open(self, group: _Group, actor: Actor, most: int, most_of_one: int, noun: str) -> Generator[Listener]:
        if self._closed:
            raise Unavailable("the server is stopping; try again later")
        if len(group.listeners) >= most:
            raise Unavailable(f"the server has {most} {noun}, the maximum; try again later")
        if group.count_by_credential[actor.credential] >= most_of_one:
            raise RateLimited(_RETRY_SECONDS, f"this credential has {most_of_one} {noun}, the maximum; close one")
        listener = Listener(actor)
        group.listeners.add(listener)
        group.count_by_credential[listener.credential] += 1
        try:
            yield listener
        finally:
            group.listeners.discard(listener)
            group.count_by_credential[listener.credential] -= 1
            if not group.count_by_credential[listener.credential]:
                del group.count_by_credential[listener.credential]

    def close(self) -> None:
        """End all streams and waits, and open no more."""
        self._closed = True
        for listener in (*self._streams.listeners, *self._calls.listeners):
            listener.end()


def collect_company_keys(actor: Actor) -> frozenset[int]:
    """Return the keys of the companies whose events an actor receives."""
    return frozenset(membership.company for membership in actor.permitted_memberships)

"""Listeners for new events. The writer wakes them; their number is limited.

A listener holds only a flag and reads its events from the database, so a slow one uses no memory (docs/use/events.md).
"""

import asyncio
import contextlib
from collections import Counter
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


class Listener:
    """An open event stream: the companies whose events it receives, and whether there may be new ones."""

    def __init__(self, actor: Actor) -> None:
        self.credential = actor.credential
        self.companies = collect_company_keys(actor)
        self.ended = False
        self._woken = asyncio.Event()
        self._rested = 0.0

    def wake(self) -> None:
        """Report that there may be new events."""
        self._woken.set()

    def end(self) -> None:
        """End the stream."""
        self.ended = True
        self._woken.set()

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


class Listeners:
    """All open event streams."""

    def __init__(self) -> None:
        self._open: set[Listener] = set()
        self._count_by_credential: Counter[int] = Counter()
        self._callbacks: list[Callable[[], None]] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._open)

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Add a function to call after each commit that records events."""
        self._callbacks.append(callback)

    def publish(self, events: Sequence[database.CommittedEvent]) -> None:
        """Wake the listeners of the events' companies; an event without a company wakes all listeners."""
        companies = {event.company for event in events}
        for listener in self._open:
            if None in companies or not companies.isdisjoint(listener.companies):
                listener.wake()
        for callback in self._callbacks:
            callback()

    @contextlib.contextmanager
    def listen(self, actor: Actor) -> Generator[Listener]:
        """Open a listener for the length of a `with` block.

        Raises RateLimited if the credential has too many, and Unavailable if the server has, or is stopping.
        """
        if self._closed:
            raise Unavailable("the server is stopping; try again later")
        if len(self._open) >= MAX_LISTENERS:
            raise Unavailable(f"the server has {MAX_LISTENERS} open event streams, the maximum; try again later")
        if self._count_by_credential[actor.credential] >= MAX_LISTENERS_PER_CREDENTIAL:
            raise RateLimited(
                _RETRY_SECONDS,
                f"this credential has {MAX_LISTENERS_PER_CREDENTIAL} open event streams, the maximum; close one",
            )
        listener = Listener(actor)
        self._open.add(listener)
        self._count_by_credential[listener.credential] += 1
        try:
            yield listener
        finally:
            self._open.discard(listener)
            self._count_by_credential[listener.credential] -= 1
            if not self._count_by_credential[listener.credential]:
                del self._count_by_credential[listener.credential]

    def close(self) -> None:
        """End all streams, and open no more."""
        self._closed = True
        for listener in self._open:
            listener.end()


def collect_company_keys(actor: Actor) -> frozenset[int]:
    """Return the keys of the companies whose events an actor receives."""
    return frozenset(membership.company for membership in actor.permitted_memberships)

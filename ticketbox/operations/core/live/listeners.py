"""Listeners for new events: open event streams and waiting calls. Commits wake them; their number is limited.

A listener holds only a flag and reads its events from the database, so a slow one uses no memory (docs/use/events.md).
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import RateLimited, Unavailable
from ticketbox.domain.events.records import Event
from ticketbox.operations.core.live.presence import Presence, TabKey
from ticketbox.settings import DEFAULT_EVENT_STREAMS
from ticketbox.store.file import database

HEARTBEAT_SECONDS = 20.0
# The pause between two reads of one listener: it reads the first event immediately, and batches those that follow.
# With many listeners it is longer, so that all together they read a thousand times a second at most.
PAUSE_SECONDS = 0.1
PAUSE_FOR_EACH = 0.001
MAX_LISTENERS = DEFAULT_EVENT_STREAMS
MAX_LISTENERS_PER_CREDENTIAL = 20
MAX_WAITING = 4000
MAX_WAITING_PER_CREDENTIAL = 250
# An account's and a company's part of all streams, and of all waiting calls.
ACCOUNT_QUOTA = 0.1
WAITING_ACCOUNT_QUOTA = 0.25  # the agents of a team often have one account
COMPANY_QUOTA = 0.5
_RETRY_SECONDS = 10


class EventBatch(msgspec.Struct, frozen=True):
    """New events. `last` is the id to continue after; `more` says that more events are available now.

    `reset` says that the id in the request is greater than the newest event's: the database was restored from an
    older backup, and the caller must reload its data. `viewed` names the tickets that other people opened or left.
    """

    items: list[Event]
    last: str
    more: bool
    reset: bool
    viewed: frozenset[str] = frozenset()


class Subscription(msgspec.Struct, frozen=True):
    """The events about tickets that wake a listener: of these types, of one project or ticket. None means all."""

    types: frozenset[str] | None = None
    project: int | None = None
    ticket: int | None = None

    def includes(self, event: database.CommittedEvent) -> bool:
        """Whether an event is included. One that isn't about a ticket always is: it can change the access."""
        return event.ticket is None or (
            (self.types is None or event.type in self.types)
            and self.project in {None, event.project}
            and self.ticket in {None, event.ticket}
        )


EVERYTHING = Subscription()


class Listener:
    """A listener: the companies and events that it waits for, and whether there may be new ones."""

    def __init__(
        self,
        actor: Actor,
        measure_pause: Callable[[], float] = lambda: PAUSE_SECONDS,
        call_id: int | str | None = None,
    ) -> None:
        self._measure_pause = measure_pause
        self.call = actor.credential, call_id
        self.companies = collect_company_keys(actor)
        self.subscription = EVERYTHING
        self.ended = False
        self._viewed: set[str] = set()
        self._woken = asyncio.Event()
        self._rested = 0.0

    def wake(self) -> None:
        """Report that there may be new events."""
        self._woken.set()

    def report_viewers(self, ticket: str) -> None:
        """Report that a ticket has other viewers than before."""
        self._viewed.add(ticket)
        self._woken.set()

    def take_viewed(self) -> frozenset[str]:
        """Return the tickets that have other viewers than at the last call."""
        viewed = frozenset(self._viewed)
        self._viewed.clear()
        return viewed

    def end(self) -> None:
        """End the stream, or the wait."""
        self.ended = True
        self._woken.set()

    def is_concerned(self, events: Sequence[database.CommittedEvent]) -> bool:
        """Whether one of these events may be new for the listener."""
        return any(
            (event.company is None or event.company in self.companies) and self.subscription.includes(event)
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
        self._rested = now() + self._measure_pause()
        return True


class _Group:
    """The listeners of one kind, and how many each credential, account and company has."""

    def __init__(self, queue: str, account_quota: float) -> None:
        self.queue = queue
        self.account_quota = account_quota
        self.listeners: set[Listener] = set()
        self.counts: Counter[tuple[str, int]] = Counter()

    def measure_pause(self) -> float:
        """Return the seconds between two reads of one of the listeners."""
        return max(PAUSE_SECONDS, PAUSE_FOR_EACH * len(self.listeners))


class Listeners:
    """All open event streams and waiting calls."""

    def __init__(self, max_streams: int | None = None) -> None:
        self._streams = _Group("event_streams", ACCOUNT_QUOTA)
        self._calls = _Group("waiting_calls", WAITING_ACCOUNT_QUOTA)
        self._max_streams = MAX_LISTENERS if max_streams is None else max_streams
        self._tabs: dict[TabKey, Listener] = {}
        self.presence = Presence(self._report_viewers)
        self._callbacks: list[Callable[[], None]] = []
        self._closed = False
        self._queue: deque[Listener] = deque()
        self._waking: asyncio.Task[None] | None = None
        self.published = 0
        self.refusals: Counter[tuple[str, str]] = Counter()  # by queue and reason

    def __len__(self) -> int:
        return len(self._streams.listeners) + len(self._calls.listeners)

    @property
    def streams(self) -> int:
        """The number of open event streams."""
        return len(self._streams.listeners)

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

    @contextlib.contextmanager
    def listen(self, actor: Actor, name: str | None = None) -> Generator[Listener]:
        """Open an event stream for the length of a `with` block. Its name is that of a tab in `presence`.

        Raises RateLimited if the credential or account has too many, and Unavailable if the company or the server has,
        or if the server is stopping.
        """
        most_of_one, noun = MAX_LISTENERS_PER_CREDENTIAL, "open event streams"
        with self._open(self._streams, actor, self._max_streams, most_of_one, noun) as listener:
            if name is None:
                yield listener
                return
            tab = actor.credential, name
            self._tabs[tab] = listener
            try:
                yield listener
            finally:
                if self._tabs.get(tab) is listener:  # the tab has not connected again
                    del self._tabs[tab]
                    self.presence.leave(tab)

    def _report_viewers(self, tab: TabKey, ticket: str) -> None:
        if listener := self._tabs.get(tab):
            listener.report_viewers(ticket)

    def wait(self, actor: Actor, call_id: int | str | None = None) -> contextlib.AbstractContextManager[Listener]:
        """Open a waiting call for the length of a `with` block. Raises the same as `listen`."""
        return self._open(self._calls, actor, MAX_WAITING, MAX_WAITING_PER_CREDENTIAL, "waiting calls", call_id)

    def cancel(self, actor: Actor, call_id: int | str) -> None:
        """End the waits of the calls that a credential has made with an id.

        Clients that share a token can use the same id at the same time. A wait that ends early is harmless: it has the
        same answer as one whose time is over.
        """
        for listener in self._calls.listeners:
            if listener.call == (actor.credential, call_id):
                listener.end()

    @contextlib.contextmanager
    def _open(
        self, group: _Group, actor: Actor, most: int, most_of_one: int, noun: str, call_id: int | str | None = None
    ) -> Generator[Listener]:
        if self._closed:
            raise Unavailable("the server is stopping; try again later")
        listener = Listener(actor, group.measure_pause, call_id)
        limits = {
            ("credential", actor.credential): most_of_one,
            ("account", actor.user): int(most * group.account_quota),
        }
        limits |= {("company", company): int(most * COMPANY_QUOTA) for company in listener.companies}
        for (who, key), limit in limits.items():
            if group.counts[who, key] >= max(limit, 1):
                self.refusals[group.queue, who] += 1
                detail = f"this {who} has {limit} {noun}, the maximum"
                if who == "company":
                    raise Unavailable(f"{detail}; try again later", retry_after=_RETRY_SECONDS)
                raise RateLimited(_RETRY_SECONDS, f"{detail}; close one")
        if len(group.listeners) >= most:
            self.refusals[group.queue, "server"] += 1
            raise Unavailable(f"the server has {most} {noun}, the maximum; try again later", retry_after=_RETRY_SECONDS)
        group.listeners.add(listener)
        group.counts.update(limits.keys())
        try:
            yield listener
        finally:
            group.listeners.discard(listener)
            for each in limits:
                group.counts[each] -= 1
                if not group.counts[each]:
                    del group.counts[each]

    def close(self) -> None:
        """End all streams and waits, and open no more."""
        self._closed = True
        for listener in (*self._streams.listeners, *self._calls.listeners):
            listener.end()


def collect_company_keys(actor: Actor) -> frozenset[int]:
    """Return the keys of the companies whose events an actor receives."""
    return frozenset(membership.company for membership in actor.permitted_memberships)

"""Who listens to events as they happen: bounded in number, woken by the writer, holding nothing but a flag.

A listener's events stay in the table until it reads them; so a slow one costs no memory (docs/use/events.md).
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
# Between two readings of one listener. The first event is read at once; what follows it so closely comes together.
PAUSE_SECONDS = 0.1
MAX_LISTENERS = 500
MAX_LISTENERS_PER_CREDENTIAL = 20
_RETRY_SECONDS = 10


class EventBatch(msgspec.Struct, frozen=True):
    """What is new. `last` is the id to go on after; `more` says that there is more right now.

    `reset` says that the id that was asked for is still to come: the file was restored from a backup since, and
    what the caller holds may not be so any more.
    """

    items: list[Event]
    last: str
    more: bool
    reset: bool


class Listener:
    """One who listens: the companies that concern it, and whether there may be something new for it."""

    def __init__(self, actor: Actor) -> None:
        self.credential = actor.credential
        self.companies = company_keys(actor)
        self.ended = False
        self._woken = asyncio.Event()
        self._rested = 0.0

    def wake(self) -> None:
        """There may be something new."""
        self._woken.set()

    def end(self) -> None:
        """There won't be anything any more."""
        self.ended = True
        self._woken.set()

    async def wait(self, seconds: float) -> bool:
        """Wait until it is woken, and until the pause after the last time is over; False when nothing happened."""
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
    """All who listen."""

    def __init__(self) -> None:
        self._open: set[Listener] = set()
        self._of: Counter[int] = Counter()
        self._told: list[Callable[[], None]] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._open)

    def tell(self, wake: Callable[[], None]) -> None:
        """Call this after every commit with events, for as long as the server runs."""
        self._told.append(wake)

    def publish(self, events: Sequence[database.CommittedEvent]) -> None:
        """Wake those whom events concern; one that belongs to no company concerns everybody."""
        companies = {event.company for event in events}
        for listener in self._open:
            if None in companies or not companies.isdisjoint(listener.companies):
                listener.wake()
        for wake in self._told:
            wake()

    @contextlib.contextmanager
    def listening(self, actor: Actor) -> Generator[Listener]:
        """Listen for a while. Raises RateLimited and Unavailable when too many do, and Unavailable at the stop."""
        if self._closed:
            raise Unavailable("the server is stopping; try again")
        if len(self._open) >= MAX_LISTENERS:
            raise Unavailable(
                f"{MAX_LISTENERS} event streams are open, and that is all that this server keeps; try again later"
            )
        if self._of[actor.credential] >= MAX_LISTENERS_PER_CREDENTIAL:
            raise RateLimited(
                _RETRY_SECONDS, f"{MAX_LISTENERS_PER_CREDENTIAL} event streams are open with this credential; close one"
            )
        listener = Listener(actor)
        self._open.add(listener)
        self._of[listener.credential] += 1
        try:
            yield listener
        finally:
            self._open.discard(listener)
            self._of[listener.credential] -= 1
            if not self._of[listener.credential]:
                del self._of[listener.credential]

    def close(self) -> None:
        """End every stream, and take no more."""
        self._closed = True
        for listener in self._open:
            listener.end()


def company_keys(actor: Actor) -> frozenset[int]:
    """The companies that an actor's events can come from."""
    return frozenset(membership.company for membership in actor.within)

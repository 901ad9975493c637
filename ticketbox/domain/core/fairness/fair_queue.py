"""A queue for a few slots that callers get in turns, so that nobody waits for all the calls of somebody else.

Who waits has a share: a path such as (company, credential). The next slot is for the company whose turn was longest
ago, and in it for the credential whose turn was; the calls of a credential are in the order of their arrival
(docs/operate/reliability.md, "Turns").
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncGenerator, Hashable

from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.problems import Unavailable

Share = tuple[Hashable, ...]

RETRY_SECONDS = 5
MAX_TURNS = 20_000


class _Turns:
    """Those who wait in one share, or the shares in it, in the order of arrival."""

    def __init__(self) -> None:
        self.waiters: deque[asyncio.Future[None]] = deque()
        self.shares: dict[Hashable, _Turns] = {}

    def add(self, share: Share, waiter: asyncio.Future[None]) -> None:
        """Add a waiter behind the others of its share."""
        if not share:
            self.waiters.append(waiter)
        else:
            self.shares.setdefault(share[0], _Turns()).add(share[1:], waiter)

    def remove(self, share: Share, waiter: asyncio.Future[None]) -> None:
        """Remove a waiter, unless it isn't there."""
        if not share:
            with contextlib.suppress(ValueError):
                self.waiters.remove(waiter)
        elif share[0] in self.shares:
            self.shares[share[0]].remove(share[1:], waiter)
            self._remove_if_empty(share[0])

    def take(self, queue: "FairQueue", share: Share = ()) -> tuple[Share, asyncio.Future[None]] | None:
        """Remove and return the waiter whose turn it is, with its share; None if all have what they may hold."""
        if self.waiters:
            return share, self.waiters.popleft()
        for key in sorted(self.shares, key=lambda key: queue.last_turns[*share, key]):
            inner = (*share, key)
            if queue.has_room(inner) and (taken := self.shares[key].take(queue, inner)):
                self._remove_if_empty(key)
                return taken
        return None

    def _remove_if_empty(self, key: Hashable) -> None:
        if not self.shares[key].waiters and not self.shares[key].shares:
            del self.shares[key]


class FairQueue:
    """Hands out `slots`. `most` is how many of them a share may hold, by level: (None, 1) is one per credential."""

    def __init__(
        self,
        name: str,
        slots: int,
        times: QueueTimes,
        *,
        wait_seconds: float,
        most: tuple[int | None, ...] = (),
    ) -> None:
        self.name = name
        self._free = slots
        self._times = times
        self._most = most
        self._wait_seconds = wait_seconds
        self._held: Counter[Share] = Counter()
        self._turns = _Turns()
        self.waiting = 0
        self.last_turns: Counter[Share] = Counter()
        self._turn = 0

    def has_room(self, share: Share) -> bool:
        """Whether a share, or a part of one, may hold another slot."""
        level = len(share) - 1
        most = self._most[level] if level < len(self._most) else None
        return most is None or self._held[share] < most

    @contextlib.asynccontextmanager
    async def hold(self, share: Share, *, patient: bool = False, waited: float = 0.0) -> AsyncGenerator[None]:
        """Hold a slot for the length of a `with` block. Raises Unavailable if there is none in time.

        A `patient` caller, such as the server's own jobs, waits as long as it takes. `waited` is how many seconds the
        caller has waited elsewhere; they count in the figures.
        """
        await self._acquire(share, None if patient else self._wait_seconds, waited)
        try:
            yield
        finally:
            self._release(share)

    async def _acquire(self, share: Share, seconds: float | None, waited: float) -> None:
        loop = asyncio.get_running_loop()
        started, waiter = loop.time(), loop.create_future()
        self._turns.add(share, waiter)
        self.waiting += 1
        self._admit()
        try:
            if not waiter.done():
                async with asyncio.timeout(seconds):
                    await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():  # admitted at the same moment
                self._release(share)
            else:
                self._turns.remove(share, waiter)
            if not isinstance(error, TimeoutError):
                raise
            self._times.record_refusal(self.name, "wait")
            raise Unavailable(
                f"the server is busy ({self.name}); try again in {RETRY_SECONDS} s", retry_after=RETRY_SECONDS
            ) from None
        finally:
            self.waiting -= 1
            self._times.record_wait(self.name, waited + loop.time() - started)

    def _admit(self) -> None:
        while self._free and (taken := self._turns.take(self)):
            share, waiter = taken
            if not waiter.done():
                self._count(share, 1)
                self._record_turn(share)
                waiter.set_result(None)

    def _record_turn(self, share: Share) -> None:
        if len(self.last_turns) > MAX_TURNS:
            self.last_turns.clear()
        self._turn += 1
        for level in range(len(share)):
            self.last_turns[share[: level + 1]] = self._turn

    def _release(self, share: Share) -> None:
        self._count(share, -1)
        self._admit()

    def _count(self, share: Share, change: int) -> None:
        self._free -= change
        for level in range(min(len(share), len(self._most))):
            part = share[: level + 1]
            self._held[part] += change
            if not self._held[part]:
                del self._held[part]

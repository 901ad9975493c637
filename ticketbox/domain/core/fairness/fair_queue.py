"""A fair queue for a few slots: callers get them round robin, so that nobody waits for all the calls of somebody else.

A caller names the fair share that its call belongs to: a path such as (company, credential). The next slot is for the
company whose turn was longest ago, and in it for the credential whose turn was; the calls of a credential are in the
order of their arrival (docs/operate/reliability.md, "Fair queues").
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncGenerator, Hashable

from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.problems import Unavailable

FairShare = tuple[Hashable, ...]

RETRY_SECONDS = 5
MAX_TURNS = 20_000


class _RoundRobin:
    """The callers that wait in one fair share, or the shares in it, in the order of arrival."""

    def __init__(self) -> None:
        self.waiters: deque[asyncio.Future[None]] = deque()
        self.shares: dict[Hashable, _RoundRobin] = {}

    def add(self, fair_share: FairShare, waiter: asyncio.Future[None]) -> None:
        """Add a waiter behind the others of its fair share."""
        if not fair_share:
            self.waiters.append(waiter)
        else:
            self.shares.setdefault(fair_share[0], _RoundRobin()).add(fair_share[1:], waiter)

    def remove(self, fair_share: FairShare, waiter: asyncio.Future[None]) -> None:
        """Remove a waiter, unless it isn't there."""
        if not fair_share:
            with contextlib.suppress(ValueError):
                self.waiters.remove(waiter)
        elif fair_share[0] in self.shares:
            self.shares[fair_share[0]].remove(fair_share[1:], waiter)
            self._remove_if_empty(fair_share[0])

    def take(self, queue: "FairQueue", fair_share: FairShare = ()) -> tuple[FairShare, asyncio.Future[None]] | None:
        """Remove and return the waiter whose turn it is, with its fair share; None if all quotas are used."""
        if self.waiters:
            return fair_share, self.waiters.popleft()
        for key in sorted(self.shares, key=lambda key: queue.last_turns[*fair_share, key]):
            inner = (*fair_share, key)
            if queue.has_room(inner) and (taken := self.shares[key].take(queue, inner)):
                self._remove_if_empty(key)
                return taken
        return None

    def _remove_if_empty(self, key: Hashable) -> None:
        if not self.shares[key].waiters and not self.shares[key].shares:
            del self.shares[key]


class FairQueue:
    """Hands out `slots`. `quotas` are how many a fair share may hold, by level: (None, 1) is one per credential."""

    def __init__(
        self,
        name: str,
        slots: int,
        times: QueueTimes,
        *,
        wait_seconds: float,
        quotas: tuple[int | None, ...] = (),
    ) -> None:
        self.name = name
        self._free = slots
        self._times = times
        self._quotas = quotas
        self._wait_seconds = wait_seconds
        self._held: Counter[FairShare] = Counter()
        self._round_robin = _RoundRobin()
        self.waiting = 0
        self.last_turns: Counter[FairShare] = Counter()
        self._turn = 0

    def has_room(self, fair_share: FairShare) -> bool:
        """Whether a fair share, or a part of one, may hold another slot."""
        level = len(fair_share) - 1
        quota = self._quotas[level] if level < len(self._quotas) else None
        return quota is None or self._held[fair_share] < quota

    @contextlib.asynccontextmanager
    async def hold(self, fair_share: FairShare, *, patient: bool = False, waited: float = 0.0) -> AsyncGenerator[None]:
        """Hold a slot for the length of a `with` block. Raises Unavailable if there is none in time.

        A `patient` caller, such as the server's own jobs, waits as long as it takes. `waited` is how many seconds the
        caller has waited elsewhere; they count in the figures.
        """
        await self._acquire(fair_share, None if patient else self._wait_seconds, waited)
        try:
            yield
        finally:
            self._release(fair_share)

    async def _acquire(self, fair_share: FairShare, seconds: float | None, waited: float) -> None:
        loop = asyncio.get_running_loop()
        started, waiter = loop.time(), loop.create_future()
        self._round_robin.add(fair_share, waiter)
        self.waiting += 1
        self._admit()
        try:
            if not waiter.done():
                async with asyncio.timeout(seconds):
                    await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():  # admitted at the same moment
                self._release(fair_share)
            else:
                self._round_robin.remove(fair_share, waiter)
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
        while self._free and (taken := self._round_robin.take(self)):
            fair_share, waiter = taken
            if not waiter.done():
                self._count(fair_share, 1)
                self._record_turn(fair_share)
                waiter.set_result(None)

    def _record_turn(self, fair_share: FairShare) -> None:
        if len(self.last_turns) > MAX_TURNS:
            self.last_turns.clear()
        self._turn += 1
        for level in range(len(fair_share)):
            self.last_turns[fair_share[: level + 1]] = self._turn

    def _release(self, fair_share: FairShare) -> None:
        self._count(fair_share, -1)
        self._admit()

    def _count(self, fair_share: FairShare, change: int) -> None:
        self._free -= change
        for level in range(min(len(fair_share), len(self._quotas))):
            part = fair_share[: level + 1]
            self._held[part] += change
            if not self._held[part]:
                del self._held[part]

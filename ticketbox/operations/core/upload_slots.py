"""The slots in which uploads are read: a few at a time, shared fairly (docs/use/limits.md).

An upload of up to 32 MB is held in memory, so few are read concurrently. A credential has one slot at most, and an
account half of them, so that slow uploads of one caller leave room for others.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator

from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import Unavailable
from ticketbox.domain.core.queue_times import QueueTimes
from ticketbox.settings import DEFAULT_UPLOAD_RATE, DEFAULT_UPLOADS

WAIT_SECONDS = 15.0
RETRY_SECONDS = 5
QUEUE = "uploads"


class _Waiter:
    """An upload that waits for a slot."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class UploadSlots:
    """Hands slots out in the order of arrival, and passes those over who have their share.

    `min_rate` is how fast a body must arrive, in bytes per second.
    """

    def __init__(self, times: QueueTimes, most: int = DEFAULT_UPLOADS, min_rate: int = DEFAULT_UPLOAD_RATE) -> None:
        self.min_rate = min_rate
        self._times = times
        self._most = most
        self._most_of_account = max(1, most // 2)
        self._by_credential: Counter[int] = Counter()
        self._by_account: Counter[int] = Counter()
        self._waiters: list[_Waiter] = []

    @property
    def waiting(self) -> int:
        """The number of uploads that wait for a slot."""
        return len(self._waiters)

    def record_slow_upload(self) -> None:
        """Count an upload that was refused because it arrives too slowly."""
        self._times.record_refusal(QUEUE, "rate")

    @contextlib.asynccontextmanager
    async def hold(self, actor: Actor) -> AsyncGenerator[None]:
        """Hold a slot for the length of a `with` block. Raises Unavailable if none is free in time."""
        await self._acquire(actor)
        try:
            yield
        finally:
            self._release(actor)

    async def _acquire(self, actor: Actor) -> None:
        waiter = _Waiter(actor)
        self._waiters.append(waiter)
        started = asyncio.get_running_loop().time()
        self._admit_waiters()
        try:
            await self._wait(waiter)
        except TimeoutError:
            self._times.record_refusal(QUEUE, "wait")
            raise Unavailable(
                f"other uploads are in progress; try again in {RETRY_SECONDS} s", retry_after=RETRY_SECONDS
            ) from None
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            self._times.record_wait(QUEUE, asyncio.get_running_loop().time() - started)

    async def _wait(self, waiter: _Waiter) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await waiter.admitted
        except BaseException:
            if waiter.admitted.done() and not waiter.admitted.cancelled():  # admitted in the same moment
                self._release(waiter.actor)
            raise

    def _release(self, actor: Actor) -> None:
        self._count(actor, -1)
        self._admit_waiters()

    def _admit_waiters(self) -> None:
        for waiter in list(self._waiters):
            if self._by_credential.total() >= self._most:
                return
            if self._has_room_for(waiter.actor) and not waiter.admitted.done():
                self._waiters.remove(waiter)
                self._count(waiter.actor, 1)
                waiter.admitted.set_result(None)

    def _has_room_for(self, actor: Actor) -> bool:
        return not self._by_credential[actor.credential] and self._by_account[actor.user] < self._most_of_account

    def _count(self, actor: Actor, change: int) -> None:
        for counts, key in ((self._by_credential, actor.credential), (self._by_account, actor.user)):
            counts[key] += change
            if not counts[key]:
                del counts[key]

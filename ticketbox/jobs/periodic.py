"""Work that comes in rounds: woken when there may be something to do, and after a time at the latest."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger("ticketbox.jobs")

IDLE_SECONDS = 20.0
FAULT_SECONDS = 5.0


class Waker:
    """Whether there may be something to do."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There may be something to do."""
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Wait until there may be something to do, but no longer than that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()


async def go_round(start: Callable[[], Awaitable[float]], waker: Waker, stopping: asyncio.Event, what: str) -> None:
    """Start whatever is due, again and again until the server stops; `start` returns the seconds until there is more.

    A round that fails is a line in the log, and the next one comes.
    """
    ending = asyncio.create_task(_wake_at(stopping, waker))
    try:
        while not stopping.is_set():
            try:
                seconds = await start()
            except Exception:
                log.exception("%s failed; it will be tried again", what)
                seconds = FAULT_SECONDS
            await waker.wait(seconds)
    finally:
        ending.cancel()


async def _wake_at(stopping: asyncio.Event, waker: Waker) -> None:
    await stopping.wait()
    waker.wake()


async def stopped_within(stopping: asyncio.Event, seconds: float) -> bool:
    """Wait for the server's stop, but no longer than that; returns whether it stops."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
    return stopping.is_set()


def until(due: int | None, now: int) -> float:
    """Seconds until something is due, at most the idle ones; both in epoch milliseconds, None for nothing."""
    return IDLE_SECONDS if due is None else min(IDLE_SECONDS, max(0.0, (due - now) / 1000))

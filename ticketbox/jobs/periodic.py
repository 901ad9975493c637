"""Run periodic work: in rounds that start when there may be work, and after a time at the latest."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger("ticketbox.jobs")

IDLE_SECONDS = 20.0
RETRY_SECONDS = 5.0


class Waker:
    """Signals that there may be work."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Signal that there may be work."""
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Wait for the signal, at most this long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()


async def run_rounds(start: Callable[[], Awaitable[float]], waker: Waker, stopping: asyncio.Event, work: str) -> None:
    """Start what is due, in rounds until the server stops; `start` returns the seconds until the next round.

    A failing round is logged and doesn't stop the next one.
    """
    stop_task = asyncio.create_task(_wake_when_stopping(stopping, waker))
    try:
        while not stopping.is_set():
            try:
                seconds = await start()
            except Exception:
                log.exception("%s failed; it will be retried", work)
                seconds = RETRY_SECONDS
            await waker.wait(seconds)
    finally:
        stop_task.cancel()


async def _wake_when_stopping(stopping: asyncio.Event, waker: Waker) -> None:
    await stopping.wait()
    waker.wake()


async def wait_for_stop(stopping: asyncio.Event, seconds: float) -> bool:
    """Wait for the server to stop, at most this long; return whether it is stopping."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
    return stopping.is_set()


def get_seconds_until(due: int | None, now: int) -> float:
    """Return the seconds until something is due, at most IDLE_SECONDS; both in epoch milliseconds, None for nothing."""
    return IDLE_SECONDS if due is None else min(IDLE_SECONDS, max(0.0, (due - now) / 1000))

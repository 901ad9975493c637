"""Worker threads for what would delay the event loop: passwords, captures, pictures. Callers get them in turns."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ticketbox.domain.core.fairness.fair_queue import FairQueue, Share
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.memory import return_free_memory

T = TypeVar("T")


class Workers:
    """A few threads for one kind of work, and the queue for them."""

    def __init__(self, name: str, threads: int, times: QueueTimes, wait_seconds: float) -> None:
        self.queue = FairQueue(name, threads, times, wait_seconds=wait_seconds)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, share: Share, function: Callable[..., T], *arguments: Any) -> T:
        """Run a slow function on a thread when it is the turn of the caller's share. Raises Unavailable."""
        async with self.queue.hold(share):
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, _run_and_clean_up, function, *arguments
            )

    def close(self) -> None:
        """Finish running work and accept no more."""
        self._threads.shutdown(cancel_futures=True)


def _run_and_clean_up(function: Callable[..., T], *arguments: Any) -> T:
    try:
        return function(*arguments)
    finally:
        return_free_memory()

"""Worker threads for what would delay the event loop: passwords, captures, pictures. Callers get them in turns."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ticketbox.domain.core.fairness.fair_queue import FairQueue, Share
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.memory import return_free_memory
from ticketbox.domain.core.thread_priority import lower_priority
from ticketbox.operations.core.workers.worker_process import WorkerProcess

T = TypeVar("T")

# Starting a process takes a third of a second of processor time; an idle one takes about 30 MB.
IDLE_SECONDS = 30


class Workers:
    """A few threads for one kind of work, and the queue for them.

    `process` does the work that would hold the interpreter's lock for long; it starts when it is first called.
    """

    def __init__(self, name: str, threads: int, times: QueueTimes, wait_seconds: float) -> None:
        self.queue = FairQueue(name, threads, times, wait_seconds=wait_seconds)
        self.process = WorkerProcess()
        self._threads = ThreadPoolExecutor(threads, name, lower_priority)
        self._idle: asyncio.TimerHandle | None = None

    async def run(self, share: Share, function: Callable[..., T], *arguments: Any) -> T:
        """Run a slow function on a thread when it is the turn of the caller's share. Raises Unavailable."""
        loop = asyncio.get_running_loop()
        async with self.queue.hold(share):
            try:
                return await loop.run_in_executor(self._threads, _run_and_clean_up, function, *arguments)
            finally:
                self._end_process_later(loop)

    def _end_process_later(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the process if nothing calls it for a while."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = loop.call_later(IDLE_SECONDS, self.process.end_if_idle) if self.process.is_running else None

    def close(self) -> None:
        """Finish running work and accept no more. What the process does isn't finished."""
        if self._idle is not None:
            self._idle.cancel()
        self.process.close()
        self._threads.shutdown(cancel_futures=True)


def _run_and_clean_up(function: Callable[..., T], *arguments: Any) -> T:
    try:
        return function(*arguments)
    finally:
        return_free_memory()

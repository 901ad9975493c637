"""Worker threads for what would delay the event loop: passwords, captures, pictures. Callers get them round robin."""

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ticketbox.domain.core.fairness.fair_queue import FairQueue, FairShare
from ticketbox.domain.core.fairness.processor_time import Payer, ProcessorBudgets, list_payers
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.memory import return_free_memory
from ticketbox.domain.core.thread_priority import lower_priority
from ticketbox.operations.core.workers.worker_process import WorkerProcess

T = TypeVar("T")

# Starting a process takes a third of a second of processor time; an idle one takes about 30 MB.
IDLE_SECONDS = 30


class Workers:
    """A few threads for one kind of work, and the queue for them.

    `process` does the work that would hold the interpreter's lock for long; it starts when it is first called. With
    `budgets`, callers pay for the processor time that they use; only one thread measures that of the process.
    """

    def __init__(
        self, name: str, threads: int, times: QueueTimes, wait_seconds: float, budgets: ProcessorBudgets | None = None
    ) -> None:
        self._budgets = budgets
        self.queue = FairQueue(name, threads, times, wait_seconds=wait_seconds)
        self.process = WorkerProcess()
        self._threads = ThreadPoolExecutor(threads, name, lower_priority)
        self._idle: asyncio.TimerHandle | None = None

    async def run(
        self, fair_share: FairShare, function: Callable[..., T], *arguments: Any, payers: Iterable[Payer] | None = None
    ) -> T:
        """Run a slow function on a thread when it is the turn of the caller's fair share.

        By default, the company and the credential of the fair share pay. Raises Unavailable and RateLimited.
        """
        loop = asyncio.get_running_loop()
        payers = list_payers(fair_share) if payers is None else list(payers)
        self._require_time(payers)
        async with self.queue.hold(fair_share):
            self._require_time(payers)  # calls of theirs have run meanwhile
            try:
                return await loop.run_in_executor(self._threads, self._run_and_charge, payers, function, *arguments)
            finally:
                self._end_process_later(loop)

    def _require_time(self, payers: list[Payer]) -> None:
        if self._budgets is not None:
            self._budgets.require(payers)

    def _run_and_charge(self, payers: list[Payer], function: Callable[..., T], *arguments: Any) -> T:
        used = time.thread_time() + self.process.processor_seconds
        try:
            return function(*arguments)
        finally:
            if self._budgets is not None:
                self._budgets.charge(payers, time.thread_time() + self.process.processor_seconds - used)
            return_free_memory()

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

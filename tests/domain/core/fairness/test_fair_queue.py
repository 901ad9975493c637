"""Fair queues: who gets the next slot, how many a fair share may hold, and what happens to those who give up."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from ticketbox.domain.core.fairness.fair_queue import FairQueue, FairShare
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.problems import Unavailable

Steps = Callable[[], Awaitable[None]]


class Callers:
    """Callers that hold a slot until they are let go, in the order in which they get one."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._done: dict[str, asyncio.Event] = {}

    async def call(self, name: str, *fair_share: object, patient: bool = False) -> None:
        """Begin a call, and let it join the queue."""
        self._done[name] = asyncio.Event()

        async def hold() -> None:
            async with self.queue.hold(fair_share, patient=patient):
                self.order.append(name)
                await self._done[name].wait()

        self.tasks[name] = asyncio.create_task(hold())
        await self._settle()

    async def end(self, name: str) -> None:
        """End a call, and let the next one begin."""
        self._done[name].set()
        await self.tasks[name]
        await self._settle()

    async def end_all(self) -> None:
        """End all calls, one after the other."""
        for name in self.order:
            await self.end(name)

    async def _settle(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0)


def make_queue(slots: int = 1, *quotas: int | None, wait_seconds: float = 60) -> FairQueue:
    return FairQueue("captures", slots, QueueTimes(), quotas=quotas, wait_seconds=wait_seconds)


def test_companies_take_turns_and_so_do_their_credentials() -> None:
    async def run() -> list[str]:
        callers = Callers(make_queue())
        for number in range(4):
            await callers.call(f"a{number}", "A", 1)
        await callers.call("a-other", "A", 2)
        await callers.call("b0", "B", 3)
        await callers.call("b1", "B", 3)
        await callers.call("c0", "C", 4)
        await callers.end_all()
        return callers.order

    assert asyncio.run(run()) == ["a0", "b0", "c0", "a-other", "b1", "a1", "a2", "a3"]


@pytest.mark.parametrize("many", [2, 20, 500])
def test_new_caller_waits_for_one_call_however_many_somebody_else_has(many: int) -> None:
    async def run() -> tuple[list[str], list[str]]:
        callers = Callers(make_queue())
        for number in range(many):
            await callers.call(f"many {number}", "A", 1)
        await callers.call("one", "B", 2)
        before = list(callers.order)
        await callers.end("many 0")
        return before, callers.order

    assert asyncio.run(run()) == (["many 0"], ["many 0", "one"])


def test_share_holds_no_more_than_its_part() -> None:
    async def run() -> tuple[list[str], int]:
        callers = Callers(make_queue(3, None, 2))
        for number in range(4):
            await callers.call(f"a{number}", "A", 1)
        before = list(callers.order)
        await callers.call("a-other", "A", 2)
        waiting = callers.queue.waiting
        assert callers.order == [*before, "a-other"]
        await callers.end_all()
        return before, waiting

    assert asyncio.run(run()) == (["a0", "a1"], 2)


def test_each_level_holds_no_more_than_its_part_and_a_new_company_is_next() -> None:
    async def run() -> None:
        callers = Callers(make_queue(20, 5, 4))
        for number in range(6):
            await callers.call(f"a{number}", "A", 1)
        for number in range(2):
            await callers.call(f"a-other {number}", "A", 2)
        assert callers.order == ["a0", "a1", "a2", "a3", "a-other 0"]
        for company in "BCD":
            for number in range(5):
                await callers.call(f"{company}{number}", company, number)
        assert len(callers.order) == 20
        await callers.call("new", "F", 1)
        await callers.end("B0")
        assert callers.order[20:] == ["new"]
        for task in callers.tasks.values():
            task.cancel()

    asyncio.run(run())


def test_who_waits_too_long_is_refused_and_counted() -> None:
    async def run() -> None:
        times = QueueTimes()
        callers = Callers(FairQueue("captures", 1, times, wait_seconds=0.01))
        await callers.call("first", "A", 1)
        await callers.call("second", "A", 1)
        await callers.call("patient", "S", 0, patient=True)
        with pytest.raises(Unavailable, match="busy") as caught:
            await callers.tasks["second"]
        assert caught.value.extra["retry_after"] == 5
        assert times.refusals == {("captures", "wait"): 1}
        await callers.end("first")
        assert callers.order == ["first", "patient"]
        await callers.end("patient")
        assert callers.queue.waiting == 0

    asyncio.run(run())


@pytest.mark.parametrize("holds", [True, False])
def test_cancelled_caller_leaves_its_slot_or_its_place(holds: bool) -> None:
    async def run() -> None:
        callers = Callers(make_queue(1, 1))
        await callers.call("first", "A", 1)
        await callers.call("second", "B", 2)
        await callers.call("third", "C", 3)
        gone = callers.tasks["first" if holds else "second"]
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        if not holds:
            await callers.end("first")
        await asyncio.sleep(0)
        assert callers.order == ["first", "second" if holds else "third"]
        await callers.end(callers.order[-1])
        fair_share: FairShare = ("A", 1)
        assert callers.queue.has_room(fair_share[:1])

    asyncio.run(run())


def test_caller_cancelled_at_its_turn_passes_it_on() -> None:
    async def run() -> None:
        callers = Callers(make_queue())
        await callers.call("first", "A", 1)
        await callers.call("second", "B", 2)
        await callers.call("third", "C", 3)
        callers.tasks["first"].cancel()
        while callers.queue.waiting == 2 and not callers.tasks["first"].done():
            await asyncio.sleep(0)
        callers.tasks["second"].cancel()
        for _ in range(4):
            await asyncio.sleep(0)
        assert callers.order[-1] == "third"
        await callers.end("third")

    asyncio.run(run())

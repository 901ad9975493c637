"""Budgets of processor time: who used theirs up waits, and nobody else does."""

import asyncio
import time
from functools import partial
from typing import Any

import pytest

from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.fairness.processor_time import (
    COMPANY_SECONDS,
    CREDENTIAL_SECONDS,
    NAME,
    Payer,
    ProcessorBudgets,
    list_payers,
)
from ticketbox.domain.core.fairness.queue_times import QueueTimes
from ticketbox.domain.core.problems import PayloadTooLarge, RateLimited
from ticketbox.operations.core.workers.pool import Workers

ADDRESS, KEY = Payer("an address", 5, "your network address"), Payer("a key", 15, "this page")


def test_used_up_budget_refills_within_a_minute() -> None:
    now = 1_000.0
    budgets = ProcessorBudgets(RateLimiter(lambda: now))
    budgets.require([ADDRESS, KEY])
    budgets.charge([ADDRESS, KEY], 6)
    with pytest.raises(RateLimited, match="your network address has used its 5 s") as refused:
        budgets.require([ADDRESS])
    assert refused.value.retry_after == 13  # 1 s too much, of which 5 are refilled in 60
    budgets.require([KEY])
    now += refused.value.retry_after
    budgets.require([ADDRESS])


def test_company_and_credential_pay_for_their_share() -> None:
    assert [(each.key, each.seconds) for each in list_payers((3, 17))] == [
        ((3,), COMPANY_SECONDS), (("credential", 17), CREDENTIAL_SECONDS)
    ]  # fmt: skip
    assert [each.key for each in list_payers((3, "reports"))] == [(3,)]
    assert list_payers((0, 0)) == []


def burn(seconds: float, error: Exception | None = None) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    if error is not None:
        raise error


@pytest.mark.parametrize("in_process", [False, pytest.param(True, marks=pytest.mark.long)])
def test_work_is_charged_also_when_it_fails(*, in_process: bool) -> None:
    limiter = RateLimiter(lambda: 0.0)
    workers = Workers("captures", 1, QueueTimes(), 15, ProcessorBudgets(limiter))
    calls: list[tuple[Any, ...]] = [(burn, 0.2), (burn, 0.2, PayloadTooLarge("too long"))]

    async def run() -> None:
        for function, *arguments in calls:
            call = partial(workers.process.call, 5, function) if in_process else function
            await asyncio.gather(workers.run((1, 2), call, *arguments, payers=[KEY]), return_exceptions=True)

    asyncio.run(run())
    workers.close()
    left = limiter.consume((NAME, KEY.key), NAME, KEY.seconds * 1000, 0).remaining
    assert 10_000 < left < KEY.seconds * 1000 - 390

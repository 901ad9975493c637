"""Budgets of processor time, for work whose cost is known only when it is done (docs/use/limits.md).

Anyone who has used up a budget waits until it has refilled, so that nobody holds a worker for long.
"""

from collections.abc import Hashable, Iterable

import msgspec

from ticketbox.domain.core.fairness.fair_queue import FairShare
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.core.problems import RateLimited

NAME = "processor time"
# Seconds in a minute, on all workers together.
COMPANY_SECONDS = 45
CREDENTIAL_SECONDS = 30


class Payer(msgspec.Struct, frozen=True):
    """Who pays for work: so many seconds of processor time in a minute."""

    key: Hashable
    seconds: int
    what: str


def list_payers(fair_share: FairShare) -> list[Payer]:
    """List who pays for a call: the company and the credential of its fair share; nobody for the server's own work."""
    payers: list[Payer] = []
    if fair_share[:1] != (0,):
        payers.append(Payer(fair_share[:1], COMPANY_SECONDS, "this company"))
    if len(fair_share) > 1 and isinstance(fair_share[1], int) and fair_share[1]:
        payers.append(Payer(("credential", fair_share[1]), CREDENTIAL_SECONDS, "this credential"))
    return payers


class ProcessorBudgets:
    """The budgets. Work is admitted while they have anything left, and charged with what it took."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter

    def require(self, payers: Iterable[Payer]) -> None:
        """Raise RateLimited if somebody who pays has nothing left."""
        for payer in payers:
            level = self._limiter.consume((NAME, payer.key), NAME, payer.seconds * 1000)
            if level.retry_after:
                raise RateLimited(
                    level.retry_after, f"{payer.what} has used its {payer.seconds} s of processor time for a minute"
                )

    def charge(self, payers: Iterable[Payer], seconds: float) -> None:
        """Charge work that is done."""
        for payer in payers:
            self._limiter.overdraw((NAME, payer.key), payer.seconds * 1000, round(seconds * 1000))

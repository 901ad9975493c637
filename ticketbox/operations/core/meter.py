"""Charging calls to a credential's read and write budgets (docs/use/limits.md)."""

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.fairness.ceilings import Ceilings
from ticketbox.domain.core.fairness.limits import BucketState, Budget, RateLimiter
from ticketbox.domain.core.problems import RateLimited


class Meter(msgspec.Struct):
    """Charges one call to its credential's budget. A handler that needs it declares it as the last parameter.

    `level` is the budget's state after the last charge, for the response headers.
    """

    limiter: RateLimiter
    ceilings: Ceilings
    actor: Actor
    budget: Budget
    level: BucketState | None = None

    def charge(self, ahead: int = 0, patience: float = 0.0) -> float:
        """Charge one call; return for how many seconds it must wait, which are at most `patience`.

        Raises RateLimited if the budget is used up by it and the `ahead` refused ones before it.
        """
        if self.budget is Budget.NONE or self.actor.kind is None:
            return 0.0
        level = self.level = self._draw(self.budget, 1, ahead, patience)
        if level.retry_after:
            what = f"the budget of {level.limit} {self.budget.value} per minute is used up"
            raise RateLimited(level.retry_after, what)
        return level.wait

    def read_levels(self) -> tuple[BucketState, BucketState]:
        """Return the states of the read and the write budget, without a charge."""
        return self._draw(Budget.READ, 0), self._draw(Budget.WRITE, 0)

    def _draw(self, budget: Budget, cost: int, ahead: int = 0, patience: float = 0.0) -> BucketState:
        name = budget.value
        per_minute = self.actor.get_rate_limit(budget, self.ceilings.get_rate_limit(budget))
        return self.limiter.consume((self.actor.credential, name), name, per_minute, cost, ahead, patience)

"""Drawing on a credential's two buckets (docs/use/limits.md)."""

import msgspec

from ticketbox.domain.core.limits import BucketState, Budget, RateLimiter
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import RateLimited


class Meter(msgspec.Struct):
    """One call's hold on its credential's buckets. A handler that needs it takes it last.

    `level` is the bucket's state after the last draw, for the answer's headers.
    """

    limiter: RateLimiter
    actor: Actor
    budget: Budget
    level: BucketState | None = None

    def charge(self) -> None:
        """Draw one call; raises RateLimited when the bucket is empty."""
        if self.budget is Budget.NONE or self.actor.kind is None:
            return
        level = self.level = self._draw(self.budget, 1)
        if level.retry_after:
            what = f"the budget of {level.limit} {self.budget.value} a minute is used up"
            raise RateLimited(level.retry_after, what)

    def levels(self) -> tuple[BucketState, BucketState]:
        """What the read and the write bucket hold, without drawing."""
        return self._draw(Budget.READ, 0), self._draw(Budget.WRITE, 0)

    def _draw(self, budget: Budget, cost: int) -> BucketState:
        key = (self.actor.credential, budget)
        return self.limiter.draw(key, budget.value, self.actor.per_minute(budget), cost)

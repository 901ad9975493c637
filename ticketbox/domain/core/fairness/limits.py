"""Token buckets: one for reads and one for writes for each credential (docs/use/limits.md).

A bucket holds as many calls as its limit per minute and refills continuously by the monotonic clock, so that a
change of the wall clock has no effect.
"""

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from enum import Enum

import msgspec

DEFAULT_READS = 600
DEFAULT_WRITES = 60
SESSION_FACTOR = 10
MAX_BULK = 50
MAX_BUCKETS = 20_000
MAX_WAIT_SECONDS = 5.0
MAX_WAITING = 10


class Budget(Enum):
    """Which of a credential's two buckets an operation consumes from."""

    READ = "reads"
    WRITE = "writes"
    NONE = "none"


class BucketState(msgspec.Struct, frozen=True):
    """A bucket's state after calls were consumed.

    `limit` calls a minute, `remaining` whole calls now, and `retry_after` whole seconds until the
    calls can be consumed (0 if it did). `wait` is how long a caller must wait for calls that it consumed in advance.
    """

    name: str
    limit: int
    remaining: int
    retry_after: int
    wait: float = 0.0

    @property
    def policy(self) -> str:
        """The RateLimit-Policy field (draft-ietf-httpapi-ratelimit-headers)."""
        return f'"{self.name}";q={self.limit};w=60'

    @property
    def state(self) -> str:
        """The RateLimit field: what remains, and the seconds until the bucket is full again."""
        reset = math.ceil((self.limit - self.remaining) * 60 / self.limit)
        return f'"{self.name}";r={self.remaining};t={reset}'


class RateLimiter:
    """All buckets, bounded in number; any thread may use it.

    Above the limit, the least recently used bucket is dropped: after a minute without calls it is full, like a
    new one. `refusals` counts refusals by the bucket's name.
    """

    def __init__(self, monotonic: Callable[[], float], most: int = MAX_BUCKETS) -> None:
        self._monotonic = monotonic
        self._most = most
        self._lock = threading.Lock()
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self.refusals: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._buckets)

    def consume(
        self, key: Hashable, name: str, per_minute: int, cost: int = 1, ahead: int = 0, patience: float = 0.0
    ) -> BucketState:
        """Consume `cost` calls from the bucket, or none if it holds fewer.

        A cost of 0 only reads the state. `ahead` calls are left for others that already wait. A caller with `patience`
        also consumes calls that the bucket will hold within so many seconds, if at most `MAX_WAITING` are consumed in
        this way: the bucket goes below zero, so that callers are served in their order.
        """
        with self._lock:
            available, now = self._refill(key, per_minute)
            missing = max(0.0, cost + ahead - available) if cost else 0.0
            wait = missing * 60 / per_minute
            granted = wait <= patience and missing <= MAX_WAITING
            if granted:
                available -= cost
            else:
                self.refusals[name] += 1
            self._keep(key, available, now)
        remaining = max(0, int(available))
        if granted:
            return BucketState(name, per_minute, remaining, 0, wait)
        return BucketState(name, per_minute, remaining, math.ceil(wait))

    def overdraw(self, key: Hashable, per_minute: int, cost: int) -> None:
        """Charge what was used already; the bucket goes below zero if it held less."""
        with self._lock:
            available, now = self._refill(key, per_minute)
            self._keep(key, available - cost, now)

    def _refill(self, key: Hashable, per_minute: int) -> tuple[float, float]:
        """Return what a bucket holds now, and the time."""
        now = self._monotonic()
        available, at = self._buckets.get(key, (float(per_minute), now))
        return min(float(per_minute), available + (now - at) * per_minute / 60), now

    def _keep(self, key: Hashable, available: float, now: float) -> None:
        self._buckets[key] = (available, now)
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)

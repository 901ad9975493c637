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


class Budget(Enum):
    """Which of a credential's two buckets an operation consumes from."""

    READ = "reads"
    WRITE = "writes"
    NONE = "none"


class BucketState(msgspec.Struct, frozen=True):
    """A bucket's state after calls were consumed.

    `limit` calls a minute, `remaining` whole calls now, and `retry_after` whole seconds until the
    calls can be consumed (0 if it did).
    """

    name: str
    limit: int
    remaining: int
    retry_after: int

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

    def consume(self, key: Hashable, name: str, per_minute: int, cost: int = 1, ahead: int = 0) -> BucketState:
        """Consume `cost` calls from the bucket, or none if it holds fewer.

        A cost of 0 only reads the state. `ahead` calls are left for others that already wait.
        """
        now = self._monotonic()
        with self._lock:
            available, at = self._buckets.get(key, (float(per_minute), now))
            available = min(float(per_minute), available + (now - at) * per_minute / 60)
            missing = cost + ahead - available
            if missing <= 0:
                available -= cost
            else:
                self.refusals[name] += 1
            self._buckets[key] = (available, now)
            self._buckets.move_to_end(key)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        wait = math.ceil(missing * 60 / per_minute) if missing > 0 else 0
        return BucketState(name, per_minute, int(available), wait)

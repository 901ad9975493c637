"""The wall clock for records, and the monotonic clock for rate limits and caches."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


class Clock(msgspec.Struct, frozen=True):
    """The two clocks, together so that a test can replace both.

    `now` returns epoch milliseconds; `monotonic` returns seconds that never decrease, even if the wall clock is
    changed.
    """

    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    monotonic: Callable[[], float] = time.monotonic


@lru_cache(maxsize=16_384)
def format_rfc3339(epoch_ms: int) -> str:
    """Format epoch milliseconds as RFC 3339 in UTC with milliseconds, as in every answer.

    Cached: a page of tickets has a hundred times, mostly the same as the last page's.
    """
    whole, ms = divmod(epoch_ms, 1000)
    return f"{datetime.fromtimestamp(whole, UTC).isoformat()[:19]}.{ms:03d}Z"


def to_epoch_ms(moment: datetime) -> int:
    """Convert a time with a zone to epoch milliseconds."""
    return int(moment.timestamp() * 1000)

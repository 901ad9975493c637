"""How long callers wait in the server's queues, and why queues refuse them (docs/operate/monitoring.md, "Metrics")."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

WAIT_BOUNDS = (0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 15.0)  # seconds


class QueueTimes:
    """Waits and refusals by queue; the event loop's thread counts them."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()
        self.refusals: Counter[tuple[str, str]] = Counter()

    def record_wait(self, queue: str, seconds: float) -> None:
        """Count a wait that has ended."""
        counts = self._counts.setdefault(queue, [0] * (len(WAIT_BOUNDS) + 1))
        counts[bisect_left(WAIT_BOUNDS, seconds)] += 1
        self._sums[queue] += seconds  # pyright: ignore[reportArgumentType] (a Counter adds floats too)

    def record_refusal(self, queue: str, reason: str) -> None:
        """Count a call that a queue refused."""
        self.refusals[queue, reason] += 1

    def list_waits(self) -> Iterator[tuple[str, list[tuple[str, int]], float]]:
        """Yield each queue's name, its cumulative count for each bound, and the sum of its waits in seconds."""
        for queue, counts in sorted(self._counts.items()):
            total = 0
            buckets: list[tuple[str, int]] = []
            for bound, count in zip([*map(str, WAIT_BOUNDS), "+Inf"], counts, strict=True):
                total += count
                buckets.append((bound, total))
            yield queue, buckets, self._sums[queue]

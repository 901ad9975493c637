"""The results of a load run (bench/load.py), and the tables that show them."""

import statistics

import msgspec

from bench.agents import CallLog
from bench.machine import format_table, percentile

READS = {"search", "list of 50", "get_ticket"}
STEPS = ("search", "list of 50", "get_ticket", "claim", "comment", "move", "release")
ALONE = "alone"


class LoadResult(msgspec.Struct):
    """The results of a run. `memory` (MB, once a second) and the shares of a core are of the part without neighbours.

    `more_memory` has, for each disturbed phase, the peak in MB above the memory before it, with worker processes.
    """

    log: CallLog
    boards_with_gaps: int = 0
    memory: list[float] = []
    more_memory: dict[str, list[float]] = {}
    server_share: float = 0
    client_share: float = 0
    counts: dict[str, dict[str, int]] = {}

    @property
    def faults(self) -> int:
        """The number of things that must not happen."""
        return len(self.log.faults) + self.boards_with_gaps + sum(each["faults"] for each in self.counts.values())


def format_report(result: LoadResult) -> str:
    """Format the results as tables."""
    calls = [call for call in result.log.calls if call.phase == ALONE]
    rows: list[list[object]] = []
    for step in STEPS:
        for surface in ("REST", "MCP"):
            times = [call.seconds * 1000 for call in calls if (call.step, call.surface) == (step, surface)]
            if times:
                rows.append([step, surface, len(times), *_figures(times)])
    received = [delay * 1000 for phase, delay in result.log.delays if phase == ALONE]
    if received:
        rows.append(["event reaches a board", "stream", len(received), *_figures(received)])
    lines = [format_table(("step", "surface", "calls", "p50 ms", "p99 ms", "longest ms"), rows), ""]
    lines.append(
        f"faults: {len(result.log.faults)}; boards that missed or repeated events: {result.boards_with_gaps}; "
        f"share of a core: server {result.server_share:.0%}, client {result.client_share:.0%}"
    )
    if result.memory:
        start, peak, end = result.memory[0], max(result.memory), result.memory[-1]
        lines.append(f"memory with workers: {start:.0f} MB at the start, {peak:.0f} MB peak, {end:.0f} MB at the end")
    if result.counts:
        head = ("neighbour", "calls", "calm p99 ms", "disturbed p99 ms", "ratio", "median ratio", "number")
        rows = [row for kind in result.counts for row in _compare_phases(result, kind)]
        lines += ["", format_table(head, rows)]
        rows = [[kind, max(result.more_memory[kind]), _format_counts(counts)] for kind, counts in result.counts.items()]
        lines += ["", format_table(("neighbour", "peak memory, MB more", "counts"), rows)]
    return "\n".join(lines)


def _format_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def _figures(times: list[float]) -> list[float]:
    return [percentile(times, 0.5), percentile(times, 0.99), max(times)]


def _compare_phases(result: LoadResult, kind: str) -> list[list[object]]:
    """Return a row for reads and one for writes: the p99 of all calm and all disturbed calls, and their ratios."""
    rows: list[list[object]] = []
    for what, reads in (("reads", True), ("writes", False)):
        rounds: dict[str, dict[str, list[float]]] = {}
        for call in result.log.calls:
            state, _, rest = call.phase.partition(", ")
            if rest.startswith(kind) and (call.step in READS) == reads:
                rounds.setdefault(rest, {}).setdefault(state, []).append(call.seconds * 1000)
        complete = [each for each in rounds.values() if len(each) == 2]
        if not complete:
            continue
        calm, beside = ([time for each in complete for time in each[state]] for state in ("calm", "beside"))
        ratios = [percentile(each["beside"], 0.99) / percentile(each["calm"], 0.99) for each in complete]
        base, p99 = percentile(calm, 0.99), percentile(beside, 0.99)
        rows.append([kind, what, base, p99, p99 / base, statistics.median(ratios), len(calm) + len(beside)])
    return rows

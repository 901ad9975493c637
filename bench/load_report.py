"""The results of a load run (bench/load.py), and the table that shows them."""

import msgspec

from bench.agents import CallLog
from bench.machine import format_table, percentile

STEPS = ("search", "list of 50", "get_ticket", "claim", "comment", "move", "release")


class LoadResult(msgspec.Struct):
    """The results of a run: `memory` in MB, once a second, with worker processes; shares are of a core."""

    log: CallLog
    boards_with_gaps: int = 0
    memory: list[float] = []
    server_share: float = 0
    client_share: float = 0

    @property
    def faults(self) -> int:
        """The number of things that must not happen."""
        return len(self.log.faults) + self.boards_with_gaps


def format_report(result: LoadResult) -> str:
    """Format the results as a table and two lines."""
    rows: list[list[object]] = []
    for step in STEPS:
        for surface in ("REST", "MCP"):
            times = [call.seconds * 1000 for call in result.log.calls if (call.step, call.surface) == (step, surface)]
            if times:
                rows.append([step, surface, len(times), *_figures(times)])
    if received := [delay * 1000 for delay in result.log.delays]:
        rows.append(["event reaches a board", "stream", len(received), *_figures(received)])
    start, peak, end = result.memory[0], max(result.memory), result.memory[-1]
    return "\n".join([
        format_table(("step", "surface", "calls", "p50 ms", "p99 ms", "longest ms"), rows),
        "",
        f"faults: {len(result.log.faults)}; boards that missed or repeated events: {result.boards_with_gaps}; "
        f"share of a core: server {result.server_share:.0%}, client {result.client_share:.0%}",
        f"memory with workers: {start:.0f} MB at the start, {peak:.0f} MB peak, {end:.0f} MB at the end",
    ])  # fmt: skip


def _figures(times: list[float]) -> list[float]:
    return [percentile(times, 0.5), percentile(times, 0.99), max(times)]

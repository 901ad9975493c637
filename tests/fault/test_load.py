"""A team works beside noisy neighbours: no request fails, no event is lost, and the memory comes back."""

import asyncio
from pathlib import Path

import pytest

from bench.agents import repeat
from bench.launch import Server, launch_ticketbox
from bench.load import Participants, Plan, prepare, work
from bench.load_report import LoadResult
from bench.machine import group_memory_mb, memory_mb, reset_peak_memory
from bench.seed import seed
from tests.fault.noisy_neighbours import ABUSERS, KINDS, NoisyNeighbour, Task

pytestmark = pytest.mark.long

MB_MORE = {"one abusive token": 64, "one slow client": 64, "one huge upload": 256, "one backup": 64, ABUSERS: 128}
SECONDS = 2
SAMPLE_SECONDS = 0.2


async def disturb(server: Server, neighbour: NoisyNeighbour) -> tuple[dict[str, int], float]:
    """Let a neighbour work for some seconds; return what it counted, and the peak memory in MB above that before."""
    server_before, group_before = memory_mb(server.pid, "VmRSS"), group_memory_mb(server.pid)
    reset_peak_memory(server.pid)
    group: list[float] = []
    stop = asyncio.Event()
    watching = asyncio.create_task(repeat(SAMPLE_SECONDS, lambda: group.append(group_memory_mb(server.pid)), stop))
    neighbour.begin()
    await asyncio.sleep(SECONDS)
    counts = await asyncio.to_thread(neighbour.end)
    stop.set()
    await watching
    # the server's own peak is exact; that of the server with its worker processes has to be sampled
    return counts, max(memory_mb(server.pid) - server_before, max(group) - group_before)


async def run(server: Server, participants: Participants, plan: Plan) -> tuple[LoadResult, dict[str, dict[str, int]]]:
    """Let the team work beside each neighbour; return its result and what each neighbour counted."""
    counts: dict[str, dict[str, int]] = {}
    async with work(server, participants, plan) as result:
        result.log.is_measured = True
        for kind in KINDS:
            db, _, project, tickets = participants.seeded
            task = Task(kind, server.url, str(db), participants.others[kind], project, tickets[0])
            neighbour = await asyncio.to_thread(NoisyNeighbour, task)
            try:
                counts[kind], more = await disturb(server, neighbour)
            finally:
                neighbour.kill()
            assert more <= MB_MORE[kind], kind
    return result, counts


def test_noisy_neighbours_cause_no_failed_requests_and_no_lost_events(tmp_path: Path) -> None:
    plan = Plan(agents=40, boards=10, think=1, seconds=3)
    participants = prepare(seed(tmp_path / "seeded.db", 1_000), tmp_path / "load.db", plan, list(KINDS), ABUSERS)
    with launch_ticketbox(tmp_path / "load.db") as server:
        result, counts = asyncio.run(run(server, participants, plan))
    assert result.log.faults == []
    assert result.boards_with_gaps == 0
    assert len(result.log.calls) > plan.agents
    assert len(result.log.delays) > plan.boards
    refused = counts["one abusive token"]
    assert refused["429"] > 0
    assert {name for name, count in refused.items() if count} <= {"200", "201", "429"}, (
        "refused, or without both headers"
    )
    assert {kind: each["faults"] for kind, each in counts.items()} == dict.fromkeys(KINDS, 0)

"""A short run of `bench.load`: no request fails and no event is lost beside noisy neighbours."""

from pathlib import Path

import pytest

from bench.load import Plan, measure
from bench.seed import seed

pytestmark = pytest.mark.long

MB_MORE = {"one abusive token": 64, "one slow client": 64, "one huge upload": 256, "one backup": 64, "all abusers": 128}


def test_noisy_neighbours_cause_no_failed_requests_and_no_lost_events(tmp_path: Path) -> None:
    plan = Plan(agents=40, boards=10, think=1, seconds=3, beside=2, rounds=1, settle=0.3)
    result = measure(seed(tmp_path / "seeded.db", 1_000), tmp_path / "load.db", plan)
    assert result.log.faults == []
    assert result.boards_with_gaps == 0
    assert len(result.log.calls) > plan.agents
    assert len(result.log.delays) > plan.boards
    counts = result.counts["one abusive token"]
    assert counts["429"] > 0
    assert {name for name, count in counts.items() if count} <= {"200", "201", "429"}, (
        "refused, or without both headers"
    )
    assert {kind: each["faults"] for kind, each in result.counts.items()} == dict.fromkeys(plan.kinds, 0)
    assert max(result.memory) - result.memory[0] <= 64
    assert {kind: more for kind, more in result.more_memory.items() if max(more) > MB_MORE[kind]} == {}

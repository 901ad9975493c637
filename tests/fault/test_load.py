"""The short form of `bench.load`: nobody is refused or misses anything, whatever else runs."""

from pathlib import Path

import pytest

from bench.load import Plan, measure
from bench.seed import seed

pytestmark = pytest.mark.long

MB_MORE = {"one abusive token": 64, "one slow client": 64, "one huge upload": 256, "one backup": 64}


def test_agents_and_boards_keep_working_under_load(tmp_path: Path) -> None:
    plan = Plan(agents=40, boards=10, think=1, seconds=5, beside=1.5, rounds=1, settle=0.3)
    found = measure(seed(tmp_path / "seeded.db", 1_000), tmp_path / "load.db", plan)
    assert found.record.faults == []
    assert found.missed == 0
    assert len(found.record.calls) > plan.agents
    assert len(found.record.delays) > plan.boards
    saw = found.saw["one abusive token"]
    assert saw["429"] > 0
    assert {name for name, count in saw.items() if count} <= {"200", "201", "429"}, "refused, or without both headers"
    assert {kind: each["faults"] for kind, each in found.saw.items()} == dict.fromkeys(plan.kinds, 0)
    assert max(found.memory) - found.memory[0] <= 64
    assert {kind: more for kind, more in found.more_memory.items() if max(more) > MB_MORE[kind]} == {}

"""The way from nothing to an agent that claims, asks and finishes, with the commands of docs/use/agents.md."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.agents.coding_agents import ClaudeCode
from tests.agents.mock_model import Call, MockModel, Script
from tests.demo import Demo
from tests.docs.pages import ROOT, blocks
from tests.support.server import act_when_a_call_waits, ok
from ticketbox.demo.loader import OWNER_EMAIL

MINUTES = 3.0  # as the heading promises

pytestmark = pytest.mark.long


def test_newcomer_has_an_agent_that_claims_asks_and_finishes_in_three_minutes(tmp_path: Path) -> None:
    agent = ClaudeCode()
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    (programs / "claude").symlink_to(agent.program)
    (script,) = blocks(ROOT / "docs" / "use" / "agents.md", "sh agent")
    started = time.monotonic()
    with Demo(tmp_path / "demo.db") as demo, MockModel() as model:
        person = demo.client()
        ok(person.post("/session", json={"email": OWNER_EMAIL, "password": demo.password}))
        finished: list[str] = []

        def work() -> Script:
            claimed = yield Call("claim_next_ticket", {"project": "Web shop"})
            claim = {"ticket_id": claimed.json()["id"], "lease": claimed.json()["lease"]}
            question = {"question": "Fix it now?", "choices": ["Yes", "Later"]}
            asked = yield Call("ask_human", {**claim, **question})
            path = f"/questions/{asked.json()['id']}/answer"
            with act_when_a_call_waits(demo, lambda: ok(person.post(path, json={"answer": "Yes"}))):
                answer = yield Call("wait_for_answer", claim)
            assert answer.json()["answer"] == "Yes"
            done = yield Call("finish_work", {**claim, "comment": "Fixed.", "column": "Done"})
            finished.append(done.json()["id"])
            return "Done."

        model.follow(work)
        printed = subprocess.run(
            [
                "bash",
                "-c",
                "set -euo pipefail\n" + script.replace("http://localhost:8420", demo.url).replace("tok_…", demo.token),
            ],
            cwd=home,
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(home),
                "TERM": "dumb",
                **agent.build_environment(model),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
            check=False,
        )
        if model.failure is not None:
            raise model.failure
        assert printed.returncode == 0, printed
        (ticket,) = finished
        left = ok(person.get(f"/tickets/{ticket}"))
        assert (left["column"], left["resolved"], left["claim"]) == ("Done", True, None)
    assert time.monotonic() - started < 60 * MINUTES

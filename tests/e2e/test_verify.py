"""`ticketbox verify` in a real browser: the bug is reproduced, the fix proves it gone, and the gate lets it close."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.e2e.shop_with_bug import MESSAGE, build_capture, serve_shop
from tests.support.cli import run
from tests.support.operation_cases import WRITING, build_parts
from tests.support.server import World, expect_error, ok

BASE, HEAD = "a" * 40, "b" * 40


class Shop:
    """A shop with a bug, the ticket of its capture, and an agent that may not close it without proof."""

    def __init__(self, world: World, shell: str) -> None:
        self.world, self.shell = world, shell
        given = {"capture_policy": {"bodies": "on"}, "verification": True}
        ok(world.owner.web.patch(f"/projects/{world.project}", json=given))
        made = ok(world.api.post("/captures", files=build_parts(build_capture(world.project))))
        self.ticket, self.capture = made["ticket_id"], made["capture_id"]
        self.token = world.owner.token(*WRITING)
        self.agent = world.box.client(self.token)

    def verify(self, *options: str, commit: str = HEAD, token: str | None = None, fixed: bool = True) -> Result:
        """Run the command against the shop, with or without the bug."""
        with serve_shop(fixed=fixed) as base:
            return self.call("--base-url", base, "--commit", commit, *options, token=token)

    def call(self, *options: str, token: str | None = None) -> Result:
        """Run the command."""
        environment = {"SERVICE_API_TOKEN": self.token if token is None else token, "TICKETBOX_BROWSER": self.shell}
        return run("verify", self.ticket, *options, TICKETBOX_URL=self.world.box.url, **environment)

    def resolve(self) -> Any:
        """Close the ticket as the agent."""
        return self.agent.patch(f"/tickets/{self.ticket}", json={"resolved": True})

    def list_posted(self) -> list[dict[str, Any]]:
        """The verifications of the ticket, newest first."""
        return ok(self.agent.get(f"/tickets/{self.ticket}/verifications"))["items"]


@pytest.fixture
def shop(world: World, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A shop, seen from an empty folder outside of any repository."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return Shop(world, shell)


@pytest.mark.long
def test_bug_is_reproduced_then_gone_and_the_gate_lets_the_ticket_close(shop: Shop) -> None:
    expect_error(shop.resolve(), 409, "approval_required")
    before = shop.verify("--rounds", "2", "--expect", "reproduced", commit=BASE, fixed=False)
    assert before.exit_code == 0, before.stderr
    assert before.stdout.startswith(f"reproduced on {BASE[:12]}, 2 rounds")
    expect_error(shop.resolve(), 409, "approval_required")

    same = shop.verify("--rounds", "1", commit=BASE[:10])
    assert same.exit_code == 0, same.stderr
    expect_error(shop.resolve(), 409, "approval_required")  # the commit on which it was reproduced

    after = shop.verify("--rounds", "1", "--json")
    assert after.exit_code == 0, after.stderr
    outcome = json.loads(after.stdout)
    assert (outcome["verdict"], outcome["rounds"]) == ("gone", ["gone"])
    newest, _, oldest = shop.list_posted()
    assert newest == outcome["posted"]
    assert (oldest["verdict"], oldest["commit"], oldest["rounds"]) == ("reproduced", BASE, 2)
    assert oldest["console"] == [f"TypeError: {MESSAGE}"]
    assert newest["capture_id"] == oldest["capture_id"] == shop.capture
    for each in (newest, oldest):
        picture = shop.agent.get(f"/assets/{each['screenshot']}/content")
        assert picture.content.startswith(b"\x89PNG")
    assert ok(shop.resolve())["resolved"]


@pytest.mark.long
def test_verdict_decides_the_exit_status_and_no_post_posts_nothing(shop: Shop) -> None:
    refused = shop.verify("--rounds", "1", "--no-post", fixed=False)
    assert refused.exit_code == 10
    assert refused.stdout.endswith("Not posted\n")
    assert shop.list_posted() == []


@pytest.mark.long
def test_fork_without_a_token_runs_a_pack_and_prints_the_verdict(shop: Shop, tmp_path: Path) -> None:
    pack = tmp_path / "pack.zip"
    pack.write_bytes(shop.agent.get(f"/captures/{shop.capture}/reproduction").content)
    done = shop.verify("--pack", str(pack), "--rounds", "1", token="")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("gone")
    assert shop.list_posted() == []
    without = shop.verify("--rounds", "1", token="")
    assert (without.exit_code, without.stdout) == (4, "")


@pytest.mark.long
def test_run_that_stops_before_the_failure_is_not_reached(shop: Shop) -> None:
    parts = build_capture(shop.world.project)
    missing = {**parts, "actions": parts["actions"].replace(b"/cart", b"/orders")}
    shop.ticket = ok(shop.agent.post("/captures", files=build_parts(missing)))["ticket_id"]
    done = shop.verify("--rounds", "1")
    assert done.exit_code == 13, done.stderr
    assert "not reached, stopped at step 1" in done.stderr
    (posted,) = shop.list_posted()
    assert posted["verdict"] == "not_reached"


@pytest.mark.long
def test_application_that_does_not_answer_posts_nothing(shop: Shop) -> None:
    with serve_shop(fixed=True) as base:
        pass  # its port is free again
    done = shop.call("--base-url", base, "--commit", HEAD)
    assert (done.exit_code, done.stdout) == (5, "")
    assert "doesn't answer" in done.stderr
    assert shop.list_posted() == []


@pytest.mark.long
def test_capture_without_a_failure_proves_nothing(shop: Shop) -> None:
    parts = {**build_capture(shop.world.project), "errors": b"[]"}
    shop.ticket = ok(shop.agent.post("/captures", files=build_parts(parts)))["ticket_id"]
    done = shop.verify()
    assert done.exit_code == 3
    assert "proves nothing" in done.stderr


def test_commit_is_required_outside_of_a_repository(shop: Shop) -> None:
    done = shop.call("--base-url", "http://127.0.0.1:9")
    assert done.exit_code == 2
    assert "--commit" in done.stderr

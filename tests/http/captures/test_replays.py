"""The replay of a capture: stored, read, deleted with it, left out by the policy, and never a reason for refusal."""

import gzip
import json
from typing import Any

import pytest

from tests.support.operation_cases import REPLAY, build_parts, capture_arguments, make_capture
from tests.support.server import World, expect_error, ok, run_beside
from ticketbox.store.file.database import Write


def send(world: World, replay: bytes, **more: Any) -> dict[str, Any]:
    arguments = capture_arguments(world.project, **more)
    return ok(world.api.post("/captures", files=build_parts({**arguments, "replay": replay})))


def read_health(world: World, made: dict[str, Any]) -> Any:
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    return capture["health"]["replay"], capture["health_summary"]


def test_replay_is_stored_and_read(world: World) -> None:
    made = send(world, gzip.compress(json.dumps(REPLAY).encode()))
    answer = world.api.get(f"/captures/{made['capture_id']}/replay")
    events = ok(answer)
    assert answer.headers["content-type"] == "application/json"
    assert [event["type"] for event in events] == [4, 2, 3]
    assert events[2]["data"]["texts"] == [{"id": 6, "value": "Cart (empty)"}]
    assert read_health(world, made)[0] == {"status": "ok", "reason": None, "captured": 3, "dropped": 0}


@pytest.mark.parametrize("sent", [b"[1", b"\x1f\x8b damaged", b"[" + b" " * (2 << 20) + b"]"])
def test_unusable_replay_never_costs_the_capture(world: World, sent: bytes) -> None:
    made = send(world, sent)
    health, summary = read_health(world, made)
    assert (health["status"], health["captured"]) == ("blocked", 0)
    assert "There is no replay: " in summary
    expect_error(world.api.get(f"/captures/{made['capture_id']}/replay"), 404, "not_found")


def test_policy_leaves_replays_out(world: World) -> None:
    project = world.new_project("Private", capture_policy={"replay": False})
    made = send(world, json.dumps(REPLAY).encode(), project_id=project)
    health, summary = read_health(world, made)
    assert (health["status"], health["reason"]) == ("disabled", "policy")
    assert "There is no replay: the project's capture policy leaves it out." in summary
    policies = {each["id"]: each["capture_policy"]["replay"] for each in ok(world.owner.web.get("/projects"))["items"]}
    assert policies == {world.project: 30, project: 0}
    path = f"/projects/{project}"
    assert ok(world.owner.web.patch(path, json={"capture_policy": {"replay": 120}}))["capture_policy"]["replay"] == 120
    expect_error(world.owner.web.patch(path, json={"capture_policy": {"replay": 45}}), 400, "invalid_request")


def test_captures_without_replay_are_readable(world: World) -> None:
    made = make_capture(world)

    def remove_replay(tx: Write) -> None:
        tx.execute("UPDATE capture SET replay = NULL, health = json_remove(health, '$.replay') WHERE public_id = ?",
                   (made["capture_id"],))  # fmt: skip

    run_beside(world.box.db, remove_replay)
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert "replay" not in capture["health"]
    expect_error(world.api.get(f"/captures/{made['capture_id']}/replay"), 404, "not_found")

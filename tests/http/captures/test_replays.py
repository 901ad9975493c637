"""The replay of a capture: stored, read, deleted with it, left out by the policy, and never a reason for refusal."""

import gzip
import json
from typing import Any

import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import REPLAY, build_parts, capture_arguments, make_capture
from tests.support.server import World, expect_error, ok, run_beside
from tests.support.tokens import count_result_tokens
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
    assert read_health(world, made)[0] == {"status": "ok", "reason": None, "captured": 3, "dropped": 0, "length": 9_000}


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


def test_transcript_says_what_the_replay_shows(world: World) -> None:
    made = send(world, json.dumps(REPLAY).encode())
    path = f"/captures/{made['capture_id']}/replay/transcript"
    found = ok(world.api.get(path))
    first, *others = found["items"]
    assert (first["second"], first["kind"], first["text"]) == (0, "screen", "Cart")
    assert found["start"] == REPLAY[0]["timestamp"]
    assert any("“Cart (empty)”" in each["text"] for each in others if each["kind"] == "screen")
    assert found["total"] == len(found["items"])
    assert found["omitted"] == 0
    token = world.owner.token("read")
    lines = call_tool(world, token, "get_replay_transcript", {"capture_id": made["capture_id"]})["structuredContent"]
    assert lines["items"][0].startswith("0s screen ")
    assert "next" not in lines
    bare = send(world, b"[1")
    expect_error(world.api.get(f"/captures/{bare['capture_id']}/replay/transcript"), 404, "not_found")


def test_transcript_of_a_busy_page_has_at_most_1500_tokens(world: World) -> None:
    body = REPLAY[1]["data"]["node"]["childNodes"][1]["childNodes"][0]
    rows = [
        {"type": 2, "id": 10 + each, "tagName": "p", "attributes": {}, "childNodes": [
            {"type": 3, "id": 20 + each, "textContent": f"Row {each}"}]}
        for each in range(6)
    ]  # fmt: skip
    page = {**REPLAY[1], "data": {"initialOffset": {"left": 0, "top": 0}, "node": {
        "type": 0, "id": 1, "childNodes": [{**body, "childNodes": rows}]}}}  # fmt: skip

    def write(number: int) -> dict[str, Any]:
        lists: dict[str, Any] = {"attributes": [], "removes": [], "adds": []}
        text = f"Order {number}: {number * 17} EUR, shipped by tomorrow noon if it is paid today"
        data = {"source": 0, "texts": [{"id": 20 + number % 6, "value": text}], **lists}
        return {"type": 3, "timestamp": REPLAY[1]["timestamp"] + number * 50, "data": data}

    made = send(world, gzip.compress(json.dumps([REPLAY[0], page, *map(write, range(600))]).encode()))
    capture = {"capture_id": made["capture_id"]}
    token = world.owner.token("read")
    short = call_tool(world, token, "get_replay_transcript", capture)
    assert 600 < count_result_tokens(short) <= 1_500
    assert short["structuredContent"]["omitted"] > 0
    assert short["structuredContent"]["next"].endswith('detail="full")')
    full = call_tool(world, token, "get_replay_transcript", {**capture, "detail": "full"})["structuredContent"]
    assert len(full["items"]) > len(short["structuredContent"]["items"])

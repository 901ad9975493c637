"""Captures from a trace of Playwright that is sent as it is, and the ticket of a failing test."""

import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from tests.support.pictures import png
from tests.support.server import World, expect_error, ok
from tests.support.traces import CONTEXT, EVENTS, PAGE, build_trace

HEALTH = {name: {"status": "disabled"} for name in ("console", "network", "errors", "actions")}


def send(world: World, trace: bytes, files: dict[str, Any] | None = None, **fields: Any) -> httpx.Response:
    capture = {
        "id": "trace-of-a-test", "page": {"url": "about:blank"}, "captured_at": 1_795_253_000_000, "health": HEALTH,
        **fields,
    }  # fmt: skip
    return world.api.post("/captures", files={"capture": json.dumps(capture), "trace": trace, **(files or {})})


def test_capture_has_what_its_trace_says_and_no_secret_of_it(world: World) -> None:
    made = ok(send(world, build_trace(), project_id=world.project))
    ticket = ok(world.api.get(f"/tickets/{made['ticket_id']}"))
    capture = ticket["capture"]
    assert (ticket["title"], ticket["attachments"]) == ("TypeError: cart is null", [])
    assert capture["counts"] == {"console": 1, "network": 1, "errors": 1, "failed_requests": 1, "actions": 4}
    assert (capture["page"]["url"], capture["environment"]["browser"]) == (PAGE, "Chrome 156.0")
    assert capture["captured_at"] == "2026-11-21T09:29:50.060Z"
    assert {each["status"] for each in (capture["health"][name] for name in HEALTH)} == {"ok"}
    assert capture["screenshot"]["media_type"] == "image/png"
    assert "sk_live" not in world.api.get(f"/captures/{made['capture_id']}/har").text
    assert send(world, b"anything", project_id=world.project).json() == made  # a repeat changes nothing


def test_entries_title_and_screenshot_that_are_sent_are_kept_beside_those_of_the_trace(world: World) -> None:
    error = {"seq": 0, "ts": 1_795_253_390_100, "kind": "error", "name": "AssertionError", "message": "no total"}
    line = {"seq": 1, "ts": 1_795_253_390_100, "level": "log", "args": ["token=sk_live_abcdefghijklmnop123456"]}
    files = {"errors": json.dumps([error]), "console": json.dumps([line]), "screenshot": png(7, 5)}
    sent = send(world, build_trace(), files, project_id=world.project, title="test_pays", keep_trace=True)
    ticket = ok(world.api.get(f"/tickets/{ok(sent)['ticket_id']}"))
    capture = ticket["capture"]
    assert ticket["title"] == "test_pays"
    assert [each["name"] for each in ticket["attachments"]] == ["trace.zip"]
    assert (capture["counts"]["errors"], capture["counts"]["console"]) == (2, 2)
    assert [each["name"] for each in capture["errors"]["items"]] == ["TypeError", "AssertionError"]
    assert "sk_live" not in json.dumps(capture)
    assert (capture["screenshot"]["width"], capture["screenshot"]["height"]) == (7, 5)
    refused = send(world, build_trace(), {"errors": json.dumps([{}])}, project_id=world.project, id="trace-other")
    assert expect_error(refused, 400, "invalid_request")["errors"][0]["field"].startswith("errors[0]")


def test_page_of_a_trace_chooses_the_project(world: World) -> None:
    expect_error(send(world, build_trace()), 400, "invalid_request")
    shop = world.new_project("Shop", url_patterns=["https://shop.example/*"])
    made = ok(send(world, build_trace()))
    assert ok(world.api.get(f"/tickets/{made['ticket_id']}"))["project_id"] == shop


def test_bodies_of_a_trace_follow_the_policy_of_the_project(world: World) -> None:
    made = ok(send(world, build_trace(), project_id=world.project))
    assert "boom" not in world.api.get(f"/captures/{made['capture_id']}/har").text


def test_odd_picture_and_time_of_a_trace_are_left_out(world: World) -> None:
    frame = {"type": "screencast-frame", "file": "screencast/1.jpeg", "timestamp": 9_999}
    trace = build_trace([*EVENTS, frame], {**CONTEXT, "wallTime": 5_000_000_000_000})
    made = ok(send(world, trace, project_id=world.project))
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert (capture["screenshot"], capture["captured_at"]) == (None, "2026-11-21T09:23:20.000Z")


def test_refused_traces_create_nothing_and_say_what_is_wrong(world: World) -> None:
    for trace, words in (
        (b"PK\x03\x04 torn", "torn or damaged"),
        (build_trace(extra="../up.trace"), "leads out of it"),
        (build_trace(context={**CONTEXT, "version": 11}), "format 11"),
    ):
        problem = expect_error(send(world, trace, project_id=world.project), 400, "invalid_request")
        assert problem["errors"][0]["field"] == "trace"
        assert words in problem["detail"]
    expect_error(send(world, build_trace(), project_id="proj_000000000000"), 404, "not_found")
    assert ok(world.api.get("/tickets", params={"project_id": world.project}))["items"] == []


@pytest.mark.long
def test_zip_bomb_is_refused_and_the_server_keeps_working(world: World) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made, made.open("trace.trace", "w") as file:
        file.write(json.dumps(CONTEXT).encode() + b"\n")
        for _ in range(1_025):
            file.write(bytes(1 << 20))
    assert len(bomb.getvalue()) < 2 << 20
    refused = send(world, bomb.getvalue(), project_id=world.project)
    assert refused.status_code in {400, 413}, refused.text
    ok(send(world, build_trace(), project_id=world.project))


def find(world: World, message: str, test: str = "cart.spec.js › pays", project: str = "") -> dict[str, Any]:
    asked = {"project_id": project or world.project, "test": test, "message": message}
    return ok(world.api.post("/failures/find", json=asked))


def test_failure_is_found_by_the_start_of_its_message_without_what_differs_each_time(world: World) -> None:
    message = "Error: expect(locator).toHaveText() failed\n\nLocator: locator('p')\nExpected: {}\nReceived: {}\n{}"
    found = find(world, message.format(1, 2, "at http://127.0.0.1:41234/cart"))
    assert found["ticket_id"] is None
    made = ok(send(world, build_trace(), project_id=world.project, id=found["capture_id"]))
    same = find(world, message.format(17, 4.5, "another end"), project="First project")
    assert same == {"capture_id": found["capture_id"], "ticket_id": made["ticket_id"]}
    others = [
        find(world, message.replace("'p'", "'h1'").format(1, 2, "")), find(world, "Error: another"),
        find(world, message.format(1, 2, ""), "cart.spec.js › adds up"),
        find(world, message.format(1, 2, ""), project=world.new_project("Second shop")),
    ]  # fmt: skip
    assert {each["ticket_id"] for each in others} == {None}
    assert len({each["capture_id"] for each in [found, *others]}) == 5


def test_failure_of_an_archived_ticket_is_a_new_one_up_to_five_times(world: World) -> None:
    ids: list[str] = []
    for _ in range(5):
        found = find(world, "Error: no total")
        assert found["ticket_id"] is None
        made = ok(send(world, build_trace(), project_id=world.project, id=found["capture_id"]))
        assert find(world, "Error: no total")["ticket_id"] == made["ticket_id"]
        ok(world.api.post(f"/tickets/{made['ticket_id']}/archive"))
        ids.append(found["capture_id"])
    assert len(set(ids)) == 5
    asked = {"project_id": world.project, "test": "cart.spec.js › pays", "message": "Error: no total"}
    assert "restore" in expect_error(world.api.post("/failures/find", json=asked), 409, "conflict")["detail"]


@pytest.mark.parametrize("message", ["H" * 10_000, "a-" * 5_000, "\n" * 10_000, ""])
def test_failure_with_any_message_is_found_quickly(world: World, message: str) -> None:
    assert find(world, message)["ticket_id"] is None

"""Which failure of a capture is the bug: sent with it, and chosen on the ticket (docs/use/reproduce.md)."""

import io
import json
import zipfile
from typing import Any

import httpx

from tests.http.work.test_sessions import history
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts, capture_arguments, create_report_key, make_capture
from tests.support.server import World, expect_error, ok

ERROR = {"stream": "errors", "entry": "2", "text": "no cart"}
REQUEST = {"stream": "network", "entry": "r1", "text": "GET /api/cart: 500"}
GIVEN = {"base_url": "http://localhost:3000"}


def choose(client: httpx.Client, capture: str, failure: dict[str, str]) -> httpx.Response:
    """Choose the bug of a capture."""
    named = {"stream": failure["stream"], "entry": failure["entry"]}
    return client.put(f"/captures/{capture}/bug", json=named)


def send(world: World, **envelope: Any) -> httpx.Response:
    """Send a capture."""
    return world.api.post("/captures", files=build_parts(capture_arguments(world.project, **envelope)))


def read_bug(world: World, ticket: str) -> dict[str, Any]:
    """The bug of a ticket's capture, and who chose it."""
    bug = ok(world.api.get(f"/tickets/{ticket}"))["capture"]["bug"]
    return {**bug, "chosen": bug["chosen"] and bug["chosen"]["user"]["name"]}


def test_person_chooses_another_failure_than_the_last_that_a_step_led_to(world: World) -> None:
    made = make_capture(world)
    capture, ticket = made["capture_id"], made["ticket_id"]
    assert read_bug(world, ticket) == {**ERROR, "chosen": None}
    bob = world.join("Bob")
    chosen = ok(choose(bob.web, capture, REQUEST))["bug"]
    assert read_bug(world, ticket) == {**REQUEST, "chosen": "Bob"}
    event = history(world, ticket)[-1]
    assert (event["type"], event["data"]) == (
        "capture.bug_chosen",
        {"capture_id": capture, "bug": "GET /api/cart: 500"},
    )
    archive = world.api.get(f"/captures/{capture}/reproduction").content
    expected = json.loads(zipfile.ZipFile(io.BytesIO(archive)).read("expected.json"))
    assert expected["bug"] == {"stream": "network", "entry": "r1"}
    assert (expected["errors"], [each["url"] for each in expected["failed_requests"]]) == (
        [],
        ["https://shop.example/api/cart"],
    )
    expect_error(choose(world.join("Vic", "viewer").web, capture, ERROR), 403, "forbidden")
    assert chosen["chosen"]["token_id"] is None
    ok(world.owner.web.post(f"/tickets/{ticket}/archive"))
    expect_error(choose(bob.web, capture, ERROR), 409, "ticket_archived")


def test_choice_is_sent_with_the_capture(world: World) -> None:
    ticket = make_capture(world, bug={"stream": "network", "entry": "r1"})["ticket_id"]
    assert read_bug(world, ticket) == {**REQUEST, "chosen": world.owner.name}
    for entry in ("r2", "2"):
        refused = expect_error(send(world, bug={"stream": "network", "entry": entry}), 400, "invalid_request")
        assert refused["errors"][0]["field"] == "capture.bug"


def test_what_no_test_can_look_for_is_refused(world: World) -> None:
    capture = make_capture(world)["capture_id"]
    for failure in ({"stream": "console", "entry": "1"}, {"stream": "errors", "entry": "99"}):  # a warning; nothing
        refused = expect_error(choose(world.owner.web, capture, failure), 400, "invalid_request")
        assert "must be a thrown error, an error in the console, or a failed request" in str(refused["errors"])
    expect_error(choose(world.owner.web, capture, {"stream": "actions", "entry": "3"}), 400, "invalid_request")


def test_token_keeps_what_somebody_else_chose(world: World) -> None:
    made = make_capture(world)
    capture, agent = made["capture_id"], world.owner.token("read", "tickets:write")
    given = {"capture_id": capture, "stream": "network", "entry": "r1"}
    answer = call_tool(world, agent, "choose_bug", given)
    assert answer["structuredContent"]["bug"]["chosen"]["token_id"]
    assert not call_tool(world, agent, "choose_bug", {**given, "stream": "errors", "entry": "2"}).get("isError")
    ok(choose(world.owner.web, capture, REQUEST))
    refused = call_tool(world, agent, "choose_bug", {**given, "stream": "errors", "entry": "2"})
    assert refused["isError"]
    assert "a person changes it on the ticket" in str(refused["content"])


def test_proof_of_another_failure_counts_no_longer(world: World) -> None:
    made = make_capture(world)
    capture, ticket = made["capture_id"], made["ticket_id"]

    def post(verdict: str, commit: str, **given: Any) -> bool:
        sent = {**GIVEN, "capture_id": capture, "verdict": verdict, "commit": commit * 40, **given}
        return ok(world.api.post(f"/tickets/{ticket}/verifications", json=sent))["proven"]

    def is_proven() -> bool:
        return ok(world.api.get(f"/tickets/{ticket}"))["verification"]["proven"]

    post("reproduced", "a")
    assert post("gone", "b")
    assert is_proven()
    ok(choose(world.owner.web, capture, REQUEST))
    newest = ok(world.api.get(f"/tickets/{ticket}/verifications"))["items"][0]
    assert (newest["bug"], newest["proven"]) == ({"stream": "errors", "entry": "2"}, False)
    assert not is_proven()
    assert not post("gone", "b")
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"verification": True}))
    refused = expect_error(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}), 409, "approval_required")
    assert "no verification before it says reproduced" in refused["detail"]
    post("reproduced", "a")
    assert post("gone", "b")
    assert is_proven()
    assert ok(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}))["resolved"]
    ok(choose(world.owner.web, capture, ERROR))
    assert not post("gone", "b", bug={"stream": "network", "entry": "r1"})  # of a pack from before the choice


def test_timeline_is_about_the_bug(world: World) -> None:
    given = capture_arguments(world.project, bug={"stream": "errors", "entry": "2"})
    entry = {"ts": 1_795_253_399_000, "kind": "error"}
    given["errors"] = json.dumps(
        [{**entry, "seq": 1, "message": "first"}, {**entry, "seq": 2, "ts": entry["ts"] + 500, "message": "second"}]
    ).encode()
    capture = ok(world.api.post("/captures", files=build_parts(given)))["capture_id"]
    assert ok(world.api.get(f"/captures/{capture}/timeline"))["failure"] == entry["ts"] + 500


def test_stranger_can_name_the_failure_of_a_report(world: World) -> None:
    key, sent = create_report_key(world)["key"], capture_arguments("")
    page = {name: sent["capture"][name] for name in ("page", "health")}
    page |= {"captured_at": "2026-11-21T09:30:00Z", "bug": {"stream": "network", "entry": "r1"}}
    files = [
        ("title", (None, "No receipt came")),
        ("capture", ("part", json.dumps(page))),
        *((name, ("part", sent[name])) for name in ("errors", "network")),
    ]
    ok(httpx.post(f"{world.box.url}/api/v1/reports/{key}", files=files, timeout=60))
    ticket = ok(world.api.get("/tickets", params={"label": "external"}))["items"][0]["id"]
    assert read_bug(world, ticket) == {**REQUEST, "chosen": world.owner.name}

"""Expectations of a capture: who adds, confirms and removes them, and what they prove (docs/use/reproduce.md)."""

import json
from typing import Any

import httpx

from tests.http.work.test_sessions import history
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import (
    EXPECTATION,
    build_parts,
    capture_arguments,
    create_report_key,
    make_capture,
)
from tests.support.server import World, expect_error, ok

WORDS = "“Total” should be “80.00 €”; it was “40.00 €”"


def add(client: httpx.Client, capture: str, **fields: Any) -> httpx.Response:
    """Add an expectation to a capture."""
    return client.post(f"/captures/{capture}/expectations", json={**EXPECTATION, **fields})


def read(world: World, ticket: str) -> list[dict[str, Any]]:
    """The expectations of a ticket's capture."""
    return ok(world.api.get(f"/tickets/{ticket}"))["capture"]["expectations"]


def test_person_says_what_is_wrong(world: World) -> None:
    made = make_capture(world)
    added = ok(add(world.owner.web, made["capture_id"], right=" 80.00\u00a0€ "))
    assert (added["words"], added["right"], added["at"]) == (WORDS, "80.00 €", 1_795_253_400_000)
    assert added["confirmed"] == added["by"]
    assert read(world, made["ticket_id"]) == [added]
    event = history(world, made["ticket_id"])[-1]
    assert (event["type"], event["data"]["expectation"]) == ("capture.expectation_added", WORDS)
    ok(world.owner.web.delete(f"/expectations/{added['id']}"))
    assert read(world, made["ticket_id"]) == []
    assert history(world, made["ticket_id"])[-1]["type"] == "capture.expectation_removed"


def test_agent_proposes_and_a_person_confirms(world: World) -> None:
    made = make_capture(world)
    agent = world.owner.token("read", "tickets:write")
    proposed = call_tool(world, agent, "add_expectation", {"capture_id": made["capture_id"], **EXPECTATION})
    added = proposed["structuredContent"]
    assert "confirmed" not in added
    client = world.owner.client("tickets:write")
    client.headers["X-Ticketbox-Client"] = "extension"  # which any token can send
    assert ok(add(client, made["capture_id"]))["confirmed"] is None
    expect_error(client.post(f"/expectations/{added['id']}/confirm"), 403, "forbidden")
    bob = world.join("Bob")
    confirmed = ok(bob.web.post(f"/expectations/{added['id']}/confirm"))
    assert confirmed["confirmed"]["user"]["name"] == "Bob"
    assert ok(world.owner.web.post(f"/expectations/{added['id']}/confirm")) == confirmed
    assert [each["type"] for each in history(world, made["ticket_id"])].count("capture.expectation_confirmed") == 1
    expect_error(client.delete(f"/expectations/{added['id']}"), 403, "forbidden")
    expect_error(world.join("Vic", "viewer").web.delete(f"/expectations/{added['id']}"), 403, "forbidden")
    ok(bob.web.delete(f"/expectations/{added['id']}"))
    expect_error(bob.web.delete(f"/expectations/{added['id']}"), 404, "not_found")
    rest = read(world, made["ticket_id"])
    expect_error(bob.client("tickets:write").delete(f"/expectations/{rest[0]['id']}"), 403, "forbidden")
    ok(client.delete(f"/expectations/{rest[0]['id']}"))


def test_expectations_are_sent_with_the_capture(world: World) -> None:
    made = make_capture(world, expectations=[{**EXPECTATION, "at": 1_795_253_399_000}])
    (sent,) = read(world, made["ticket_id"])
    assert (sent["words"], sent["at"], sent["confirmed"]) == (WORDS, 1_795_253_399_000, None)
    for wrong, field in (({**EXPECTATION, "right": "40.00 €"}, "right"), ({**EXPECTATION, "target": None}, "target")):
        parts = build_parts(capture_arguments(world.project, expectations=[EXPECTATION, wrong]))
        refused = expect_error(world.api.post("/captures", files=parts), 400, "invalid_request")
        assert refused["errors"][0]["field"] == f"capture.expectations[1].{field}"
    parts = build_parts(capture_arguments(world.project, expectations=[EXPECTATION] * 21))
    expect_error(world.api.post("/captures", files=parts), 400, "invalid_request")


def test_stranger_says_what_is_wrong_and_a_member_confirms(world: World) -> None:
    key, sent = create_report_key(world)["key"], capture_arguments("")
    page = {name: sent["capture"][name] for name in ("page", "health")}
    page |= {"captured_at": "2026-11-21T09:30:00Z", "expectations": [EXPECTATION]}
    files = [("title", (None, "Wrong total")), ("capture", ("part", json.dumps(page)))]
    ok(httpx.post(f"{world.box.url}/api/v1/reports/{key}", files=files, timeout=60))
    ticket = ok(world.api.get("/tickets", params={"label": "external"}))["items"][0]["id"]
    (reported,) = read(world, ticket)
    assert reported["confirmed"] is None
    assert ok(world.owner.web.post(f"/expectations/{reported['id']}/confirm"))["confirmed"]


def test_secrets_are_removed(world: World) -> None:
    secret = world.owner.token("read")
    texts = {"seen": f"It {secret}", "shown": {"seen": secret}, "right": "2"}
    target = {"name": secret, "text": secret, "selectors": [f'role=button[name="{secret}"]', "#total"]}
    added = ok(add(world.owner.web, make_capture(world)["capture_id"], **texts, target=target))
    assert secret not in json.dumps(added)
    assert added["seen"] == "It [redacted]"


def test_capture_has_a_limit_of_expectations(world: World) -> None:
    capture = make_capture(world, expectations=[EXPECTATION] * 20)["capture_id"]
    expect_error(add(world.owner.web, capture), 409, "conflict")


def test_archived_ticket_keeps_its_expectations(world: World) -> None:
    made = make_capture(world)
    capture, ticket = made["capture_id"], made["ticket_id"]
    expectation = ok(add(world.api, capture))["id"]
    ok(world.owner.web.post(f"/tickets/{ticket}/archive"))
    expect_error(add(world.owner.web, capture), 409, "ticket_archived")
    expect_error(world.owner.web.post(f"/expectations/{expectation}/confirm"), 409, "ticket_archived")
    expect_error(world.owner.web.delete(f"/expectations/{expectation}"), 409, "ticket_archived")


def test_confirmed_expectations_are_the_bug_of_a_proof(world: World) -> None:
    made = make_capture(world)
    capture, ticket = made["capture_id"], made["ticket_id"]

    def post(verdict: str, commit: str, **given: Any) -> dict[str, Any]:
        sent = {"base_url": "http://localhost:3000", "capture_id": capture, "verdict": verdict, "commit": commit * 40}
        return ok(world.api.post(f"/tickets/{ticket}/verifications", json={**sent, **given}))

    def is_proven() -> bool:
        return ok(world.api.get(f"/tickets/{ticket}"))["verification"]["proven"]

    post("reproduced", "a")
    assert post("gone", "b")["proven"]
    proposed = ok(add(world.api, capture))
    assert is_proven()
    ok(world.owner.web.post(f"/expectations/{proposed['id']}/confirm"))
    assert not is_proven()
    assert not post("gone", "b")["proven"]
    red = post("reproduced", "a")
    assert (red["bug"], red["expectations"]) == (None, [{"id": proposed["id"], "words": WORDS}])
    assert post("gone", "b", expectations=[proposed["id"]])["proven"]
    assert is_proven()
    failure = {"stream": "errors", "entry": "2"}
    ok(world.owner.web.put(f"/captures/{capture}/bug", json=failure))
    assert not is_proven()
    assert not post("gone", "b")["proven"]
    assert post("reproduced", "a")["bug"] == failure
    assert post("gone", "b")["proven"]
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"verification": True}))
    ok(world.owner.web.delete(f"/expectations/{proposed['id']}"))
    assert not is_proven()
    refused = expect_error(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}), 409, "approval_required")
    assert "the bug of the capture" in refused["detail"]
    old = post("gone", "b", expectations=[proposed["id"]])  # of a pack from before
    assert (old["proven"], old["expectations"][0]["words"]) == (False, "an expectation that was removed since")

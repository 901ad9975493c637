"""Verifications of tickets, and the gate that asks for them (docs/use/verifications.md)."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.http.work.test_gates import GateCase, expect_refusals
from tests.http.work.test_sessions import history
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import WRITING, create_external_capture, make_capture
from tests.support.pictures import png
from tests.support.server import World, expect_error, ok

BASE, HEAD = "a" * 40, "b" * 40
GIVEN = {"commit": HEAD, "base_url": "http://localhost:3000", "verdict": "gone"}


class VerifiedCase(GateCase):
    """A company whose project requires verifications, and an agent that works on a ticket with a capture."""

    def __init__(self, world: World) -> None:
        super().__init__(world, verification=True)
        self.capture = make_capture(self, ticket_id=self.id, project_id=None)["capture_id"]

    def post(self, verdict: str, commit: str = HEAD, **given: Any) -> dict[str, Any]:
        """Post a verification of the ticket, by default of its capture."""
        return ok(add(self.agent, self.id, **{"capture_id": self.capture, **given}, verdict=verdict, commit=commit))

    def prove(self) -> None:
        """Post what proves the fix."""
        self.post("reproduced", BASE)
        self.post("gone")

    def resolve(self) -> httpx.Response:
        """Resolve the ticket as the agent."""
        return self.agent.patch(f"/tickets/{self.id}", json={"resolved": True})


def add(client: httpx.Client, ticket: str, **given: Any) -> httpx.Response:
    """Post a verification."""
    return client.post(f"/tickets/{ticket}/verifications", json={**GIVEN, **given})


@pytest.fixture
def verified(world: World) -> VerifiedCase:
    """Fixes must be proven."""
    return VerifiedCase(world)


def test_verification_is_listed_with_its_evidence(world: World) -> None:
    capture = make_capture(world)
    ticket = capture["ticket_id"]
    shot = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("a.png", png())}))["id"]
    trace = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("trace.zip", b"PK")}))["id"]
    first = ok(
        add(
            world.api, ticket, verdict="reproduced", commit="ABCDEF1", capture_id=capture["capture_id"], rounds=3,
            branch="fix/größe", screenshot=shot, trace=trace,
            console=["TypeError: x", "Authorization: Bearer abcdefghijklmnop0123456789"],
        )
    )  # fmt: skip
    assert first["console"][0] == "TypeError: x"
    assert "abcdefghijklmnop" not in first["console"][1]
    given = {
        key: first[key] for key in ("ticket_id", "capture_id", "commit", "branch", "rounds", "screenshot", "trace")
    }
    assert given == {
        "ticket_id": ticket, "capture_id": capture["capture_id"], "commit": "abcdef1", "branch": "fix/größe",
        "rounds": 3, "screenshot": shot, "trace": trace,
    }  # fmt: skip
    assert first["created"]["user"]["name"] == world.owner.name
    event = history(world, ticket)[-1]
    data = {
        "verification_id": first["id"], "verdict": "reproduced", "reason": None, "proven": False, "commit": "abcdef1",
    }  # fmt: skip
    assert (event["type"], event["data"]) == ("verification.added", data)
    second = ok(add(world.api, ticket))
    assert second["branch"] is None
    page = ok(world.api.get(f"/tickets/{ticket}/verifications", params={"limit": 1}))
    assert page["items"] == [second]
    rest = {"limit": 1, "cursor": page["next_cursor"]}
    assert ok(world.api.get(f"/tickets/{ticket}/verifications", params=rest))["items"] == [first]
    ok(world.owner.web.delete(f"/captures/{capture['capture_id']}"))
    ok(world.owner.web.delete(f"/assets/{shot}"))
    kept = ok(world.api.get(f"/tickets/{ticket}/verifications"))["items"][1]
    assert kept == {**first, "capture_id": None, "screenshot": None}


def test_live_run_is_proven_only_by_a_live_run(world: World) -> None:
    capture = make_capture(world)

    def post(verdict: str, commit: str, *, live: bool) -> bool:
        given = {"verdict": verdict, "commit": commit, "capture_id": capture["capture_id"], "live": live}
        added = ok(add(world.api, capture["ticket_id"], **given))
        assert added["live"] is live
        return added["proven"]

    post("reproduced", BASE, live=False)
    assert post("gone", HEAD, live=False)
    assert not post("gone", HEAD, live=True)
    post("reproduced", BASE, live=True)
    assert post("gone", HEAD, live=True)


def test_ticket_has_its_newest_verification_in_lists_too(world: World) -> None:
    ticket, other = (world.ticket(title)["id"] for title in ("First", "Second"))
    ok(add(world.api, ticket, verdict="reproduced", commit=BASE))
    ok(add(world.api, ticket, verdict="flaky"))
    expected = {ticket: {"verdict": "flaky", "proven": False, "commit": HEAD}, other: None}
    listed = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert {each["id"]: each["verification"] for each in listed} == expected
    assert {each: ok(world.api.get(f"/tickets/{each}"))["verification"] for each in (ticket, other)} == expected
    found = call_tool(world, world.owner.token("read"), "list_tickets", {})["structuredContent"]["items"]
    assert {each["id"]: each.get("verification") for each in found} == {ticket: f"flaky on {HEAD}", other: None}


def test_gone_is_proven_only_after_the_same_capture_was_reproduced(world: World) -> None:
    capture = make_capture(world)
    ticket = capture["ticket_id"]
    again = make_capture(world, ticket_id=ticket, project_id=None, id="another-capture-of-it")["capture_id"]

    def post(verdict: str, capture_id: str | None = capture["capture_id"]) -> bool:
        return ok(add(world.api, ticket, verdict=verdict, capture_id=capture_id))["proven"]

    assert not any([post("gone"), post("unproven"), post("reproduced", None), post("gone", None), post("gone")])
    assert not any([post("reproduced", again), post("gone")])
    listed = call_tool(world, world.owner.token("read"), "list_tickets", {})["structuredContent"]["items"]
    assert listed[0]["verification"] == f"unproven on {HEAD}"
    assert not post("reproduced")
    assert post("gone")
    assert not post("flaky")
    assert not post("gone", None)
    assert post("gone")
    found = ok(world.api.get(f"/tickets/{ticket}"))["verification"]
    assert found == {"verdict": "gone", "proven": True, "commit": HEAD}


def test_reason_is_kept_without_secrets_and_shown_everywhere(world: World) -> None:
    ticket = world.ticket("Pay")["id"]
    reason = "the page asked for /api?token=abcdefghijklmnop0123456789 and got 502"
    added = ok(add(world.api, ticket, verdict="not_reached", reason=reason))
    assert added["reason"].startswith("the page asked for /api?token=")
    assert "abcdefghijklmnop" not in added["reason"]
    assert ok(world.api.get(f"/tickets/{ticket}/verifications"))["items"] == [added]
    assert history(world, ticket)[-1]["data"]["reason"] == added["reason"]
    found = call_tool(world, world.owner.token("read"), "list_verifications", {"ticket_id": ticket})
    assert found["structuredContent"]["items"][0]["reason"] == added["reason"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"commit": "abc12"},
        {"commit": "main-branch"},
        {"branch": ""},
        {"branch": "a\nb"},
        {"branch": "x" * 251},
        {"base_url": "ftp://localhost/"},
        {"base_url": "http://ann:secret@localhost/"},
        {"verdict": "fixed"},
        {"rounds": 0},
        {"rounds": 21},
        {"console": ["x"] * 51},
        {"console": ["x" * 1_001]},
    ],
)
def test_invalid_verification_is_refused(world: World, wrong: dict[str, Any]) -> None:
    ticket = world.ticket()["id"]
    expect_error(add(world.api, ticket, **wrong), 400, "invalid_request")
    assert ok(world.api.get(f"/tickets/{ticket}/verifications"))["items"] == []


def test_evidence_belongs_to_the_ticket(world: World) -> None:
    ticket, other = world.ticket()["id"], make_capture(world)
    detail = ok(world.api.get(f"/tickets/{other['ticket_id']}"))["capture"]
    path = f"/tickets/{ticket}/attachments"
    text = ok(world.api.post(path, files={"file": ("a.txt", b"text")}))["id"]
    for wrong in (
        {"capture_id": other["capture_id"]},
        {"screenshot": detail["screenshot"]["id"]},
        {"trace": detail["screenshot"]["id"]},
        {"screenshot": text},
    ):
        expect_error(add(world.api, ticket, **wrong), 400, "invalid_request")
    for missing in ({"capture_id": "cap_000000000000"}, {"screenshot": "asset_000000000000"}):
        expect_error(add(world.api, ticket, **missing), 404, "not_found")
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(add(world.api, ticket), 409, "ticket_archived")
    assert ok(world.api.get(f"/tickets/{ticket}/verifications"))["items"] == []


def test_gate_refuses_every_way_without_proof(verified: VerifiedCase) -> None:
    expect_refusals(verified, verified.columns[2], "ticketbox verify")
    for outcome in ({"resolved": True}, {"column": "Done"}):
        before = verified.show()
        refused = verified.finish(comment="Fixed", **outcome)
        assert "ticketbox verify" in expect_error(refused, 409, "approval_required")["detail"]
        assert verified.show() == before  # nobody is asked to approve it instead
    verified.prove()
    assert ok(verified.finish(comment="Fixed", resolved=True))["finished"]
    assert verified.read()["resolved"]


def test_person_passes_the_gate(verified: VerifiedCase) -> None:
    web = verified.owner.web
    assert ok(web.patch(f"/tickets/{verified.id}", json={"resolved": True}))["resolved"]


def test_verification_of_another_commit_is_needed_not_of_the_same(verified: VerifiedCase) -> None:
    verified.post("reproduced", BASE)
    verified.post("gone", BASE[:7])
    expect_error(verified.resolve(), 409, "approval_required")
    verified.post("gone")
    assert ok(verified.resolve())["resolved"]


def expect_missing(verified: VerifiedCase, words: str) -> None:
    """The ticket can't be resolved, and the refusal says what is missing."""
    assert words in expect_error(verified.resolve(), 409, "approval_required")["detail"]


def test_gate_needs_the_same_capture_of_the_ticket_for_red_and_green(verified: VerifiedCase) -> None:
    expect_missing(verified, "no verification counts yet")
    verified.post("reproduced", BASE, capture_id=None)
    verified.post("gone", capture_id=None)
    expect_missing(verified, "names no capture")  # two that name none don't name the same one
    verified.post("gone")
    expect_missing(verified, f"reproduced for its capture {verified.capture}")
    second = make_capture(verified, ticket_id=verified.id, project_id=None)["capture_id"]
    verified.post("reproduced", BASE, capture_id=second)
    verified.post("gone")
    expect_missing(verified, f"reproduced for its capture {verified.capture}")
    verified.post("gone", capture_id=second)
    ok(verified.owner.web.delete(f"/captures/{second}"))
    expect_missing(verified, "names no capture")
    verified.prove()
    assert ok(verified.resolve())["resolved"]


def test_capture_of_a_stranger_proves_nothing_until_a_member_confirms_it(world: World) -> None:
    capture = create_external_capture(world)
    id_, ticket = capture["id"], capture["ticket_id"]
    assert (capture["external"], capture["confirmed"]) == (True, None)
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"verification": True}))
    for verdict, commit in (("reproduced", BASE), ("gone", HEAD)):
        ok(add(world.api, ticket, verdict=verdict, commit=commit, capture_id=id_))
    refused = expect_error(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}), 409, "approval_required")
    assert f"without an account sent the capture {id_}" in refused["detail"]
    path = f"/captures/{id_}/confirm"
    expect_error(world.api.post(path), 403, "forbidden")
    expect_error(world.join("Vic", "viewer").web.post(path), 403, "forbidden")
    bob = world.join("Bob")
    confirmed = ok(bob.web.post(path))["confirmed"]
    assert (confirmed["user"]["name"], confirmed["token_label"]) == ("Bob", None)
    assert ok(world.owner.web.post(path))["confirmed"] == confirmed  # once
    event = history(world, ticket)[-1]
    assert (event["type"], event["data"]) == ("capture.confirmed", {"capture_id": id_})
    detail = ok(world.api.get(f"/tickets/{ticket}"))["capture"]
    (listed,) = ok(world.api.get(f"/tickets/{ticket}/captures"))["items"]
    assert [(each["external"], each["confirmed"]) for each in (detail, listed)] == [(True, confirmed)] * 2
    assert ok(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}))["resolved"]


def test_external_captures_are_marked_wherever_they_are_shown(world: World) -> None:
    external, own = create_external_capture(world), make_capture(world)
    assert not ok(world.api.get(f"/tickets/{own['ticket_id']}"))["capture"]["external"]
    expect_error(world.owner.web.post(f"/captures/{own['capture_id']}/confirm"), 409, "conflict")
    token = world.owner.token("read")
    shown = {each["id"]: each["capture"]["external"] for each in ok(world.api.get("/tickets"))["items"]}
    assert shown == {external["ticket_id"]: True, own["ticket_id"]: False}
    listed = call_tool(world, token, "list_tickets", {})["structuredContent"]["items"]
    assert {each["id"]: each["capture"].get("external") for each in listed} == {
        external["ticket_id"]: True,
        own["ticket_id"]: None,
    }
    detail = call_tool(world, token, "get_ticket", {"ticket_id": external["ticket_id"]})["structuredContent"]
    assert detail["capture"]["external"]
    pack = world.api.get(f"/captures/{external['id']}/reproduction").content
    expected = json.loads(zipfile.ZipFile(io.BytesIO(pack)).read("expected.json"))
    assert (expected["external"], expected["confirmed"]) == (True, False)


def test_only_verifications_of_the_projects_verifiers_count(verified: VerifiedCase) -> None:
    path, web = f"/projects/{verified.project}", verified.owner.web
    bob, eve = verified.join("Bob"), verified.join("Eve")
    ci = ok(eve.web.post("/tokens", json={"label": "CI", "scopes": ["tickets:write"]}))
    project = ok(web.patch(path, json={"verifiers": [bob.id, ci["id"]]}))
    assert project["verifiers"] == [bob.id, ci["id"]]
    verified.prove()
    expect_missing(verified, "only verifications by its verifiers count")
    others = (eve.client(*WRITING), eve.web)  # of the same person, but not the token that is named
    named = (verified.box.client(ci["secret"]), bob.client(*WRITING), bob.web)
    given = {"capture_id": verified.capture, "commit": BASE, "verdict": "reproduced"}
    for client in (*others, named[0]):
        expect_missing(verified, "no verification counts yet")
        ok(add(client, verified.id, **given))
    for client in (*others, verified.agent):
        ok(add(client, verified.id, capture_id=verified.capture))
        expect_missing(verified, "the newest verification says reproduced on aaaaaaa")
    for client in named:
        ok(add(client, verified.id, capture_id=verified.capture))
        ok(add(verified.agent, verified.id, **given))  # it can't take the proof away either
        assert ok(verified.resolve())["resolved"]
        reopen_by_update(verified)


def test_verifiers_are_members_and_tokens_of_members(verified: VerifiedCase) -> None:
    path, web = f"/projects/{verified.project}", verified.owner.web
    zoe = World(verified.box, "Zoe").owner
    hidden = verified.join("Mia", project_ids=[verified.new_project("Second")])
    theirs = [ok(each.web.post("/tokens", json={"label": "T", "scopes": ["read"]}))["id"] for each in (zoe, hidden)]
    for wrong in (zoe.id, hidden.id, *theirs, "usr_000000000000", "key_000000000000", verified.project):
        refused = expect_error(web.patch(path, json={"verifiers": [verified.owner.id, wrong]}), 400, "invalid_request")
        assert refused["errors"][0]["field"] == "verifiers[1]"
    eve = verified.join("Eve")
    ok(web.patch(path, json={"verifiers": [eve.id]}))
    ok(web.delete(f"/companies/{verified.company}/members/{eve.id}"))
    assert ok(web.patch(path, json={"verifiers": [eve.id], "name": "Shop"}))["verifiers"] == [eve.id]
    verified.prove()
    expect_missing(verified, "no verification counts yet")  # without anybody who counts, only people resolve tickets
    assert ok(web.patch(path, json={"verifiers": []}))["verifiers"] == []
    assert ok(verified.resolve())["resolved"]


def reopen_by_update(verified: VerifiedCase) -> None:
    ok(verified.owner.web.patch(f"/tickets/{verified.id}", json={"resolved": False}))


def reopen_by_move(verified: VerifiedCase) -> None:
    ok(verified.owner.web.post(f"/tickets/{verified.id}/move", json={"column_id": verified.columns[0]}))


def reopen_by_bulk_move(verified: VerifiedCase) -> None:
    many = {"ticket_ids": [verified.id], "column_id": verified.columns[1]}
    assert ok(verified.owner.web.post("/tickets/bulk-move", json=many))["results"][0]["ok"]


def reopen_by_finishing_work(verified: VerifiedCase) -> None:
    assert ok(verified.finish(column="In progress"))["finished"]


def reopen_by_kind_of_column(verified: VerifiedCase) -> None:
    ok(verified.owner.web.patch(f"/columns/{verified.columns[2]}", json={"kind": "doing"}))


def reopen_by_deletion_of_column(verified: VerifiedCase) -> None:
    target = {"move_to": verified.columns[0]}
    ok(verified.owner.web.delete(f"/columns/{verified.columns[2]}", params=target))


def reopen_by_restoring_without_its_column(verified: VerifiedCase) -> None:
    web = verified.owner.web
    ok(web.post(f"/projects/{verified.project}/columns", json={"name": "Released", "kind": "done"}))
    ok(web.post(f"/tickets/{verified.id}/archive"))
    ok(web.delete(f"/columns/{verified.columns[2]}"))
    ok(web.post(f"/tickets/{verified.id}/restore"))


@pytest.mark.parametrize(
    "reopen",
    [
        reopen_by_update,
        reopen_by_move,
        reopen_by_bulk_move,
        reopen_by_finishing_work,
        reopen_by_kind_of_column,
        reopen_by_deletion_of_column,
        reopen_by_restoring_without_its_column,
    ],
)
def test_proof_of_before_a_reopening_does_not_count(
    verified: VerifiedCase, reopen: Callable[[VerifiedCase], None]
) -> None:
    verified.prove()
    ok(verified.resolve())
    reopen(verified)
    assert not verified.read()["resolved"]
    expect_error(verified.resolve(), 409, "approval_required")
    verified.post("gone", "c" * 40)
    assert ok(verified.resolve())["resolved"]


def test_other_project_is_no_way_around_the_gate(verified: VerifiedCase) -> None:
    free = verified.columns_of(verified.new_project("Free"))
    refused = verified.agent.post(f"/tickets/{verified.id}/move", json={"column_id": free[2]})
    expect_error(refused, 409, "approval_required")


def test_both_gates_ask_for_proof_before_they_ask_a_person(verified: VerifiedCase) -> None:
    ok(verified.owner.web.patch(f"/projects/{verified.project}", json={"done_approval": True}))
    refused = verified.finish(resolved=True)
    assert "ticketbox verify" in expect_error(refused, 409, "approval_required")["detail"]
    verified.prove()
    assert not ok(verified.finish(resolved=True))["finished"]
    ok(verified.decide(True))
    assert verified.read()["resolved"]


def test_tools_post_and_list_verifications(verified: VerifiedCase) -> None:
    posted = call_tool(verified, verified.token, "add_verification", {"ticket_id": verified.id, **GIVEN})
    assert posted["structuredContent"]["verdict"] == "gone"
    listed = call_tool(verified, verified.token, "list_verifications", {"ticket_id": verified.id})
    assert [each["id"] for each in listed["structuredContent"]["items"]] == [posted["structuredContent"]["id"]]

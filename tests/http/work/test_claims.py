"""Claiming a ticket for one run: the claim, its lease, and how it ends (docs/use/work-sessions.md)."""

import re
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import WRITING, Stage, update_row
from tests.support.server import World, expect_error, ok


def expire(world: World, ticket: str) -> None:
    """Let a claim's time run out."""
    update_row(
        world.box.db,
        "UPDATE work_session SET expires_at = started_at WHERE ended_at IS NULL"
        " AND ticket_id = (SELECT id FROM ticket WHERE public_id = ?)",
        ticket,
    )
    update_row(world.box.db, "UPDATE ticket SET claimed_until = claimed_at WHERE public_id = ?", ticket)


def start(client: httpx.Client, ticket: str, **given: Any) -> dict[str, Any]:
    """Start work on a ticket."""
    return ok(client.post(f"/tickets/{ticket}/work", json=given))


def stop(client: httpx.Client, ticket: str, lease: str | None = None) -> httpx.Response:
    """Stop work on a ticket."""
    return client.delete(f"/tickets/{ticket}/work", headers={} if lease is None else {"Lease": lease})


def test_start_work_claims_the_ticket_and_suggests_a_branch(world: World) -> None:
    ticket = world.ticket("The cart's empty!")
    started = ok(world.api.post(f"/tickets/{ticket['id']}/work", json={"lease_minutes": 30}))
    assert started["branch"] == f"{ticket['id']}-the-cart-s-empty"
    assert started["claim"]["by"]["user"]["id"] == world.owner.id
    assert started["claim"]["by"]["token_label"] == "a token"
    assert started["claim"]["until"] > started["claim"]["by"]["at"]
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["claim"] == started["claim"]


@pytest.mark.parametrize("title", ["!!!", "日本語", "-x-" * 100])
def test_any_title_yields_a_branch_that_git_accepts(stage: Stage, title: str) -> None:
    ticket = stage.ticket(title)
    branch = ok(stage.api.post(f"/tickets/{ticket['id']}/work", json={}))["branch"]
    assert branch.startswith(ticket["id"] + "-")
    assert set(branch) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(branch) < 80
    assert not branch.endswith("-")


@pytest.mark.parametrize("branch", ["", "-x", "a b", "a..\nb", "a\u0000", "x" * 251, "a~b", "a:b", "a^b", "/a"])
def test_invalid_branch_is_rejected(stage: Stage, branch: str) -> None:
    path = f"/tickets/{stage.ticket()['id']}/work"
    expect_error(stage.api.post(path, json={"branch": branch}), 400, "invalid_request")


def test_another_caller_learns_who_works_on_it_until_when(world: World) -> None:
    """Another person, another token, and the same token in another run: none walks into somebody's work."""
    ticket = world.ticket()["id"]
    first = world.owner.client(*WRITING, label="agent one")
    claim = start(first, ticket, run="worktree 1")["claim"]
    assert claim["run"] == "worktree 1"
    for client in (first, world.join("Bob").client(*WRITING), world.owner.client(*WRITING), world.owner.web):
        problem = expect_error(client.post(f"/tickets/{ticket}/work", json={"branch": "mine"}), 409, "already_claimed")
        assert problem["claim"] == claim
        for word in ("Ann", "agent one", "worktree 1", claim["until"]):
            assert word in problem["detail"]
    assert ok(world.api.get(f"/tickets/{ticket}"))["branch"] != "mine"


def test_lease_renews_the_claim_and_is_shown_once(world: World) -> None:
    ticket = world.ticket()["id"]
    first = start(world.api, ticket, lease_minutes=1)
    assert re.fullmatch(rf"lease_{ticket.removeprefix('t-')}[0-9a-z]{{32}}", first["lease"])
    longer = start(world.api, ticket, lease=first["lease"], lease_minutes=120)
    assert longer["claim"]["until"] > first["claim"]["until"]
    assert longer["claim"]["session_id"] == first["claim"]["session_id"]
    assert (longer["branch"], longer["lease"]) == (first["branch"], None)
    assert start(world.api, ticket, lease=first["lease"], branch="other")["branch"] == "other"
    assert "lease" not in ok(world.api.get(f"/tickets/{ticket}"))


def test_renewing_changes_neither_version_nor_history(world: World) -> None:
    """Agents renew every few minutes: that must not conflict with what people edit."""
    ticket = world.ticket()["id"]
    started = start(world.api, ticket)
    renewed = start(world.api, ticket, lease=started["lease"])
    assert renewed["version"] == started["version"]
    assert len(ok(world.api.get(f"/tickets/{ticket}/history"))["items"]) == 2


def test_wrong_or_foreign_lease_is_refused_and_the_holder_named(world: World) -> None:
    ticket, other, bob = world.ticket()["id"], world.ticket()["id"], world.join("Bob").client(*WRITING)
    held = start(world.api, ticket, run="laptop")
    foreign = start(world.api, other)["lease"]
    sent_by = [(world.api, "lease_" + "0" * 32), (world.api, foreign), (world.api, "x"), (bob, held["lease"])]
    for client, lease in sent_by:
        for answer in (
            client.post(f"/tickets/{ticket}/work", json={"lease": lease}),
            stop(client, ticket, lease),
        ):
            problem = expect_error(answer, 409, "already_claimed")
            assert problem["claim"] == held["claim"]
            assert "Ann with a token, run laptop, is working on this ticket" in problem["detail"]
            assert lease not in answer.text or lease == "x"
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"] == held["claim"]


def test_run_that_lost_its_lease_gets_a_new_one_by_its_name(world: World) -> None:
    """After a compaction or a crash an agent knows its ticket and its run, but not the lease."""
    ticket, path = world.ticket()["id"], "/tickets/{}/work"
    agent = world.owner.client(*WRITING, label="agent one")
    first = start(agent, ticket, run="laptop", lease_minutes=1)
    others = [(agent, {"run": "desk"}), (agent, {}), (world.owner.client(*WRITING), {"run": "laptop"}),
              (world.owner.web, {"run": "laptop"})]  # fmt: skip
    for client, given in others:
        problem = expect_error(client.post(path.format(ticket), json=given), 409, "already_claimed")
        own = "if that is your run, start work again with run “laptop” for a new lease" in problem["detail"]
        assert own == (client is agent)
        assert "choose another ticket, or wait until then" in problem["detail"]
    again = start(agent, ticket, run=" laptop ", lease_minutes=60)
    assert again["claim"]["session_id"] == first["claim"]["session_id"]
    assert again["claim"]["until"] > first["claim"]["until"]
    assert (again["version"], again["lease"] != first["lease"]) == (first["version"], True)
    expect_error(stop(agent, ticket, first["lease"]), 409, "already_claimed")
    ok(stop(agent, ticket, again["lease"]))
    nameless = start(agent, ticket)
    problem = expect_error(agent.post(path.format(ticket), json={}), 409, "already_claimed")
    assert problem["claim"] == nameless["claim"]
    assert "has no run: only its lease continues it, or a person releases it" in problem["detail"]


def test_lease_names_its_ticket_over_mcp(world: World) -> None:
    ticket, token = world.ticket()["id"], world.owner.token(*WRITING)
    lease = start(world.box.client(token), ticket)["lease"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("start_work_on_ticket", {}), ("report_progress", {"note": "Found it"}),
        ("ask_human", {"question": "Drop it?"}), ("wait_for_answer", {"wait_seconds": 0}),
        ("finish_work", {"release": True}), ("stop_work_on_ticket", {}),
    ]  # fmt: skip
    for name, given in calls:
        result = call_tool(world, token, name, {"lease": lease, **given})
        assert not result["isError"], result
    for given in ({}, {"lease": "lease_" + "0" * 32}):  # one of an earlier version names no ticket
        refusal = call_tool(world, token, "stop_work_on_ticket", given)
        assert "send the ticket's id, or the complete lease" in refusal["content"][0]["text"]


def test_expired_lease_is_refused(world: World) -> None:
    """Even if nobody else has claimed the ticket: it was free for a while, and others may have looked at it."""
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket)["lease"]
    expire(world, ticket)
    for answer in (world.api.post(f"/tickets/{ticket}/work", json={"lease": lease}), stop(world.api, ticket, lease)):
        assert "expired" in expect_error(answer, 409, "lease_expired")["detail"]
    taken = start(world.join("Bob").client(*WRITING), ticket)
    problem = expect_error(world.api.post(f"/tickets/{ticket}/work", json={"lease": lease}), 409, "already_claimed")
    assert problem["claim"] == taken["claim"]


def test_claim_expires_and_the_next_one_records_it(world: World) -> None:
    ticket, bob = world.ticket()["id"], world.join("Bob").client(*WRITING)
    before = start(world.api, ticket, run="laptop")
    expire(world, ticket)
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"] is None
    taken = start(bob, ticket)
    assert taken["claim"]["by"]["user"]["name"] == "Bob"
    assert taken["branch"] == before["branch"]
    assert taken["lease"] != before["lease"]
    *_, stale, started = ok(world.api.get(f"/tickets/{ticket}/history"))["items"]
    assert (stale["type"], started["type"]) == ("ticket.work_stale", "ticket.work_started")
    assert stale["data"] == {"session_id": before["claim"]["session_id"], "run": "laptop"}
    assert stale["by"]["user"]["name"] == "Ann"


def test_lease_is_only_accepted_outside_the_url(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket)["lease"]
    path = f"/tickets/{ticket}/work"
    expect_error(world.api.delete(path, params={"lease": lease}), 400, "invalid_request")
    expect_error(world.api.post(path, json={}, headers={"Lease": lease}), 400, "invalid_request")
    ok(stop(world.api, ticket, lease))


def test_start_repeated_with_its_key_returns_a_new_lease(world: World) -> None:
    """A caller whose answer was lost has no lease; the key proves that it is the same run."""
    ticket, path = world.ticket()["id"], "/tickets/{}/work"
    key = {"Idempotency-Key": "a1b2"}
    first = ok(world.api.post(path.format(ticket), json={}, headers=key))
    again = ok(world.api.post(path.format(ticket), json={}, headers=key))
    assert again["claim"] == first["claim"]
    assert again["lease"] != first["lease"]
    expect_error(stop(world.api, ticket, first["lease"]), 409, "already_claimed")
    for client, other in ((world.api, "c3d4"), (world.owner.client(*WRITING), "a1b2")):
        answer = client.post(path.format(ticket), json={}, headers={"Idempotency-Key": other})
        expect_error(answer, 409, "already_claimed")
    update_row(world.box.db, "UPDATE work_session SET started_at = started_at - 60001 WHERE public_id = ?",
               first["claim"]["session_id"])  # fmt: skip
    expect_error(world.api.post(path.format(ticket), json={}, headers=key), 409, "already_claimed")
    ok(stop(world.api, ticket, again["lease"]))


def test_stop_work_releases_the_claim_and_keeps_the_branch(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket, branch="fix")["lease"]
    expect_error(stop(world.api, ticket), 409, "already_claimed")
    stopped = ok(stop(world.api, ticket, lease))
    assert (stopped["claim"], stopped["branch"]) == (None, "fix")
    assert ok(stop(world.api, ticket)) == stopped  # nobody works on it: nothing changes
    assert ok(stop(world.api, ticket, lease)) == stopped  # its own work has stopped: nothing changes
    start(world.join("Bob").client(*WRITING), ticket)
    problem = expect_error(world.api.post(f"/tickets/{ticket}/work", json={"lease": lease}), 409, "already_claimed")
    assert problem["claim"]["by"]["user"]["name"] == "Bob"


def test_person_continues_their_own_claim_of_the_web_app_without_a_lease(world: World) -> None:
    ticket, bob = world.ticket()["id"], world.join("Bob")
    first = start(bob.web, ticket, lease_minutes=1)
    renewed = start(bob.web, ticket)
    assert renewed["claim"]["session_id"] == first["claim"]["session_id"]
    assert renewed["claim"]["until"] > first["claim"]["until"]
    for client in (bob.client(*WRITING), world.owner.web):
        expect_error(client.post(f"/tickets/{ticket}/work", json={}), 409, "already_claimed")
    assert ok(stop(bob.web, ticket))["claim"] is None


def test_people_release_the_claims_of_their_tokens_and_admins_any_in_the_web_app(world: World) -> None:
    bob, mia, adam = world.join("Bob"), world.join("Mia"), world.join("Adam", "admin")
    ticket = world.ticket()["id"]
    start(bob.client(*WRITING), ticket)
    expect_error(bob.web.post(f"/tickets/{ticket}/work", json={}), 409, "already_claimed")
    for client in (mia.web, bob.client(*WRITING), adam.client(*WRITING)):
        problem = expect_error(stop(client, ticket), 409, "already_claimed")
        assert problem["claim"]["by"]["user"]["name"] == "Bob"
    ok(stop(bob.web, ticket))
    start(bob.client(*WRITING), ticket)
    assert ok(stop(adam.web, ticket))["claim"] is None


def test_archiving_releases_the_claim_and_keeps_the_branch(world: World) -> None:
    ticket = world.ticket()["id"]
    ok(world.api.post(f"/tickets/{ticket}/work", json={"branch": "fix"}))
    archived = ok(world.api.post(f"/tickets/{ticket}/archive"))
    assert (archived["claim"], archived["branch"]) == (None, "fix")
    restored = ok(world.api.post(f"/tickets/{ticket}/restore"))
    assert (restored["claim"], restored["branch"]) == (None, "fix")


@pytest.mark.parametrize("minutes", [0, -1, 1441, 1.5, "10", None, 2**63])
def test_lease_is_bounded(stage: Stage, minutes: object) -> None:
    path = f"/tickets/{stage.ticket()['id']}/work"
    expect_error(stage.api.post(path, json={"lease_minutes": minutes}), 400, "invalid_request")


def test_if_match_guards_start_work(world: World) -> None:
    ticket = world.ticket()
    path = f"/tickets/{ticket['id']}/work"
    expect_error(world.api.post(path, json={}, headers={"If-Match": '"7"'}), 409, "version_conflict")
    ok(world.api.post(path, json={}, headers={"If-Match": f'"{ticket["version"]}"'}))


def test_work_is_in_the_history(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket, branch="fix", run="laptop")["lease"]
    ok(stop(world.api, ticket, lease))
    _, started, stopped = ok(world.api.get(f"/tickets/{ticket}/history"))["items"]
    assert (started["type"], started["data"]["branch"]) == ("ticket.work_started", "fix")
    assert started["data"]["run"] == "laptop"
    assert stopped["type"] == "ticket.work_stopped"
    assert stopped["data"] == {"session_id": started["data"]["session_id"]}


@pytest.mark.parametrize(
    "given", [{"run": ""}, {"run": "x" * 81}, {"run": "a\nb"}, {"lease": ""}, {"lease": "x" * 101}]
)
def test_run_and_lease_are_bounded(stage: Stage, given: dict[str, str]) -> None:
    answer = stage.api.post(f"/tickets/{stage.ticket()['id']}/work", json=given)
    assert expect_error(answer, 400, "invalid_request")["errors"][0]["field"] == next(iter(given))

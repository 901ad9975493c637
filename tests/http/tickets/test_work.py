"""Claiming a ticket while working on it: a lease (docs/use/agents.md)."""

import pytest

from tests.support.operation_cases import WRITING, Stage, update_row
from tests.support.server import World, expect_error, ok


def expire(world: World, ticket: str) -> None:
    """Let a claim's time run out."""
    update_row(world.box.db, "UPDATE ticket SET claimed_until = claimed_at WHERE public_id = ?", ticket)


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
    """Another person, or the same person with another token: an agent must not walk into a second one's work."""
    path = f"/tickets/{world.ticket()['id']}/work"
    first = world.owner.client(*WRITING, label="agent one")
    claim = ok(first.post(path, json={}))["claim"]
    for client in (world.join("Bob").client(*WRITING), world.owner.client(*WRITING), world.owner.web):
        problem = expect_error(client.post(path, json={"branch": "mine"}), 409, "already_claimed")
        assert problem["claim"] == claim
        for word in ("Ann", "agent one", claim["until"]):
            assert word in problem["detail"]
    assert ok(world.api.get(path.removesuffix("/work")))["branch"] != "mine"


def test_holder_renews_the_claim(world: World) -> None:
    path = f"/tickets/{world.ticket()['id']}/work"
    short = ok(world.api.post(path, json={"lease_minutes": 1}))
    longer = ok(world.api.post(path, json={"lease_minutes": 120}))
    assert longer["claim"]["until"] > short["claim"]["until"]
    assert longer["branch"] == short["branch"]
    assert ok(world.api.post(path, json={"branch": "other"}))["branch"] == "other"


def test_claim_expires(world: World) -> None:
    ticket, bob = world.ticket()["id"], world.join("Bob").client(*WRITING)
    before = ok(world.api.post(f"/tickets/{ticket}/work", json={}))
    expire(world, ticket)
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"] is None
    taken = ok(bob.post(f"/tickets/{ticket}/work", json={}))
    assert taken["claim"]["by"]["user"]["name"] == "Bob"
    assert taken["branch"] == before["branch"]
    expect_error(world.api.post(f"/tickets/{ticket}/work", json={}), 409, "already_claimed")


def test_stop_work_releases_the_claim_and_keeps_the_branch(world: World) -> None:
    path = f"/tickets/{world.ticket()['id']}/work"
    ok(world.api.post(path, json={"branch": "fix"}))
    stopped = ok(world.api.delete(path))
    assert (stopped["claim"], stopped["branch"]) == (None, "fix")
    assert ok(world.api.delete(path)) == stopped  # nobody works on it: nothing changes
    ok(world.join("Bob").client(*WRITING).post(path, json={}))


def test_people_stop_their_own_work_and_admins_stop_any(world: World) -> None:
    bob, mia = world.join("Bob"), world.join("Mia")
    path = f"/tickets/{world.ticket()['id']}/work"
    ok(bob.client(*WRITING).post(path, json={}))
    problem = expect_error(mia.web.delete(path), 409, "already_claimed")
    assert problem["claim"]["by"]["user"]["name"] == "Bob"
    ok(bob.web.delete(path))
    ok(bob.client(*WRITING).post(path, json={}))
    assert ok(world.join("Adam", "admin").web.delete(path))["claim"] is None


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
    ok(world.api.post(f"/tickets/{ticket}/work", json={"branch": "fix"}))
    ok(world.api.delete(f"/tickets/{ticket}/work"))
    _, started, stopped = ok(world.api.get(f"/tickets/{ticket}/history"))["items"]
    assert (started["type"], started["data"]["branch"]) == ("ticket.work_started", "fix")
    assert stopped["type"] == "ticket.work_stopped"

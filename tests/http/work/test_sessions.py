"""Work sessions: what a run reports, how it finishes, and who sees it (docs/use/work-sessions.md)."""

from typing import Any

import httpx
import pytest

from tests.http.work.test_claims import expire, start, stop
from tests.support.operation_cases import WRITING, Stage
from tests.support.server import World, expect_error, ok


def report(client: httpx.Client, ticket: str, lease: str, **given: Any) -> dict[str, Any]:
    """Report progress."""
    return ok(client.post(f"/tickets/{ticket}/work/progress", json={"lease": lease, **given}))


def sessions(client: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    """List work sessions."""
    return ok(client.get("/work-sessions", params=query))["items"]


def history(world: World, ticket: str) -> list[dict[str, Any]]:
    """A ticket's events without the first, which created it."""
    return ok(world.api.get(f"/tickets/{ticket}/history"))["items"][1:]


def test_session_shows_what_was_reported(world: World) -> None:
    ticket = world.ticket("The cart stays empty")
    started = start(world.api, ticket["id"], run="laptop", lease_minutes=1)
    lease = started["lease"]
    plan = [{"text": "Write a test", "state": "done"}, {"text": "Fix it"}]
    usage = {"input_tokens": 120_000, "output_tokens": 900, "cost_usd": 0.42}
    pull = {"kind": "pull_request", "url": "https://git.example/pulls/7", "state": "open"}
    session = report(world.api, ticket["id"], lease, note="Found it", plan=plan, links=[pull], usage=usage)
    assert session["id"] == started["claim"]["session_id"]
    assert session["ticket"] == {
        **{name: ticket[name] for name in ("id", "key", "url", "project_id", "company_id")},
        "title": "The cart stays empty",
    }  # fmt: skip
    assert session["by"]["token_label"] == "a token"
    assert (session["run"], session["state"], session["note"]) == ("laptop", "active", "Found it")
    assert session["plan"] == [plan[0], {"text": "Fix it", "state": "pending"}]
    assert (session["links"], session["usage"]) == ([pull], usage)
    assert session["until"] > started["claim"]["until"]
    assert session["last_seen"] >= session["started"]
    assert sessions(world.owner.web, ticket_id=ticket["id"]) == [session]
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["version"] == started["version"]
    *_, event = history(world, ticket["id"])
    assert event["type"] == "ticket.work_progress"
    assert event["data"]["plan"] == {"done": 1, "steps": 2}
    merged = {**pull, "state": "merged"}
    commit = {"kind": "commit", "url": "https://git.example/commits/1"}
    session = report(world.api, ticket["id"], lease, links=[merged, commit])
    assert session["links"] == [merged, {**commit, "state": None}]
    assert session["note"] == "Found it"
    count = len(history(world, ticket["id"]))
    report(world.api, ticket["id"], lease)  # only renews
    assert len(history(world, ticket["id"])) == count


STEP = {"text": "x"}
LINK = {"kind": "commit", "url": "https://git.example/1"}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"plan": [STEP] * 51}, "plan"),
        ({"plan": [{"text": ""}]}, "plan[0].text"),
        ({"plan": [{"text": "x", "state": "started"}]}, "plan[0].state"),
        ({"links": [LINK, {"kind": "commit", "url": "javascript:alert(1)"}]}, "links[1].url"),
        ({"links": [{"kind": "commit", "url": "git@git.example:a.git"}]}, "links[0].url"),
        (
            {"links": [{"kind": "commit", "url": "https://a.example/\n"}] * 0 + [{"kind": "x", "url": "y"}]},
            "links[0].kind",
        ),
        ({"links": [LINK] * 51}, "links"),
        ({"usage": {"input_tokens": -1}}, "usage.input_tokens"),
        ({"usage": {"cost_usd": "1"}}, "usage.cost_usd"),
        ({"note": ""}, "note"),
        ({"lease_minutes": 1441}, "lease_minutes"),
    ],
)
def test_invalid_report_is_refused_and_named(stage: Stage, given: dict[str, Any], named: str) -> None:
    ticket = stage.ticket()["id"]
    lease = start(stage.api, ticket)["lease"]
    answer = stage.api.post(f"/tickets/{ticket}/work/progress", json={"lease": lease, **given})
    assert expect_error(answer, 400, "invalid_request")["errors"][0]["field"] == named


def test_only_the_lease_reports_and_finishes(world: World) -> None:
    ticket, bob = world.ticket()["id"], world.join("Bob").client(*WRITING)
    lease = start(world.api, ticket)["lease"]
    for client, sent in ((world.api, "lease_wrong"), (bob, lease)):
        for path in ("progress", "finish"):
            answer = client.post(f"/tickets/{ticket}/work/{path}", json={"lease": sent})
            assert expect_error(answer, 409, "already_claimed")["claim"]["by"]["user"]["name"] == "Ann"
    expire(world, ticket)
    for path in ("progress", "finish"):
        answer = world.api.post(f"/tickets/{ticket}/work/{path}", json={"lease": lease})
        expect_error(answer, 409, "lease_expired")
    assert [each["state"] for each in sessions(world.api, ticket_id=ticket)] == ["stale"]


def test_finish_comments_moves_and_ends_in_one_write(world: World) -> None:
    ticket = world.ticket()
    started = start(world.api, ticket["id"])
    given = {"lease": started["lease"], "comment": "Fixed on `main`.", "column": "in progress"}
    finished = ok(world.api.post(f"/tickets/{ticket['id']}/work/finish", json=given))
    assert (finished["column_id"], finished["claim"]) == (world.columns[1], None)
    assert (finished["comment_count"], finished["version"]) == (1, started["version"] + 1)
    types = [event["type"] for event in history(world, ticket["id"])]
    assert types == ["ticket.work_started", "comment.created", "ticket.moved", "ticket.work_finished"]
    (session,) = sessions(world.api, ticket_id=ticket["id"])
    assert (session["state"], session["until"]) == ("done", None)
    assert session["ended"]["user"]["name"] == "Ann"
    answer = world.api.post(f"/tickets/{ticket['id']}/work/finish", json=given)
    expect_error(answer, 409, "lease_expired")


def test_finish_needs_an_outcome(world: World) -> None:
    """Without one the ticket stays ready, and the agent that finished it gets it again."""
    ticket = world.ticket()["id"]
    given = {"lease": start(world.api, ticket)["lease"], "comment": "Fixed."}
    before = ok(world.api.get(f"/tickets/{ticket}"))
    path = f"/tickets/{ticket}/work/finish"
    for missing in ({}, {"release": False}):
        problem = expect_error(world.api.post(path, json={**given, **missing}), 400, "invalid_request")
        assert (problem["errors"][0]["field"], problem["valid"]) == ("column", ["To do", "In progress", "Done"])
        assert all(each in problem["detail"] for each in ("`column`", "`resolved: true`", "`release: true`"))
    assert ok(world.api.get(f"/tickets/{ticket}")) == before
    released = ok(world.api.post(path, json={**given, "release": True}))
    assert (released["column_id"], released["resolved"], released["claim"]) == (world.columns[0], False, None)
    assert released["comment_count"] == 1


def test_finish_resolves_like_update_ticket(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket)["lease"]
    finished = ok(world.api.post(f"/tickets/{ticket}/work/finish", json={"lease": lease, "resolved": True}))
    assert (finished["resolved"], finished["column_id"]) == (True, world.columns[2])


def test_refused_finish_changes_nothing(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket)["lease"]
    before = ok(world.api.get(f"/tickets/{ticket}"))
    path = f"/tickets/{ticket}/work/finish"
    problem = expect_error(
        world.api.post(path, json={"lease": lease, "comment": "x", "column": "Nowhere"}), 400, "invalid_request"
    )
    assert problem["valid"] == ["To do", "In progress", "Done"]
    both = {"lease": lease, "comment": "x", "column": "To do", "resolved": True}
    expect_error(world.api.post(path, json=both), 400, "invalid_request")
    answer = world.api.post(path, json={"lease": lease, "release": True, "expected_version": 99})
    expect_error(answer, 400, "invalid_request")
    expect_error(world.api.post(path, json={"lease": lease}, headers={"If-Match": '"99"'}), 409, "version_conflict")
    assert ok(world.api.get(f"/tickets/{ticket}")) == before
    assert len(history(world, ticket)) == 1


def test_sessions_are_listed_by_state_company_and_page(world: World) -> None:
    ended, stale, active = (world.ticket()["id"] for _ in range(3))
    leases = {ticket: start(world.api, ticket)["lease"] for ticket in (ended, stale, active)}
    ok(stop(world.api, ended, leases[ended]))
    expire(world, stale)
    listed = sessions(world.owner.web, company_id=world.company)
    assert [(each["ticket"]["id"], each["state"]) for each in listed] == [
        (active, "active"), (stale, "stale"), (ended, "done"),
    ]  # fmt: skip
    assert [each["ticket"]["id"] for each in sessions(world.api, state="active")] == [active]
    assert [each["ticket"]["id"] for each in sessions(world.api, state="active", ticket_id=stale)] == []
    assert [each["ticket"]["id"] for each in sessions(world.api, state="done")] == [ended]
    first = ok(world.api.get("/work-sessions", params={"limit": 2}))
    second = ok(world.api.get("/work-sessions", params={"limit": 2, "cursor": first["next_cursor"]}))
    assert first["items"] + second["items"] == listed
    assert second["next_cursor"] is None


def test_sessions_outside_the_callers_sight_are_not_listed(world: World) -> None:
    second = world.new_project("Second project")
    hidden = world.ticket(project_id=second)["id"]
    start(world.api, hidden)
    bob = world.join("Bob", project_ids=[world.project])
    assert sessions(bob.web) == []
    assert sessions(bob.web, ticket_id=hidden) == []
    assert sessions(world.owner.client("read", project_ids=[world.project])) == []
    assert sessions(World(world.box, "Eve").api, company_id=world.company) == []
    ok(world.api.post(f"/tickets/{hidden}/move", json={"column_id": world.columns[0]}))
    assert [each["ticket"]["project_id"] for each in sessions(bob.web)] == [world.project]


def test_release_and_archive_end_the_session(world: World) -> None:
    released, archived = world.ticket()["id"], world.ticket()["id"]
    start(world.api, released)
    start(world.api, archived)
    ok(stop(world.join("Adam", "admin").web, released))
    ok(world.api.post(f"/tickets/{archived}/archive"))
    states = [(each["state"], each["ended"]["user"]["name"]) for each in sessions(world.api)]
    assert states == [("done", "Ann"), ("done", "Adam")]

"""The git repository that a run says it works in (docs/use/work-sessions.md, "Repository")."""

from typing import Any

import pytest

from tests.http.work.test_claims import start
from tests.http.work.test_sessions import history, report, sessions
from tests.support.server import World, expect_error, ok

COMMIT = "3f2a91c0d5e84b6f7a1c2d3e4f5061728394a5b6"
REPOSITORY = {"branch": "fix/cärt", "commit": COMMIT, "remote": "git@git.example:shop/web.git"}


def test_claim_shows_its_repository_everywhere(world: World) -> None:
    ticket = world.ticket()["id"]
    started = start(world.api, ticket, repository=REPOSITORY)
    assert started["claim"]["repository"] == REPOSITORY
    assert started["branch"].startswith(ticket)  # the branch to create, not the one that the run is on
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"]["repository"] == REPOSITORY
    listed = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert listed[0]["claim"]["repository"] == REPOSITORY
    assert sessions(world.owner.web, ticket_id=ticket)[0]["repository"] == REPOSITORY
    (event,) = history(world, ticket)
    assert event["data"]["repository"] == REPOSITORY


def test_next_ticket_is_claimed_for_a_repository(world: World) -> None:
    world.ticket()
    given = {"repository": {"commit": COMMIT.upper()}}
    claimed = ok(world.api.post(f"/projects/{world.project}/claim-next", json=given))
    assert claimed["claim"]["repository"] == {"branch": None, "commit": COMMIT, "remote": None}


def test_progress_and_renewal_update_the_repository(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = start(world.api, ticket)["lease"]
    assert report(world.api, ticket, lease)["repository"] is None
    assert report(world.api, ticket, lease, repository=REPOSITORY)["repository"] == REPOSITORY
    assert report(world.api, ticket, lease, repository=REPOSITORY)["repository"] == REPOSITORY
    assert report(world.api, ticket, lease, note="Fixed", repository=REPOSITORY)["repository"] == REPOSITORY
    moved = {**REPOSITORY, "branch": "fix/other"}
    for _ in range(2):
        assert start(world.api, ticket, lease=lease, repository=moved)["claim"]["repository"] == moved
    started, changed, noted, renewed = history(world, ticket)  # none for a repository that is the same
    assert (started["type"], changed["type"]) == ("ticket.work_started", "ticket.work_progress")
    assert changed["data"]["repository"] == REPOSITORY
    session = {"session_id": changed["data"]["session_id"]}
    assert noted["data"] == {**session, "note": "Fixed"}
    assert (renewed["type"], renewed["data"]) == ("ticket.work_progress", {**session, "repository": moved})


@pytest.mark.parametrize(
    ("repository", "field", "words"),
    [
        ({"branch": "a\x1bb"}, "repository.branch", "invalid characters"),
        ({"branch": "a\u202eb"}, "repository.branch", "invalid characters"),
        ({"branch": "b" * 5_000}, "repository.branch", "at most 250"),
        ({"branch": ""}, "repository.branch", "must not be empty"),
        ({"commit": "HEAD~12"}, "repository.commit", "invalid characters"),
        ({"commit": "abc"}, "repository.commit", "at least 7"),
        ({"remote": "javascript:alert(1)"}, "repository.remote", "https://git.example"),
        ({"remote": "https://git.example/\x00"}, "repository.remote", "https://git.example"),
        ({"remote": "/home/ann/shop"}, "repository.remote", "https://git.example"),
        ({"remote": "https://ann:pw@git.example/shop"}, "repository.remote", "without credentials"),
        ({"remote": "https://x/" + "a" * 5_000}, "repository.remote", "at most 2000"),
        ({}, "repository", "branch, commit or remote"),
        ({"path": "/srv"}, "repository.path", "unknown field"),
        ("main", "repository", "must be an object with branch"),
    ],
)
def test_wrong_repository_is_refused_and_nothing_is_claimed(
    world: World, repository: Any, field: str, words: str
) -> None:
    ticket, held = world.ticket()["id"], world.ticket()["id"]
    lease = start(world.api, held)["lease"]
    for path, given in (
        (f"/tickets/{ticket}/work", {}),
        (f"/projects/{world.project}/claim-next", {"wait_seconds": 30}),
        (f"/projects/{world.project}/claim-next", {"labels": ["none"], "wait_seconds": 30}),  # refused before a wait
        (f"/tickets/{held}/work/progress", {"lease": lease}),
    ):
        answer = world.api.post(path, json={**given, "repository": repository})
        problem = expect_error(answer, 400, "invalid_request")
        assert problem["errors"][0]["field"] == field
        assert words in problem["detail"]
        assert ":pw@" not in answer.text
    assert ok(world.api.get(f"/tickets/{ticket}"))["claim"] is None

"""Comments on tickets."""

import pytest

from tests.support.operation_cases import WRITING, Stage
from tests.support.server import World, expect_error, ok


def count(world: World, ticket: str) -> int:
    return ok(world.api.get(f"/tickets/{ticket}"))["comment_count"]


def test_comment_records_its_author_credential_and_time(world: World) -> None:
    ticket = world.ticket()
    said = ok(
        world.owner.client("comments", label="my agent").post(
            f"/tickets/{ticket['id']}/comments", json={"body": "**Fixed**"}
        )
    )
    assert (said["ticket_id"], said["body"], said["edited_at"]) == (ticket["id"], "**Fixed**", None)
    assert (said["by"]["user"]["name"], said["by"]["token_label"], said["by"]["via"]) == ("Ann", "my agent", "rest")
    assert said["by"]["token_id"].startswith("key_")
    assert ok(world.api.get(f"/tickets/{ticket['id']}/comments")) == {"items": [said], "next_cursor": None}
    after = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert (after["comment_count"], after["version"]) == (1, ticket["version"])


def test_edit_replaces_the_text_and_is_marked(world: World) -> None:
    ticket = world.ticket()["id"]
    said = ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Frist"}))
    edited = ok(world.api.patch(f"/comments/{said['id']}", json={"body": "First"}))
    assert edited["edited_at"] is not None
    assert {**edited, "edited_at": None} == {**said, "body": "First"}
    assert count(world, ticket) == 1


def test_deleted_comment_is_gone_but_stays_in_the_history(world: World) -> None:
    ticket = world.ticket()["id"]
    said = ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Secret words"}))
    ok(world.api.delete(f"/comments/{said['id']}"))
    assert ok(world.api.get(f"/tickets/{ticket}/comments"))["items"] == []
    assert count(world, ticket) == 0
    for answer in (
        world.api.delete(f"/comments/{said['id']}"),
        world.api.patch(f"/comments/{said['id']}", json={"body": "x"}),
    ):
        expect_error(answer, 404, "not_found")
    history = ok(world.api.get(f"/tickets/{ticket}/history"))["items"]
    assert [each["type"] for each in history] == ["ticket.created", "comment.created", "comment.deleted"]
    assert {each["data"].get("comment_id") for each in history[1:]} == {said["id"]}
    assert "Secret words" not in str(history)
    assert ok(world.api.get("/search", params={"q": "Secret words"}))["items"] == []


@pytest.mark.parametrize("role", ["member", "admin", "owner"])
def test_only_the_author_can_change_a_comment(world: World, role: str) -> None:
    said = ok(world.api.post(f"/tickets/{world.ticket()['id']}/comments", json={"body": "Mine"}))
    other = world.join("Bob", role)
    for client in (other.web, other.client(*WRITING)):
        expect_error(client.patch(f"/comments/{said['id']}", json={"body": "Theirs"}), 403, "forbidden")
        expect_error(client.delete(f"/comments/{said['id']}"), 403, "forbidden")
    # The author may with any of their credentials.
    ok(world.owner.web.patch(f"/comments/{said['id']}", json={"body": "Still mine"}))


@pytest.mark.parametrize("body", ["", None, 1, "a\u0000b", "x" * 50_001, ["x"]])
def test_invalid_text_is_rejected_and_not_stored(stage: Stage, body: object) -> None:
    ticket = stage.ticket()["id"]
    expect_error(stage.api.post(f"/tickets/{ticket}/comments", json={"body": body}), 400, "invalid_request")
    assert count(stage, ticket) == 0


@pytest.mark.parametrize("body", ["x" * 50_000, " ", "😀 ünï\r\n\ttext", "<script>alert(1)</script>", "' OR 1=1 --"])
def test_text_is_returned_unchanged(stage: Stage, body: str) -> None:
    path = f"/tickets/{stage.ticket()['id']}/comments"
    assert ok(stage.api.post(path, json={"body": body}))["body"] == body
    assert ok(stage.api.get(path))["items"][0]["body"] == body

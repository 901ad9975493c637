"""Notifications: who gets which, what they contain, and muting (docs/use/notifications.md)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.operation_cases import format_tomorrow, update_row
from tests.support.server import Person, World, eventually, expect_error, ok


def list_notifications(person: Person, **query: str) -> list[tuple[str, str, str]]:
    """Reason, event type and ticket of a person's notifications, oldest first."""
    items = ok(person.web.get("/notifications", params=query))["items"][::-1]
    return [(each["reason"], each["event_type"], each["ticket_id"]) for each in items]


def unread(person: Person) -> int:
    """What the bell shows."""
    return ok(person.web.get("/notifications/unread"))["unread"]


def say(client: Any, ticket: str, body: str) -> dict[str, Any]:
    """A comment."""
    return ok(client.post(f"/tickets/{ticket}/comments", json={"body": body}))


def test_mention_in_a_comment_notifies_once_with_all_list_fields(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket("Cart")["id"]
    say(world.api, ticket, "@bob @Bob and @Bob: look")
    (item,) = ok(bob.web.get("/notifications"))["items"]
    assert (item["reason"], item["event_type"], item["ticket_title"]) == ("mention", "comment.created", "Cart")
    assert (item["company_id"], item["project_id"], item["read"]) == (world.company, world.project, False)
    assert item["by"]["user"] == {"id": world.owner.id, "name": "Ann"}
    assert item["by"]["token_label"] == "a token"
    assert unread(bob) == 1
    assert list_notifications(world.owner) == []


def test_excerpt_shows_the_present_text(world: World) -> None:
    bob = world.join("Bob")

    def excerpts() -> list[str | None]:
        return [item["excerpt"] for item in ok(bob.web.get("/notifications"))["items"]]

    ticket = world.ticket("Cart", description=f"{'word ' * 80}\n\nfor @Bob {'and ' * 80}")["id"]
    ok(world.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    comment = say(world.api, ticket, "It is **empty**\n\nagain")["id"]
    reply, assigned, mention = excerpts()
    assert (reply, assigned) == ("It is **empty** again", None)
    assert mention
    assert len(mention) == 300
    assert mention.startswith("…")
    assert " for @Bob and and" in mention
    assert mention.endswith("…")
    ok(world.api.patch(f"/comments/{comment}", json={"body": "It is full"}))
    assert excerpts()[0] == "It is full"
    ok(world.api.delete(f"/comments/{comment}"))
    assert excerpts()[0] is None


def test_edited_description_notifies_only_newly_mentioned_people(world: World) -> None:
    bob, eve = world.join("Bob"), world.join("Eve")
    ticket = world.ticket("Cart", description="for @Bob")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"description": "for @Bob and @Eve"}))
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Still @Bob"}))
    assert list_notifications(bob) == [("mention", "ticket.created", ticket)]
    assert list_notifications(eve) == [("mention", "ticket.updated", ticket)]
    comment = say(world.api, ticket, "done")["id"]
    ok(world.api.patch(f"/comments/{comment}", json={"body": "done, @Bob"}))
    assert list_notifications(bob)[2:] == [("mention", "comment.updated", ticket)]


def test_participants_are_notified_of_replies_and_others_are_not(world: World) -> None:
    bob, eve, dan = world.join("Bob"), world.join("Eve"), world.join("Dan")
    ticket = world.ticket()["id"]
    say(bob.web, ticket, "I have it too")
    ok(world.api.put(f"/tickets/{ticket}/assignees/{eve.id}"))
    say(bob.web, ticket, "Any news?")
    assert list_notifications(world.owner) == [("reply", "comment.created", ticket)] * 2
    assert list_notifications(eve) == [("assignment", "ticket.assigned", ticket), ("reply", "comment.created", ticket)]
    assert list_notifications(bob) == list_notifications(dan) == []
    say(eve.web, ticket, "Soon")
    assert list_notifications(bob) == [("reply", "comment.created", ticket)]


def test_bulk_assignment_notifies_of_each_ticket_but_not_the_caller(world: World) -> None:
    bob = world.join("Bob")
    tickets = [world.ticket(str(number))["id"] for number in range(3)]
    given = {"ticket_ids": tickets, "user_ids": [bob.id, "me"]}
    ok(world.api.post("/tickets/bulk-assign", json=given))
    ok(world.api.post("/tickets/bulk-assign", json=given))
    assert list_notifications(bob) == [("assignment", "ticket.assigned", ticket) for ticket in tickets]
    assert list_notifications(world.owner) == []


def test_nobody_is_notified_of_what_they_cannot_see(world: World, other: World) -> None:
    second = world.new_project("Second")
    kept = world.join("Kept", "viewer", [second])
    ticket = world.ticket("Cart", description="@Kept @Zoe")["id"]
    say(world.api, ticket, "@Kept @Zoe")
    assert list_notifications(kept) == list_notifications(other.owner) == []
    seen = world.ticket("Seen", project_id=second, description="@Kept")["id"]
    assert list_notifications(kept) == [("mention", "ticket.created", seen)]
    path = f"/companies/{world.company}/members/{kept.id}"
    ok(world.owner.web.patch(path, json={"project_ids": [world.project]}))
    assert list_notifications(kept) == []
    assert unread(kept) == 0
    ok(world.owner.web.patch(path, json={"project_ids": [second]}))
    assert unread(kept) == 1
    ok(world.owner.web.delete(path))
    assert list_notifications(kept) == []


def test_marking_one_and_all_as_read(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for number in range(3):
        say(world.api, ticket, f"@Bob {number}")
    newest = ok(bob.web.get("/notifications"))["items"][0]["id"]
    assert ok(bob.web.post(f"/notifications/{newest}/read")) == {"unread": 2}
    assert ok(bob.web.post(f"/notifications/{newest}/read")) == {"unread": 2}
    assert [each["read"] for each in ok(bob.web.get("/notifications"))["items"]] == [True, False, False]
    assert len(list_notifications(bob, unread="true")) == 2
    done = ok(bob.web.get("/notifications", params={"read": "true"}))["items"]
    assert [each["id"] for each in done] == [newest]
    both = bob.web.get("/notifications", params={"read": "true", "unread": "true"})
    assert expect_error(both, 400, "invalid_request")["errors"][0]["field"] == "read"
    expect_error(world.owner.web.post(f"/notifications/{newest}/read"), 404, "not_found")
    assert ok(bob.web.post("/notifications/read")) == {"unread": 0}
    assert list_notifications(bob, unread="true") == []
    assert len(list_notifications(bob)) == 3


def test_notification_is_marked_unread_again(world: World) -> None:
    bob = world.join("Bob")
    say(world.api, world.ticket()["id"], "@Bob")
    (item,) = ok(bob.web.get("/notifications"))["items"]
    ok(bob.web.post(f"/notifications/{item['id']}/read"))
    for _ in range(2):
        assert ok(bob.web.post(f"/notifications/{item['id']}/unread")) == {"unread": 1}
    assert ok(bob.web.get("/notifications"))["items"] == [item]
    expect_error(world.owner.web.post(f"/notifications/{item['id']}/unread"), 404, "not_found")


def test_snoozed_notification_is_hidden_and_comes_back_unread_at_the_top(world: World) -> None:
    bob = world.join("Bob")
    first, second = world.ticket("First")["id"], world.ticket("Second")["id"]
    say(world.api, first, "@Bob")
    say(world.api, second, "@Bob")
    path = f"/notifications/{ok(bob.web.get('/notifications'))['items'][1]['id']}"
    ok(bob.web.post(f"{path}/read"))
    until = format_tomorrow()
    assert ok(bob.web.post(f"{path}/snooze", json={"until": until})) == {"unread": 1}
    assert [ticket for *_, ticket in list_notifications(bob)] == [second]
    assert [ticket for *_, ticket in list_notifications(bob, unread="true")] == [second]
    (hidden,) = ok(bob.web.get("/notifications", params={"snoozed": "true"}))["items"]
    assert (hidden["ticket_id"], hidden["read"], hidden["snoozed_until"][:16]) == (first, False, until[:16])
    assert ok(bob.web.post("/notifications/read")) == {"unread": 0}
    ends = int(datetime.now(UTC).timestamp() * 1000)
    update_row(world.box.db, "UPDATE notification SET shown_at = ? WHERE public_id = ?", ends, hidden["id"])
    eventually(lambda: unread(bob) == 1)
    assert [ticket for *_, ticket in list_notifications(bob)] == [second, first]  # oldest first
    assert ok(bob.web.get("/notifications"))["items"][0] == {**hidden, "snoozed_until": None}
    ok(bob.web.post(f"{path}/snooze", json={"until": until}))
    assert ok(bob.web.post(f"{path}/unread")) == {"unread": 1}
    assert len(list_notifications(bob)) == 2


@pytest.mark.parametrize("until", ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "tomorrow", None])
def test_snooze_ends_within_90_days(world: World, until: str | None) -> None:
    bob = world.join("Bob")
    say(world.api, world.ticket()["id"], "@Bob")
    path = f"/notifications/{ok(bob.web.get('/notifications'))['items'][0]['id']}/snooze"
    expect_error(bob.web.post(path, json={"until": until}), 400, "invalid_request")
    expect_error(world.owner.web.post(path, json={"until": format_tomorrow()}), 404, "not_found")
    assert unread(bob) == 1


def test_pages_contain_each_notification_once(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for number in range(5):
        say(world.api, ticket, f"@Bob {number}")
    result: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while True:
        page = ok(bob.web.get("/notifications", params=query))
        result += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert len(result) == len(set(result)) == 5


@pytest.mark.parametrize("noun", ["ticket", "project"])
def test_muted_ticket_notifies_nobody_until_unmuted(world: World, noun: str) -> None:
    bob, eve = world.join("Bob"), world.join("Eve")
    ticket = world.ticket()["id"]
    path = f"/tickets/{ticket}/mute" if noun == "ticket" else f"/projects/{world.project}/mute"
    for _ in range(2):
        assert bob.web.put(path).status_code == 204
    assert ok(bob.web.get("/mutes"))[f"{noun}_ids"] == [ticket if noun == "ticket" else world.project]
    say(world.api, ticket, "@Bob @Eve")
    ok(world.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    assert list_notifications(bob) == []
    assert list_notifications(eve) == [("mention", "comment.created", ticket)]
    assert bob.web.delete(path).status_code == 204
    assert ok(bob.web.get("/mutes")) == {"ticket_ids": [], "project_ids": []}
    say(world.api, ticket, "again")
    assert list_notifications(bob) == [("reply", "comment.created", ticket)]


def test_viewer_can_mute_only_what_they_can_see(world: World, other: World) -> None:
    viewer = world.join("Viewer", "viewer")
    ticket = world.ticket()["id"]
    assert viewer.web.put(f"/tickets/{ticket}/mute").status_code == 204
    expect_error(other.owner.web.put(f"/tickets/{ticket}/mute"), 404, "not_found")
    expect_error(other.owner.web.put(f"/projects/{world.project}/mute"), 404, "not_found")


def test_repeated_comment_notifies_nobody_twice(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for _ in range(2):
        headers = {"Idempotency-Key": "once"}
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "@Bob"}, headers=headers))
    assert len(list_notifications(bob)) == 1


def test_deleting_a_project_deletes_its_notifications(world: World) -> None:
    bob = world.join("Bob")
    doomed = world.new_project("Doomed")
    world.ticket(project_id=doomed, description="@Bob")
    assert unread(bob) == 1
    ok(world.owner.web.request("DELETE", f"/projects/{doomed}", params={"confirm_name": "Doomed"}))
    assert (unread(bob), list_notifications(bob)) == (0, [])

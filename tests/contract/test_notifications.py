"""Notifications: who is told of what, what they see of it, and what they mute (docs/use/notifications.md)."""

from typing import Any

import pytest

from tests.box import Person, World, ok, refused


def told(person: Person, **query: str) -> list[tuple[str, str, str]]:
    """Reason, type of event and ticket of what a person is told, oldest first."""
    items = ok(person.web.get("/notifications", params=query))["items"][::-1]
    return [(each["reason"], each["event_type"], each["ticket_id"]) for each in items]


def unread(person: Person) -> int:
    """What the bell shows."""
    return ok(person.web.get("/notifications/unread"))["unread"]


def say(client: Any, ticket: str, body: str) -> dict[str, Any]:
    """A comment."""
    return ok(client.post(f"/tickets/{ticket}/comments", json={"body": body}))


def test_a_mention_in_a_comment_tells_once_and_says_all_that_a_list_shows(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket("Cart")["id"]
    say(world.api, ticket, "@bob @Bob and @Bob: look")
    (item,) = ok(bob.web.get("/notifications"))["items"]
    assert (item["reason"], item["event_type"], item["ticket_title"]) == ("mention", "comment.created", "Cart")
    assert (item["company_id"], item["project_id"], item["read"]) == (world.company, world.project, False)
    assert item["by"]["user"] == {"id": world.owner.id, "name": "Ann"}
    assert item["by"]["token_label"] == "a token"
    assert unread(bob) == 1
    assert told(world.owner) == []


def test_descriptions_mention_and_an_edit_tells_only_those_who_are_new(world: World) -> None:
    bob, eve = world.join("Bob"), world.join("Eve")
    ticket = world.ticket("Cart", description="for @Bob")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"description": "for @Bob and @Eve"}))
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Still @Bob"}))
    assert told(bob) == [("mention", "ticket.created", ticket)]
    assert told(eve) == [("mention", "ticket.updated", ticket)]
    comment = say(world.api, ticket, "done")["id"]
    ok(world.api.patch(f"/comments/{comment}", json={"body": "done, @Bob"}))
    assert told(bob)[2:] == [("mention", "comment.updated", ticket)]


def test_who_takes_part_hears_of_replies_and_who_doesnt_hears_nothing(world: World) -> None:
    bob, eve, dan = world.join("Bob"), world.join("Eve"), world.join("Dan")
    ticket = world.ticket()["id"]
    say(bob.web, ticket, "I have it too")
    ok(world.api.put(f"/tickets/{ticket}/assignees/{eve.id}"))
    say(bob.web, ticket, "Any news?")
    assert told(world.owner) == [("reply", "comment.created", ticket)] * 2
    assert told(eve) == [("assignment", "ticket.assigned", ticket), ("reply", "comment.created", ticket)]
    assert told(bob) == told(dan) == []
    say(eve.web, ticket, "Soon")
    assert told(bob) == [("reply", "comment.created", ticket)]


def test_assigning_many_tells_of_each_and_oneself_of_none(world: World) -> None:
    bob = world.join("Bob")
    tickets = [world.ticket(str(number))["id"] for number in range(3)]
    given = {"ticket_ids": tickets, "user_ids": [bob.id, "me"]}
    ok(world.api.post("/tickets/bulk-assign", json=given))
    ok(world.api.post("/tickets/bulk-assign", json=given))
    assert told(bob) == [("assignment", "ticket.assigned", ticket) for ticket in tickets]
    assert told(world.owner) == []


def test_nobody_is_told_of_what_they_cant_see(world: World, other: World) -> None:
    second = world.new_project("Second")
    kept = world.join("Kept", "viewer", [second])
    ticket = world.ticket("Cart", description="@Kept @Zoe")["id"]
    say(world.api, ticket, "@Kept @Zoe")
    assert told(kept) == told(other.owner) == []
    seen = world.ticket("Seen", project_id=second, description="@Kept")["id"]
    assert told(kept) == [("mention", "ticket.created", seen)]
    path = f"/companies/{world.company}/members/{kept.id}"
    ok(world.owner.web.patch(path, json={"project_ids": [world.project]}))
    assert told(kept) == []
    assert unread(kept) == 0
    ok(world.owner.web.patch(path, json={"project_ids": [second]}))
    assert unread(kept) == 1
    ok(world.owner.web.delete(path))
    assert told(kept) == []


def test_reading_one_and_all(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for number in range(3):
        say(world.api, ticket, f"@Bob {number}")
    newest = ok(bob.web.get("/notifications"))["items"][0]["id"]
    assert ok(bob.web.post(f"/notifications/{newest}/read")) == {"unread": 2}
    assert ok(bob.web.post(f"/notifications/{newest}/read")) == {"unread": 2}
    assert [each["read"] for each in ok(bob.web.get("/notifications"))["items"]] == [True, False, False]
    assert len(told(bob, unread="true")) == 2
    refused(world.owner.web.post(f"/notifications/{newest}/read"), 404, "not_found")
    assert ok(bob.web.post("/notifications/read")) == {"unread": 0}
    assert told(bob, unread="true") == []
    assert len(told(bob)) == 3


def test_pages_of_notifications_hold_each_once(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for number in range(5):
        say(world.api, ticket, f"@Bob {number}")
    found: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while True:
        page = ok(bob.web.get("/notifications", params=query))
        found += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert len(found) == len(set(found)) == 5


@pytest.mark.parametrize("noun", ["ticket", "project"])
def test_what_is_muted_tells_nothing_until_it_isnt_any_more(world: World, noun: str) -> None:
    bob, eve = world.join("Bob"), world.join("Eve")
    ticket = world.ticket()["id"]
    path = f"/tickets/{ticket}/mute" if noun == "ticket" else f"/projects/{world.project}/mute"
    for _ in range(2):
        assert bob.web.put(path).status_code == 204
    assert ok(bob.web.get("/mutes"))[f"{noun}_ids"] == [ticket if noun == "ticket" else world.project]
    say(world.api, ticket, "@Bob @Eve")
    ok(world.api.put(f"/tickets/{ticket}/assignees/{bob.id}"))
    assert told(bob) == []
    assert told(eve) == [("mention", "comment.created", ticket)]
    assert bob.web.delete(path).status_code == 204
    assert ok(bob.web.get("/mutes")) == {"ticket_ids": [], "project_ids": []}
    say(world.api, ticket, "again")
    assert told(bob) == [("reply", "comment.created", ticket)]


def test_a_viewer_may_mute_and_nobody_what_they_cant_see(world: World, other: World) -> None:
    viewer = world.join("Viewer", "viewer")
    ticket = world.ticket()["id"]
    assert viewer.web.put(f"/tickets/{ticket}/mute").status_code == 204
    refused(other.owner.web.put(f"/tickets/{ticket}/mute"), 404, "not_found")
    refused(other.owner.web.put(f"/projects/{world.project}/mute"), 404, "not_found")


def test_a_repeated_comment_tells_nobody_twice(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    for _ in range(2):
        headers = {"Idempotency-Key": "once"}
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "@Bob"}, headers=headers))
    assert len(told(bob)) == 1


def test_a_removed_project_takes_its_notifications_along(world: World) -> None:
    bob = world.join("Bob")
    doomed = world.new_project("Doomed")
    world.ticket(project_id=doomed, description="@Bob")
    assert unread(bob) == 1
    ok(world.owner.web.request("DELETE", f"/projects/{doomed}", params={"confirm_name": "Doomed"}))
    assert (unread(bob), told(bob)) == (0, [])

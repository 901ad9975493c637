"""Watchers of tickets: who becomes one, and what they are notified of."""

from tests.http.events.test_notifications import list_notifications, say
from tests.support.server import World, expect_error, ok


def list_names(world: World, ticket: str) -> list[str]:
    return [each["name"] for each in ok(world.api.get(f"/tickets/{ticket}"))["watchers"]]


def test_writing_assignment_and_mention_make_watchers(world: World) -> None:
    bob, _, dan = (world.join(name) for name in ("Bob", "Eve", "Dan"))
    ticket = world.ticket("Cart", description="for @Eve")["id"]
    assert list_names(world, ticket) == ["Ann", "Eve"]
    say(bob.web, ticket, "I have it too")
    ok(world.api.put(f"/tickets/{ticket}/assignees/{dan.id}"))
    assert set(list_names(world, ticket)) == {"Ann", "Bob", "Eve", "Dan"}
    ok(world.api.delete(f"/tickets/{ticket}/assignees/{dan.id}"))
    say(bob.web, ticket, "Any news?")
    assert list_notifications(dan)[-1] == ("reply", "comment.created", ticket)  # no longer assigned, still watching
    other = world.ticket("Other")["id"]
    say(world.api, other, "What does @Eve think?")
    assert list_names(world, other) == ["Ann", "Eve"]


def test_follow_and_unfollow_decide_who_is_notified(world: World) -> None:
    vera = world.join("Vera", "viewer")
    ticket = world.ticket()["id"]
    say(world.api, ticket, "before")
    ok(vera.web.put(f"/tickets/{ticket}/mute"))
    answer = ok(vera.web.put(f"/tickets/{ticket}/follow"))
    assert [each["name"] for each in answer["watchers"]] == ["Ann", "Vera"]
    assert ok(vera.web.put(f"/tickets/{ticket}/follow")) == answer
    assert ok(vera.web.get("/mutes"))["ticket_ids"] == []
    say(world.api, ticket, "after")
    assert list_notifications(vera) == [("reply", "comment.created", ticket)]
    for _ in range(2):
        assert [each["name"] for each in ok(vera.web.delete(f"/tickets/{ticket}/follow"))["watchers"]] == ["Ann"]
    say(world.api, ticket, "later")
    assert len(list_notifications(vera)) == 1
    say(world.api, ticket, "@Vera?")
    assert list_names(world, ticket) == ["Ann", "Vera"]


def test_nobody_follows_or_watches_what_they_cannot_see(world: World, other: World) -> None:
    second = world.new_project("Second")
    kept = world.join("Kept", "viewer", [world.project, second])
    ticket = world.ticket()["id"]
    expect_error(other.owner.web.put(f"/tickets/{ticket}/follow"), 404, "not_found")
    expect_error(other.owner.web.delete(f"/tickets/{ticket}/follow"), 404, "not_found")
    ok(kept.web.put(f"/tickets/{ticket}/follow"))
    ok(world.owner.web.patch(f"/companies/{world.company}/members/{kept.id}", json={"project_ids": [second]}))
    assert list_names(world, ticket) == ["Ann"]
    expect_error(kept.web.put(f"/tickets/{ticket}/follow"), 404, "not_found")


def test_watchers_of_a_duplicate_move_to_the_other_ticket(world: World) -> None:
    bob = world.join("Bob")
    duplicate, original = world.ticket("Again")["id"], world.ticket("First")["id"]
    ok(bob.web.put(f"/tickets/{duplicate}/follow"))
    ok(world.api.post(f"/tickets/{duplicate}/links", json={"kind": "duplicates", "other": original}))
    assert list_names(world, original) == ["Ann", "Bob"]
    assert list_names(world, duplicate) == []

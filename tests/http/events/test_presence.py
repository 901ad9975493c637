"""Who else has a ticket open: who sees whom, what streams send, and when an entry ends."""

from typing import Any

import httpx

from tests.support.event_stream import EventStream
from tests.support.server import Person, World, eventually, expect_error, ok


def report(client: httpx.Client, ticket: str, stream: str, **body: Any) -> list[str]:
    answer = ok(client.put(f"/tickets/{ticket}/presence", json={"stream": stream, **body}))
    return [each["name"] for each in answer["viewers"]]


def test_viewers_see_each_other_until_one_leaves(world: World) -> None:
    bob = world.join("Bob")
    ticket, other = world.ticket()["id"], world.ticket()["id"]
    with EventStream(bob.web).open(stream="b1") as stream:
        assert report(bob.web, ticket, "b1") == []
        assert report(world.owner.web, ticket, "a1") == ["Bob"]
        eventually(lambda: stream.viewed == [ticket])
        assert report(world.owner.web, ticket, "a2") == ["Bob"]  # a second tab of the same person is no news
        assert report(bob.web, ticket, "b1") == ["Ann"]
        report(world.owner.web, ticket, "a1", present=False)
        assert report(bob.web, ticket, "b1") == ["Ann"]
        report(world.owner.web, other, "a2")  # one tab shows one ticket
        assert report(bob.web, ticket, "b1") == []
        eventually(lambda: stream.viewed == [ticket, ticket])
        assert stream.heard == []


def test_end_of_the_stream_ends_the_presence(world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket()["id"]
    with EventStream(world.owner.web).open(stream="a1") as watching:
        report(world.owner.web, ticket, "a1")
        with EventStream(bob.web).open(stream="b1"):
            assert report(bob.web, ticket, "b1") == ["Ann"]
            eventually(lambda: watching.viewed == [ticket])
        eventually(lambda: watching.viewed == [ticket, ticket])
        assert report(world.owner.web, ticket, "a1") == []


def test_only_people_with_access_report_and_appear(world: World, other: World) -> None:
    second = world.new_project("Second")
    kept: Person = world.join("Kept", "viewer", [world.project, second])
    ticket = world.ticket()["id"]
    expect_error(other.owner.web.put(f"/tickets/{ticket}/presence", json={"stream": "o1"}), 404, "not_found")
    with EventStream(other.owner.web).open(stream="o1") as elsewhere:
        assert report(kept.web, ticket, "k1") == []
        assert report(world.owner.web, ticket, "a1") == ["Kept"]
        ok(world.owner.web.patch(f"/companies/{world.company}/members/{kept.id}", json={"project_ids": [second]}))
        assert report(world.owner.web, ticket, "a1") == []
        expect_error(kept.web.put(f"/tickets/{ticket}/presence", json={"stream": "k1"}), 404, "not_found")
        assert elsewhere.viewed == []
    expect_error(world.api.put(f"/tickets/{ticket}/presence", json={"stream": "t1"}), 403, "forbidden")

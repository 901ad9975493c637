"""Moving tickets, one or many; assigning many."""

import pytest

from tests.support.operation_cases import NEVER
from tests.support.server import World, expect_error, ok


def order(world: World, column: str) -> list[str]:
    """The titles in a column, from the top."""
    params = {"column_id": column, "sort": "position", "limit": 100}
    return [each["title"] for each in ok(world.api.get("/tickets", params=params))["items"]]


def four(world: World) -> list[str]:
    """Tickets A to D in the first column."""
    return [world.ticket(title)["id"] for title in "DCBA"][::-1]


def test_move_appends_to_the_column(world: World) -> None:
    a, _, _, d = four(world)
    for ticket in (d, a):
        moved = ok(world.api.post(f"/tickets/{ticket}/move", json={"column_id": world.columns[1]}))
        assert moved["column_id"] == world.columns[1]
    assert order(world, world.columns[0]) == ["B", "C"]
    assert order(world, world.columns[1]) == ["D", "A"]


@pytest.mark.parametrize(
    ("which", "where", "anchor", "expected"),
    [
        (3, "before", 0, "DABC"),
        (3, "before", 2, "ABDC"),
        (0, "after", 3, "BCDA"),
        (0, "after", 1, "BACD"),
        (1, "before", 2, "ABCD"),
        (1, "after", 0, "ABCD"),
        (2, "before", 1, "ACBD"),
    ],
)
def test_move_places_a_ticket_beside_another(world: World, which: int, where: str, anchor: int, expected: str) -> None:
    tickets = four(world)
    given = {"column_id": world.columns[0], where: tickets[anchor]}
    ok(world.api.post(f"/tickets/{tickets[which]}/move", json=given))
    assert "".join(order(world, world.columns[0])) == expected


def test_repeated_moves_into_one_gap_keep_the_order(world: World) -> None:
    """Each move halves a gap of 2^20; by the twenty-first the column is renumbered."""
    limits = {"reads_per_minute": 10_000, "writes_per_minute": 10_000}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    tickets = four(world)
    a, d = tickets[0], tickets[3]
    for _ in range(15):
        for moved in tickets[1:3]:
            ok(world.api.post(f"/tickets/{moved}/move", json={"column_id": world.columns[0], "after": a}))
        ok(world.api.post(f"/tickets/{d}/move", json={"column_id": world.columns[0], "before": tickets[2]}))
        assert order(world, world.columns[0]) == ["A", "D", "C", "B"]


@pytest.mark.parametrize("field", ["before", "after"])
def test_neighbour_must_be_in_the_target_column(world: World, field: str) -> None:
    a, b, c, _ = four(world)
    ok(world.api.post(f"/tickets/{b}/move", json={"column_id": world.columns[1]}))
    ok(world.api.post(f"/tickets/{c}/archive"))
    for neighbour in (b, c, a, NEVER["ticket"], "nonsense"):
        given = {"column_id": world.columns[0], field: neighbour}
        problem = expect_error(world.api.post(f"/tickets/{a}/move", json=given), 400, "invalid_request")
        assert problem["errors"][0]["field"] == field
    both = {"column_id": world.columns[0], "before": b, "after": b}
    expect_error(world.api.post(f"/tickets/{a}/move", json=both), 400, "invalid_request")


def test_move_records_one_event_with_source_and_target(world: World) -> None:
    ticket = world.ticket()
    moved = ok(world.api.post(f"/tickets/{ticket['id']}/move", json={"column_id": world.columns[2]}))
    assert moved["version"] == ticket["version"] + 1
    *_, event = ok(world.api.get(f"/tickets/{ticket['id']}/history"))["items"]
    assert event["type"] == "ticket.moved"
    assert event["data"]["from"]["column_id"] == world.columns[0]
    assert event["data"]["to"]["column_id"] == world.columns[2]


BULK = {
    "bulk-move": lambda w: {"column_id": w.columns[1]},
    "bulk-assign": lambda w: {"user_ids": ["me"]},
}
BOTH = pytest.mark.parametrize("path", list(BULK))


@BOTH
def test_bulk_call_reports_a_result_for_each_ticket(world: World, other: World, path: str) -> None:
    a, b, c, d = four(world)
    ok(world.api.post(f"/tickets/{c}/archive"))
    foreign = other.ticket()["id"]
    given = {**BULK[path](world), "ticket_ids": [d, foreign, a, c, NEVER["ticket"], "nonsense", b.upper()]}
    results = ok(world.api.post(f"/tickets/{path}", json=given))["results"]
    assert [each["ticket_id"] for each in results] == [d, foreign, a, c, NEVER["ticket"], "nonsense", b]
    assert [each["ok"] for each in results] == [True, False, True, False, False, False, True]
    codes = [each["error"] and each["error"]["code"] for each in results]
    assert codes == [None, "not_found", None, "ticket_archived", "not_found", "not_found", None]
    assert results[1]["error"] == results[4]["error"]
    if path == "bulk-move":
        assert order(world, world.columns[1]) == ["D", "A", "B"]
    else:
        items = ok(world.api.get("/tickets", params={"assignee": "me"}))["items"]
        assert {each["title"] for each in items} == {"D", "A", "B"}


@BOTH
def test_invalid_ticket_list_is_rejected_completely(world: World, path: str) -> None:
    one = world.ticket()["id"]
    many = [f"t-{number:08d}" for number in range(50)]
    more = BULK[path](world)
    for ids in ([], [one, *many], [one, one], [one, one.upper()], [one, f"{world.box.url}/tickets/{one}"]):
        problem = expect_error(
            world.api.post(f"/tickets/{path}", json={**more, "ticket_ids": ids}), 400, "invalid_request"
        )
        assert problem["errors"][0]["field"] == "ticket_ids"
    for wrong in ({}, {"ticket_ids": None}, {"ticket_ids": one}, {"ticket_ids": [1]}, {"ticket_ids": [None]}):
        expect_error(world.api.post(f"/tickets/{path}", json={**more, **wrong}), 400, "invalid_request")
    now = ok(world.api.get(f"/tickets/{one}"))
    assert (now["version"], now["assignees"]) == (1, [])
    assert len(ok(world.api.get(f"/tickets/{one}/history"))["items"]) == 1


@BOTH
def test_fifty_tickets_are_accepted(world: World, path: str) -> None:
    given = {**BULK[path](world), "ticket_ids": [f"t-{number:08d}" for number in range(50)]}
    results = ok(world.api.post(f"/tickets/{path}", json=given))["results"]
    assert len(results) == 50
    assert {each["error"]["code"] for each in results} == {"not_found"}


def test_ticket_that_fails_midway_is_rolled_back(world: World) -> None:
    """The second user can't see the project, so the first must not stay assigned either."""
    second = world.new_project("Second")
    kept = world.join("Kim", project_ids=[second])
    one, two = world.ticket("One")["id"], world.ticket("Two", project_id=second)["id"]
    given = {"ticket_ids": [one, two], "user_ids": ["me", kept.id]}
    results = ok(world.api.post("/tickets/bulk-assign", json=given))["results"]
    assert [each["ok"] for each in results] == [False, True]
    assert ok(world.api.get(f"/tickets/{one}"))["assignees"] == []
    assert {each["name"] for each in ok(world.api.get(f"/tickets/{two}"))["assignees"]} == {"Ann", "Kim"}


def test_bulk_assignment_adds_removes_and_replaces(world: World) -> None:
    bob, ticket = world.join("Bob"), world.ticket()["id"]

    def assign(mode: str, *users: str) -> set[str]:
        given = {"ticket_ids": [ticket], "user_ids": list(users), "mode": mode}
        assert ok(world.api.post("/tickets/bulk-assign", json=given))["results"][0]["ok"]
        return {each["name"] for each in ok(world.api.get(f"/tickets/{ticket}"))["assignees"]}

    assert assign("add", "me") == {"Ann"}
    assert assign("add", bob.id) == {"Ann", "Bob"}
    assert assign("remove", "me") == {"Bob"}
    assert assign("replace", "me") == {"Ann"}
    assert assign("replace") == set()
    for users in ([], ["me", "me"], ["x"] * 51):
        given = {"ticket_ids": [ticket], "user_ids": users}
        expect_error(world.api.post("/tickets/bulk-assign", json=given), 400, "invalid_request")
    types = [each["type"] for each in ok(world.api.get(f"/tickets/{ticket}/history"))["items"]]
    assert types == [
        "ticket.created",
        *["ticket.assigned"] * 2,
        "ticket.unassigned",
        "ticket.assigned",
        "ticket.unassigned",
        "ticket.unassigned",
    ]


def test_assigning_twice_changes_nothing(world: World) -> None:
    path = f"/tickets/{world.ticket()['id']}/assignees/me"
    first = ok(world.api.put(path))
    assert [each["name"] for each in first["assignees"]] == ["Ann"]
    assert ok(world.api.put(path)) == first
    gone = ok(world.api.delete(path))
    assert (gone["assignees"], gone["version"]) == ([], first["version"] + 1)
    assert ok(world.api.delete(path)) == gone


def test_only_people_who_see_the_project_can_be_assigned(world: World, other: World) -> None:
    second = world.new_project("Second")
    kept, ticket = world.join("Kim", project_ids=[second]), world.ticket()["id"]
    for user in (kept.id, other.owner.id, NEVER["user"]):
        answer = world.api.put(f"/tickets/{ticket}/assignees/{user}")
        assert expect_error(answer, 404, "not_found")["detail"] == "member not found"

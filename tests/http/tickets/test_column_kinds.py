"""The kind of a column decides whether the tickets in it are resolved, and resolving a ticket moves it."""

from typing import Any

import pytest

from tests.support.server import World, expect_error, ok


def read_kinds(world: World) -> list[tuple[str, str]]:
    return [(each["name"], each["kind"]) for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]


def set_kind(world: World, column: str, kind: str) -> None:
    ok(world.owner.web.patch(f"/columns/{column}", json={"kind": kind}))


def read(world: World, ticket: str) -> dict[str, Any]:
    return ok(world.api.get(f"/tickets/{ticket}?status=all"))


def move(world: World, ticket: str, column: str) -> dict[str, Any]:
    return ok(world.api.post(f"/tickets/{ticket}/move", json={"column_id": column}))


def resolve(world: World, ticket: str, resolved: object = True, **more: object) -> dict[str, Any]:
    return ok(world.api.patch(f"/tickets/{ticket}", json={"resolved": resolved, **more}))


def read_events(world: World, ticket: str) -> list[tuple[str, dict[str, Any]]]:
    return [(each["type"], each["data"]) for each in ok(world.api.get(f"/tickets/{ticket}/history"))["items"]]


def list_order(world: World, column: str) -> list[str]:
    params = {"column_id": column, "sort": "position", "status": "all"}
    return [each["title"] for each in ok(world.api.get("/tickets", params=params))["items"]]


@pytest.fixture
def bare(world: World) -> World:
    """A board with the columns To do (todo) and In progress (doing)."""
    ok(world.owner.web.delete(f"/columns/{world.columns[2]}"))
    return world


def test_new_project_has_a_column_of_each_kind(world: World) -> None:
    assert read_kinds(world) == [("To do", "todo"), ("In progress", "doing"), ("Done", "done")]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"name": "Review"}, "doing"),
        ({"name": " CLOSED "}, "done"),
        ({"name": "Fixed", "kind": "doing"}, "doing"),
        ({"name": "Backlog", "kind": "todo"}, "todo"),
    ],
)
def test_new_column_has_the_given_kind_or_that_of_its_name(world: World, given: dict[str, str], kind: str) -> None:
    made = ok(world.owner.web.post(f"/projects/{world.project}/columns", json=given))
    assert made["kind"] == kind


def test_unknown_kind_is_rejected(world: World) -> None:
    problem = expect_error(
        world.owner.web.patch(f"/columns/{world.columns[0]}", json={"kind": "later"}), 400, "invalid_request"
    )
    assert problem["errors"][0]["field"] == "kind"
    assert read_kinds(world)[0] == ("To do", "todo")


def test_rename_keeps_the_kind(world: World) -> None:
    ok(world.owner.web.patch(f"/columns/{world.columns[1]}", json={"name": "Done"}))
    assert read_kinds(world)[1] == ("Done", "doing")


def test_ticket_is_resolved_while_it_is_in_a_done_column(world: World) -> None:
    ticket = world.ticket()["id"]
    assert move(world, ticket, world.columns[1])["resolved"] is False
    assert move(world, ticket, world.columns[2])["resolved"] is True
    assert move(world, ticket, world.columns[2])["resolved"] is True
    assert move(world, ticket, world.columns[0])["resolved"] is False
    changes = [data.get("changes") for type_, data in read_events(world, ticket) if type_ == "ticket.moved"]
    entered = {"resolved": {"from": False, "to": True}}
    assert changes == [None, entered, None, {"resolved": {"from": True, "to": False}}]


def test_bulk_move_resolves_each_ticket(world: World) -> None:
    tickets = [world.ticket(title)["id"] for title in "AB"]
    ok(world.api.post("/tickets/bulk-move", json={"ticket_ids": tickets, "column_id": world.columns[2]}))
    assert [read(world, ticket)["resolved"] for ticket in tickets] == [True, True]


def test_ticket_created_in_a_done_column_is_resolved(world: World) -> None:
    assert world.ticket(column_id=world.columns[2])["resolved"] is True


def test_move_to_another_project_follows_the_column_there(world: World) -> None:
    elsewhere = world.columns_of(world.new_project("Second"))
    ticket = world.ticket()["id"]
    assert move(world, ticket, elsewhere[2])["resolved"] is True
    assert move(world, ticket, world.columns[1])["resolved"] is False


def test_resolving_moves_to_the_top_of_the_first_done_column_and_reopening_back_to_todo(world: World) -> None:
    world.ticket("Old", column_id=world.columns[2])
    ticket = world.ticket("New", column_id=world.columns[1])
    resolved = resolve(world, ticket["id"], priority="high")
    assert (resolved["column_id"], resolved["resolved"], resolved["priority"]) == (world.columns[2], True, "high")
    assert resolved["version"] == ticket["version"] + 1
    assert list_order(world, world.columns[2]) == ["New", "Old"]
    world.ticket("Waiting")
    reopened = resolve(world, ticket["id"], resolved=False)
    assert (reopened["column_id"], reopened["resolved"]) == (world.columns[0], False)
    assert list_order(world, world.columns[0]) == ["New", "Waiting"]
    (_, first, second, *rest) = read_events(world, ticket["id"])
    assert first[0] == "ticket.updated"
    assert first[1]["fields"] == ["priority", "resolved"]
    moved = {"from": {"column_id": world.columns[1]}, "to": {"column_id": world.columns[2]}}
    assert second == ("ticket.moved", moved)
    assert [type_ for type_, _ in rest] == ["ticket.updated", "ticket.moved"]


def test_resolving_twice_and_reopening_what_is_open_change_nothing(world: World) -> None:
    ticket = world.ticket(column_id=world.columns[1])
    assert resolve(world, ticket["id"], resolved=False) == ticket
    resolved = resolve(world, ticket["id"])
    assert resolve(world, ticket["id"]) == resolved


def test_resolving_in_another_done_column_keeps_the_ticket_there(world: World) -> None:
    given = {"name": "Won't fix", "kind": "done"}
    rejected = ok(world.owner.web.post(f"/projects/{world.project}/columns", json=given))["id"]
    ticket = world.ticket(column_id=rejected)["id"]
    assert resolve(world, ticket)["column_id"] == rejected


def test_without_a_done_column_resolved_is_a_field(bare: World) -> None:
    ticket = bare.ticket(column_id=bare.columns[1])["id"]
    resolved = resolve(bare, ticket)
    assert (resolved["column_id"], resolved["resolved"]) == (bare.columns[1], True)
    assert move(bare, ticket, bare.columns[0])["resolved"] is True
    assert resolve(bare, ticket, resolved=False)["resolved"] is False


def test_without_a_todo_column_reopening_keeps_the_column(world: World) -> None:
    set_kind(world, world.columns[0], "doing")
    ticket = world.ticket(column_id=world.columns[2])["id"]
    reopened = resolve(world, ticket, resolved=False)
    assert (reopened["column_id"], reopened["resolved"]) == (world.columns[2], False)
    assert resolve(world, ticket)["resolved"] is True


def test_changing_a_columns_kind_resolves_or_reopens_its_tickets(world: World) -> None:
    shown, archived = world.ticket("A")["id"], world.ticket("B")["id"]
    ok(world.api.post(f"/tickets/{archived}/archive"))
    other = world.ticket("C", column_id=world.columns[1])
    set_kind(world, world.columns[0], "done")
    assert [read(world, ticket)["resolved"] for ticket in (shown, archived)] == [True, True]
    assert read(world, other["id"])["version"] == other["version"]
    type_, data = read_events(world, shown)[-1]
    assert (type_, data["changes"]) == ("ticket.updated", {"resolved": {"from": False, "to": True}})
    set_kind(world, world.columns[0], "doing")
    assert [read(world, ticket)["resolved"] for ticket in (shown, archived)] == [False, False]
    version = read(world, shown)["version"]
    set_kind(world, world.columns[0], "todo")
    assert read(world, shown)["version"] == version


def test_archive_keeps_resolved_and_restore_follows_the_column(world: World) -> None:
    ticket = world.ticket(column_id=world.columns[2])["id"]
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    assert read(world, ticket)["resolved"] is True
    assert ok(world.api.post(f"/tickets/{ticket}/restore"))["resolved"] is True
    assert read_events(world, ticket)[-1] == ("ticket.restored", {})
    given = {"name": "Fixed"}
    extra = ok(world.owner.web.post(f"/projects/{world.project}/columns", json=given))["id"]
    move(world, ticket, extra)
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    ok(world.owner.web.delete(f"/columns/{extra}"))
    assert read(world, ticket)["resolved"] is True
    back = ok(world.api.post(f"/tickets/{ticket}/restore"))
    assert (back["column_id"], back["resolved"]) == (world.columns[0], False)
    reopened = {"changes": {"resolved": {"from": True, "to": False}}}
    assert read_events(world, ticket)[-1] == ("ticket.restored", reopened)


def test_deleting_a_column_moves_its_tickets_into_the_other_kind(world: World) -> None:
    ticket, resolved = world.ticket("A")["id"], world.ticket("B", column_id=world.columns[2])["id"]
    ok(world.owner.web.delete(f"/columns/{world.columns[0]}", params={"move_to": world.columns[2]}))
    assert read(world, ticket)["resolved"] is True
    assert read_events(world, ticket)[-1][1]["changes"] == {"resolved": {"from": False, "to": True}}
    ok(world.owner.web.delete(f"/columns/{world.columns[2]}", params={"move_to": world.columns[1]}))
    assert [read(world, each)["resolved"] for each in (ticket, resolved)] == [False, False]


def test_resolved_follows_the_column_in_search_and_lists(world: World) -> None:
    ticket = world.ticket("Findable")["id"]
    move(world, ticket, world.columns[2])
    for path in ("/search?q=is:resolved", "/tickets?resolved=true"):
        assert [each["id"] for each in ok(world.api.get(path))["items"]] == [ticket]

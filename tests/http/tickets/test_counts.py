"""Counts of open tickets: those assigned to the caller, and those of saved views."""

import itertools
from typing import Any

import httpx

from tests.support.server import World, expect_error, ok

FILTERS: dict[str, list[Any]] = {
    "assignee": [[], ["me"], ["none"], ["me", "none"], ["Bob"], ["Bob", "none"]],
    "label": [[], ["bug"], ["UI", "bug"]],
    "priority": [[], ["high"], ["none", "urgent"]],
    "has_labels": [None, True, False],
    "has_due_date": [None, False],
    "overdue": [False, True],
}


def count(client: httpx.Client, company: str) -> dict[str, Any]:
    return ok(client.get(f"/companies/{company}/ticket-counts"))


def create_ticket(world: World, title: str, **more: Any) -> str:
    """Create a ticket in a session, which may write more often than a token, and return its id."""
    body = {"project_id": world.project, "title": title, **more}
    return ok(world.owner.web.post("/tickets", json=body))["id"]


def create_view(world: World, name: str, shared: bool = True, **filters: Any) -> str:
    body = {"name": name, "shared": shared, "filters": filters}
    return ok(world.owner.web.post(f"/projects/{world.project}/views", json=body))["id"]


def count_view(world: World, view: str) -> int | None:
    return {each["view_id"]: each["open"] for each in count(world.owner.web, world.company)["views"]}[view]


def resolve(world: World, ticket: str, resolved: bool = True) -> None:
    ok(world.owner.web.patch(f"/tickets/{ticket}", json={"resolved": resolved}, headers={"If-Match": "*"}))


def fill(world: World) -> None:
    """Add tickets with all combinations of a few values, each once open, once resolved and once archived."""
    bob = world.join("Bob")
    values = itertools.product(([], ["bug"], ["ui"]), ("none", "high", "urgent"), (None, "2020-01-01"), (0, 1, 2))
    for number, (labels, priority, due, assigned) in enumerate(values):
        person = [None, world.owner.id, bob.id][assigned]
        for state in ("open", "resolved", "archived")[: 3 if number % 9 == 0 else 1]:
            ticket = create_ticket(world, state, labels=labels, priority=priority, due_on=due)
            if person:
                ok(world.owner.web.put(f"/tickets/{ticket}/assignees/{person}"))
            if state == "resolved":
                resolve(world, ticket)
            if state == "archived":
                ok(world.owner.web.post(f"/tickets/{ticket}/archive"))


def test_view_counts_what_a_list_of_its_open_tickets_has(world: World) -> None:
    fill(world)
    counts: set[int] = set()
    names = list(FILTERS)
    for chosen in list(itertools.product(*FILTERS.values()))[::17]:
        filters = {name: value for name, value in zip(names, chosen, strict=True) if value is not None}
        view = create_view(world, "View", **filters)
        listed = ok(world.api.get("/tickets", params={"view": view, "resolved": "false", "limit": 100}))["items"]
        assert count_view(world, view) == len(listed), filters
        counts.add(len(listed))
        world.owner.web.delete(f"/views/{view}").raise_for_status()
    assert len(counts) > 5


def test_view_of_resolved_tickets_has_no_open_ones(world: World) -> None:
    world.ticket("Open")
    resolve(world, world.ticket("Done")["id"])
    assert count_view(world, create_view(world, "Done", resolved=True)) == 0
    assert count_view(world, create_view(world, "Open", resolved=False)) == 1


def test_assigned_tickets_are_counted_in_all_companies(world: World) -> None:
    bea = world.join("Bea")
    mine = world.ticket("Mine")["id"]
    ok(world.owner.web.put(f"/tickets/{mine}/assignees/{bea.id}"))
    other = ok(world.owner.web.post("/companies", json={"name": "Other"}))["id"]
    assert count(bea.web, world.company)["assigned"] == 1
    assert count(world.owner.web, other) == {"assigned": 0, "views": []}
    assert count(bea.web, world.company)["assigned"] == 1
    resolve(world, mine)
    assert count(bea.web, world.company)["assigned"] == 0
    resolve(world, mine, False)
    ok(world.owner.web.post(f"/tickets/{mine}/archive"))
    assert count(bea.web, world.company)["assigned"] == 0


def test_person_gets_counts_only_of_what_they_see(world: World) -> None:
    hidden = world.new_project("Hidden")
    bea, eve = world.join("Bea", project_ids=[hidden]), World(world.box, "Eve")
    secret = world.ticket("Secret")["id"]
    ok(world.owner.web.put(f"/tickets/{secret}/assignees/{world.owner.id}"))
    shared, private = create_view(world, "Shared"), create_view(world, "Private", shared=False)
    assert count(world.owner.web, world.company)["assigned"] == 1
    assert [each["view_id"] for each in count(world.owner.web, world.company)["views"]] == [shared, private]
    assert count(bea.web, world.company) == {"assigned": 0, "views": []}
    assert count(eve.owner.web, eve.company) == {"assigned": 0, "views": []}
    expect_error(eve.owner.web.get(f"/companies/{world.company}/ticket-counts"), 404, "not_found")
    cid = world.join("Cid", "viewer")
    assert count(cid.web, world.company)["views"] == [{"view_id": shared, "open": 1}]


def test_count_stops_at_100(world: World) -> None:
    view = create_view(world, "All")
    for number in range(101):
        create_ticket(world, f"Ticket {number}")
        if number in {98, 99, 100}:
            assert count_view(world, view) == min(number + 1, 100)


def test_token_is_refused(world: World) -> None:
    expect_error(world.api.get(f"/companies/{world.company}/ticket-counts"), 403, "forbidden")

"""Lists of tickets: filters with one value and with several."""

from typing import Any

import pytest

from tests.mcp.test_arguments import call
from tests.support.cli import run
from tests.support.operation_cases import Stage
from tests.support.server import World, expect_error, ok


def list_titles(world: World, **query: object) -> list[str]:
    given = {"project_id": world.project, "sort": "created", **query}
    return [each["title"] for each in ok(world.api.get("/tickets", params=given))["items"]]


@pytest.fixture
def shop(world: World) -> World:
    """A project with tickets that differ in one field each."""
    bob = world.join("Bob")
    world.ticket("Plain")
    world.ticket("Bug", labels=["bug"], priority="low")
    world.ticket("Both", labels=["bug", "ui"], priority="high", column_id=world.columns[1])
    world.ticket("UI", labels=["UI"], priority="urgent", column_id=world.columns[1], due_on="2026-12-24")
    world.ticket("Done", column_id=world.columns[2])
    mine, his = (world.ticket(f"Of {name}")["id"] for name in ("Ann", "Bob"))
    ok(world.api.put(f"/tickets/{mine}/assignees/me"))
    ok(world.api.put(f"/tickets/{his}/assignees/{bob.id}"))
    return world


def test_one_of_several_values_is_enough(shop: World) -> None:
    assert list_titles(shop, label="BUG,ui") == ["Bug", "Both", "UI"]
    assert list_titles(shop, label="bug") == ["Bug", "Both"]
    assert list_titles(shop, priority="low,urgent") == ["Bug", "UI"]
    assert list_titles(shop, column_id=f"In progress,{shop.columns[2]}") == ["Both", "UI", "Done"]
    assert list_titles(shop, assignee="me,Bob") == ["Of Ann", "Of Bob"]
    assert list_titles(shop, assignee="none,me") == ["Plain", "Bug", "Both", "UI", "Done", "Of Ann"]


def test_filters_with_several_values_are_combined(shop: World) -> None:
    assert list_titles(shop, label="bug,ui", priority="high,urgent") == ["Both", "UI"]
    assert list_titles(shop, label="bug,ui", column_id=shop.columns[0]) == ["Bug"]
    assert list_titles(shop, label="bug,ui", assignee="me,Bob") == []
    assert list_titles(shop, priority="none", assignee="none,Bob", column_id=",".join(shop.columns[:2])) == [
        "Plain", "Of Bob",
    ]  # fmt: skip


def test_tickets_without_labels_or_due_date_are_listed(shop: World) -> None:
    assert list_titles(shop, has_labels=False, assignee="none") == ["Plain", "Done"]
    assert list_titles(shop, has_labels=True, has_due_date=False) == ["Bug", "Both"]
    assert list_titles(shop, has_due_date=True) == ["UI"]


def test_list_is_counted_where_it_is_asked_for(shop: World) -> None:
    def count(**query: Any) -> int:
        page = ok(shop.api.get("/tickets", params={"project_id": shop.project, "limit": 1, "count": "true", **query}))
        return page["total"]

    assert count() == count(sort="-title") == count(status="all") == 7
    assert count(label="bug,ui") == count(label="bug,ui", column_id=",".join(shop.columns)) == 3
    assert count(assignee="me,Bob") == 2
    assert count(ready=True) == 4
    assert count(label="bug", assignee="me") == 0
    first = ok(shop.api.get("/tickets", params={"project_id": shop.project, "limit": 2}))
    assert "total" not in first
    assert count(limit=2, cursor=first["next_cursor"]) == 7  # the whole list, and the cursor of one without a count
    assert count(project_id=shop.new_project("Empty")) == 0


@pytest.mark.parametrize("sort", ["created", "-updated", "priority", "-priority", "title"])
def test_pages_of_several_values_have_every_ticket_once(shop: World, sort: str) -> None:
    given = {"project_id": shop.project, "label": "bug,ui", "sort": sort, "limit": 1}
    found: list[str] = []
    cursor = None
    while True:
        page = ok(shop.api.get("/tickets", params={**given, **({"cursor": cursor} if cursor else {})}))
        found += [each["title"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(found) == ["Both", "Bug", "UI"]
    assert found == list_titles(shop, label="ui,bug", sort=sort)


def test_tools_and_command_line_accept_one_value_and_several(shop: World) -> None:
    for label, titles in (("ui", {"Both", "UI"}), (["ui"], {"Both", "UI"}), (["ui", "bug"], {"Bug", "Both", "UI"})):
        listed = call(shop, "list_tickets", project_id=shop.project, label=label)["items"]
        assert {each["title"] for each in listed} == titles
    secret = shop.api.headers["Authorization"].removeprefix("Bearer ")
    options = (
        "--project",
        shop.project,
        "--priority",
        "low",
        "--priority",
        "high",
        "--column",
        "To do",
        "--column",
        "In progress",
    )
    shown = run("ticket", "list", *options, SERVICE_API_TOKEN=secret, TICKETBOX_URL=shop.box.url)
    assert shown.exit_code == 0, shown.stderr
    assert [("Bug" in shown.stdout), ("Both" in shown.stdout), ("Plain" in shown.stdout)] == [True, True, False]


@pytest.mark.parametrize(
    "query",
    [
        {"label": ""}, {"label": ","}, {"label": ",".join(f"l{n}" for n in range(21))}, {"priority": "low,huge"},
        {"assignee": "me,nobody"}, {"column_id": "To do,Nowhere"}, {"sort": "position"}, {"has_labels": "maybe"},
        {"sort": "position", "column_id": "To do,Done"},
    ],
)  # fmt: skip
def test_invalid_filters_are_rejected(stage: Stage, query: dict[str, str]) -> None:
    answer = stage.api.get("/tickets", params={"project_id": stage.project, **query})
    expect_error(answer, 400, "invalid_request")


def test_filters_on_what_cannot_be_seen_find_nothing_and_say_so(shop: World) -> None:
    there = World(shop.box, "Eve")
    page = ok(shop.api.get("/tickets", params={"column_id": ",".join(there.columns[:2]), "assignee": there.owner.id}))
    assert page["items"] == []
    for hidden in (*there.columns[:2], there.owner.id):
        assert hidden in page["note"]


@pytest.mark.parametrize("query", [{}, {"label": "shop"}, {"assignee": "me"}])
def test_list_sorted_by_due_date_ends_with_tickets_without_one(world: World, query: dict[str, str]) -> None:
    me = [world.owner.id]
    for title, day in (("later", "2027-01-05"), ("never", None), ("first", "2026-12-24"), ("also later", "2027-01-05")):
        ticket = world.ticket(title, labels=["shop"], **({"due_on": day} if day else {}))
        ok(world.api.put(f"/tickets/{ticket['id']}/assignees/{me[0]}"))
    found: dict[str, list[str]] = {}
    for sort in ("due", "-due"):
        given, titles = {**query, "sort": sort, "limit": "1"}, list[str]()
        while True:
            page = ok(world.api.get("/tickets", params=given))
            titles += [each["title"] for each in page["items"]]
            if page["next_cursor"] is None:
                break
            given["cursor"] = page["next_cursor"]
        found[sort] = titles
    assert found == {
        "due": ["first", "later", "also later", "never"], "-due": ["never", "also later", "later", "first"],
    }  # fmt: skip


@pytest.mark.parametrize("query", [{}, {"label": "shop"}, {"assignee": "me"}])
def test_list_sorted_by_title_ignores_case_and_accents(world: World, query: dict[str, str]) -> None:
    titles = ["zoom", "Äpfel", "apple", "Zebra", "Öl", "ohm", "東京", "10 %", "a" * 300, "😀" * 300, "renamed"]
    for title in titles:
        ticket = world.ticket(title, labels=["shop"])
        ok(world.api.put(f"/tickets/{ticket['id']}/assignees/me"))
        if title == "renamed":
            ok(world.api.patch(f"/tickets/{ticket['id']}", json={"title": "Éclair"}))
    expected = ["10 %", "a" * 300, "Äpfel", "apple", "Éclair", "ohm", "Öl", "Zebra", "zoom", "東京", "😀" * 300]
    for sort, order in (("title", expected), ("-title", expected[::-1])):
        given, found = {**query, "sort": sort, "limit": "1"}, list[str]()
        while True:
            page = ok(world.api.get("/tickets", params=given))
            found += [each["title"] for each in page["items"]]
            if page["next_cursor"] is None:
                break
            given["cursor"] = page["next_cursor"]
        assert found == order

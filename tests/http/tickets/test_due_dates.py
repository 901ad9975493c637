"""Due dates: set, changed, listed and searched."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.operation_cases import Stage
from tests.support.server import World, expect_error, ok


def list_titles(world: World, **query: object) -> list[str]:
    given = {"project_id": world.project, "sort": "created", **query}
    return [each["title"] for each in ok(world.api.get("/tickets", params=given))["items"]]


def search_titles(world: World, query: str) -> set[str]:
    return {each["title"] for each in ok(world.api.get("/search", params={"q": query}))["items"]}


def test_due_date_is_set_changed_and_removed_with_a_record(world: World) -> None:
    made = world.ticket(due_on="2026-12-24")
    assert made["due_on"] == "2026-12-24"
    path = f"/tickets/{made['id']}"
    same = ok(world.api.patch(path, json={"due_on": "2026-12-24"}))
    assert same["version"] == made["version"]
    changed = ok(world.api.patch(path, json={"due_on": "2027-01-02"}))
    assert (changed["due_on"], changed["version"]) == ("2027-01-02", made["version"] + 1)
    removed = ok(world.api.patch(path, json={"due_on": None}))
    assert removed["due_on"] is None
    assert ok(world.api.patch(path, json={"title": "Another"}))["due_on"] is None
    changes = [each["data"].get("changes") for each in ok(world.api.get(f"{path}/history"))["items"]]
    assert changes[1:3] == [
        {"due_on": {"from": "2026-12-24", "to": "2027-01-02"}},
        {"due_on": {"from": "2027-01-02", "to": None}},
    ]


@pytest.mark.parametrize("day", ["2026-02-30", "2026-12-24T00:00:00Z", "24.12.2026", "tomorrow", "", 20261224])
def test_what_is_no_day_is_rejected(stage: Stage, day: object) -> None:
    expect_error(
        stage.api.post("/tickets", json={"project_id": stage.project, "title": "x", "due_on": day}),
        400,
        "invalid_request",
    )


def test_lists_and_search_filter_by_due_date(world: World) -> None:
    today = datetime.now(UTC).date()
    days = {"Early": -2, "Today": 0, "Later": 20}  # the test may run into the next day
    for title, offset in days.items():
        world.ticket(title, due_on=(today + timedelta(days=offset)).isoformat())
    world.ticket("Never")
    world.ticket("Over", due_on="2020-02-29", column_id=world.columns[2])
    assert list_titles(world, overdue=True)[0] == "Early"
    assert {"Later", "Never", "Over"}.isdisjoint(list_titles(world, overdue=True))
    assert list_titles(world, overdue=True, resolved=True) == ["Over"]
    assert list_titles(world, due_before=(today + timedelta(days=1)).isoformat()) == ["Early", "Today", "Over"]
    assert list_titles(world, due_before="2020-02-29") == []
    assert search_titles(world, f"due:{(today + timedelta(days=20)).isoformat()}") == {"Later"}
    assert search_titles(world, "due:<2021-01-01") == {"Over"}
    assert search_titles(world, "-due:<2090-01-01") == {"Never"}
    assert search_titles(world, "due:<2090-01-01 is:open") == set(days)

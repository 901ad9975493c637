"""Saved views: a project's filters and display under a name, private or shared."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from tests.support.cli import run
from tests.support.server import World, expect_error, ok
from ticketbox.domain.companies.views import ViewDefinition

FILTERS = {"assignee": ["me", "none"], "label": ["checkout"], "priority": ["high", "urgent"], "resolved": False}
EMPTY: dict[str, Any] = {
    "assignee": [], "label": [], "priority": [], "has_labels": None, "resolved": None, "has_due_date": None,
    "overdue": False,
}  # fmt: skip


def create_view(world: World, name: str = "Bugs", **more: Any) -> dict[str, Any]:
    return ok(world.api.post(f"/projects/{world.project}/views", json={"name": name, **more}))


def list_names(client: Any, **query: str) -> list[str]:
    return [each["name"] for each in ok(client.get("/views", params=query))["items"]]


def test_view_is_saved_listed_changed_and_deleted(world: World) -> None:
    made = create_view(world, " Checkout bugs ", filters=FILTERS, layout="table", sort="-priority", group="column")
    assert made == {
        "id": made["id"], "company_id": world.company, "project_id": world.project, "name": "Checkout bugs",
        "shared": False, "layout": "table", "filters": {**EMPTY, **FILTERS}, "sort": "-priority", "group": "column",
        "fields": None, "density": "comfortable", "created": made["created"],
    }  # fmt: skip
    plain = create_view(world, "All")
    assert (plain["layout"], plain["filters"], plain["sort"], plain["group"]) == ("board", EMPTY, None, None)
    assert ok(world.api.get("/views", params={"company_id": world.company}))["items"] == [made, plain]
    changed = ok(world.api.patch(f"/views/{made['id']}", json={"group": None, "fields": ["due", "labels", "due"]}))
    assert changed == {**made, "group": None, "fields": ["due", "labels"]}
    renamed = ok(world.api.patch(f"/views/{made['id']}", json={"name": "Bugs", "filters": {"overdue": True}}))
    assert renamed == {**changed, "name": "Bugs", "filters": {**EMPTY, "overdue": True}}
    world.api.delete(f"/views/{made['id']}").raise_for_status()
    assert list_names(world.api, project_id=world.project) == ["All"]
    assert ok(world.api.get("/events", params={"types": "view.created,view.changed,view.removed"}))["items"] == []


def test_people_are_stored_by_id_and_me_is_who_opens_the_view(world: World) -> None:
    bea = world.join("Bea")
    made = create_view(world, filters={"assignee": ["me", bea.email, "Bea", "none"]})
    assert made["filters"]["assignee"] == ["me", bea.id, "none"]
    path = f"/projects/{world.project}/views"
    body = {"name": "x", "filters": {"assignee": ["nobody@example.org"]}}
    expect_error(world.api.post(path, json=body), 400, "invalid_request")


def test_private_view_is_its_owners_alone(world: World) -> None:
    own = create_view(world, "Mine")
    admin, viewer = world.join("Dan", "admin"), world.join("Cid", "viewer")
    for other in (admin.web, viewer.web):
        assert list_names(other) == []
    expect_error(admin.web.patch(f"/views/{own['id']}", json={"name": "x"}), 404, "not_found")
    expect_error(admin.web.delete(f"/views/{own['id']}"), 404, "not_found")
    ok(world.api.patch(f"/views/{own['id']}", json={"shared": True}))
    assert list_names(viewer.web) == ["Mine"]
    expect_error(viewer.web.patch(f"/views/{own['id']}", json={"name": "x"}), 403, "forbidden")
    ok(admin.web.patch(f"/views/{own['id']}", json={"name": "Ours"}))
    expect_error(admin.web.patch(f"/views/{own['id']}", json={"shared": False}), 403, "forbidden")
    ok(world.api.patch(f"/views/{own['id']}", json={"shared": False}))
    assert list_names(admin.web) == []
    events = ok(world.api.get("/events", params={"types": "view.created,view.changed"}))["items"]
    assert [(each["type"], each["data"]["name"]) for each in events] == [
        ("view.changed", "Mine"), ("view.changed", "Ours"), ("view.changed", "Ours"),
    ]  # fmt: skip


def test_shared_view_is_changed_by_its_creator_and_admins(world: World) -> None:
    view = create_view(world, "Ours", shared=True)
    member = world.join("Bea")
    kept = world.join("Eve", "member", [world.new_project("Other")])
    path = f"/views/{view['id']}"
    assert list_names(member.web) == ["Ours"]
    expect_error(member.web.patch(path, json={"name": "x"}), 403, "forbidden")
    expect_error(member.web.delete(path), 403, "forbidden")
    assert list_names(kept.web) == []
    expect_error(kept.web.patch(path, json={"name": "x"}), 404, "not_found")
    expect_error(World(world.box, "Bob").api.delete(path), 404, "not_found")
    expect_error(world.owner.client("read").delete(path), 403, "insufficient_scope")
    world.join("Dan", "admin").web.delete(path).raise_for_status()
    events = ok(world.api.get("/events", params={"types": "view.created,view.removed"}))["items"]
    assert [each["type"] for each in events] == ["view.created", "view.removed"]
    assert events[0]["data"] == {"view_id": view["id"], "name": "Ours"}
    assert events[0]["project_id"] == world.project


def test_invalid_views_are_rejected(world: World) -> None:
    view = create_view(world)
    for body in (
        {"layout": "list"}, {"sort": "newest"}, {"group": "title"}, {"fields": ["x"]}, {"filters": {"text": "x"}},
        {"filters": {"label": ["a"] * 21}}, {"name": ""}, {"density": None}, {"user_id": "usr_1"},
    ):  # fmt: skip
        path = f"/projects/{world.project}/views"
        expect_error(world.api.post(path, json={"name": "x", **body}), 400, "invalid_request")
        expect_error(world.api.patch(f"/views/{view['id']}", json=body), 400, "invalid_request")
    expect_error(world.api.patch(f"/views/{view['id']}", json={}), 400, "invalid_request")
    assert ok(world.api.get("/views"))["items"] == [view]


def test_renamed_label_is_renamed_in_views(world: World) -> None:
    ok(world.api.post(f"/companies/{world.company}/labels", json={"name": "shop"}))
    view = create_view(world, filters={"label": ["Shop", "bug"]})
    other = create_view(world, filters={"label": ["shopping"]})
    ok(world.api.patch("/labels/shop", json={"name": "store"}))
    assert [each["filters"]["label"] for each in ok(world.api.get("/views"))["items"]] == [
        ["store", "bug"], other["filters"]["label"],
    ]  # fmt: skip
    ok(world.api.patch(f"/views/{view['id']}", json={"shared": True}))


def test_command_line_lists_and_changes_views(world: World) -> None:
    view = create_view(world, "Bugs")
    given = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("tickets:write")}
    listed = run("view", "list", "--project", world.project, **given)
    assert (listed.exit_code, "Bugs" in listed.output, view["id"] in listed.output) == (0, True, True)
    assert run("view", "update", view["id"], "--name", "Open bugs", "--shared", **given).exit_code == 0
    assert ok(world.api.get("/views"))["items"] == [{**view, "name": "Open bugs", "shared": True}]
    assert run("view", "delete", view["id"], **given).exit_code == 0
    assert list_names(world.api) == []


def test_view_survives_export_and_import(world: World, tmp_path: Path) -> None:
    view = create_view(world, filters=FILTERS, shared=True)
    target, copy = tmp_path / "company.zip", tmp_path / "copy.db"
    assert run("export", target, "--db", world.box.db, "--company", world.company).exit_code == 0
    assert run("import", target, "--db", copy).exit_code == 0
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        rows = connection.execute("SELECT public_id, name, shared, definition FROM saved_view").fetchall()
    assert [row[:3] for row in rows] == [(view["id"], "Bugs", 1)]
    assert msgspec.json.decode(rows[0][3], type=ViewDefinition).filters.label == ["checkout"]


def list_titles(client: Any, **query: Any) -> list[str]:
    return [each["title"] for each in ok(client.get("/tickets", params=query))["items"]]


def test_list_of_a_view_has_its_filters_and_order(world: World) -> None:
    world.ticket("Low", priority="low", labels=["bug"])
    world.ticket("High", priority="high", labels=["bug"])
    world.ticket("Elsewhere", labels=["bug"], project_id=world.new_project("Second"))
    world.ticket("No label")
    view = create_view(world, "Bugs", filters={"label": ["bug"]}, sort="priority")
    assert list_titles(world.api, view=view["id"]) == list_titles(world.api, view=" bugs") == ["Low", "High"]
    assert list_titles(world.api, view="Bugs", sort="-priority") == ["High", "Low"]
    assert list_titles(world.api, view="Bugs", priority="high") == ["High"]
    assert list_titles(world.api, view="Bugs", has_labels=False) == ["No label"]
    assert world.api.get("/tickets.csv", params={"view": "Bugs"}).text.count("\r\n") == 3
    create_view(world, "No labels", filters={"has_labels": False})
    assert list_titles(world.api, view="No labels") == ["No label"]
    assert list_titles(world.api, view="No labels", label="bug", sort="-priority") == ["High", "Low"]


def test_me_in_a_view_is_who_lists_it(world: World) -> None:
    bea = world.join("Bea")
    mine, hers = world.ticket("Mine")["id"], world.ticket("Hers")["id"]
    ok(world.api.put(f"/tickets/{mine}/assignees/me"))
    ok(world.api.put(f"/tickets/{hers}/assignees/{bea.id}"))
    create_view(world, "Assigned", filters={"assignee": ["me"]}, shared=True)
    assert list_titles(world.api, view="Assigned") == ["Mine"]
    assert list_titles(bea.web, view="Assigned") == ["Hers"]


def test_list_of_a_view_that_nobody_shared_is_rejected(world: World, other: World) -> None:
    own = create_view(world, "Mine")
    create_view(world, "Shared", shared=True)
    bea = world.join("Bea")
    for client, valid in ((bea.web, ["Shared"]), (other.api, [])):
        for name in ("Mine", own["id"], "view_000000000000"):
            refusal = expect_error(client.get("/tickets", params={"view": name}), 400, "invalid_request")
            assert refusal["valid"] == valid
    kept = world.owner.client("read", project_ids=[world.new_project("Second")])
    expect_error(kept.get("/tickets", params={"view": own["id"]}), 400, "invalid_request")
    create_view(world, "Shared")
    refusal = expect_error(world.api.get("/tickets", params={"view": "Shared"}), 400, "invalid_request")
    assert "several views" in refusal["detail"]


def test_page_of_a_view_that_changed_is_rejected(world: World) -> None:
    for number in range(3):
        world.ticket(f"Ticket {number}")
    view = create_view(world, "All")
    page = ok(world.api.get("/tickets", params={"view": "All", "limit": 1}))
    more = {"view": "All", "limit": 1, "cursor": page["next_cursor"]}
    assert list_titles(world.api, **more) == ["Ticket 1"]
    ok(world.api.patch(f"/views/{view['id']}", json={"sort": "created"}))
    expect_error(world.api.get("/tickets", params=more), 400, "invalid_request")

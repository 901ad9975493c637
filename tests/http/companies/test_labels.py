"""Labels of a company: managed, made by tickets, renamed, merged and deleted on all tickets."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from tests.support.cli import run
from tests.support.operation_cases import Stage
from tests.support.server import World, expect_error, ok
from ticketbox.domain.companies.labels import LabelColor, choose_color


def list_labels(world: World) -> dict[str, dict[str, Any]]:
    found = ok(world.api.get(f"/companies/{world.company}/labels", params={"limit": 100}))["items"]
    return {each["name"]: each for each in found}


def create_label(world: World, name: str, **more: Any) -> dict[str, Any]:
    return ok(world.api.post(f"/companies/{world.company}/labels", json={"name": name, **more}))


def list_titles(world: World, label: str) -> list[str]:
    given = {"label": label, "sort": "created"}
    listed = [each["title"] for each in ok(world.owner.web.get("/tickets", params=given))["items"]]
    found = ok(world.owner.web.get("/search", params={"q": f'label:"{label}"'}))["items"]
    assert sorted(each["title"] for each in found) == sorted(listed)
    return listed


def read_labels(world: World, ticket: dict[str, Any]) -> list[str]:
    return ok(world.api.get(f"/tickets/{ticket['id']}"))["labels"]


def test_label_is_created_listed_and_changed(world: World) -> None:
    made = create_label(world, " checkout ", color="teal", description="Everything after the cart")
    assert made == {
        "id": made["id"], "company_id": world.company, "name": "checkout", "color": "teal",
        "description": "Everything after the cart",
    }  # fmt: skip
    assert list_labels(world) == {"checkout": made}
    changed = ok(world.api.patch("/labels/checkout", json={"color": "red", "description": ""}))
    assert changed == {**made, "color": "red", "description": ""}
    ok(world.api.patch(f"/labels/{made['id']}", json={"color": "red"}))
    events = ok(world.api.get("/events", params={"types": "label.created,label.changed"}))["items"]
    assert [each["data"] for each in events] == [
        {"label_id": made["id"], "name": "checkout", "color": "teal"},
        {
            "label_id": made["id"], "name": "checkout", "tickets": 0,
            "changes": {
                "color": {"from": "teal", "to": "red"},
                "description": {"from": "Everything after the cart", "to": ""},
            },
        },
    ]  # fmt: skip


def test_ticket_creates_unknown_labels_and_uses_the_spelling_of_known_ones(world: World) -> None:
    create_label(world, "Checkout", color="pink")
    ticket = world.ticket(labels=["checkout", "new"])
    assert ticket["labels"] == ["Checkout", "new"]
    ok(world.api.patch(f"/tickets/{ticket['id']}", json={"labels": ["NEW", "other"]}))
    assert read_labels(world, ticket) == ["new", "other"]
    found = list_labels(world)
    assert list(found) == ["Checkout", "new", "other"]
    assert [each["color"] for each in found.values()] == ["pink", choose_color(1), choose_color(2)]
    same = ok(world.api.patch(f"/tickets/{ticket['id']}", json={"labels": ["New", "OTHER"]}))
    assert same["version"] == 2


def test_colors_of_new_labels_go_round() -> None:
    colors = [choose_color(count) for count in range(2 * len(LabelColor))]
    assert colors == [*LabelColor, *LabelColor]


def test_rename_changes_all_tickets_of_the_company_and_of_no_other(world: World) -> None:
    there = World(world.box, "Bob")
    foreign = there.ticket(labels=["shop"])
    second = world.new_project("Second")
    tickets = [world.ticket("One", labels=["a", "shop"]), world.ticket("Two", labels=["SHOP"])]
    tickets.append(world.ticket("Far", project_id=second, labels=["shop", "b"]))
    ok(world.owner.web.patch(f"/projects/{second}", json={"agent_label": "Shop"}))
    version = ok(world.api.get(f"/tickets/{tickets[0]['id']}"))["version"]
    renamed = ok(world.api.patch("/labels/shop", json={"name": "Störe “1”"}))
    assert renamed["name"] == "Störe “1”"
    assert [read_labels(world, each) for each in tickets] == [["a", "Störe “1”"], ["Störe “1”"], ["Störe “1”", "b"]]
    assert ok(world.api.get(f"/tickets/{tickets[0]['id']}"))["version"] == version + 1
    assert list_titles(world, "Störe “1”") == ["One", "Two", "Far"]
    assert list_titles(world, "shop") == []
    projects = ok(world.api.get("/projects", params={"company_id": world.company}))["items"]
    assert {each["id"]: each["agent_label"] for each in projects}[second] == "Störe “1”"
    assert read_labels(there, foreign) == ["shop"]
    assert list(list_labels(there)) == ["shop"]
    ok(world.api.patch(f"/labels/{renamed['id']}", json={"name": "störe “1”"}))
    assert read_labels(world, tickets[0]) == ["a", "störe “1”"]
    *_, event = ok(world.api.get("/events", params={"types": "label.changed"}))["items"]
    assert event["data"]["changes"] == {"name": {"from": "Störe “1”", "to": "störe “1”"}}
    assert event["data"]["tickets"] == 3


def test_merge_and_deletion_change_all_tickets(world: World) -> None:
    both = world.ticket("Both", labels=["buy", "x", "checkout"])
    one = world.ticket("One", labels=["y", "buy"])
    buy, kept = list_labels(world)["buy"], list_labels(world)["checkout"]
    assert ok(world.api.post(f"/labels/{buy['id']}/merge", json={"into": "Checkout"})) == kept
    assert (read_labels(world, both), read_labels(world, one)) == (["x", "checkout"], ["y", "checkout"])
    assert list_titles(world, "checkout") == ["Both", "One"]
    assert "buy" not in list_labels(world)
    world.api.delete("/labels/x").raise_for_status()
    assert read_labels(world, both) == ["checkout"]
    assert list_titles(world, "x") == []
    assert list(list_labels(world)) == ["checkout", "y"]
    events = ok(world.api.get("/events", params={"types": "label.merged,label.removed"}))["items"]
    merged, removed = (each["data"] for each in events)
    into = {"label_id": kept["id"], "name": "checkout"}
    assert merged == {"label_id": buy["id"], "name": "buy", "into": into, "tickets": 2}
    assert (removed["name"], removed["tickets"]) == ("x", 1)


def test_invalid_changes_of_labels_are_rejected(world: World) -> None:
    create_label(world, "bug")
    other = create_label(world, "other")
    path = f"/companies/{world.company}/labels"
    expect_error(world.api.post(path, json={"name": "BUG"}), 409, "conflict")
    expect_error(world.api.patch(f"/labels/{other['id']}", json={"name": "Bug"}), 409, "conflict")
    for body in ({"name": ""}, {"name": "x" * 51}, {"name": "a\nb"}, {"name": "x", "color": "#ff0000"},
                 {"name": "x", "color": "violet"}, {"name": "x", "description": "two\nlines"}, {}):  # fmt: skip
        expect_error(world.api.post(path, json=body), 400, "invalid_request")
    for body in ({}, {"name": None}, {"color": "black"}, {"text": "x"}):
        expect_error(world.api.patch("/labels/bug", json=body), 400, "invalid_request")
    foreign = World(world.box, "Bob")
    theirs = create_label(foreign, "theirs")
    for into in ("bug", "nothing", "theirs", ""):
        expect_error(world.api.post("/labels/bug/merge", json={"into": into}), 400, "invalid_request")
    expect_error(world.api.post("/labels/bug/merge", json={"into": theirs["id"]}), 404, "not_found")
    problem = expect_error(world.api.patch("/labels/bag", json={"color": "red"}), 400, "invalid_request")
    assert problem["valid"] == ["bug", "other"]
    expect_error(world.api.patch(f"/labels/{theirs['id']}", json={"color": "red"}), 404, "not_found")
    assert list(list_labels(world)) == ["bug", "other"]


def test_labels_belong_to_the_whole_company(world: World) -> None:
    """Who can't change the tickets of all projects can use labels, and can't change them."""
    label = create_label(world, "bug")
    path = f"/companies/{world.company}/labels"
    member, viewer = world.join("Bea"), world.join("Cid", "viewer")
    admin = world.join("Dan", "admin", [world.project])
    kept = world.owner.client("tickets:write", company_id=world.company, project_ids=[world.project])
    for person in (member.client("tickets:write"), admin.client("tickets:write"), kept):
        ok(person.post(path, json={"name": f"of {id(person)}"}))
        for send, body in ((person.patch, {"name": "x"}), (person.patch, {"color": "red"})):
            expect_error(send(f"/labels/{label['id']}", json=body), 403, "forbidden")
        expect_error(person.delete(f"/labels/{label['id']}"), 403, "forbidden")
        expect_error(person.post("/labels/bug/merge", json={"into": "bug"}), 403, "forbidden")
    assert label in ok(viewer.web.get(path))["items"]
    expect_error(viewer.web.post(path, json={"name": "x"}), 403, "forbidden")
    expect_error(world.owner.client("read").post(path, json={"name": "x"}), 403, "insufficient_scope")
    expect_error(World(world.box, "Eve").api.get(path), 404, "not_found")


def test_refused_ticket_creates_no_label(stage: Stage) -> None:
    before = list_labels(stage)
    body = {"title": "x", "project_id": "proj_000000000000", "labels": ["never"]}
    expect_error(stage.api.post("/tickets", json=body), 404, "not_found")
    ticket = stage.ticket()["id"]
    stale = stage.api.patch(f"/tickets/{ticket}", json={"labels": ["never"]}, headers={"If-Match": '"7"'})
    expect_error(stale, 409, "version_conflict")
    assert list_labels(stage) == before


def test_label_survives_export_and_import(world: World, tmp_path: Path) -> None:
    label = create_label(world, "bug", color="brown", description="It is broken")
    world.ticket(labels=["bug"])
    target, copy = tmp_path / "company.zip", tmp_path / "copy.db"
    assert run("export", target, "--db", world.box.db, "--company", world.company).exit_code == 0
    assert run("import", target, "--db", copy).exit_code == 0
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        rows = connection.execute("SELECT public_id, name, color, description FROM label").fetchall()
    assert rows == [(label["id"], "bug", "brown", "It is broken")]

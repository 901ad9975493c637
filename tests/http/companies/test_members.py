"""Members of a company; companies, projects and columns, which admins manage."""

import csv
import io
from typing import Any

import pytest

from tests.support.operation_cases import NEVER, WRITING, Stage, make_capture, read_only
from tests.support.server import Box, Person, World, expect_error, ok


def members(world: World, **params: str) -> dict[str, Any]:
    """The members by name."""
    members = ok(world.api.get(f"/companies/{world.company}/members", params=params))["items"]
    return {each["name"]: each for each in members}


def path(world: World, person: Person) -> str:
    return f"/companies/{world.company}/members/{person.id}"


def test_members_are_listed_in_order_of_joining(world: World) -> None:
    world.join("Zed")
    world.join("Bob", "viewer", [world.project])
    listed_members = members(world)
    assert list(listed_members) == ["Ann", "Zed", "Bob"]
    assert (listed_members["Ann"]["role"], listed_members["Ann"]["project_ids"]) == ("owner", None)
    assert (listed_members["Bob"]["role"], listed_members["Bob"]["project_ids"]) == ("viewer", [world.project])
    assert listed_members["Ann"]["email"] == world.owner.email


def test_project_members_are_those_who_can_see_it(world: World) -> None:
    second = world.new_project("Second")
    world.join("Bob", project_ids=[second])
    world.join("Cid", project_ids=[world.project, second])
    assert set(members(world, project_id=world.project)) == {"Ann", "Cid"}
    assert set(members(world, project_id=second)) == {"Ann", "Bob", "Cid"}
    there = ok(world.owner.web.post("/companies", json={"name": "Other"}))["id"]
    foreign = ok(world.owner.web.post(f"/companies/{there}/projects", json={"name": "There"}))["id"]
    answer = world.api.get(f"/companies/{world.company}/members", params={"project_id": foreign})
    expect_error(answer, 404, "not_found")


def test_update_keeps_omitted_fields(world: World) -> None:
    bob = world.join("Bob", project_ids=[world.project])
    changed = ok(world.owner.web.patch(path(world, bob), json={"role": "admin"}))
    assert (changed["role"], changed["project_ids"]) == ("admin", [world.project])
    changed = ok(world.owner.web.patch(path(world, bob), json={"project_ids": None}))
    assert (changed["role"], changed["project_ids"]) == ("admin", None)
    *_, event = ok(world.api.get("/events", params={"types": "member.changed"}))["items"]
    assert event["data"] == {"user_id": bob.id, "role": "admin", "project_ids": None}


@pytest.mark.parametrize(
    "body",
    [{}, {"role": "king"}, {"role": None}, {"project_ids": []}, {"project_ids": "x"}, {"name": "x"}, {"role": 3}],
)
def test_invalid_update_is_rejected(world: World, body: dict[str, object]) -> None:
    bob = world.join("Bob")
    expect_error(world.owner.web.patch(path(world, bob), json=body), 400, "invalid_request")
    assert members(world)["Bob"]["role"] == "member"


def test_non_member_is_not_found(world: World, other: World) -> None:
    for user in (other.owner.id, NEVER["user"]):
        there = f"/companies/{world.company}/members/{user}"
        expect_error(world.owner.web.patch(there, json={"role": "viewer"}), 404, "not_found")
        expect_error(world.owner.web.delete(there), 404, "not_found")


def test_member_can_leave_and_is_unassigned(world: World) -> None:
    viewer = world.join("Vic", "viewer")
    ticket = world.ticket()["id"]
    ok(world.api.put(f"/tickets/{ticket}/assignees/{viewer.id}"))
    ok(viewer.web.delete(path(world, viewer)))
    assert "Vic" not in members(world)
    assert ok(world.api.get(f"/tickets/{ticket}"))["assignees"] == []
    expect_error(viewer.web.delete(path(world, viewer)), 404, "not_found")
    # What somebody wrote keeps their name.
    bob = world.join("Bob")
    said = ok(bob.web.post(f"/tickets/{ticket}/comments", json={"body": "Mine"}))
    ok(world.owner.web.delete(path(world, bob)))
    (kept,) = ok(world.api.get(f"/tickets/{ticket}/comments"))["items"]
    assert kept["by"]["user"] == said["by"]["user"]


def test_new_project_has_three_columns(world: World) -> None:
    project = world.new_project("Board", url_patterns=["https://shop.example/*"], capture_policy={"bodies": "on"})
    columns = ok(world.api.get(f"/projects/{project}/columns"))["items"]
    assert [(each["name"], each["position"]) for each in columns] == [("To do", 0), ("In progress", 1), ("Done", 2)]
    (result,) = [each for each in ok(world.api.get("/projects"))["items"] if each["id"] == project]
    assert result["url_patterns"] == ["https://shop.example/*"]
    assert result["capture_policy"] == {
        "bodies": "on", "extra_redactions": [], "actions": "on", "replay": 30, "mask_selectors": [],
        "page_source_maps": "on", "declared_names": [], "storage": "shape",
    }  # fmt: skip


def names(world: World) -> list[str]:
    return [each["name"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]


def test_columns_can_be_reordered(world: World) -> None:
    review = ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "Review", "position": 2}))
    assert names(world) == ["To do", "In progress", "Review", "Done"]
    ok(world.owner.web.patch(f"/columns/{review['id']}", json={"position": 0}))
    assert names(world) == ["Review", "To do", "In progress", "Done"]
    ok(world.owner.web.patch(f"/columns/{review['id']}", json={"position": 49, "name": "Last"}))
    assert names(world) == ["To do", "In progress", "Done", "Last"]
    positions = [each["position"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]
    assert positions == [0, 1, 2, 3]


def test_column_with_tickets_needs_a_target_for_them(world: World) -> None:
    b, a = world.ticket("B")["id"], world.ticket("A")["id"]
    first, second, third = world.columns
    expect_error(world.owner.web.delete(f"/columns/{first}"), 409, "conflict")
    elsewhere = world.columns_of(world.new_project("Second"))[0]
    for wrong in (first, elsewhere):
        expect_error(world.owner.web.delete(f"/columns/{first}", params={"move_to": wrong}), 400, "invalid_request")
    ok(world.owner.web.delete(f"/columns/{first}", params={"move_to": third}))
    params = {"column_id": third, "sort": "position"}
    assert [each["id"] for each in ok(world.api.get("/tickets", params=params))["items"]] == [a, b]
    assert ok(world.api.get(f"/tickets/{a}/history"))["items"][-1]["type"] == "ticket.moved"
    ok(world.owner.web.delete(f"/columns/{second}"))
    expect_error(world.owner.web.delete(f"/columns/{third}", params={"move_to": third}), 409, "conflict")


def test_board_has_at_most_fifty_columns(world: World) -> None:
    for number in range(47):
        ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": str(number)}))
    answer = world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "Too many"})
    expect_error(answer, 409, "conflict")
    assert len(names(world)) == 50


def test_deleting_a_project_deletes_its_contents(world: World) -> None:
    project = world.new_project("Doomed")
    capture = make_capture(world, project)
    wrong = world.owner.web.delete(f"/projects/{project}", params={"confirm_name": "Domed"})
    expect_error(wrong, 400, "invalid_request")
    ok(world.owner.web.delete(f"/projects/{project}", params={"confirm_name": "Doomed"}))
    expect_error(world.api.get(f"/tickets/{capture['ticket_id']}"), 404, "not_found")
    expect_error(world.api.get(f"/captures/{capture['capture_id']}/console"), 404, "not_found")
    *_, event = ok(world.api.get("/events", params={"limit": 100}))["items"]
    assert (event["type"], event["data"]["name"]) == ("project.removed", "Doomed")


def test_deleting_a_company_deletes_its_contents(world: World, other: World) -> None:
    make_capture(world)
    token = world.owner.client(*WRITING, company_id=world.company)
    ok(world.owner.web.delete(f"/companies/{world.company}", params={"confirm_name": "Ann's company"}))
    expect_error(token.get("/me"), 401, "unauthorized")
    for path_ in ("/companies", "/projects", "/tickets", "/events"):
        assert ok(world.api.get(path_))["items"] == []
    connection = read_only(world.box.db)
    try:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        gone = "SELECT count(*) FROM company WHERE public_id = ?"
        assert connection.execute(gone, (world.company,)).fetchone() == (0,)
    finally:
        connection.close()
    assert ok(other.api.get("/companies"))["items"][0]["id"] == other.company


@pytest.mark.parametrize("limits", [{}, {"reads_per_minute": 5}, {"reads_per_minute": 0, "writes_per_minute": 1}, None])
def test_limits_are_set_together_and_are_at_least_one(stage: Stage, limits: object) -> None:
    answer = stage.owner.web.patch(f"/companies/{stage.company}", json={"limits": limits})
    expect_error(answer, 400, "invalid_request")


def test_audit_log_names_tickets_by_their_present_key(world: World) -> None:
    ticket = world.ticket()
    elsewhere = world.new_project("Elsewhere")
    moved = ok(world.api.post(f"/tickets/{ticket['id']}/move", json={"column_id": world.columns_of(elsewhere)[0]}))
    assert moved["key"] != ticket["key"]
    entries = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]
    of_ticket = [each for each in entries if each["ticket_id"] == ticket["id"]]
    assert [each["type"] for each in of_ticket] == ["ticket.moved", "ticket.created"]
    assert {each["ticket_key"] for each in of_ticket} == {moved["key"]}


def test_audit_log_lists_actions_newest_first(world: World) -> None:
    bob = world.join("Bob")
    bob.token("read", label="bob's agent", company_id=world.company)
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"name": "=HYPERLINK(1)"}))
    entries = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]
    assert [each["type"] for each in entries[:3]] == ["company.changed", "token.created", "member.joined"]
    assert entries[1]["data"]["label"] == "bob's agent"
    assert entries[0]["ticket_key"] is None
    csv = world.owner.web.get(f"/companies/{world.company}/audit", params={"format": "csv"}).text
    assert "tok_" not in csv
    for line in csv.splitlines()[1:]:
        assert not any(cell.startswith(("=", "+", "@")) for cell in line.split(","))


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", '=HYPERLINK("https://evil.example")'])
def test_csv_cell_is_never_a_formula(box: Box, name: str) -> None:
    world = World(box, name)
    asked = {"format": "csv"}
    table = world.owner.web.get(f"/companies/{world.company}/audit", params=asked).text
    rows = list(csv.reader(io.StringIO(table, newline="")))
    people = {row[rows[0].index("user")] for row in rows[1:]}
    assert people == {f"'{name}"}
    assert not [cell for row in rows[1:] for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_admin_of_some_projects_administers_only_those(world: World) -> None:
    hidden = world.new_project("Hidden")
    admin = world.join("Ada", "admin", [world.project])
    member = world.join("Max", "member", [world.project, hidden])
    company = f"/companies/{world.company}"
    for refused in (
        admin.web.get(f"{company}/audit"),
        admin.web.patch(f"{company}/members/{admin.id}", json={"project_ids": None}),
        admin.web.patch(f"{company}/members/{admin.id}", json={"project_ids": [world.project, hidden]}),
        admin.web.patch(f"{company}/members/{member.id}", json={"role": "viewer"}),
        admin.web.delete(f"{company}/members/{member.id}"),
        admin.web.post(f"{company}/invitations", json={"role": "member"}),
        admin.web.get(f"{company}/invitations"),
        admin.web.get(f"{company}/webhooks"),
        admin.web.patch(company, json={"name": "Mine"}),
    ):
        problem = expect_error(refused, 403, "forbidden")
        assert "restricted to some" in problem["detail"]
    listed = {each["id"]: each["project_ids"] for each in ok(admin.web.get(f"{company}/members"))["items"]}
    assert listed == {world.owner.id: None, admin.id: [world.project], member.id: [world.project]}
    ok(admin.web.patch(f"/projects/{world.project}", json={"name": "Still mine"}))
    ok(world.owner.web.patch(f"{company}/members/{admin.id}", json={"project_ids": None}))
    ok(admin.web.get(f"{company}/audit"))


def test_restricted_owner_can_lift_the_restriction(world: World) -> None:
    path = f"/companies/{world.company}/members/{world.owner.id}"
    ok(world.owner.web.patch(path, json={"project_ids": [world.project]}))
    assert ok(world.owner.web.patch(path, json={"project_ids": None}))["project_ids"] is None

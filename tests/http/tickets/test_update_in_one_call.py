"""`update_ticket` moves, assigns, archives and restores too, by the rules of the operations for it."""

import pytest

from tests.support.server import World, expect_error, ok


def test_one_update_edits_moves_assigns_and_archives(world: World) -> None:
    ticket = world.ticket("Before")
    columns = {each["name"]: each["id"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]}
    name = list(columns)[1]
    given = {"title": "After", "column": name.upper(), "assignees": ["me"], "status": "archived"}
    changed = ok(world.api.patch(f"/tickets/{ticket['id']}", json=given))
    assert (changed["title"], changed["column_id"], changed["status"]) == ("After", columns[name], "archived")
    assert [each["id"] for each in changed["assignees"]] == [world.owner.id]
    types = [each["type"] for each in ok(world.api.get(f"/tickets/{ticket['id']}/history"))["items"]]
    assert types == ["ticket.created", "ticket.updated", "ticket.moved", "ticket.assigned", "ticket.archived"]
    back = ok(world.api.patch(f"/tickets/{ticket['id']}", json={"status": "active", "assignees": []}))
    assert (back["status"], back["column_id"], back["assignees"]) == ("active", columns[name], [])
    assert ok(world.api.patch(f"/tickets/{ticket['id']}", json={"column": name}))["version"] == back["version"]


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"column": "Nowhere"}, 400, "invalid_request"),
        ({"assignees": ["nobody"]}, 400, "invalid_request"),
        ({"column": "Done", "resolved": False}, 400, "invalid_request"),
    ],
)
def test_one_wrong_part_of_an_update_changes_nothing(
    world: World, given: dict[str, object], status: int, code: str
) -> None:
    ticket = world.ticket("Before")
    expect_error(world.api.patch(f"/tickets/{ticket['id']}", json={"title": "After", **given}), status, code)
    read = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert (read["title"], read["version"]) == ("Before", 1)


def test_assigning_in_an_update_needs_its_scope(world: World) -> None:
    ticket = world.ticket("Before")["id"]
    api = world.owner.client("tickets:write")
    given = {"title": "After", "assignees": ["me"]}
    expect_error(api.patch(f"/tickets/{ticket}", json=given), 403, "insufficient_scope")
    assert ok(api.get(f"/tickets/{ticket}"))["title"] == "Before"
    assert ok(api.patch(f"/tickets/{ticket}", json={"title": "After"}))["title"] == "After"


def test_archived_ticket_is_updated_only_with_its_restoration(world: World) -> None:
    ticket = world.ticket("Before")["id"]
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(
        world.api.patch(f"/tickets/{ticket}", json={"title": "x", "status": "archived"}), 409, "ticket_archived"
    )
    assert ok(world.api.patch(f"/tickets/{ticket}", json={"status": "archived"}))["status"] == "archived"
    assert ok(world.api.patch(f"/tickets/{ticket}", json={"title": "x", "status": "active"}))["title"] == "x"


def test_update_of_an_agent_passes_no_gate(world: World) -> None:
    ticket = world.ticket("Before")["id"]
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"done_approval": True}))
    for given in ({"column": "Done"}, {"status": "archived"}, {"resolved": True}):
        refused = expect_error(
            world.api.patch(f"/tickets/{ticket}", json={**given, "title": "x"}), 409, "approval_required"
        )
        assert "a person decides" in refused["detail"]
    assert ok(world.api.get(f"/tickets/{ticket}"))["title"] == "Before"

"""Links between tickets: both directions, cycles, duplicates, and who sees what (docs/use/tickets.md, "Links")."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import call_tool
from tests.support.server import World, expect_error, ok, ticketbox
from ticketbox.operations.tickets.links import MAX_LINKS


def link(world: World, ticket: str, kind: str, other: str, client: httpx.Client | None = None) -> httpx.Response:
    return (client or world.api).post(f"/tickets/{ticket}/links", json={"kind": kind, "other": other})


def unlink(world: World, ticket: str, kind: str, other: str) -> httpx.Response:
    return world.api.delete(f"/tickets/{ticket}/links", params={"kind": kind, "other": other})


def links_of(world: World, ticket: str, client: httpx.Client | None = None) -> list[tuple[str, str]]:
    found = ok((client or world.api).get(f"/tickets/{ticket}", params={"include": ""}))["links"]
    return [(each["kind"], each["ticket"]["id"]) for each in found]


def new_tickets(world: World, *titles: str) -> list[str]:
    return [world.ticket(title)["id"] for title in titles]


@pytest.mark.parametrize(
    ("kind", "inverse"),
    [("blocks", "blocked_by"), ("duplicates", "duplicated_by"), ("relates", "relates"), ("parent", "child")],
)
def test_link_is_shown_by_both_tickets_and_removed_from_either(world: World, kind: str, inverse: str) -> None:
    first, second = new_tickets(world, "First", "Second")
    answer = ok(link(world, first, kind, second))
    shown = {"id": second, "title": "Second", "status": "active", "resolved": False}
    assert {**answer["links"][0]["ticket"], **shown} == answer["links"][0]["ticket"]
    assert links_of(world, first) == [(kind, second)]
    assert links_of(world, second) == [(inverse, first)]
    ok(unlink(world, second, inverse, first))
    assert links_of(world, first) == links_of(world, second) == []
    ok(link(world, second, inverse, first))
    assert links_of(world, first) == [(kind, second)]


def test_blocked_ticket_lists_its_unresolved_blockers(world: World) -> None:
    hidden = world.new_project("Hidden")
    bob = world.join("Bob", project_ids=[world.project])
    blocked, *blockers = new_tickets(world, "Blocked", "First", "Second", "Resolved", "Archived", "Unlinked")
    blockers.append(world.ticket("Hidden", project_id=hidden)["id"])
    for each in blockers:
        ok(link(world, each, "blocks", blocked))
    ok(link(world, blockers[0], "relates", blocked))
    first, second, resolved, archived, unlinked, unseen = blockers
    ok(world.api.patch(f"/tickets/{resolved}", json={"resolved": True}))
    ok(world.api.post(f"/tickets/{archived}/archive"))
    ok(unlink(world, unlinked, "blocks", blocked))

    def list_blockers(client: httpx.Client) -> list[set[str]]:
        listed = ok(client.get("/tickets", params={"project_id": world.project}))["items"]
        alone = ok(client.get(f"/tickets/{blocked}"))
        assert all(each["blocked_by"] == [] for each in listed if each["id"] != blocked)
        return [{each["id"] for each in row["blocked_by"]} for row in (*listed, alone) if row["id"] == blocked]

    assert list_blockers(world.api) == [{first, second, unseen}] * 2
    assert list_blockers(bob.web) == [{first, second}] * 2
    key = ok(world.api.get(f"/tickets/{first}"))["key"]
    assert ok(world.api.get(f"/tickets/{blocked}"))["blocked_by"][0] == {"id": first, "key": key}
    ok(world.api.patch(f"/tickets/{resolved}", json={"resolved": False}))
    assert list_blockers(bob.web) == [{first, second, resolved}] * 2


def test_restricted_token_sees_no_blockers_of_other_projects(world: World) -> None:
    """The token's owner sees them. Over REST and over MCP, no answer to the token has their ids or keys."""
    hidden = world.ticket("Hidden", project_id=world.new_project("Second project"))
    shown, blocked = world.ticket("Shown"), world.ticket("Blocked")
    for each in (hidden, shown):
        ok(link(world, each["id"], "blocks", blocked["id"]))
    path, search = f"/tickets/{blocked['id']}", {"q": "Blocked"}
    assert len(ok(world.api.get(path))["blocked_by"]) == 2
    token = world.owner.token("tickets:write", project_ids=[world.project])
    client = world.box.client(token)
    answers = {
        "get": client.get(path),
        "list": client.get("/tickets"),
        "list of a column": client.get("/tickets", params={"column_id": world.columns[0], "sort": "position"}),
        "search": client.get("/search", params=search),
        "search for the key": client.get("/search", params={"q": blocked["key"]}),
        "similar": client.get("/similar", params={"title": "Blocked"}),
        "update": client.patch(path, json={"priority": "high"}),
        "move": client.post(f"{path}/move", json={"column_id": world.columns[1]}),
    }
    texts = {name: json.dumps(ok(answer)) for name, answer in answers.items()}
    tools = {"get_ticket": {"ticket_id": blocked["id"]}, "list_tickets": {}, "search_tickets": search}
    texts |= {name: json.dumps(call_tool(world, token, name, arguments)) for name, arguments in tools.items()}
    for name, text in texts.items():
        assert shown["key"] in text, name
        assert hidden["key"] not in text, name
        assert hidden["id"] not in text, name


def test_repeated_link_and_absent_link_change_nothing(world: World) -> None:
    first, second = new_tickets(world, "First", "Second")
    versions = [ok(link(world, first, "blocks", second))["version"] for _ in range(2)]
    versions += [ok(unlink(world, first, kind, second))["version"] for kind in ("parent", "blocked_by", "relates")]
    assert versions == [2] * 5
    ok(link(world, first, "relates", second))
    ok(link(world, second, "relates", first))
    assert links_of(world, first) == [("blocks", second), ("relates", second)]


def test_both_histories_show_the_change(world: World) -> None:
    first, second = new_tickets(world, "First", "Second")
    ok(link(world, first, "blocks", second))
    ok(unlink(world, first, "blocks", second))
    for ticket, kind, other in ((first, "blocks", second), (second, "blocked_by", first)):
        history = ok(world.api.get(f"/tickets/{ticket}/history"))["items"][1:]
        assert [event["type"] for event in history] == ["ticket.linked", "ticket.unlinked"]
        assert [event["data"] for event in history] == [{"kind": kind, "other": other}] * 2


@pytest.mark.parametrize("kind", ["blocks", "parent", "duplicates"])
def test_cycle_is_a_conflict(world: World, kind: str) -> None:
    first, second, third = new_tickets(world, "First", "Second", "Third")
    ok(link(world, first, kind, second))
    ok(link(world, second, kind, third))
    for ticket, other in ((second, first), (third, first)):
        assert "cycle" in expect_error(link(world, ticket, kind, other), 409, "conflict")["detail"]
    assert links_of(world, third) == [({"blocks": "blocked_by", "parent": "child"}.get(kind, "duplicated_by"), second)]
    other_kind = "blocks" if kind == "parent" else "parent"
    ok(link(world, third, other_kind, first))  # a cycle of different kinds is none


def test_ticket_has_one_parent_and_many_children(world: World) -> None:
    parent, other, *children = new_tickets(world, "Parent", "Other", "One", "Two")
    for child in children:
        ok(link(world, child, "parent", parent))
        ok(link(world, child, "parent", parent))
    assert links_of(world, parent) == [("child", child) for child in children]
    expect_error(link(world, children[0], "parent", other), 409, "conflict")
    ok(unlink(world, children[0], "parent", parent))
    ok(link(world, children[0], "parent", other))


def test_ticket_is_not_linked_to_itself(world: World) -> None:
    (ticket,) = new_tickets(world, "Alone")
    problem = expect_error(link(world, ticket, "relates", ticket), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "other"


def test_duplicate_is_resolved_and_its_assignees_follow(world: World) -> None:
    bob = world.join("Bob")
    original, duplicate = new_tickets(world, "Original", "Duplicate")
    for user in (bob.id, "me"):
        ok(world.api.put(f"/tickets/{duplicate}/assignees/{user}"))
    answer = ok(link(world, duplicate, "duplicates", original))
    assert (answer["resolved"], answer["links"][0]["ticket"]["resolved"]) == (True, False)
    closed, kept = (ok(world.api.get(f"/tickets/{each}")) for each in (duplicate, original))
    assert closed["column_id"] == world.columns[-1]  # of kind done
    assert {each["id"] for each in kept["assignees"]} == {bob.id, world.owner.id}
    assert [note["reason"] for note in ok(bob.web.get("/notifications"))["items"]] == ["assignment"] * 2
    ok(unlink(world, duplicate, "duplicates", original))
    assert ok(world.api.get(f"/tickets/{duplicate}"))["resolved"]


def test_assignee_who_cannot_see_the_original_stays_out(world: World) -> None:
    hidden = world.new_project("Hidden")
    guest = world.join("Guest", project_ids=[world.project])
    original, duplicate = world.ticket("Original", project_id=hidden)["id"], world.ticket("Duplicate")["id"]
    ok(world.api.put(f"/tickets/{duplicate}/assignees/{guest.id}"))
    ok(link(world, duplicate, "duplicates", original))
    assert ok(world.api.get(f"/tickets/{original}"))["assignees"] == []


def test_hidden_tickets_are_left_out(world: World) -> None:
    hidden = world.new_project("Hidden")
    ticket, other = world.ticket("Shown")["id"], world.ticket("Hidden", project_id=hidden)["id"]
    ok(link(world, ticket, "blocks", other))
    guest = world.join("Guest", project_ids=[world.project])
    restricted = world.owner.client("read", project_ids=[world.project])
    assert links_of(world, ticket, guest.web) == links_of(world, ticket, restricted) == []
    assert links_of(world, ticket) == [("blocks", other)]


def test_unseen_and_foreign_tickets_cannot_be_linked(world: World) -> None:
    stranger = World(world.box, "Zoe")
    ticket, foreign = world.ticket()["id"], stranger.ticket()["id"]
    expect_error(link(world, ticket, "blocks", foreign), 404, "not_found")
    second = ok(world.owner.web.post("/companies", json={"name": "Second"}))["id"]
    project = ok(world.owner.web.post(f"/companies/{second}/projects", json={"name": "Second"}))["id"]
    elsewhere = ok(world.owner.web.post("/tickets", json={"project_id": project, "title": "There"}))["id"]
    expect_error(link(world, ticket, "blocks", elsewhere, world.owner.web), 403, "forbidden")
    hidden = world.ticket(project_id=world.new_project("Hidden"))["id"]
    restricted = world.owner.client("tickets:write", project_ids=[world.project])
    expect_error(link(world, ticket, "blocks", hidden, restricted), 403, "forbidden")
    guest = world.join("Guest", project_ids=[world.project])
    expect_error(link(world, ticket, "blocks", hidden, guest.client("tickets:write")), 404, "not_found")
    assert links_of(world, ticket) == []


def test_archived_ticket_keeps_its_links(world: World) -> None:
    ticket, archived = new_tickets(world, "Active", "Archived")
    ok(world.api.post(f"/tickets/{archived}/archive"))
    expect_error(link(world, archived, "blocks", ticket), 409, "ticket_archived")
    ok(link(world, ticket, "duplicates", archived))
    assert links_of(world, ticket) == [("duplicates", archived)]
    assert ok(world.api.get(f"/tickets/{ticket}"))["links"][0]["ticket"]["status"] == "archived"


@pytest.mark.parametrize(
    "sent", [{"kind": "kills"}, {"kind": None}, {"other": "nonsense"}, {"other": None}, {"more": 1}]
)
def test_invalid_link_is_rejected(world: World, sent: dict[str, Any]) -> None:
    ticket, other = new_tickets(world, "First", "Second")
    given = {name: value for name, value in {"kind": "blocks", "other": other, **sent}.items() if value is not None}
    answer = world.api.post(f"/tickets/{ticket}/links", json=given)
    if sent == {"other": "nonsense"}:
        expect_error(answer, 404, "not_found")
    else:
        expect_error(answer, 400, "invalid_request")


@pytest.mark.long
def test_number_of_links_is_limited(world: World) -> None:
    limits = {"reads_per_minute": 10_000, "writes_per_minute": 10_000}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    api = world.owner.client("tickets:write", company_id=world.company)
    hub = world.ticket("Hub")["id"]
    others = [
        ok(api.post("/tickets", json={"title": "Spoke", "project_id": world.project}))["id"]
        for _ in range(MAX_LINKS + 1)
    ]
    for other in others[:-1]:
        ok(link(world, hub, "relates", other, api))
    assert str(MAX_LINKS) in expect_error(link(world, hub, "relates", others[-1], api), 409, "conflict")["detail"]
    expect_error(link(world, others[-1], "blocks", hub, api), 409, "conflict")


def test_export_and_import_keep_links(world: World, tmp_path: Path) -> None:
    first, second = new_tickets(world, "First", "Second")
    ok(link(world, first, "blocks", second))
    ok(link(world, second, "relates", first))
    archive, db = tmp_path / "company.zip", tmp_path / "new.db"
    for command in (("export", str(archive), "--company", world.company, "--db", str(world.box.db)),
                    ("import", str(archive), "--db", str(db))):  # fmt: skip
        done = ticketbox(*command, db=db)
        assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(db)) as connection:
        rows = connection.execute(
            "SELECT l.kind, t.public_id, o.public_id FROM ticket_link l JOIN ticket t ON t.id = l.ticket_id"
            " JOIN ticket o ON o.id = l.other_id ORDER BY l.kind"
        ).fetchall()
    assert rows == [("blocks", first, second), ("relates", first, second)]


def test_duplicate_assigns_nobody_without_the_scope_to_assign(world: World) -> None:
    bob = world.join("Bob")
    for scopes, assigned in ((("tickets:write",), []), (("tickets:write", "tickets:assign"), [bob.id])):
        duplicate, original = world.ticket("Copy")["id"], world.ticket("Original")["id"]
        ok(world.api.put(f"/tickets/{duplicate}/assignees/{bob.id}"))
        ok(link(world, duplicate, "duplicates", original, world.owner.client(*scopes)))
        assert [each["id"] for each in ok(world.api.get(f"/tickets/{original}"))["assignees"]] == assigned

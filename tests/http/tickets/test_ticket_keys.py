"""Keys such as WEB-42: derived, edited, accepted wherever a ticket is named, and never lost."""

from typing import Any

import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import CASES, NEEDS_EMAIL, build_request, operations
from tests.support.server import Box, World, expect_error, ok
from ticketbox.domain.core.access.scopes import Access


def set_key(world: World, key: str, project: str | None = None) -> dict[str, Any]:
    return ok(world.owner.web.patch(f"/projects/{project or world.project}", json={"key": key}))


def new_project(world: World, name: str, **more: Any) -> dict[str, Any]:
    path = f"/companies/{world.company}/projects"
    return ok(world.owner.web.post(path, json={"name": name, **more}))


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["Web shop"], ["WEB"]),
        (["Webshop", "Web", "Webshow", "WEBS"], ["WEB", "WEB2", "WEBS", "WEBS2"]),
        (["Übersicht", "X", "Магазин"], ["UBE", "PRJ", "PRJ2"]),
        (["Go", "go!"], ["GO", "GO2"]),
    ],
)
def test_key_is_derived_from_the_name_and_unique(world: World, names: list[str], keys: list[str]) -> None:
    found = [new_project(world, name)["key"] for name in names]
    assert len(set(found)) == len(found)
    assert found[0] == keys[0]
    assert all(2 <= len(key) <= 5 for key in found)


def test_new_project_may_choose_its_key(world: World) -> None:
    assert new_project(world, "Anything", key="Q2")["key"] == "Q2"


@pytest.mark.parametrize("key", ["W", "TOOLON", "web", "A-B", "ÄB", "AB\n", ""])
def test_invalid_key_is_rejected(world: World, key: str) -> None:
    before = ok(world.api.get("/projects"))
    answer = world.owner.web.patch(f"/projects/{world.project}", json={"key": key})
    assert expect_error(answer, 400, "invalid_request")["errors"][0]["field"] == "key"
    assert ok(world.api.get("/projects")) == before


def test_tickets_are_numbered_in_their_project_and_say_where_they_are(world: World) -> None:
    set_key(world, "WEB")
    first, second = world.ticket("First"), world.ticket("Second")
    assert (first["key"], second["key"], second["number"]) == ("WEB-1", "WEB-2", 2)
    assert second["url"] == f"{world.box.url}/tickets/{second['id']}"
    assert (second["project"], second["column"]) == ("First project", "To do")
    other = new_project(world, "Other")["id"]
    assert world.ticket(project_id=other)["number"] == 1
    listed = ok(world.api.get("/tickets", params={"sort": "created", "project_id": world.project}))["items"]
    assert [each["key"] for each in listed] == ["WEB-1", "WEB-2"]
    (hit,) = ok(world.api.get("/search", params={"q": "Second"}))["items"]
    assert (hit["key"], hit["url"], hit["column"]) == (second["key"], second["url"], "To do")


def test_number_is_not_used_again(world: World) -> None:
    elsewhere = world.columns_of(world.new_project("Elsewhere"))[0]
    gone = world.ticket()
    ok(world.api.post(f"/tickets/{gone['id']}/move", json={"column_id": elsewhere}))
    assert world.ticket()["number"] == gone["number"] + 1


def test_ticket_without_a_column_has_no_column_name(world: World) -> None:
    made = world.ticket(column_id=world.columns[1])
    ok(world.api.post(f"/tickets/{made['id']}/archive"))
    ok(world.owner.web.delete(f"/columns/{world.columns[1]}"))
    found = ok(world.api.get(f"/tickets/{made['id']}?status=archived"))
    assert (found["column_id"], found["column"]) == (None, None)


@pytest.mark.parametrize(
    "spelling", ["{key}", "{lower}", "{url}/t/{key}", "{url}/tickets/{lower}/?tab=1", "{url}/t/{id}", " {key} "]
)
def test_key_is_accepted_in_bodies_and_bulk(world: World, spelling: str) -> None:
    made = world.ticket()
    text = spelling.format(key=made["key"], lower=made["key"].lower(), url=world.box.url, id=made["id"])
    given = {"ticket_ids": [text], "column_id": world.columns[1]}
    (result,) = ok(world.api.post("/tickets/bulk-move", json=given))["results"]
    assert result == {"ticket_id": made["id"], "ok": True, "error": None}


def test_key_with_a_zero_in_front_names_no_ticket(world: World) -> None:
    """Over REST, in a body, in a search, and over MCP."""
    set_key(world, "WEB")
    made, token = world.ticket(), world.owner.token("tickets:write")
    for key in ("WEB-01", "web-001", f"{world.box.url}/tickets/WEB-01", "WEB-0"):
        given = {"ticket_ids": [key], "column_id": world.columns[1]}
        (result,) = ok(world.api.post("/tickets/bulk-move", json=given))["results"]
        assert result["error"]["code"] == "not_found"
        assert ok(world.api.get("/search", params={"q": key}))["items"] == []
        answer = call_tool(world, token, "get_ticket", {"ticket_id": key})
        assert answer["structuredContent"]["code"] == "not_found"
        if "/" not in key:
            expect_error(world.api.get(f"/tickets/{key}"), 404, "not_found")
            expect_error(world.api.patch(f"/tickets/{key}", json={"title": "Mine"}), 404, "not_found")
    assert ok(world.api.get("/tickets/WEB-1")) == ok(world.api.get(f"/tickets/{made['id']}"))


def test_key_is_accepted_in_every_path_of_a_ticket(world: World) -> None:
    """Each valid call of the matrix, with the key in place of the id. Unknown keys are in the access matrix."""
    found = [
        each
        for each in operations()
        if any(route.path.startswith("/tickets/{ticket_id}") for route in each.routes) and not each.live
    ]
    assert len(found) > 15
    for declared in found:
        if declared.name in NEEDS_EMAIL:
            continue  # tests/http/reports/test_replies.py
        arguments = CASES[declared.name].arguments(world)
        if "ticket_id" not in arguments:
            continue
        key = ok(world.api.get(f"/tickets/{arguments['ticket_id']}?status=all"))["key"]
        client = world.owner.web if declared.scope is Access.SESSION else world.api
        answer = client.send(build_request(client, declared, {**arguments, "ticket_id": key}))
        assert answer.is_success, f"{declared.name}: {answer.text}"


def test_move_beside_a_ticket_named_by_key(world: World) -> None:
    below, above = world.ticket("Below"), world.ticket("Above")
    given = {"column_id": world.columns[0], "after": below["key"]}
    ok(world.api.post(f"/tickets/{above['key']}/move", json=given))
    listed = ok(world.api.get("/tickets", params={"column_id": world.columns[0], "sort": "position"}))["items"]
    assert [each["title"] for each in listed] == ["Below", "Above"]


def test_same_ticket_by_id_and_key_is_a_duplicate(world: World) -> None:
    made = world.ticket()
    given = {"ticket_ids": [made["id"], made["key"]], "column_id": world.columns[1]}
    expect_error(world.api.post("/tickets/bulk-move", json=given), 400, "invalid_request")


def test_search_for_a_key_finds_the_ticket(world: World) -> None:
    made = world.ticket("Something")
    world.ticket(f"Mentions {made['key']}")
    found = ok(world.api.get("/search", params={"q": made["key"].lower()}))["items"]
    assert [each["id"] for each in found] == [made["id"]]


def test_old_project_key_keeps_working_and_stays_taken(world: World) -> None:
    set_key(world, "OLD")
    made = world.ticket()
    assert made["key"] == "OLD-1"
    set_key(world, "NEW")
    project = ok(world.owner.web.get(f"/projects?company_id={world.company}"))["items"][0]
    assert (project["key"], "OLD" in project["former_keys"], "NEW" in project["former_keys"]) == ("NEW", True, False)
    for key in ("OLD-1", "NEW-1"):
        assert ok(world.api.get(f"/tickets/{key}"))["key"] == "NEW-1"
    other = new_project(world, "Other")["id"]
    for key in ("OLD", "NEW"):
        expect_error(world.owner.web.patch(f"/projects/{other}", json={"key": key}), 409, "conflict")
        path = f"/companies/{world.company}/projects"
        expect_error(world.owner.web.post(path, json={"name": "Third", "key": key}), 409, "conflict")
    assert new_project(world, "Old")["key"] not in {"OLD", "NEW"}
    assert set_key(world, "OLD")["key"] == "OLD"


def test_moved_ticket_gets_a_new_key_and_keeps_its_old_ones(world: World) -> None:
    set_key(world, "ONE")
    other = new_project(world, "Second", key="TWO")["id"]
    made = world.ticket()
    moved = ok(world.api.post(f"/tickets/{made['id']}/move", json={"column_id": world.columns_of(other)[0]}))
    assert (moved["key"], moved["project"]) == ("TWO-1", "Second")
    back = ok(world.api.post("/tickets/ONE-1/move", json={"column_id": world.columns[0]}))
    assert back["key"] == "ONE-2"
    for key in ("ONE-1", "TWO-1", "ONE-2"):
        assert ok(world.api.get(f"/tickets/{key}"))["id"] == made["id"]


def test_move_within_the_project_keeps_the_key(world: World) -> None:
    made = world.ticket()
    moved = ok(world.api.post(f"/tickets/{made['id']}/move", json={"column_id": world.columns[1]}))
    assert moved["key"] == made["key"]


def test_key_of_another_company_is_unknown(world: World, box: Box) -> None:
    stranger = World(box, "Eve")
    set_key(stranger, "EVE")
    hidden = stranger.ticket()
    assert hidden["key"] == "EVE-1"
    unknown = world.api.get("/tickets/ZZZ-1")
    for answer in (
        world.api.get("/tickets/EVE-1"),
        world.api.patch("/tickets/EVE-1", json={"title": "Mine"}),
        world.api.post("/tickets/EVE-1/comments", json={"body": "Hi"}),
    ):
        assert expect_error(answer, 404, "not_found")["detail"] == unknown.json()["detail"]
    assert ok(world.api.get("/search", params={"q": "EVE-1"}))["items"] == []


def test_same_key_in_two_companies_is_ambiguous_only_for_a_member_of_both(world: World, box: Box) -> None:
    second = World(box, "Bob")
    for each in (world, second):
        set_key(each, "WEB")
    ours, theirs = world.ticket(), second.ticket()
    assert ok(world.api.get("/tickets/WEB-1"))["id"] == ours["id"]
    secret = ok(second.owner.web.post(f"/companies/{second.company}/invitations", json={"role": "member"}))["secret"]
    ok(world.owner.web.post(f"/invitations/accept/{secret}", json={}))
    problem = expect_error(world.api.get("/tickets/WEB-1"), 400, "invalid_request")
    assert sorted(problem["valid"]) == sorted([ours["id"], theirs["id"]])
    found = ok(world.api.get("/search", params={"q": "WEB-1"}))["items"]
    assert {each["id"] for each in found} == {ours["id"], theirs["id"]}
    pinned = world.owner.client("tickets:write", company_id=world.company)
    assert ok(pinned.get("/tickets/WEB-1"))["id"] == ours["id"]


def test_key_follows_restrictions_like_an_id(world: World) -> None:
    other = new_project(world, "Other", key="OTH")["id"]
    hidden = world.ticket(project_id=other)
    token = world.owner.client("tickets:write", project_ids=[world.project])
    expect_error(token.get(f"/tickets/{hidden['key']}"), 404, "not_found")
    expect_error(token.patch(f"/tickets/{hidden['key']}", json={"title": "x"}), 403, "forbidden")
    kept = world.join("Kim", project_ids=[world.project])
    expect_error(kept.client("tickets:write").patch(f"/tickets/{hidden['key']}", json={"title": "x"}), 404, "not_found")

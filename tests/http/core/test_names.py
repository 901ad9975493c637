"""Names instead of ids: of companies, projects, columns and people, on every surface."""

from typing import Any

import httpx
import pytest

from tests.support.cli import run
from tests.support.mcp_client import call_tool
from tests.support.server import Person, World, expect_error, ok


@pytest.fixture
def shop(world: World) -> World:
    """A company whose project is called Shop, beside one called Blog."""
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"name": "Shop", "key": "SHP"}))
    world.new_project("Blog")
    world.api = world.owner.client("tickets:write", "tickets:assign", company_id=world.company)
    return world


def list_ids(world: World, **filters: Any) -> list[str]:
    return [each["id"] for each in ok(world.api.get("/tickets", params=filters))["items"]]


def refuse_name(answer: httpx.Response, field: str) -> list[str]:
    """The valid values that a refusal of a name lists."""
    problem = expect_error(answer, 400, "invalid_request")
    assert problem["errors"][0]["field"] == field
    assert all(each in problem["detail"] for each in problem["valid"])
    return problem["valid"]


def test_lists_accept_names(shop: World) -> None:
    ticket = shop.ticket()["id"]
    ok(shop.api.put(f"/tickets/{ticket}/assignees/{shop.owner.email}"))
    assert list_ids(shop, project_id="Shop") == list_ids(shop, project_id="shop ") == [ticket]
    assert list_ids(shop, project_id="SHP", column_id="to do") == [ticket]
    assert list_ids(shop, project_id="Shop", column_id="Done") == list_ids(shop, project_id="Blog") == []
    assert list_ids(shop, company_id="Ann's company") == [ticket]
    for assignee in (shop.owner.email.upper(), "ann", "me", shop.owner.id):
        assert list_ids(shop, assignee=assignee) == [ticket]
    found = ok(shop.api.get("/search", params={"q": "ticket", "project_id": "Shop"}))
    assert [each["id"] for each in found["items"]] == [ticket]
    assert len(ok(shop.api.get("/projects", params={"company_id": "ann's company"}))["items"]) == 2
    assert len(ok(shop.api.get("/projects/Shop/columns"))["items"]) == 3
    assert ok(shop.api.get("/companies/Ann's company/members", params={"project_id": "Shop"}))["items"]


def test_writes_accept_names(shop: World) -> None:
    ticket = ok(shop.api.post("/tickets", json={"title": "Named", "project_id": "shop", "column_id": "In progress"}))
    assert (ticket["project"], ticket["column"]) == ("Shop", "In progress")
    moved = ok(shop.api.post(f"/tickets/{ticket['id']}/move", json={"column_id": "DONE"}))
    assert (moved["column"], moved["resolved"]) == ("Done", True)
    person = shop.join("Zoe")
    assigned = ok(shop.api.put(f"/tickets/{ticket['id']}/assignees/zoe"))
    assert [each["id"] for each in assigned["assignees"]] == [person.id]
    assert ok(shop.api.delete(f"/tickets/{ticket['id']}/assignees/{person.email}"))["assignees"] == []


def test_agents_at_work_use_names(shop: World) -> None:
    ticket = shop.ticket(labels=["agent"])["id"]
    ok(shop.api.put(f"/tickets/{ticket}/assignees/me"))
    wanted = {"column_id": "to do", "assignee": shop.owner.email}
    claimed = ok(shop.api.post("/projects/Shop/claim-next", json=wanted))
    assert claimed["id"] == ticket
    given = {"lease": claimed["lease"], "column": "Nowhere"}
    assert refuse_name(shop.api.post(f"/tickets/{ticket}/work/finish", json=given), "column")[-1] == "Done"
    done = ok(shop.api.post(f"/tickets/{ticket}/work/finish", json={**given, "column": "done"}))
    assert (done["column"], done["resolved"]) == ("Done", True)
    assert refuse_name(shop.api.post("/projects/Shop/claim-next", json={"assignee": "Bob"}), "assignee") == ["Ann"]


def test_bulk_calls_accept_names(shop: World) -> None:
    """A column's name is one of the project of each ticket."""
    blog = ok(shop.api.post("/tickets", json={"title": "In the blog", "project_id": "Blog"}))["id"]
    both = [shop.ticket()["id"], blog]
    moved = ok(shop.api.post("/tickets/bulk-move", json={"ticket_ids": both, "column_id": "Done"}))
    assert [each["ok"] for each in moved["results"]] == [True, True]
    found = [ok(shop.api.get(f"/tickets/{each}")) for each in both]
    assert [(each["project"], each["column"]) for each in found] == [("Shop", "Done"), ("Blog", "Done")]
    assigned = ok(shop.api.post("/tickets/bulk-assign", json={"ticket_ids": both, "user_ids": ["Ann"]}))
    assert [each["ok"] for each in assigned["results"]] == [True, True]
    refused = ok(shop.api.post("/tickets/bulk-move", json={"ticket_ids": both, "column_id": "Later"}))
    assert [each["error"]["code"] for each in refused["results"]] == ["invalid_request"] * 2
    assert "To do, In progress, Done" in refused["results"][0]["error"]["detail"]


def test_tools_and_commands_accept_names(shop: World) -> None:
    token = shop.owner.token("tickets:write", "tickets:assign", company_id=shop.company)
    created = call_tool(shop, token, "create_ticket", {"title": "From a tool", "project": "Shop", "column": "done"})
    ticket = created["structuredContent"]["id"]
    listed = call_tool(shop, token, "list_tickets", {"project_id": "Shop", "column": "Done"})
    assert [each["id"] for each in listed["structuredContent"]["items"]] == [ticket]
    call_tool(shop, token, "assign_ticket", {"ticket_id": ticket, "user": shop.owner.email})
    refused = call_tool(shop, token, "list_tickets", {"project": "Shopp"})
    assert (refused["isError"], refused["structuredContent"]["valid"]) == (True, ["Shop", "Blog"])
    given = ("--project", "Shop", "--assignee", shop.owner.email)
    done = run("ticket", "list", *given, TICKETBOX_URL=shop.box.url, SERVICE_API_TOKEN=token)
    assert (done.exit_code, "From a tool" in done.output) == (0, True), done.output


def test_unknown_name_is_refused_with_the_valid_ones(shop: World) -> None:
    ticket = shop.ticket()["id"]
    assert refuse_name(shop.api.get("/tickets", params={"project_id": "Shops"}), "project_id") == ["Shop", "Blog"]
    given = {"project_id": "Shop", "column_id": "Doing"}
    columns = ["To do", "In progress", "Done"]
    assert refuse_name(shop.api.get("/tickets", params=given), "column_id") == columns
    assert refuse_name(shop.api.post("/tickets", json={"title": "X", **given}), "column_id") == columns
    assert refuse_name(shop.api.post(f"/tickets/{ticket}/move", json={"column_id": "Doing"}), "column_id") == columns
    assert refuse_name(shop.api.get("/tickets", params={"assignee": "nobody@example.org"}), "assignee") == ["Ann"]
    assert refuse_name(shop.api.put(f"/tickets/{ticket}/assignees/Bob"), "user_id") == ["Ann"]
    assert refuse_name(shop.api.get("/projects/Nope/columns"), "project_id") == ["Shop", "Blog"]
    assert refuse_name(shop.api.get("/projects", params={"company_id": "Acme"}), "company_id") == ["Ann's company"]


def test_ambiguous_name_is_refused_with_the_candidates(shop: World) -> None:
    other = shop.new_project("shop")
    ticket = shop.ticket()["id"]
    assert refuse_name(shop.api.get("/tickets", params={"project_id": "Shop"}), "project_id") == [shop.project, other]
    done = refuse_name(shop.api.get("/tickets", params={"column_id": "Done"}), "column_id")
    assert len(done) == 3
    assert shop.columns[2] in done
    people = [shop.join("Max Weber").id, shop.join("Max Planck").id]
    answer = shop.api.put(f"/tickets/{ticket}/assignees/max")
    assert refuse_name(answer, "user_id") == people
    assert all(name in answer.json()["detail"] for name in ("max weber-", "max planck-"))
    assert ok(shop.api.put(f"/tickets/{ticket}/assignees/max planck"))["assignees"][0]["id"] == people[1]


def test_long_lists_of_valid_names_begin_with_the_nearest(shop: World) -> None:
    for number in range(30):
        shop.new_project(f"Warehouse {number}")
    valid = refuse_name(shop.api.get("/tickets", params={"project_id": "Warehose 17"}), "project_id")
    assert (len(valid), valid[0]) == (20, "Warehouse 17")


def test_names_of_hidden_rows_never_leak(shop: World) -> None:
    """Neither another company's, nor those of projects from which a member or a token is kept."""
    stranger = World(shop.box, "Stranger")
    ok(stranger.owner.web.patch(f"/projects/{stranger.project}", json={"name": "Secret"}))
    hidden = shop.new_project("Secret")
    ok(shop.owner.web.post(f"/projects/{hidden}/columns", json={"name": "Hidden column"}))
    kept = shop.join("Kept", project_ids=[shop.project])
    shop.join("Elsewhere", project_ids=[hidden])
    ticket = shop.ticket()["id"]
    for client in (
        shop.owner.client("tickets:write", "tickets:assign", company_id=shop.company, project_ids=[shop.project]),
        kept.client("tickets:write", "tickets:assign"),
    ):
        assert refuse_name(client.get("/tickets", params={"project_id": "Secret"}), "project_id") == ["Shop"]
        assert refuse_name(client.post("/tickets", json={"title": "X", "project_id": "Secret"}), "project_id") == [
            "Shop"
        ]
        answer = client.get("/tickets", params={"column_id": "Hidden column"})
        assert refuse_name(answer, "column_id") == ["To do", "In progress", "Done"]
        answer = client.put(f"/tickets/{ticket}/assignees/Elsewhere")
        assert refuse_name(answer, "user_id") == ["Ann", "Kept"]
        assert "Stranger" not in client.get("/tickets", params={"assignee": "Bob"}).text
    outsider = Person(shop.box, "Outsider")
    problem = expect_error(outsider.web.get("/tickets", params={"project_id": "Shop"}), 400, "invalid_request")
    assert (problem["valid"], problem["detail"].endswith("you can't see any project")) == ([], True)


def test_filter_on_an_id_that_is_not_visible_returns_a_note(shop: World) -> None:
    stranger = World(shop.box)
    unseen = {
        "company_id": stranger.company, "project_id": stranger.project, "column_id": stranger.columns[0],
        "assignee": stranger.owner.id,
    }  # fmt: skip
    for field, value in unseen.items():
        page = ok(shop.api.get("/tickets", params={field: value}))
        assert (page["items"], page["note"].startswith(f"{field}: ")) == ([], True)
        assert value in page["note"]
    both = ok(shop.api.get("/tickets", params={"project_id": stranger.project, "column_id": "Done"}))
    assert both["note"].startswith("project_id: ")
    token = shop.owner.token("read")
    tool = call_tool(shop, token, "list_tickets", {"project_id": stranger.project})["structuredContent"]
    assert tool["note"] == ok(shop.api.get("/tickets", params={"project_id": stranger.project}))["note"]
    assert "note" in ok(shop.api.get("/search", params={"q": "x", "project_id": stranger.project}))
    assert "note" in ok(shop.api.get("/projects", params={"company_id": stranger.company}))
    assert "note" in ok(shop.api.get("/work-sessions", params={"company_id": stranger.company}))
    assert "note" in ok(shop.api.get("/work-sessions", params={"ticket_id": stranger.ticket()["id"]}))
    for params in ({"project_id": shop.project}, {"assignee": shop.owner.id}, {"assignee": "me"}, {}):
        assert "note" not in ok(shop.api.get("/tickets", params=params))

"""Arguments of tool calls as models send them, and refusals that a model can act on."""

import json
from typing import Any

import pytest

from tests.support.mcp_client import call_tool, create_capture, modern
from tests.support.server import World, ok
from ticketbox.mcp import arguments, tools
from ticketbox.operations.catalogue import load_registry


def call(world: World, name: str, **given: Any) -> dict[str, Any]:
    """The structured part of a call that must succeed."""
    result = call_tool(world, world.owner.token("tickets:write", "tickets:assign"), name, given)
    assert not result["isError"], result["content"]
    return result["structuredContent"]


def refuse(world: World, name: str, **given: Any) -> dict[str, Any]:
    """The structured part of a refusal."""
    result = call_tool(world, world.owner.token("tickets:write"), name, given)
    assert result["isError"]
    return result["structuredContent"]


def test_numbers_and_booleans_may_be_text_and_text_may_be_a_number(world: World) -> None:
    capture = create_capture(world)["capture_id"]
    assert call(world, "get_network", capture_id=capture, status=500)["matched"] == 1
    assert call(world, "get_network", capture_id=capture, status="5xx", failures_only="true", limit="5")["matched"] == 1
    assert call(world, "get_error", capture_id=capture, entry="1")["name"] == "TypeError"
    assert refuse(world, "get_network_request", capture_id=capture, entry=17)["code"] == "not_found"
    assert call(world, "list_tickets", project_id=world.project, limit="5", priority=None)["items"]


def test_list_may_be_one_value_or_json_text(world: World) -> None:
    ticket = call(world, "create_ticket", title="Labelled", project_id=world.project, labels='["ui", "cart"]')
    assert ticket["labels"] == ["ui", "cart"]
    assert call(world, "update_ticket", ticket_id=ticket["id"], labels="ui")["labels"] == ["ui"]


def test_common_other_names_are_accepted(world: World) -> None:
    ticket = world.ticket("The cart stays empty")["id"]
    assert (
        call(world, "move_ticket", ticketId=ticket, target_column_id=world.columns[1])["column_id"] == world.columns[1]
    )
    assert call(world, "start_work_on_ticket", ticket=ticket, branch_name="fix/cart")["branch"] == "fix/cart"
    assert call(world, "add_comment", id=ticket, comment="Seen")["body"] == "Seen"
    assert [each["id"] for each in call(world, "search_tickets", query="cart")["items"]] == [ticket]
    assert call(world, "bulk_move_tickets", tickets=[ticket], target_column_id=world.columns[0])["results"][0]["ok"]
    assert call(world, "assign_ticket", ticket_id=ticket, assignee_id="me")["assignees"][0]["id"] == world.owner.id
    given = {"ticket_id": ticket, "include": ["capture", "comments", "annotations", "attachments"]}
    assert call(world, "get_ticket", **given)["comments"][0]["body"] == "Seen"


def test_list_with_a_query_searches_with_the_same_filters(world: World) -> None:
    first = world.ticket("Cart one", priority="high")["id"]
    second = world.ticket("Cart two")["id"]
    world.ticket("Other", priority="high")
    given = {"project_id": world.project, "query": "cart"}
    assert {each["id"] for each in call(world, "list_tickets", **given)["items"]} == {first, second}
    filters = {"priority": "high", "column_id": world.columns[0], "resolved": False, "sort": "created"}
    assert [each["id"] for each in call(world, "list_tickets", **given, **filters)["items"]] == [first]


def test_search_accepts_the_filters_of_a_list_and_lists_without_words(world: World) -> None:
    first = world.ticket("Cart one", priority="high")["id"]
    second = world.ticket("Other", priority="high")["id"]
    world.ticket("Cart two")
    ok(world.api.put(f"/tickets/{first}/assignees/me"))
    found = call(world, "search_tickets", q="cart", assignee="me", priority=["High"], resolved=False)["items"]
    assert [each["id"] for each in found] == [first]
    assert {each["id"] for each in call(world, "search_tickets", priority="high")["items"]} == {first, second}
    assert len(call(world, "list_tickets")["items"]) == 3
    assert refuse(world, "search_tickets")["errors"][0]["field"] == "q"


def test_labels_with_commas_are_several(world: World) -> None:
    ticket = call(
        world, "create_ticket", title="Labelled", project_id=world.project, labels="bug, search", body="Steps"
    )
    assert (ticket["labels"], ticket["description"]) == (["bug", "search"], "Steps")


def test_nested_values_may_be_json_text_and_have_common_names(world: World) -> None:
    ticket = world.ticket("Planned")["id"]
    lease = call(world, "start_work_on_ticket", ticket_id=ticket)["lease"]
    for plan in (
        ["Write a test", "Fix it"],
        '["Write a test", {"text": "Fix it"}]',
        ["Write a test", '{"step": "Fix it", "status": "Todo"}'],
    ):
        reported = call(world, "report_progress", lease=lease, plan=plan, usage='{"input_tokens": "5"}')
        assert [each["text"] for each in reported["plan"]] == ["Write a test", "Fix it"]
        assert [each["state"] for each in reported["plan"]] == ["pending", "pending"]
        assert reported["usage"]["input_tokens"] == 5
    plan = [{"content": "a", "status": "in_progress"}, {"text": "b", "status": "completed"}]
    states = [each["state"] for each in call(world, "report_progress", lease=lease, plan=plan)["plan"]]
    assert states == ["active", "done"]


def test_refusal_of_a_nested_value_names_what_is_accepted(world: World) -> None:
    lease = call(world, "start_work_on_ticket", ticket_id=world.ticket()["id"])["lease"]
    for given, named in (
        ({"plan": [{"text": "a", "owner": "me"}]}, "plan[0].owner: unknown field; accepted: text, state"),
        ({"plan": [{"text": "a", "stat": "done"}]}, "did you mean state?"),
        ({"usage": "many"}, "usage: must be an object with input_tokens, output_tokens, cost_usd"),
        ({"plan": [{"text": "a", "status": "blocked"}]}, "must be one of pending, active, done, dropped"),
    ):
        assert named in refuse(world, "report_progress", lease=lease, **given)["detail"]


def test_number_without_a_key_and_address_of_another_server_are_refused(world: World) -> None:
    key = world.ticket()["key"]
    for text in ("10", "#10", 10):
        assert (
            "a number needs the key of its project, such as WEB-10"
            in refuse(world, "get_ticket", ticket_id=text)["detail"]
        )
    foreign = f"https://other.example/tickets/{key}"
    for name, more in (
        ("get_ticket", {}),
        ("update_ticket", {"title": "x"}),
        ("bulk_move_tickets", {"column_id": "Done"}),
        ("link_tickets", {"kind": "blocks", "other": key}),
    ):
        named = {"ticket_ids": [foreign]} if name.startswith("bulk") else {"ticket_id": foreign}
        assert "the address of another server" in refuse(world, name, **named, **more)["detail"]
    assert call(world, "get_ticket", ticket_id=f"{world.box.url}/tickets/{key}")["key"] == key
    assert call(world, "search_tickets", q=foreign)["items"] == []


def test_projects_have_what_agents_need(world: World) -> None:
    (project,) = call(world, "list_projects")["items"]
    assert set(project) == {
        "id", "company_id", "name", "key", "agent_label", "plan_approval", "done_approval", "verification",
        "criteria",
    }  # fmt: skip


def test_refusal_says_nothing_twice_and_has_no_nulls(world: World) -> None:
    result = call_tool(world, world.owner.token("read"), "wait_for_events", {"types": ["nonsense"]})
    (part,) = result["content"]
    assert part["text"].count("ticket.created") == 1
    assert "errors" not in part["text"]
    ticket = world.ticket()["id"]
    call(world, "start_work_on_ticket", ticket_id=ticket)
    refused = call_tool(world, world.owner.token("tickets:write"), "start_work_on_ticket", {"ticket_id": ticket})
    assert "null" not in refused["content"][0]["text"]
    assert "null" not in json.dumps(refused["structuredContent"])


def test_own_name_of_an_argument_has_priority_over_another(world: World) -> None:
    ticket = world.ticket()["id"]
    column, other = world.columns[:2]
    refused = refuse(world, "move_ticket", ticket_id=ticket, column_id=column, target_column_id=other)
    assert refused["errors"][0]["field"] == "target_column_id"
    assert ok(world.api.get(f"/tickets/{ticket}"))["version"] == 1


def test_every_alias_names_an_argument_of_a_tool() -> None:
    cards = tools.get_tool_cards(load_registry()).values()
    accepted = {name for card in cards for name in card.operation.arguments.__struct_fields__}
    for name, targets in arguments.ALIASES.items():
        assert set(targets) & accepted, name


def test_refusal_names_all_faults_and_what_is_accepted(world: World) -> None:
    refused = refuse(world, "update_ticket", ticket_id="t-4k7m2q9x", priority="critical", titel="x")
    messages = {error["field"]: error["message"] for error in refused["errors"]}
    assert messages["priority"] == "must be one of none, low, medium, high, urgent"
    assert messages["titel"].startswith("unknown field; did you mean title?; accepted: ticket_id, title, ")
    assert refuse(world, "list_tickets", status="open")["valid"] == ["active", "archived", "all"]
    assert refuse(world, "get_errors", capture_id="c", detail="all")["valid"] == ["summary", "full"]


@pytest.mark.parametrize(
    ("name", "given", "noun", "tool"),
    [
        ("get_ticket", {"ticket_id": "t-zzzzzzzz"}, "ticket", "search_tickets"),
        ("list_columns", {"project_id": "proj_zzzzzzzzzzzz"}, "project", "list_projects"),
        ("create_ticket", {"title": "x", "column_id": "col_zzzzzzzzzzzz"}, "column", "list_columns"),
        ("list_members", {"company_id": "co_zzzzzzzzzzzz"}, "company", "whoami"),
        ("get_console", {"capture_id": "cap_zzzzzzzzzzzz"}, "capture", "get_ticket"),
        ("list_annotations", {"asset_id": "asset_zzzzzzzzzzzz"}, "asset", "get_ticket"),
    ],
)
def test_not_found_says_what_and_which_tool_lists_it(
    world: World, name: str, given: dict[str, Any], noun: str, tool: str
) -> None:
    refused = refuse(world, name, **given)
    assert (refused["code"], refused["title"]) == ("not_found", f"{noun} not found")
    assert tool in refused["next"]


def test_wrong_detail_of_a_stranger_is_refused_as_unauthorized(world: World) -> None:
    call = {"name": "get_errors", "arguments": {"capture_id": "c", "detail": "all"}}
    assert modern(world, "tools/call", call, Authorization="Bearer tok_nonsense").status_code == 401

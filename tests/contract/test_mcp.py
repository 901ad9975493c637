"""MCP with the SDK's own client, at both protocol generations, and the endpoint's manners over plain HTTP."""

import asyncio
import base64
import http.client
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.box import World, eventually, ok
from tests.domain.pictures import png
from ticketbox.operations.registry import registry
from ticketbox.surfaces import tools

T = TypeVar("T")

GENERATIONS = ["legacy", "2026-07-28"]
ALL = ("tickets:write", "tickets:assign")


def talk(world: World, mode: str, work: Callable[[Client], Awaitable[T]], token: str | None = None) -> T:
    """Connect as an agent would, with a token that may do everything unless another is given."""
    secret = token or world.owner.token(*ALL)

    async def run() -> T:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{world.box.url}/mcp", http_client=http, terminate_on_close=False)
            async with Client(transport, mode=mode) as client:
                return await work(client)

    return asyncio.run(run())


def captured(world: World) -> dict[str, str]:
    """A ticket with a capture that has one of everything; the receipt."""
    health = {name: {"status": "ok", "captured": 1} for name in ("console", "network", "errors")}
    envelope = {
        "id": "capture-0001",
        "project_id": world.project,
        "page": {"url": "https://shop.example/cart", "title": "Cart"},
        "captured_at": 1_795_253_400_000,
        "health": health,
    }
    console = [
        {
            "seq": 1,
            "ts": 1_795_253_399_000.0,
            "level": "error",
            "args": ["cart failed"],
            "repeat": 1,
            "truncated": False,
        }
    ]
    network = [
        {"id": "r1", "ts": 1_795_253_398_000.0, "method": "GET", "url": "https://shop.example/api/cart", "status": 500,
         "status_text": "Internal Server Error", "type": "fetch", "duration_ms": 31.5, "from_cache": False,
         "request": {"headers": {}}, "response": {"headers": {}}}
    ]  # fmt: skip
    errors = [{"seq": 1, "ts": 1_795_253_399_500.0, "kind": "error", "name": "TypeError", "message": "cart is null"}]
    parts = {
        "capture": json.dumps(envelope).encode(),
        "console": json.dumps(console).encode(),
        "network": json.dumps(network).encode(),
        "errors": json.dumps(errors).encode(),
        "screenshot": png(2000, 1000),
    }
    return ok(world.api.post("/captures", files={name: (name, data) for name, data in parts.items()}))


@pytest.mark.parametrize("mode", GENERATIONS)
def test_every_tool_answers_what_its_schema_says(world: World, mode: str) -> None:
    receipt = captured(world)
    ticket, capture = receipt["ticket_id"], receipt["capture_id"]
    spare, third = world.ticket("Spare")["id"], world.ticket("Third")["id"]
    asset = ok(world.api.get(f"/tickets/{ticket}"))["capture"]["screenshot"]["id"]
    column = world.columns[1]
    arguments: dict[str, dict[str, Any]] = {
        "whoami": {},
        "list_companies": {},
        "list_projects": {"company_id": world.company},
        "list_columns": {"project_id": world.project},
        "list_members": {"company_id": world.company},
        "list_tickets": {"project_id": world.project, "assignee": "me"},
        "search_tickets": {"q": "Spare"},
        "get_ticket": {"ticket_id": ticket, "include": ["capture", "comments", "history"]},
        "create_ticket": {"title": "By an agent", "project_id": world.project, "idempotency_key": mode},
        "update_ticket": {"ticket_id": spare, "priority": "high"},
        "move_ticket": {"ticket_id": spare, "column_id": column},
        "bulk_move_tickets": {"ticket_ids": [spare, third], "column_id": column},
        "start_work_on_ticket": {"ticket_id": spare},
        "stop_work_on_ticket": {"ticket_id": spare},
        "assign_ticket": {"ticket_id": spare, "user_id": "me"},
        "unassign_ticket": {"ticket_id": spare, "user_id": "me"},
        "bulk_assign_tickets": {"ticket_ids": [spare], "user_ids": ["me"], "mode": "replace"},
        "archive_ticket": {"ticket_id": third},
        "restore_ticket": {"ticket_id": third},
        "list_comments": {"ticket_id": ticket},
        "add_comment": {"ticket_id": ticket, "body": "Seen."},
        "get_console": {"capture_id": capture, "level": "warn"},
        "get_network": {"capture_id": capture, "failures_only": True},
        "get_errors": {"capture_id": capture},
        "get_network_request": {"capture_id": capture, "entry": "r1"},
        "get_screenshot": {"ticket_id": ticket, "max_side": 300},
        "list_annotations": {"asset_id": asset},
        "get_ticket_history": {"ticket_id": ticket},
    }

    async def call_all(client: Client) -> tuple[list[str], dict[str, Any]]:
        listed = await client.list_tools()
        # The client checks each structured result against the tool's own output schema.
        answers = {name: await client.call_tool(name, given) for name, given in arguments.items()}
        return [tool.name for tool in listed.tools], answers

    names, answers = talk(world, mode, call_all)
    assert names == list(tools.cards(registry())) == sorted(arguments, key=names.index)
    for name, answer in answers.items():
        assert not answer.is_error, (name, answer.content)
        assert json.loads(answer.content[0].text) == answer.structured_content, name
        assert "null" not in answer.content[0].text.replace("is null", ""), name
    image = answers["get_ticket"].content[1]
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert len(base64.b64decode(image.data)) < 900_000
    assert answers["get_network_request"].structured_content["status"] == 500
    said = ok(world.api.get(f"/tickets/{ticket}/comments"))["items"][-1]
    assert (said["body"], said["by"]["via"], said["by"]["token_label"]) == ("Seen.", "mcp", "a token")


@pytest.mark.parametrize("mode", GENERATIONS)
def test_the_list_holds_what_the_scopes_allow(world: World, mode: str) -> None:
    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    reading = talk(world, mode, names, world.owner.token("read"))
    commenting = talk(world, mode, names, world.owner.token("comments"))
    assigning = talk(world, mode, names, world.owner.token("tickets:assign"))
    writing = talk(world, mode, names, world.owner.token("tickets:write"))
    assert {"whoami", "get_ticket", "search_tickets"} <= reading
    assert not {"add_comment", "create_ticket", "assign_ticket"} & reading
    assert commenting - reading == {"add_comment"}
    assert assigning - reading == {"assign_ticket", "unassign_ticket", "bulk_assign_tickets"}
    assert "move_ticket" in writing - commenting
    assert not {"assign_ticket", "bulk_assign_tickets"} & writing


@pytest.mark.parametrize("mode", GENERATIONS)
def test_a_refusal_is_a_result_that_says_what_to_do_next(world: World, other: World, mode: str) -> None:
    foreign = other.ticket()["id"]

    async def ask(client: Client) -> list[Any]:
        return [
            await client.call_tool("get_ticket", {"ticket_id": foreign}),
            await client.call_tool("get_ticket", {"ticket_id": "t-zzzzzzzz"}),
            await client.call_tool("move_ticket", {"ticket_id": world.ticket()["id"], "column_id": other.columns[0]}),
            await client.call_tool("create_ticket", {"title": ""}),
            await client.call_tool("create_ticket", {"title": "x", "nonsense": 1}),
        ]

    theirs, nobodys, across, empty, unknown = talk(world, mode, ask)
    assert theirs.is_error
    assert theirs.structured_content == nobodys.structured_content
    assert (theirs.structured_content["code"], "search_tickets" in theirs.content[0].text) == ("not_found", True)
    assert across.structured_content["code"] == "cross_company_move"
    assert (empty.structured_content["code"], empty.structured_content["errors"][0]["field"]) == (
        "invalid_request",
        "title",
    )
    assert unknown.structured_content["errors"][0]["field"] == "nonsense"


@pytest.mark.parametrize("mode", GENERATIONS)
def test_prompts_and_resources(world: World, mode: str) -> None:
    receipt = captured(world)

    async def read(client: Client) -> tuple[Any, ...]:
        listed = await client.list_prompts()
        prompt = await client.get_prompt("fix_ticket", {"ticket_id": receipt["ticket_id"]})
        templates = await client.list_resource_templates()
        ticket = await client.read_resource(f"ticket://{receipt['ticket_id']}")
        har = await client.read_resource(f"capture://{receipt['capture_id']}/har")
        picture = await client.read_resource(f"ticket://{receipt['ticket_id']}/screenshot")
        with pytest.raises(MCPError, match="not found"):
            await client.read_resource("ticket://t-zzzzzzzz")
        with pytest.raises(MCPError, match="there is no tool"):
            await client.session.call_tool("drop_everything", {})
        bare = await client.call_tool("get_ticket", {"ticket_id": receipt["ticket_id"], "include": []})
        assert (len(bare.content), "console" in bare.structured_content["capture"]) == (1, False)
        return listed, prompt, templates, ticket, har, picture

    listed, prompt, templates, ticket, har, picture = talk(world, mode, read)
    assert [each.name for each in listed.prompts] == ["fix_ticket", "triage_column"]
    assert receipt["ticket_id"] in prompt.messages[0].content.text
    assert len(templates.resource_templates) == 3
    assert json.loads(ticket.contents[0].text)["id"] == receipt["ticket_id"]
    assert json.loads(har.contents[0].text)["log"]["entries"][0]["response"]["status"] == 500
    assert base64.b64decode(picture.contents[0].blob) == png(2000, 1000)


MESSAGE = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}


def post(world: World, message: Any = MESSAGE, path: str = "/mcp", **headers: str) -> Any:
    """A plain HTTP request to the endpoint."""
    client = world.box.client(None, **ACCEPT, **headers)
    return client.post(f"{world.box.url}{path}", json=message)


def test_who_may_not_call_gets_an_http_status_with_a_json_rpc_error(world: World) -> None:
    answer = post(world)
    assert answer.status_code == 401
    assert (answer.json()["id"], answer.json()["error"]["data"]["code"]) == (7, "unauthorized")
    assert f'resource_metadata="{world.box.url}/.well-known/' in answer.headers["www-authenticate"]
    call = {**MESSAGE, "method": "tools/call", "params": {"name": "create_ticket", "arguments": {}}}
    answer = post(world, call, Authorization=f"Bearer {world.owner.token('read')}")
    assert answer.status_code == 403
    assert answer.json()["error"]["data"]["scope"] == "tickets:write"
    assert 'error="insufficient_scope", scope="tickets:write"' in answer.headers["www-authenticate"]


def test_an_exhausted_budget_is_a_429_with_both_headers_and_the_figure(world: World) -> None:
    given = {"limits": {"reads_per_minute": 2, "writes_per_minute": 1}}
    ok(world.owner.web.patch(f"/companies/{world.company}", json=given))
    token = world.owner.token("read", company_id=world.company)
    answers = [post(world, Authorization=f"Bearer {token}") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.headers["retry_after"] == refused.headers["retry-after"] == "30"
    assert refused.json()["error"]["data"]["retry_after"] == 30


def test_the_manners_of_the_address(world: World) -> None:
    token = world.owner.token("read")
    assert post(world, path="/mcp/", Authorization=f"Bearer {token}").status_code == 404
    for method in ("GET", "DELETE", "PUT"):
        answer = world.api.request(method, f"{world.box.url}/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert "streamable HTTP" in answer.json()["detail"]
    assert post(world, Authorization=f"Bearer {token}", Origin="https://evil.example").status_code == 403
    assert post(world, Authorization=f"Bearer {token}", Origin=world.box.url).status_code == 200
    assert post(world, Authorization=f"Bearer {token}", Host="evil.example").status_code == 421
    cookie = world.owner.web.cookies["ticketbox"]
    assert post(world, Cookie=f"ticketbox={cookie}").status_code == 401


def test_white_space_after_a_header_value_is_no_part_of_it(world: World) -> None:
    host, _, port = world.box.url.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    headers = {"Authorization": f"Bearer {world.owner.token('read')}  ", "Content-Type": "application/json ", **ACCEPT}
    headers["Mcp-Protocol-Version"] += " "
    connection.request("POST", "/mcp", json.dumps(MESSAGE), headers)
    answer = connection.getresponse()
    assert (answer.status, b"whoami" in answer.read()) == (200, True)
    connection.close()


@pytest.mark.parametrize("message", [[], "text", 7, {}, {"jsonrpc": "2.0"}, [MESSAGE], {**MESSAGE, "method": 5}])
def test_what_is_no_message_is_refused(world: World, message: Any) -> None:
    answer = post(world, message, Authorization=f"Bearer {world.owner.token('read')}")
    assert 400 <= answer.status_code < 500 or "error" in answer.json()
    assert "Traceback" not in answer.text


def test_a_revoked_token_is_refused_from_the_next_call_on(world: World) -> None:
    made = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    headers = {"Authorization": f"Bearer {made['secret']}"}
    assert post(world, **headers).status_code == 200
    ok(world.owner.web.delete(f"/tokens/{made['id']}"))
    assert post(world, **headers).status_code == 401


def test_the_whole_list_fits_a_small_context() -> None:
    cards = tools.cards(registry())
    text = json.dumps([
        [card.name, card.title, card.description, card.input_schema, card.output_schema] for card in cards.values()
    ])  # fmt: skip
    assert len(cards) <= 35
    assert len(text) / 4 <= 12_000


def test_the_endpoint_is_there_as_soon_as_the_server_answers(world: World) -> None:
    token = world.owner.token("read")
    assert eventually(lambda: post(world, Authorization=f"Bearer {token}").status_code == 200)

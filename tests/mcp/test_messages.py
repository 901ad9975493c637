"""What clients get wrong in a message, its headers and its revision; each refusal says it in one sentence."""

import json
import re
from typing import Any

import httpx
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.support.mcp_client import NEWEST
from tests.support.server import World

OLDER = "2025-11-25"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ABOUT = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {}}
SUPPORTED = [*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]


def send(world: World, message: Any, version: str = OLDER, **headers: str | None) -> httpx.Response:
    """Send a message, or bytes as they are, at a revision; a header that is None isn't sent."""
    if isinstance(message, dict) and version == NEWEST:
        message = {**message, "params": {**message.get("params", {}), "_meta": ABOUT}}
        headers = {"Mcp-Method": str(message.get("method")), **headers}
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    given = {**usual, "Mcp-Protocol-Version": version, **headers}
    client = world.box.client(world.owner.token("read"))
    for name in list(client.headers):
        if name in {"accept", "user-agent"}:
            del client.headers[name]
    return client.post(
        f"{world.box.url}/mcp",
        content=body,
        headers={name: value for name, value in given.items() if value is not None},
    )


def read_refusal(answer: httpx.Response, status: int, code: int, identity: int | str | None) -> dict[str, Any]:
    """Check the parts of a JSON-RPC error with an HTTP status; return it."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    document = answer.json()
    error = document["error"]
    assert (document["id"], error["code"]) == (identity, code), answer.text
    assert (error["data"]["status"], error["data"]["detail"]) == (status, error["message"])
    assert "pydantic" not in answer.text
    return error


@pytest.mark.parametrize("version", [NEWEST, OLDER])
@pytest.mark.parametrize(
    ("message", "says"),
    [
        *(({**PING, "id": wrong}, "`id`") for wrong in (None, 1.5, 1.0, True, [1], {})),
        ([PING], "batches"),
        ([], "batches"),
        ("text", "object"),
        ({**PING, "jsonrpc": "1.0"}, "`jsonrpc`"),
        ({"jsonrpc": "2.0", "id": 1}, "`method`"),
        ({**PING, "method": 5}, "`method`"),
    ],
)
def test_what_is_no_message_is_refused_in_a_sentence(world: World, version: str, message: Any, says: str) -> None:
    identity = message.get("id") if isinstance(message, dict) and type(message.get("id")) is int else None
    error = read_refusal(send(world, message, version), 400, -32600, identity)
    assert says in error["message"]


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "2099-01-01", "garbage"])
def test_initialize_negotiates_whatever_the_header_says(world: World, version: str) -> None:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = send(world, {**PING, "method": "initialize", "params": client}, **{"Mcp-Protocol-Version": version})
    assert answer.status_code == 200, answer.text
    expected = version if version in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[-1]
    assert answer.json()["result"]["protocolVersion"] == expected


def test_unknown_revision_is_refused_with_all_supported_ones(world: World) -> None:
    for message in (LIST, {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        error = read_refusal(send(world, message, "2099-01-01"), 400, -32022, message.get("id"))
        assert (error["data"]["supported"], error["data"]["requested"]) == (
            list(MODERN_PROTOCOL_VERSIONS),
            "2099-01-01",
        )
        assert all(version in error["message"] for version in SUPPORTED)
    for version in SUPPORTED:
        assert send(world, LIST, version).status_code == 200


@pytest.mark.parametrize("version", [NEWEST, OLDER])
def test_types_of_request_and_answer(world: World, version: str) -> None:
    for wrong in ("text/plain", "application/json-rpc", "application/jsonp", None):
        error = read_refusal(send(world, LIST, version, **{"Content-Type": wrong}), 415, -32600, 1)
        assert error["data"]["valid"] == ["application/json"]
    for right in ("application/json; charset=utf-8", "Application/JSON"):
        assert send(world, LIST, version, **{"Content-Type": right}).status_code == 200
    for wrong in ("text/event-stream", "application/json;q=0", "text/html, image/*"):
        read_refusal(send(world, LIST, version, Accept=wrong), 406, -32600, 1)
    for right in (None, "", "*/*", "application/*", "application/json;q=0.1, text/event-stream"):
        assert send(world, LIST, version, Accept=right).status_code == 200


@pytest.mark.parametrize("version", [NEWEST, OLDER])
def test_byte_order_mark_is_ignored(world: World, version: str) -> None:
    params = {"_meta": ABOUT} if version == NEWEST else {}
    body = b"\xef\xbb\xbf" + json.dumps({**LIST, "params": params}).encode()
    assert send(world, body, version, **{"Mcp-Method": "tools/list"}).status_code == 200


@pytest.mark.parametrize(("version", "status"), [(NEWEST, 400), (OLDER, 200)])
@pytest.mark.parametrize("arguments", ['{"limit": 1}', [1]])
def test_arguments_that_are_no_object_are_named(world: World, version: str, status: int, arguments: Any) -> None:
    call = {**PING, "method": "tools/call", "params": {"name": "list_tickets", "arguments": arguments}}
    answer = send(world, call, version, **({"Mcp-Name": "list_tickets"} if version == NEWEST else {}))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, -32602)
    assert "`arguments` must be an object" in error["message"]


def test_errors_of_the_sdk_have_a_problem_document_too(world: World) -> None:
    for wrong, code in (({"Mcp-Method": "ping"}, -32020), ({"Mcp-Method": None}, -32020)):
        read_refusal(send(world, LIST, NEWEST, **wrong), 400, code, 1)
    read_refusal(send(world, {**LIST, "method": "tools/drop"}, NEWEST), 404, -32601, 1)
    without = send(world, json.dumps(LIST).encode(), NEWEST, **{"Mcp-Method": "tools/list"})
    assert re.search("_meta", read_refusal(without, 400, -32602, 1)["message"])

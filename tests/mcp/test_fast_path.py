"""The fast path of the MCP endpoint returns the same bytes as the SDK."""

import contextlib
import json
import sqlite3
from typing import Any, cast

import httpx
import msgspec
import pydantic_core
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel import Server

from tests.support.mcp_client import ACCEPT, ALL, NEWEST, create_capture
from tests.support.server import World, ok
from ticketbox.mcp import tools
from ticketbox.mcp.fast_path import FastPath, is_portable_json
from ticketbox.mcp.handlers import BROKEN
from ticketbox.operations.catalogue import load_registry

SDK = {"Accept": "application/json;q=1, text/event-stream"}  # the fast path leaves this form to the SDK
FAST = {"Accept": ACCEPT["Accept"]}
META = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {}}


OLDER = ["2025-11-25", "2025-06-18", "2024-11-05", ""]
VERSIONS = [NEWEST, *OLDER]


def ask(world: World, token: str, how: dict[str, str], version: str, method: str, **parts: Any) -> httpx.Response:
    """Send one message at a revision, of which an empty one isn't sent; `parts` replace its usual members."""
    params = {**({"_meta": META} if version == NEWEST else {}), **parts.pop("params", {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **parts}
    headers = {"Authorization": f"Bearer {token}", **how}
    if version:
        headers["Mcp-Protocol-Version"] = version
    if version == NEWEST:
        headers["Mcp-Method"] = method
        if "name" in params:
            headers["Mcp-Name"] = str(params["name"])
    return world.box.client(None, **headers).post(f"{world.box.url}/mcp", json=message)


def same(world: World, token: str, method: str, **parts: Any) -> httpx.Response:
    """Compare the answers of both paths at each revision: status, body, and headers except time, id and budget.

    Returns the answer at the newest revision.
    """
    answers = {version: compare(world, token, version, method, **parts) for version in VERSIONS}
    return answers[NEWEST]


def compare(world: World, token: str, version: str, method: str, **parts: Any) -> httpx.Response:
    """Compare the answers of both paths at a revision."""
    sdk, fast = (ask(world, token, how, version, method, **parts) for how in (SDK, FAST))
    assert (fast.status_code, fast.content) == (sdk.status_code, sdk.content), version
    passing = {"date", "x-request-id", "ratelimit"}
    assert {*fast.headers.items()} ^ {*sdk.headers.items()} <= {
        each for answer in (sdk, fast) for each in answer.headers.items() if each[0] in passing
    }
    return fast


def call(world: World, token: str, name: str, arguments: Any, **parts: Any) -> httpx.Response:
    """Call a tool on both paths."""
    return same(world, token, "tools/call", params={"name": name, "arguments": arguments}, **parts)


def test_results_of_reading_tools(world: World) -> None:
    receipt = create_capture(world)
    ticket, capture = receipt["ticket_id"], receipt["capture_id"]
    world.api.post(f"/tickets/{ticket}/comments", json={"body": "Grüße \U0001f600 \u2028 <b>"})
    token = world.owner.token("read")
    reading: dict[str, dict[str, Any]] = {
        "list_companies": {},
        "list_projects": {"company_id": world.company},
        "list_columns": {"project_id": world.project},
        "list_members": {"company_id": world.company},
        "list_tickets": {"project_id": world.project},
        "search_tickets": {"q": "Cart"},
        "get_ticket": {"ticket_id": ticket, "include": ["capture", "comments", "history"]},
        "list_comments": {"ticket_id": ticket},
        "get_console": {"capture_id": capture},
        "get_network": {"capture_id": capture},
        "get_errors": {"capture_id": capture},
        "get_network_request": {"capture_id": capture, "entry": "r1"},
        "get_screenshot": {"ticket_id": ticket, "max_side": 100},
        "list_captures": {"ticket_id": ticket},
        "get_ticket_history": {"ticket_id": ticket},
    }
    for name, arguments in reading.items():
        result = call(world, token, name, arguments).json()["result"]
        assert (result["isError"], result["resultType"]) == (False, "complete"), name


def test_wait_that_found_nothing(world: World) -> None:
    given = {"project_id": world.project, "wait_seconds": 0}
    result = call(world, world.owner.token("tickets:write"), "claim_next_ticket", given).json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert (result["structuredContent"]["claimed"], result["structuredContent"]["waited_seconds"]) == (False, 0)


def test_what_differs_from_a_valid_call_is_checked(world: World) -> None:
    """The checks of a call aren't repeated for another that differs only in its id and arguments."""
    token, valid = world.owner.token("read"), {"name": "list_tickets", "arguments": {}}
    assert "error" not in same(world, token, "tools/call", params=valid).json()
    for arguments in ([], "x", None, 5, {"unknown": 1}):
        same(world, token, "tools/call", params={**valid, "arguments": arguments})
    for parts in ({"id": 1.5}, {"id": None}, {"id": True}, {"id": [1]}, {"jsonrpc": "1.0"}, {"more": 1}):
        same(world, token, "tools/call", params=valid, **parts)
    for more in ({"name": "get_me"}, {"name": 1}, {"_meta": {}}, {"_meta": None}, {"more": 1}):
        same(world, token, "tools/call", params={**valid, **more})
    assert "error" not in same(world, token, "tools/call", params=valid, id="another").json()


def test_escaped_characters(world: World) -> None:
    letters = "".join(map(chr, range(1, 127)))
    odd = [
        {"seq": seq, "ts": 1_795_253_399_000.5, "level": "log", "args": [text]}
        for seq, text in enumerate((letters, "\x7f"))
    ]
    capture = create_capture(world, console=odd)["capture_id"]
    ticket = world.ticket("Plain")["id"]
    token = world.owner.token("read")
    for limit in (1, 2):
        answer = call(world, token, "get_console", {"capture_id": capture, "limit": limit})
        assert len(answer.json()["result"]["structuredContent"]["items"]) == limit
    for identity in (1, "text", "\u00e9 \x7f"):
        same(world, token, "tools/call", params={"name": "list_tickets", "arguments": {}}, id=identity)
    world.api.patch(f"/tickets/{ticket}", json={"title": "Größe \U0001f600"})
    assert "\\u00f6" in call(world, token, "list_tickets", {}).text


@pytest.mark.parametrize("duration", [0.00001234, 0.00001, 1.5e-7, 0.0001, 1e12, 5])
def test_floats_that_encoders_write_differently(world: World, duration: float) -> None:
    request = {"id": "r1", "ts": 1_795_253_398_000.25, "method": "GET", "url": "https://shop.example/1e16",
               "status": 200, "status_text": "", "type": "fetch", "duration_ms": duration, "from_cache": False,
               "request": {"headers": {}}, "response": {"headers": {}}}  # fmt: skip
    capture = create_capture(world, network=[request])["capture_id"]
    answer = call(world, world.owner.token("read"), "get_network", {"capture_id": capture, "detail": "full"})
    (item,) = answer.json()["result"]["structuredContent"]["items"]
    assert item["duration_ms"] == duration


PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=5), part, max_size=4),
    max_leaves=8,
)


@settings(deadline=None)  # a busy machine is slow at times
@given(st.dictionaries(st.text(max_size=5), PARTS, max_size=4))
def test_json_that_is_passed_on_is_what_the_sdk_writes(value: dict[str, Any]) -> None:
    try:
        text = msgspec.json.encode(value)
    except (ValueError, OverflowError):  # a lone surrogate, or an integer that no answer has
        return
    if is_portable_json(text.decode(), NEWEST):
        assert text == json.dumps(value, separators=(",", ":")).encode()
    if is_portable_json(text.decode(), OLDER[0]):
        assert text == pydantic_core.to_json(value)


def test_annotation_texts_beside_the_picture(world: World) -> None:
    ticket = create_capture(world)["ticket_id"]
    asset = ok(world.api.get(f"/tickets/{ticket}?include=capture"))["capture"]["screenshot"]["id"]
    box = {"x": 1, "y": 1, "width": 5, "height": 5}
    marks = [
        {"kind": "text", "geometry": {"x": 2, "y": 2, "size": 9}, "text": "日本語"},
        {"kind": "rectangle", "geometry": box, "text": "Größe"},
        {"kind": "ellipse", "geometry": box, "text": ""},
    ]
    ok(world.api.put(f"/assets/{asset}/annotations", json={"annotations": marks}))
    token = world.owner.token("read")
    for _ in range(2):  # drawn, and from the stored preview
        for name, arguments in (
            ("get_screenshot", {"annotated": True, "max_side": 1568}),
            ("get_screenshot", {"annotated": True}),
            ("get_ticket", {"include": ["capture"]}),
        ):
            result = call(world, token, name, {"ticket_id": ticket, **arguments}).json()["result"]
            content = result["content"]
            assert "structuredContent" not in result
            assert [part["type"] for part in content] == ["text", "image", "text"]
            assert json.loads(content[2]["text"]) == {"annotation_texts": ["日本語", "Größe"]}
    content = call(world, token, "get_screenshot", {"ticket_id": ticket}).json()["result"]["content"]
    assert [part["type"] for part in content] == ["text", "image"]


def test_the_tool_list_of_each_scope(world: World) -> None:
    for scopes in (["read"], ["comments"], ["tickets:assign"], list(ALL)):
        token = world.owner.token(*scopes)
        same(world, token, "tools/list")
        same(world, token, "tools/list", id="again")


def test_tool_errors(world: World) -> None:
    token = world.owner.token("read")
    call(world, token, "get_ticket", {"ticket_id": "t-zzzzzzzz"})
    call(world, token, "get_ticket", {"nonsense": 1})
    call(world, token, "get_ticket", None)
    call(world, token, "get_ticket", [])
    call(world, token, "list_tickets", {"limit": 2**70})
    call(world, token, "list_tickets", {"limit": 1e300})
    assert call(world, token, "create_ticket", {"title": "x"}).status_code == 403
    assert call(world, token, "drop_everything", {}).status_code == 400
    assert call(world, "tok_nonsense", "get_ticket", {}).status_code == 401


def test_an_unexpected_error_keeps_its_text_in_the_log(world: World) -> None:
    capture = create_capture(world)["capture_id"]
    console = "SELECT console FROM capture WHERE public_id = ?"
    with contextlib.closing(sqlite3.connect(world.box.db)) as connection:
        (blob, data) = connection.execute(f"SELECT id, data FROM blob WHERE id = ({console})", (capture,)).fetchone()
        with connection:
            connection.execute("UPDATE blob SET data = x'00' WHERE id = ?", (blob,))
        answer = call(world, world.owner.token("read"), "get_console", {"capture_id": capture})
        with connection:  # captures with the same content share the blob
            connection.execute("UPDATE blob SET data = ? WHERE id = ?", (data, blob))
    assert answer.json()["error"] == {"code": -32603, "message": BROKEN}


@pytest.mark.parametrize(
    "parts",
    [
        {"id": "text \u00fc \U0001f600"}, {"id": 0}, {"id": -1}, {"id": 2**60}, {"id": 1.5}, {"id": None}, {"id": True},
        {"id": []}, {"result": {}}, {"error": {}}, {"params": {"task": {"ttl": 1}}}, {"params": {"x": 1}},
        {"jsonrpc": "1.0"}, {"jsonrpc": None}, {"extra": 1}, {"params": {"_meta": {}}},
        {"params": {"_meta": {**META, "progressToken": 7}}}, {"params": {"_meta": {**META, "progressToken": []}}},
        {"params": {"cursor": "x"}}, {"params": {"cursor": 7}},
        {"params": {"_meta": {**META, "io.modelcontextprotocol/clientInfo": 7}}},
        {"params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2026-07-29"}}},
        {"params": {"_meta": {**META, "io.modelcontextprotocol/logLevel": "loud"}}},
        {"params": {"_meta": {**META, "io.modelcontextprotocol/clientCapabilities": 7}}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_valid_and_invalid_envelopes(world: World, parts: dict[str, Any]) -> None:
    token = world.owner.token("read")
    same(world, token, "tools/list")
    same(world, token, "tools/list", **parts)
    params = {"name": "whoami", "arguments": {}, **parts.get("params", {})}
    arguments = {**params, "name": "list_companies"}
    same(world, token, "tools/call", **{**parts, "params": arguments})


def test_no_tool_reads_an_argument_from_a_header() -> None:
    """The fast path omits the SDK's check of `Mcp-Param-*` headers, which concerns only such tools."""
    schemas = json.dumps([card.input_schema for card in tools.get_tool_cards(load_registry()).values()])
    assert "x-mcp-header" not in schemas


@pytest.mark.parametrize("params", [None, [], 7, {}, {"_meta": None}, {"_meta": 7}])
def test_older_messages_with_unusual_parameters(world: World, params: Any) -> None:
    token = world.owner.token("read")
    for version in OLDER:
        for method in ("tools/list", "tools/call"):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            headers = {"Authorization": f"Bearer {token}", **({"Mcp-Protocol-Version": version} if version else {})}
            sdk, fast = (
                world.box.client(None, **headers, **how).post(f"{world.box.url}/mcp", json=message)
                for how in (SDK, FAST)
            )
            assert (fast.status_code, fast.content) == (sdk.status_code, sdk.content)


def test_list_without_parameters_and_unknown_revisions(world: World) -> None:
    token = world.owner.token("read")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for version in ("2025-11-25", "2025-03-26", "2023-01-01", "nonsense"):
        headers = {"Authorization": f"Bearer {token}", "Mcp-Protocol-Version": version}
        sdk, fast = (
            world.box.client(None, **headers, **how).post(f"{world.box.url}/mcp", json=message) for how in (SDK, FAST)
        )
        assert (fast.status_code, fast.content) == (sdk.status_code, sdk.content)


@pytest.mark.parametrize("version", VERSIONS)
def test_usual_messages_take_the_fast_path(version: str) -> None:
    """Otherwise the comparisons above would compare the SDK with itself."""
    path = FastPath(load_registry(), cast(Any, None), cast(Any, None), Server("ticketbox"))
    for method, params in (("tools/list", {}), ("tools/call", {"name": "whoami", "arguments": {}})):
        headers = {"accept": ACCEPT["Accept"], "content-type": "application/json"}
        if version:
            headers["mcp-protocol-version"] = version
        if version == NEWEST:
            headers |= {"mcp-method": method, "mcp-name": params.get("name", "")}
        meta = {"_meta": META} if version == NEWEST else {}
        scope = {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}
        found = path.read(scope, message)
        assert found is not None
        assert found.version == (version or "2025-03-26")
        assert path.read({"headers": [*scope["headers"], (b"accept", b"*/*")]}, message) is None

"""The MCP endpoint over plain HTTP: statuses, headers, and invalid messages."""

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import ACCEPT, MESSAGE, NEWEST, modern, post
from tests.support.oauth_app import App
from tests.support.operation_cases import update_row
from tests.support.server import World, eventually, ok
from ticketbox.domain.accounts.secrets import generate_secret, hash_secret
from ticketbox.mcp.endpoint import MAX_MESSAGE

ALL = 'scope="read comments tickets:write tickets:assign"'


def test_unauthorized_call_gets_an_http_status_with_a_json_rpc_error(world: World) -> None:
    answer = post(world)
    assert answer.status_code == 401
    assert (answer.json()["id"], answer.json()["error"]["data"]["code"]) == (7, "unauthorized")
    assert f'resource_metadata="{world.box.url}/.well-known/' in answer.headers["www-authenticate"]
    call = {**MESSAGE, "method": "tools/call", "params": {"name": "create_ticket", "arguments": {}}}
    answer = post(world, call, Authorization=f"Bearer {world.owner.token('read')}")
    assert answer.status_code == 403
    assert answer.json()["error"]["data"]["scope"] == "tickets:write"
    assert 'error="insufficient_scope", scope="tickets:write"' in answer.headers["www-authenticate"]


def challenge(answer: httpx.Response) -> str:
    """What a 401 asks for."""
    assert answer.status_code == 401, answer.text
    return answer.headers["www-authenticate"]


def test_challenge_distinguishes_an_invalid_token_from_none(world: World) -> None:
    """RFC 6750, 3.1; RFC 9728, 5.1."""
    token = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    expired = world.owner.token("read")
    update_row(world.box.db, "UPDATE credential SET expires_at = 1 WHERE secret_hash = ?", hash_secret(expired))
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))
    guards = f'Bearer realm="ticketbox", resource_metadata="{world.box.url}/.well-known/oauth-protected-resource'
    for secret in (token["secret"], expired, generate_secret(), "tok_garbled", "nonsense"):
        answer = post(world, Authorization=f"Bearer {secret}")
        assert challenge(answer) == f'{guards}/mcp", {ALL}, error="invalid_token"'
        assert challenge(world.box.client(secret).get("/me")) == f'{guards}/api", error="invalid_token"'
    cookie = f"{world.box.cookie}={generate_secret()}"
    for headers in ({}, {"Authorization": "Basic eDp5"}, {"Cookie": cookie}):
        assert challenge(post(world, **headers)) == f'{guards}/mcp", {ALL}'
        assert challenge(world.box.client(**headers).get("/me")) == f'{guards}/api"'
    assert challenge(world.box.client().get("/tickets")) == f'{guards}/api", scope="read"'


def test_expired_access_token_is_reported(world: World) -> None:
    app = App(world.box)
    secret = app.connect(world.owner)["access_token"]
    assert app.call(secret).status_code == 200
    update_row(
        world.box.db, "UPDATE oauth_secret SET expires_at = created_at WHERE secret_hash = ?", hash_secret(secret)
    )
    assert challenge(app.call(secret)).endswith(', error="invalid_token"')


def test_exhausted_budget_returns_429_with_headers(world: World) -> None:
    given = {"limits": {"reads_per_minute": 2, "writes_per_minute": 1}}
    ok(world.owner.web.patch(f"/companies/{world.company}", json=given))
    token = world.owner.token("read", company_id=world.company)
    answers = [post(world, Authorization=f"Bearer {token}") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.headers["retry_after"] == refused.headers["retry-after"]
    assert refused.json()["error"]["data"]["retry_after"] == int(refused.headers["retry-after"])
    assert 5 < int(refused.headers["retry-after"]) <= 30


def test_endpoint_statuses_for_methods_origins_and_hosts(world: World) -> None:
    token = world.owner.token("read")
    assert post(world, path="/mcp/", Authorization=f"Bearer {token}").status_code == 404
    for method in ("GET", "DELETE", "PUT"):
        answer = world.api.request(method, f"{world.box.url}/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert "streamable HTTP" in answer.json()["detail"]
    assert post(world, Authorization=f"Bearer {token}", Origin="https://evil.example").status_code == 403
    assert post(world, Authorization=f"Bearer {token}", Origin=world.box.url).status_code == 200
    assert post(world, Authorization=f"Bearer {token}", Host="evil.example").status_code == 421
    assert post(world, Cookie=f"{world.box.cookie}={world.owner.session}").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer tok_garbled"}, 401, "unauthorized"),
        ({"Authorization": "Basic eDp5"}, 401, "unauthorized"),
        ({"Host": "evil.example"}, 421, "misdirected_request"),
        ({"Origin": "https://evil.example"}, 403, "forbidden"),
        ({f"X-{number}": "x" for number in range(100)}, 400, "invalid_request"),
    ],
)
def test_request_that_is_refused_unread_gets_a_json_rpc_error(
    world: World, headers: dict[str, str], status: int, code: str
) -> None:
    answer = post(world, **headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["jsonrpc"], answer.json()["id"]) == ("2.0", None)
    assert answer.json()["error"]["data"]["code"] == code


def test_whitespace_after_a_header_value_is_ignored(world: World) -> None:
    host, _, port = world.box.url.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    headers = {"Authorization": f"Bearer {world.owner.token('read')}  ", "Content-Type": "application/json ", **ACCEPT}
    headers["Mcp-Protocol-Version"] += " "
    connection.request("POST", "/mcp", json.dumps(MESSAGE), headers)
    answer = connection.getresponse()
    assert (answer.status, b"whoami" in answer.read()) == (200, True)
    connection.close()


@pytest.mark.parametrize(
    "message",
    [[], "text", 7, {}, {"jsonrpc": "2.0"}, [MESSAGE], {**MESSAGE, "method": 5}, {**MESSAGE, "method": {}}],
)
def test_invalid_messages_are_rejected(world: World, message: Any) -> None:
    answer = post(world, message, Authorization=f"Bearer {world.owner.token('read')}")
    assert 400 <= answer.status_code < 500 or "error" in answer.json()
    assert "Traceback" not in answer.text


CREATE = {"name": "create_ticket", "arguments": {"title": "x"}}


def raw(world: World, body: bytes, token: str, **headers: str) -> httpx.Response:
    """A body as it stands."""
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **ACCEPT, **headers}
    return world.box.client(None, **sent).post(f"{world.box.url}/mcp", content=body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_ticket", "x": NaN}}',
        json.dumps({**MESSAGE, "method": "tools/call", "params": CREATE}).encode("utf-16"),
        json.dumps({**MESSAGE, "method": "tools/call", "params": CREATE, "x": "\ud800"}).encode(),
        b'{"jsonrpc": "2.0", "id": 1',
        b"\xff\xfe",
        b"[" * 100_000,
        b"",
    ],
    ids=["NaN", "UTF-16", "lone surrogate", "half", "bytes", "deep", "empty"],
)
def test_ambiguous_json_is_rejected(world: World, body: bytes) -> None:
    """Who may call is settled on what is read here; the SDK mustn't find another call in the same bytes."""
    newest = {"Mcp-Protocol-Version": NEWEST, "Mcp-Method": "tools/call", "Mcp-Name": "create_ticket"}
    for headers in ({}, newest):
        answer = raw(world, body, world.owner.token("read"), **headers)
        assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (400, -32700, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Mcp-Method": "tools/list"},
        {"Mcp-Name": "create_ticket"},
        {"Mcp-Protocol-Version": "2026-07-29"},
        {"Mcp-Method": ""},
    ],
)
def test_headers_that_contradict_the_body_are_rejected(world: World, wrong: dict[str, str]) -> None:
    token = f"Bearer {world.owner.token('read')}"
    call = {"name": "whoami", "arguments": {}}
    assert modern(world, "tools/call", call, Authorization=token).status_code == 200
    answer = modern(world, "tools/call", call, Authorization=token, **wrong)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_the_body_decides_which_tool_is_called(world: World) -> None:
    """The scope and the budget are those of the body's tool, on the older path too, which reads no such headers."""
    token = f"Bearer {world.owner.token('read')}"
    message = {**MESSAGE, "method": "tools/call", "params": CREATE}
    message_headers = {"Authorization": token, "Mcp-Method": "tools/call", "Mcp-Name": "whoami"}
    assert post(world, message, **message_headers).status_code == 403
    assert modern(world, "tools/call", CREATE, **message_headers).status_code == 403


def test_too_large_body_is_cut_off(world: World) -> None:
    token = world.owner.token("tickets:write")
    arguments = {"title": "x", "project_id": world.project, "description": "x" * MAX_MESSAGE}
    message = {**MESSAGE, "method": "tools/call", "params": {**CREATE, "arguments": arguments}}
    answer = raw(world, json.dumps(message).encode(), token)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (413, "payload_too_large")
    parts = (b" " * 65_536 for _ in range(MAX_MESSAGE // 65_536 + 1))
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **ACCEPT}
    answer = world.box.client(None, **sent).post(f"{world.box.url}/mcp", content=parts)
    assert answer.status_code == 413
    assert ok(world.api.get("/tickets", params={"project_id": world.project}))["items"] == []


def test_unknown_tools_and_methods_are_protocol_errors(world: World) -> None:
    headers = {"Authorization": f"Bearer {world.owner.token('read')}"}
    for ask in (post_call, modern):
        unknown = ask(world, "tools/call", {"name": "drop_everything", "arguments": {}}, **headers).json()["error"]
        assert (unknown["code"], unknown["message"]) == (-32602, "there is no tool 'drop_everything'; see tools/list")
        assert ask(world, "tools/drop", {}, **headers).json()["error"]["code"] == -32601


def post_call(world: World, method: str, params: dict[str, Any], **headers: str) -> httpx.Response:
    """The older generation's form of `modern`."""
    return post(world, {**MESSAGE, "method": method, "params": params}, **headers)


@pytest.mark.parametrize(
    "arguments", [[], "text", 7, {"ticket_id": []}, {"ticket_id": None}, {"ticket_id": "t-1" * 99}]
)
def test_invalid_arguments_are_reported_without_internals(world: World, arguments: Any) -> None:
    headers = {"Authorization": f"Bearer {world.owner.token('read')}"}
    for ask in (post_call, modern):
        answer = ask(world, "tools/call", {"name": "get_ticket", "arguments": arguments}, **headers).json()
        if "error" in answer:
            assert answer["error"]["code"] == -32602
        else:
            assert answer["result"]["isError"]
            assert answer["result"]["structuredContent"]["code"] in {"invalid_request", "not_found"}
        assert not {"Traceback", "pydantic", "msgspec"} & set(re.findall(r"\w+", json.dumps(answer)))


def test_no_stream_is_ever_opened(world: World) -> None:
    """The protocol's own stream (subscriptions/listen) isn't offered, so an answer ends with its request."""
    headers = {"Authorization": f"Bearer {world.owner.token('read')}"}
    filters = {"notifications": {"toolsListChanged": True}}
    answer = modern(world, "subscriptions/listen", filters, **headers)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["code"] == -32601


def test_token_revoked_during_a_call_prevents_it(world: World) -> None:
    """The credential is looked up again in the transaction that does the work."""
    token = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["tickets:write"]}))
    arguments = {"title": "x", "project_id": world.project}
    body = json.dumps({**MESSAGE, "method": "tools/call", "params": {**CREATE, "arguments": arguments}}).encode()

    def slowly() -> Iterator[bytes]:
        yield body[:40]
        ok(world.owner.web.delete(f"/tokens/{token['id']}"))
        yield body[40:]

    sent = {"Authorization": f"Bearer {token['secret']}", "Content-Type": "application/json", **ACCEPT}
    answer = world.box.client(None, **sent).post(f"{world.box.url}/mcp", content=slowly())
    assert challenge(answer).endswith('error="invalid_token"')
    assert ok(world.api.get("/tickets", params={"project_id": world.project}))["items"] == []


def test_revoked_token_is_rejected_from_the_next_call(world: World) -> None:
    token = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    headers = {"Authorization": f"Bearer {token['secret']}"}
    assert post(world, **headers).status_code == 200
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))
    assert post(world, **headers).status_code == 401


def test_endpoint_is_available_as_soon_as_the_server_responds(world: World) -> None:
    token = world.owner.token("read")
    assert eventually(lambda: post(world, Authorization=f"Bearer {token}").status_code == 200)

"""No request costs much processor time before it is refused (docs/use/limits.md, "Requests")."""

import asyncio
import json
import time
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from tests.support.mcp_client import ACCEPT, MESSAGE, call_tool
from tests.support.operation_cases import WRITING
from tests.support.server import World, expect_error, ok
from ticketbox.domain.core.problems import PayloadTooLarge
from ticketbox.edge.asgi import Message
from ticketbox.http.uploads import MAX_ENVELOPE, read_upload
from ticketbox.mcp.endpoint import MAX_MESSAGE
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.faults import MAX_MEMBERS
from ticketbox.operations.core.registry import MAX_JSON, MAX_PUBLIC_JSON

SECONDS = 0.5  # of processor time; a request that is refused in time needs a tenth
JSON = {"Content-Type": "application/json"}


def build_object(size: int) -> bytes:
    """Build a JSON object with as many members as fit in so many bytes."""
    members: list[str] = []
    room = size - 2
    for number in count():
        member = f'"apswordrs{number}":1'
        room -= len(member) + 1
        if room < 0:
            return f"{{{','.join(members)}}}".encode()
        members.append(member)
    raise AssertionError


def test_refusing_many_unknown_names_costs_little(world: World) -> None:
    body = build_object(MAX_JSON)
    public = build_object(MAX_PUBLIC_JSON)
    arguments = dict.fromkeys(json.loads(build_object(MAX_MESSAGE - 10_000)), 1)
    secret = world.owner.token(*WRITING)
    assert call_tool(world, secret, "create_ticket", {})["isError"]  # the SDK is loaded
    before = world.box.processor_s
    for path in ("/session", "/session/passkey", "/session/passkey/options", "/invitations/accept/x"):
        expect_error(world.box.client().post(path, content=public, headers=JSON), 400, "invalid_request")
        expect_error(world.box.client().post(path, content=body, headers=JSON), 413, "payload_too_large")
    refused = expect_error(world.api.post("/tickets", content=body, headers=JSON), 400, "invalid_request")
    assert f"up to {MAX_MEMBERS:,} members" in refused["detail"]
    result = call_tool(world, secret, "create_ticket", arguments)
    assert f"up to {MAX_MEMBERS:,} arguments" in result["content"][0]["text"]
    assert world.box.processor_s - before < SECONDS


def test_body_without_a_credential_is_limited_by_its_operation(world: World) -> None:
    """Also where a credential is required: it is refused before the body is decoded."""
    padding = b'{"email": "a@example.org", "password": "%b"}'
    client = world.box.client()
    fits, exceeds = (padding % (b"x" * (MAX_PUBLIC_JSON - len(padding) + 2 + more)) for more in (0, 1))
    expect_error(client.post("/session", content=fits, headers=JSON), 400, "invalid_request")
    expect_error(client.post("/session", content=exceeds, headers=JSON), 413, "payload_too_large")
    expect_error(client.post("/tickets", content=fits, headers=JSON), 401, "unauthorized")
    before = world.box.processor_s
    for _ in range(5):
        expect_error(client.post("/tickets", content=build_object(MAX_JSON), headers=JSON), 401, "unauthorized")
    assert world.box.processor_s - before < SECONDS
    registration = {"redirect_uris": ["https://app.example/"], "client_name": "x" * 40_000}
    assert httpx.post(f"{world.box.url}/oauth/register", json=registration).status_code == 413


def test_deeply_nested_text_is_no_list(world: World) -> None:
    call = {"name": "create_ticket", "arguments": {"title": "x", "project_id": world.project, "labels": "[" * 100_000}}
    client = world.box.client(world.owner.token(*WRITING), **ACCEPT)
    answer = ok(client.post(f"{world.box.url}/mcp", json={**MESSAGE, "method": "tools/call", "params": call}))
    assert answer["result"]["isError"]


def test_part_in_tiny_pieces_costs_little() -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="capture"\r\n\r\n'
    pieces = iter([head, *[b"12345678"] * (MAX_ENVELOPE // 8), b"9"])

    async def receive() -> Message:
        return {"type": "http.request", "body": next(pieces), "more_body": True}

    scope = {"headers": [(b"content-type", b"multipart/form-data; boundary=x")]}
    services = cast(Any, SimpleNamespace(min_upload_rate=0))
    before = time.process_time()
    with pytest.raises(PayloadTooLarge):
        asyncio.run(read_upload(load_registry()["create_capture"], scope, receive, services))
    assert time.process_time() - before < 20 * SECONDS

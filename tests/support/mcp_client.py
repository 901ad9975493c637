"""An agent that speaks MCP: with the SDK's client, and with plain HTTP where the manners of the endpoint count."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.pictures import png
from tests.support.server import World, ok

T = TypeVar("T")

NEWEST = "2026-07-28"
GENERATIONS = ["legacy", NEWEST]
ALL = ("tickets:write", "tickets:assign")
EVERY_TOOL = "/mcp?tools=all"


def talk(
    world: World, mode: str, work: Callable[[Client], Awaitable[T]], token: str | None = None, path: str = EVERY_TOOL
) -> T:
    """Connect as an agent would, with a token that may do everything unless another is given."""
    secret = token or world.owner.token(*ALL)

    async def run() -> T:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{world.box.url}{path}", http_client=http, terminate_on_close=False)
            async with Client(transport, mode=mode) as client:
                return await work(client)

    return asyncio.run(run())


def talk_over_stdio(
    mode: str,
    environment: dict[str, str],
    log: Path,
    work: Callable[[Client], Awaitable[T]],
    *options: str,
    folder: Path | None = None,
) -> T:
    """Start the local server in this folder with this environment and these options, and talk to it."""
    compiled = {name: value for name, value in os.environ.items() if name == "PYTHONPYCACHEPREFIX"}
    given = {"PATH": os.environ["PATH"], "HOME": str(log.parent), **compiled, **environment}
    command = ["-m", "ticketbox", "mcp", *options]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=given, cwd=folder)

    async def run() -> T:
        with log.open("a") as stderr:
            async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
                return await work(client)

    return asyncio.run(run())


def create_capture(world: World, screenshot: bytes | None = None, **streams: list[dict[str, Any]]) -> dict[str, str]:
    """A ticket with a capture that has one of everything, or what is given instead; the receipt."""
    health = {name: {"status": "ok", "captured": 1} for name in ("console", "network", "errors", "actions")}
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
    actions = [{"seq": 1, "ts": 1_795_253_399_400.0, "kind": "click", "target": {"role": "button", "name": "Pay"}}]
    parts = {
        "capture": json.dumps(envelope).encode(),
        "console": json.dumps(streams.get("console", console)).encode(),
        "network": json.dumps(streams.get("network", network)).encode(),
        "errors": json.dumps(errors).encode(),
        "actions": json.dumps(streams.get("actions", actions)).encode(),
        "screenshot": screenshot or png(2000, 1000),
    }
    return ok(world.api.post("/captures", files={name: (name, data) for name, data in parts.items()}))


MESSAGE = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}


def post(world: World, message: Any = MESSAGE, path: str = "/mcp", **headers: str) -> httpx.Response:
    """A plain HTTP request to the endpoint, of the older generation."""
    client = world.box.client(None, **ACCEPT, **headers)
    return client.post(f"{world.box.url}{path}", json=message)


def modern(world: World, method: str, params: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
    """A plain HTTP request of the newest generation, whose headers repeat what the body says (SEP-2243)."""
    about = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**(params or {}), "_meta": about}}
    said = {"Mcp-Protocol-Version": NEWEST, "Mcp-Method": method}
    if name := (params or {}).get("name"):
        said["Mcp-Name"] = name
    client = world.box.client(None, **{**ACCEPT, **said, **headers})
    return client.post(f"{world.box.url}/mcp", json=message)


def call_tool(world: World, token: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool call, as the newest generation has it on the wire."""
    answer = modern(world, "tools/call", {"name": name, "arguments": arguments}, Authorization=f"Bearer {token}")
    return ok(answer)["result"]


def attach(world: World, ticket: str, name: str, data: bytes) -> str:
    """Attach a file to a ticket; its id."""
    return ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": (name, data)}))["id"]

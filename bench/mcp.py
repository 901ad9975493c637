"""MCP calls against the SDK's own server with an empty tool: `uv run --group dev python -m bench.mcp --tickets 1000`.

get_ticket (without a picture) and tools/list, at both protocol generations, are asked of ticketbox and of the
SDK's own application in turn, for some rounds; get_ticket of REST stands beside them. Ratios are to the SDK's server
in the same round and generation; its list has one tool, ours all of them.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import get
from bench.machine import describe, table
from bench.reads import Round, one_round
from bench.seed import Seeded, seed
from bench.serving import ROOT, Server, running, ticketbox

NEWEST, OLDER = "2026-07-28", "2025-11-25"
SDK = "SDK, one empty tool"
EMPTY: list[tuple[str, dict[str, Any]]] = [("empty", {})]
HEAD = ("question", "generation", "clients", "server", "requests/s", "p50 ms", "p99 ms", "CPU µs", "ratio", "of CPU")


class Side(NamedTuple):
    """One server with what it is asked."""

    name: str
    server: Server
    requests: list[bytes]


def message(server: Server, generation: str, method: str, params: dict[str, Any], token: str) -> bytes:
    """One MCP message as a request of its own."""
    headers = [
        "POST /mcp HTTP/1.1", f"Host: {server.host}", f"Authorization: Bearer {token}",
        "Content-Type: application/json", "Accept: application/json, text/event-stream",
        f"Mcp-Protocol-Version: {generation}",
    ]  # fmt: skip
    given = dict(params)
    if generation == NEWEST:
        about = {"protocolVersion": NEWEST, "clientCapabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        given["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}
        headers.append(f"Mcp-Method: {method}")
        headers += [f"Mcp-Name: {params['name']}"] if "name" in params else []
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}).encode()
    return "\r\n".join([*headers, f"Content-Length: {len(body)}", "", ""]).encode() + body


def calls(server: Server, generation: str, tools: list[tuple[str, dict[str, Any]]], token: str) -> list[bytes]:
    """Calls of tools, one after the other."""
    return [
        message(server, generation, "tools/call", {"name": name, "arguments": given}, token) for name, given in tools
    ]  # fmt: skip


def sides(question: str, generation: str, ours: Server, theirs: Server, seeded: Seeded) -> list[Side]:
    """Who is asked what."""
    token = seeded.token
    if question == "tools/list":
        return [
            Side("ticketbox", ours, [message(ours, generation, question, {}, token)]),
            Side(SDK, theirs, [message(theirs, generation, question, {}, token)]),
        ]
    tickets = [("get_ticket", {"ticket_id": ticket}) for ticket in seeded.tickets]
    return [
        Side("ticketbox", ours, calls(ours, generation, tickets, token)),
        Side(SDK, theirs, calls(theirs, generation, EMPTY, token)),
        Side("ticketbox, REST", ours, [get(f"/api/v1/tickets/{each}", ours.host, token) for each in seeded.tickets]),
    ]


def compare(question: str, generation: str, clients: int, asked: list[Side], given: Any) -> list[list[object]]:
    """One question, asked of every side in turn; a row of the table for each."""
    for side in asked:
        one_round(side.server, side.requests, clients, 0.5)
    found: dict[str, list[Round]] = {side.name: [] for side in asked}
    for _ in range(given.rounds):
        for side in asked:
            found[side.name].append(one_round(side.server, side.requests, clients, given.seconds))
    base = found[SDK]
    return [
        [
            question, generation, clients, name,
            statistics.median(run.sample.rate for run in runs),
            statistics.median(run.sample.p50 for run in runs),
            statistics.median(run.sample.p99 for run in runs),
            min(run.cpu for run in runs),
            statistics.median(run.sample.rate / other.sample.rate for run, other in zip(runs, base, strict=True)),
            min(run.cpu for run in base) / min(run.cpu for run in runs),
        ]
        for name, runs in found.items()
    ]  # fmt: skip


@contextlib.contextmanager
def empty() -> Generator[Server]:
    """The SDK's own application with one tool that does nothing."""
    with running(["-m", "bench.mcp", "--serve-empty"], ROOT) as server:
        yield server


async def serve_empty() -> None:
    """Serve it, as the SDK does, without its access log."""
    import mcp_types as types
    import uvicorn
    from mcp.server.lowlevel import Server as Protocol

    schema = {"type": "object"}
    tool = types.Tool(name="empty", description="Nothing.", input_schema=schema)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[])

    server: Protocol[Any] = Protocol(
        "empty",
        version="1",
        get_tool_input_schema=lambda name: schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    application = server.streamable_http_app(json_response=True, stateless_http=True)
    config = uvicorn.Config(application, host="127.0.0.1", port=0, access_log=False, log_level="warning")
    listener = config.bind_socket()
    print(f"the SDK at http://127.0.0.1:{listener.getsockname()[1]}")
    await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve-empty", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tickets", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16])
    given = parser.parse_args()
    if given.serve_empty:
        import uvloop

        uvloop.install()
        asyncio.run(serve_empty())
        return
    seeded = seed(given.folder / f"{given.tickets}.db", given.tickets)
    print(describe(), f"{given.tickets:,} tickets, {given.rounds} rounds of {given.seconds} s\n", sep="\n")
    rows: list[list[object]] = []
    with ticketbox(seeded.db) as ours, empty() as theirs:
        for question in ("tools/call get_ticket", "tools/list"):
            for generation in (NEWEST, OLDER):
                for clients in given.clients:
                    asked = sides(question, generation, ours, theirs, seeded)
                    rows += compare(question, generation, clients, asked, given)
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()

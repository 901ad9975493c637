"""MCP calls, compared with the SDK's server: `uv run --group dev python -m bench.mcp --tickets 1000`.

Each round sends get_ticket (without a picture) and tools/list, in both protocol generations, to ticketbox, to the SDK's
own server as `MCPServer.run` serves it, and to the SDK's bare application; and get_ticket over REST. Both of the SDK
have one tool that does nothing. The bare application is the low-level server without the tool manager and the access
log, on uvloop: the least that the SDK can cost. Ratios are to it in the same round and generation.
"""

import argparse
import contextlib
import json
import os
import socket
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import get
from bench.launch import ROOT, Server, launch, launch_ticketbox
from bench.machine import describe_machine, format_table
from bench.reads import Round, run_round
from bench.seed import SeededFile, seed

NEWEST, OLDER = "2026-07-28", "2025-11-25"
SDK = "SDK's server"
BARE = "SDK's bare application"
EMPTY: list[tuple[str, dict[str, Any]]] = [("empty", {})]
HEAD = ("request", "generation", "clients", "server", "requests/s", "p50 ms", "p99 ms", "CPU µs", "ratio", "of CPU")


class Contender(NamedTuple):
    """A server with the requests to send to it."""

    name: str
    server: Server
    requests: list[bytes]


def message(server: Server, generation: str, method: str, params: dict[str, Any], token: str) -> bytes:
    """Build the HTTP request of one MCP message."""
    headers = [
        "POST /mcp HTTP/1.1", f"Host: {server.host}", f"Authorization: Bearer {token}",
        "Content-Type: application/json", "Accept: application/json, text/event-stream",
        f"Mcp-Protocol-Version: {generation}",
    ]  # fmt: skip
    parameters = dict(params)
    if generation == NEWEST:
        client = {"protocolVersion": NEWEST, "clientCapabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        parameters["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in client.items()}
        headers.append(f"Mcp-Method: {method}")
        headers += [f"Mcp-Name: {params['name']}"] if "name" in params else []
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
    return "\r\n".join([*headers, f"Content-Length: {len(body)}", "", ""]).encode() + body


def calls(server: Server, generation: str, tools: list[tuple[str, dict[str, Any]]], token: str) -> list[bytes]:
    """Build the requests of tool calls."""
    return [
        message(server, generation, "tools/call", {"name": name, "arguments": arguments}, token)
        for name, arguments in tools
    ]


def contenders(request: str, generation: str, servers: Mapping[str, Server], seeded: SeededFile) -> list[Contender]:
    """Return the servers to compare and what to send to them."""
    token, ours = seeded.token, servers["ticketbox"]
    if request == "tools/list":
        return [
            Contender(name, server, [message(server, generation, request, {}, token)])
            for name, server in servers.items()
        ]
    tickets = [("get_ticket", {"ticket_id": ticket}) for ticket in seeded.tickets]
    return [
        *(
            Contender(name, server, calls(server, generation, tickets if server is ours else EMPTY, token))
            for name, server in servers.items()
        ),
        Contender(
            "ticketbox, REST", ours, [get(f"/api/v1/tickets/{each}", ours.host, token) for each in seeded.tickets]
        ),
    ]


def compare(
    request: str, generation: str, clients: int, contenders: list[Contender], options: Any
) -> list[list[object]]:
    """Send a request to every contender in each round; return a row of the table for each."""
    for contender in contenders:
        run_round(contender.server, contender.requests, clients, 0.5)
    results: dict[str, list[Round]] = {contender.name: [] for contender in contenders}
    for _ in range(options.rounds):
        for contender in contenders:
            results[contender.name].append(run_round(contender.server, contender.requests, clients, options.seconds))
    base = results[BARE]
    return [
        [
            request, generation, clients, name,
            statistics.median(run.sample.rate for run in runs),
            statistics.median(run.sample.p50 for run in runs),
            statistics.median(run.sample.p99 for run in runs),
            min(run.cpu for run in runs),
            statistics.median(run.sample.rate / other.sample.rate for run, other in zip(runs, base, strict=True)),
            min(run.cpu for run in base) / min(run.cpu for run in runs),
        ]
        for name, runs in results.items()
    ]  # fmt: skip


def serve_as_documented() -> None:
    """Serve a tool that does nothing with the SDK's server: stateless and with JSON, as its guide advises."""
    from mcp.server import MCPServer

    server = MCPServer("empty")

    @server.tool()
    def empty() -> None:
        """Nothing."""

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    print(f"the SDK at http://127.0.0.1:{port}")
    os.dup2(2, 1)  # nobody reads its log
    server.run("streamable-http", port=port, stateless_http=True, json_response=True)


async def serve_bare() -> None:
    """Serve a tool that does nothing with the SDK's low-level server, without an access log."""
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
    parser.add_argument("--serve", choices=[SDK, BARE], help=argparse.SUPPRESS)
    parser.add_argument("--tickets", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16])
    options = parser.parse_args()
    if options.serve == SDK:
        serve_as_documented()
    elif options.serve == BARE:
        import uvloop

        uvloop.run(serve_bare())
    else:
        compare_servers(options)


def compare_servers(options: argparse.Namespace) -> None:
    """Measure every request and print a table."""
    seeded = seed(options.folder / f"{options.tickets}.db", options.tickets)
    print(
        describe_machine(), f"{options.tickets:,} tickets, {options.rounds} rounds of {options.seconds} s\n", sep="\n"
    )
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = {"ticketbox": stack.enter_context(launch_ticketbox(seeded.db))}
        for name in (SDK, BARE):
            servers[name] = stack.enter_context(launch(["-m", "bench.mcp", "--serve", name], ROOT))
        for request in ("tools/call get_ticket", "tools/list"):
            for generation in (NEWEST, OLDER):
                for clients in options.clients:
                    compared = contenders(request, generation, servers, seeded)
                    rows += compare(request, generation, clients, compared, options)
    print(format_table(HEAD, rows))


if __name__ == "__main__":
    main()

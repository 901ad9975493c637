"""MCP calls, beside the same read over REST: `uv run --group dev python -m bench.mcp --tickets 1000`.

Each round sends get_ticket and tools/list, in both protocol generations, to this checkout and to each `--tree`. The
ratio is that of this checkout's requests a second to the other's in the same round.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from bench.client import get
from bench.launch import Server, launch_contenders
from bench.machine import describe_machine, format_table
from bench.reads import HEAD, compare
from bench.seed import SeededFile

NEWEST, OLDER = "2026-07-28", "2025-11-25"


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


def build_requests(request: str, generation: str, server: Server, seeded: SeededFile) -> list[bytes]:
    """Build the messages of a request; those of `get_ticket, REST` are no MCP."""
    if request == "tools/list":
        return [message(server, generation, request, {}, seeded.token)]
    if request == "get_ticket, REST":
        return [get(f"/api/v1/tickets/{ticket}", server.host, seeded.token) for ticket in seeded.tickets]
    return [
        message(server, generation, "tools/call", {"name": request, "arguments": {"ticket_id": ticket}}, seeded.token)
        for ticket in seeded.tickets
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    options = parser.parse_args()
    print(
        describe_machine(), f"{options.tickets:,} tickets, {options.rounds} rounds of {options.seconds} s\n", sep="\n"
    )
    rows: list[list[object]] = []
    with launch_contenders(options.folder, options.tickets, options.tree) as contenders:
        for request, generation in (
            *((request, generation) for request in ("get_ticket", "tools/list") for generation in (NEWEST, OLDER)),
            ("get_ticket, REST", ""),
        ):
            requests = {name: build_requests(request, generation, *each) for name, each in contenders.items()}
            for clients in options.clients:
                label = f"{request} {generation}".strip()
                rows += compare(label, contenders, requests, clients, options.rounds, options.seconds)
    print(format_table(HEAD, rows))


if __name__ == "__main__":
    main()

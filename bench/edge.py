"""What the edge adds to a request, for each tree and public URL: `uv run --group dev python -m bench.edge --tree PATH`.

Each tree is measured without a path, and this one also under one. Each variant is a process that sends requests
through `Edge` to an application with a fixed answer, without a network and the log. They send slices of requests
alternately, in each round in another order. Figures are processor time, so a busy machine changes them little.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from bench.launch import ROOT
from bench.machine import SERVER_CORE, describe_machine, format_table, pin_to_core

PATHS = ("", "/tickets")
NAME = "https://www.example.org"


def serve_rounds(public_url: str) -> None:
    """Print the microseconds of a request for each number of requests that is read."""
    from ticketbox.domain.accounts.secrets import generate_secret
    from ticketbox.domain.core.fairness.limits import RateLimiter
    from ticketbox.edge.edge import Edge
    from ticketbox.edge.site import Site

    async def application(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        assert message.get("status", 200) == 200

    site = Site(public_url, frozenset({"www.example.org"}), any_address=False, secure=True)
    edge = Edge(application, site, RateLimiter(time.monotonic))
    path = f"{public_url.removeprefix(NAME)}/api/v1/tickets/t-12345678"
    credential = f"Bearer {generate_secret()}".encode()
    headers = [(b"host", b"www.example.org"), (b"authorization", credential), (b"accept", b"*/*")]
    template = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "https", "path": path,
        "raw_path": path.encode(), "query_string": b"", "client": ("127.0.0.1", 4), "server": ("127.0.0.1", 8420),
        "headers": headers, "root_path": "", "state": {},
    }  # fmt: skip

    async def run(count: int) -> float:
        started = time.thread_time()
        for _ in range(count):
            await edge({**template}, receive, send)
        return (time.thread_time() - started) / count * 1e6

    for line in sys.stdin:
        print(asyncio.run(run(int(line))), flush=True)


def start(tree: Path, path: str) -> "subprocess.Popen[str]":
    """Start the process of a variant."""
    environment = {**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(Path(__file__)), "--public-url", NAME + path]
    with pin_to_core(SERVER_CORE):
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=tree,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def ask(process: "subprocess.Popen[str]", count: int) -> float:
    """Let a variant send requests; return the microseconds of one."""
    stdin: IO[str] | None = process.stdin
    assert stdin is not None
    assert process.stdout is not None
    stdin.write(f"{count}\n")
    stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--requests", type=int, default=1_000, help="in each slice")
    parser.add_argument("--public-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.public_url is not None:
        serve_rounds(options.public_url)
        return
    variants = {("ticketbox", path): start(ROOT, path) for path in PATHS}
    variants |= {(tree.name, ""): start(tree, "") for tree in options.tree}
    results: dict[tuple[str, str], list[float]] = {variant: [] for variant in variants}
    for each in variants.values():
        ask(each, options.requests)
    order = list(variants)
    for _ in range(options.rounds):
        random.shuffle(order)
        for variant in order:
            results[variant].append(ask(variants[variant], options.requests))
    for each in variants.values():
        each.kill()
        each.wait()
    base = results["ticketbox", ""]
    rows = [
        [name, path or "none", min(times), statistics.median(times),
         statistics.median(mine / other for mine, other in zip(times, base, strict=True)), min(times) / min(base)]
        for (name, path), times in results.items()
    ]  # fmt: skip
    print(describe_machine(), f"{options.rounds} rounds of {options.requests:,} requests\n", sep="\n")
    print(format_table(("tree", "path", "lowest µs", "median µs", "median ratio", "ratio of lowest"), rows))


if __name__ == "__main__":
    main()

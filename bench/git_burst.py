"""10,000 signed git deliveries in bursts: `uv run --group dev python -m bench.git_burst`, about five minutes.

A process sends pull requests to the git hook of one project over 16 connections. Meanwhile somebody of another company
reads, lists and creates tickets. Calm phases and bursts alternate; a burst ends when its deliveries are applied. The
server has one core and the clients the other. The exit status is 1 if a delivery was refused or a link is missing.
"""

import argparse
import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import httpx

from bench.machine import CLIENT_CORE, SERVER_CORE, describe_machine, pin_to_core
from bench.report_flood import BURSTS, CALM_S, Latencies, format_calls, raise_limits, use_tickets
from tests.support.git_payloads import build_headers, build_pull_request, encode
from tests.support.server import World, ok, run_server
from ticketbox.domain.git.signatures import Provider

CONNECTIONS = 16
TICKETS = 10
PULL_REQUESTS = 500


def deliver(url: str, secret: str, keys: list[str], numbers: list[int]) -> Counter[int]:
    """Send signed deliveries about these tickets; count the answers by status."""
    counts = Counter[int]()
    os.nice(10)  # the other client of this core is the one that is measured

    def send(part: list[int]) -> None:
        with httpx.Client(timeout=120) as client:
            for number in part:
                body = encode(build_pull_request(f"{keys[number % TICKETS]} {number}", number=number % PULL_REQUESTS))
                headers = build_headers(Provider.GITHUB, secret, body, "pull_request")
                counts[client.post(url, content=body, headers=headers).status_code] += 1

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(send, [numbers[start::CONNECTIONS] for start in range(CONNECTIONS)]))
    return counts


def is_applied(db: Path, sending: "Future[Counter[int]]") -> bool:
    """Whether all was sent, and no delivery waits."""
    if not sending.done():
        return False
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as file:
        return file.execute("SELECT count(*) FROM git_delivery WHERE news IS NOT NULL").fetchone()[0] == 0


def main() -> None:
    """Send, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deliveries", type=int, default=10_000)
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    calm: Latencies = {}
    burst: Latencies = {}
    counts = Counter[int]()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with pin_to_core(SERVER_CORE):
            box = stack.enter_context(run_server(folder))
        world, other = World(box), World(box, "Bo")
        raise_limits(world, other)
        hook = ok(world.owner.web.post(f"/projects/{world.project}/git-hooks", json={"name": "shop/web"}))
        tickets = [world.ticket() for _ in range(TICKETS)]
        created = [other.ticket()["id"]]
        with pin_to_core(CLIENT_CORE), ProcessPoolExecutor(1) as pool:
            for number in range(BURSTS):
                end = time.monotonic() + CALM_S
                use_tickets(other, calm, created, lambda end=end: time.monotonic() > end)
                part = list(range(number, options.deliveries, BURSTS))
                began = time.perf_counter()
                sending = pool.submit(deliver, hook["url"], hook["secret"], [each["key"] for each in tickets], part)
                use_tickets(other, burst, created, lambda it=sending: is_applied(box.db, it))
                counts += sending.result()
                print(f"{len(part) / (time.perf_counter() - began):.0f} deliveries/s, applied", flush=True)
        linked = sum(len(ok(world.api.get(f"/tickets/{each['id']}"))["git_links"]) for each in tickets)
    print(format_calls(calm, burst))
    print(f"answers {dict(counts)}; load average at the end {os.getloadavg()[0]:.1f}")
    if counts != {202: options.deliveries} or linked != min(PULL_REQUESTS, options.deliveries):
        sys.exit(f"{linked} links")


if __name__ == "__main__":
    main()

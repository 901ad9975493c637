"""10,000 reports of strangers in bursts: `uv run --group dev python -m bench.report_flood`, about five minutes.

A process sends reports to one project with ten public keys, over eight connections and from as many addresses as there
are reports; the operator's ceilings are raised, so that every report is accepted. Meanwhile somebody of another company
reads, lists and creates tickets. Calm and burst phases alternate. The server has one core and the clients the other.
Then the inbox, the list and the board of the project are timed, which were timed on the empty project before. The exit
status is 1 if something was lost or somebody was notified.
"""

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from bench.machine import CLIENT_CORE, SERVER_CORE, describe_machine, format_table, pin_to_core
from tests.support.server import World, ok, run_server

KEYS = 10
CONNECTIONS = 8
BURSTS = 4
CALM_S = 15
PAUSE_S = 0.02
ARGUMENTS = (
    "--max-reports-per-minute", "10000", "--max-reports-per-day", "100000", "--trusted-proxy", "127.0.0.1/32",
)  # fmt: skip
Latencies = dict[str, list[float]]


def send_reports(url: str, keys: list[str], numbers: list[int], *, from_one_address: bool) -> Counter[int]:
    """Send reports, each from its own address; count the answers by status."""
    counts = Counter[int]()
    os.nice(10)  # the other client of this core is the one that is measured

    def send(part: list[int]) -> None:
        with httpx.Client(timeout=120) as client:
            for number in part:
                address = (
                    "81.0.0.1" if from_one_address else f"81.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
                )
                files = [("title", (None, f"Report {number}")), ("description", (None, "@Ann it is broken"))]
                headers = {"X-Forwarded-For": address}
                answer = client.post(f"{url}/api/v1/reports/{keys[number % len(keys)]}", files=files, headers=headers)
                counts[answer.status_code] += 1

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(send, [numbers[start::CONNECTIONS] for start in range(CONNECTIONS)]))
    return counts


def use_tickets(other: World, found: Latencies, created: list[str], is_over: Callable[[], bool]) -> None:
    """Read, list and create tickets until it is over; note the milliseconds of each."""
    calls: dict[str, Callable[[], httpx.Response]] = {
        "get_ticket": lambda: other.api.get(f"/tickets/{created[0]}"),
        "list 50": lambda: other.api.get("/tickets", params={"project_id": other.project, "limit": 50}),
        "create_ticket": lambda: other.api.post("/tickets", json={"project_id": other.project, "title": "Ours"}),
    }
    while not is_over():
        for name, call in calls.items():
            began = time.perf_counter()
            answer = ok(call())
            found.setdefault(name, []).append((time.perf_counter() - began) * 1000)
            if name == "create_ticket":
                created.append(answer["id"])
            time.sleep(PAUSE_S)


def time_pages(world: World) -> dict[str, float]:
    """Return the median milliseconds of what the inbox, the list and the board ask."""
    query = {"project_id": world.project, "limit": 50}
    column = {"column_id": world.columns[0], "sort": "position", "limit": 50}
    calls: dict[str, Callable[[], httpx.Response]] = {
        "inbox": lambda: world.owner.web.get("/notifications"),
        "unread": lambda: world.owner.web.get("/notifications/unread"),
        "list": lambda: world.owner.web.get("/tickets", params=query),
        "list, label:external": lambda: world.owner.web.get("/tickets", params={**query, "label": "external"}),
        "board, first column": lambda: world.owner.web.get("/tickets", params=column),
    }
    found: dict[str, float] = {}
    for name, call in calls.items():
        times: list[float] = []
        for _ in range(30):
            began = time.perf_counter()
            ok(call())
            times.append((time.perf_counter() - began) * 1000)
        found[name] = statistics.median(times)
    return found


def raise_limits(*worlds: World) -> None:
    """Let the companies read and write without a limit that matters."""
    for each in worlds:
        limits = {"limits": {"reads_per_minute": 1_000_000, "writes_per_minute": 1_000_000}}
        ok(each.owner.web.patch(f"/companies/{each.company}", json=limits))


def create_keys(world: World) -> list[str]:
    """Create the report keys of a project."""
    given = {"kind": "link", "name": "Shop", "per_minute": 1000, "per_day": 100_000}
    path = f"/projects/{world.project}/report-keys"
    return [ok(world.owner.web.post(path, json=given))["key"] for _ in range(KEYS)]


def main() -> None:
    """Send, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--one-address", action="store_true", help="the limit of an address refuses most reports")
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    calm: Latencies = {}
    burst: Latencies = {}
    counts = Counter[int]()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with pin_to_core(SERVER_CORE):
            box = stack.enter_context(run_server(folder, *ARGUMENTS))
        world, other = World(box), World(box, "Bo")
        raise_limits(world, other)
        created = [other.ticket()["id"]]
        keys, before = create_keys(world), time_pages(world)
        with pin_to_core(CLIENT_CORE), ProcessPoolExecutor(1) as pool:
            for number in range(BURSTS):
                end = time.monotonic() + CALM_S
                use_tickets(other, calm, created, lambda end=end: time.monotonic() > end)
                part = list(range(number, options.reports, BURSTS))
                began = time.perf_counter()
                sending = pool.submit(send_reports, box.url, keys, part, from_one_address=options.one_address)
                use_tickets(other, burst, created, sending.done)
                counts += sending.result()
                print(f"{len(part) / (time.perf_counter() - began):.0f} reports/s", flush=True)
        after = time_pages(world)
        faults = check(world, other, created, counts)
    print(format_calls(calm, burst))
    print(format_table(["page", "ms before", "ms after"], [[name, f"{before[name]:.1f}", f"{after[name]:.1f}"]
                                                            for name in before]))  # fmt: skip
    print(f"answers {dict(counts)}; load average at the end {os.getloadavg()[0]:.1f}")
    if faults:
        sys.exit("\n".join(faults))


def check(world: World, other: World, created: list[str], counts: Counter[int]) -> list[str]:
    """List what went wrong: tickets that are missing, and people who were notified."""
    faults: list[str] = []
    for name, each, expected in (("reports", world, counts[201]), ("tickets of others", other, len(created))):
        if (found := count_tickets(each)) != expected:
            faults.append(f"{found} {name} are stored, {expected} were accepted")
    for each in (world, other):
        if (unread := ok(each.owner.web.get("/notifications/unread"))["unread"]) != 0:
            faults.append(f"{unread} notifications")
    return faults


def count_tickets(world: World) -> int:
    """Count a project's tickets, page by page."""
    count, cursor = 0, None
    while True:
        query: dict[str, Any] = {"project_id": world.project, "limit": 100, **({"cursor": cursor} if cursor else {})}
        page = ok(world.api.get("/tickets", params=query))
        count, cursor = count + len(page["items"]), page["next_cursor"]
        if cursor is None:
            return count


def format_calls(calm: Latencies, burst: Latencies) -> str:
    """Format the latencies of both phases."""
    rows: list[list[object]] = []
    for name in calm:
        figures = [
            (statistics.median(each), statistics.quantiles(each, n=100)[98]) for each in (calm[name], burst[name])
        ]
        (p50, p99), (p50_burst, p99_burst) = figures
        rows.append(
            [name, f"{p50:.1f}", f"{p50_burst:.1f}", f"{p99:.1f}", f"{p99_burst:.1f}", f"{p99_burst / p99:.1f}"]
        )
    return format_table(["call", "calm p50 ms", "burst p50", "calm p99", "burst p99", "ratio"], rows)


if __name__ == "__main__":
    main()

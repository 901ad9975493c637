"""Reads, searches and writes over REST: `uv run --group dev python -m bench.reads --tickets 100000`.

Each round sends every query to this checkout and to each `--tree`, one after the other; the results are medians of the
rounds, and the ratio is that of this checkout's requests a second to the other's in the same round. Nearly every ticket
of the seeded file contains each of the words that are searched, which is the hard case.
"""

import argparse
import itertools
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from bench.client import Sample, get, load, post
from bench.launch import Contender, Server, launch_contenders
from bench.machine import CLIENT_CORE, cpu_seconds, describe_machine, format_table, pin_to_core
from bench.seed import SeededFile

TEXT = "The cart stays empty after the update; reloading the page shows the right total. " * 4
SEARCHES = {
    "a word": ["q=cart"],
    "a phrase": ['q="cart stays"'],
    "a word, resolved, with a label": ["q=cart is:resolved label:bug"],
    "a word, one assignee": ['q=cart assignee:"Person 3"'],
    "a word, this quarter": ["q=cart created:>90d"],
    "while typing": [f"q={'checkout'[:length]}&typing=true" for length in range(2, 9)],
    "filters alone": ["q=label:bug priority:urgent"],
    "a word without matches": ["q=zebra"],
}
READS = ("get_ticket", "list of 50", "list of 50, all projects", "list of 50, label", "gzip")
QUERIES = (*READS, *SEARCHES, "create", "comment")
HEAD = ("query", "clients", "server", "bytes", "requests/s", "p50 ms", "p99 ms", "CPU µs", "× faster")  # fmt: skip

Requests = list[bytes] | Callable[[], bytes]


class Round(NamedTuple):
    """The results of one round, with the server's processor time for each request in microseconds."""

    sample: Sample
    cpu: float


def build_requests(query: str, server: Server, seeded: SeededFile) -> Requests:
    """Return a query's requests, or what makes the next one."""
    host, token = server.host, seeded.token
    in_project = f"/api/v1/tickets?project_id={seeded.project}&limit=50"
    if query == "get_ticket":
        return [get(f"/api/v1/tickets/{ticket}", host, token) for ticket in seeded.tickets]
    if query == "create":
        body = {"project_id": seeded.project, "title": "Cart stays empty", "description": TEXT, "labels": ["bug"]}
        return [post("/api/v1/tickets", host, token, msgspec.json.encode(body))]
    if query == "comment":
        tickets = itertools.cycle(seeded.tickets)
        body = msgspec.json.encode({"body": TEXT})
        return lambda: post(f"/api/v1/tickets/{next(tickets)}/comments", host, token, body)
    paths = {
        "list of 50": [in_project],
        "list of 50, label": [in_project + "&label=bug"],
        **{name: [f"/api/v1/search?{quote(each, safe='=&')}&limit=50" for each in texts]
           for name, texts in SEARCHES.items()},
    }.get(query, ["/api/v1/tickets?limit=50"])  # fmt: skip
    return [get(path, host, token, gzip=query == "gzip") for path in paths]


def run_round(server: Server, requests: Requests, clients: int, seconds: float) -> Round:
    """Load a server from the client's core. Raises RuntimeError if a request fails."""
    before = cpu_seconds(server.pid)
    with pin_to_core(CLIENT_CORE):
        sample = load(server.url, requests, clients, seconds)
    if sample.failed:
        raise RuntimeError(f"{sample.failed} of {sample.requests} requests failed: {sample.refusal[:1000]!r}")
    return Round(sample, (cpu_seconds(server.pid) - before) / sample.requests * 1e6)


def compare(
    query: str,
    contenders: dict[str, Contender],
    requests: Mapping[str, Requests],
    clients: int,
    rounds: int,
    seconds: float,
) -> list[list[object]]:
    """Send a query to every server in each round; return a row of the table for each server."""
    for name, (server, _) in contenders.items():
        run_round(server, requests[name], clients, min(seconds, 0.5))
    results: dict[str, list[Round]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, (server, _) in contenders.items():
            results[name].append(run_round(server, requests[name], clients, seconds))
    ours = next(iter(results.values()))
    return [
        [
            query, clients, name, runs[0].sample.body,
            statistics.median(run.sample.rate for run in runs),
            statistics.median(run.sample.p50 for run in runs),
            statistics.median(run.sample.p99 for run in runs),
            min(run.cpu for run in runs),
            statistics.median(own.sample.rate / run.sample.rate for own, run in zip(ours, runs, strict=True)),
        ]
        for name, runs in results.items()
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    parser.add_argument("--only", nargs="+", choices=QUERIES, default=QUERIES)
    options = parser.parse_args()
    print(
        describe_machine(), f"{options.tickets:,} tickets, {options.rounds} rounds of {options.seconds} s\n", sep="\n"
    )
    rows: list[list[object]] = []
    with launch_contenders(options.folder, options.tickets, options.tree) as contenders:
        for query in options.only:
            requests = {name: build_requests(query, *each) for name, each in contenders.items()}
            for clients in options.clients:
                rows += compare(query, contenders, requests, clients, options.rounds, options.seconds)
    print(format_table(HEAD, rows))


if __name__ == "__main__":
    main()

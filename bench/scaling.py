"""How reads scale with the file: `uv run --group dev python -m bench.scaling --tickets 1000 100000 1000000`.

Each round sends the same queries over REST and over MCP to a server for each size. *Times* compares the processor time
of a request and the median latency with those of the first size.
"""

import argparse
import contextlib
import statistics
from pathlib import Path
from typing import Any

from bench.client import fetch, get
from bench.launch import Server, launch_ticketbox
from bench.machine import describe_machine, format_table
from bench.mcp import NEWEST, calls
from bench.reads import Round, request_paths, run_round
from bench.seed import SeededFile, seed

QUERIES = ("get_ticket", "list of 50", "list of 50, all projects", "search")
HEAD = (
    "query",
    "surface",
    "tickets",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "best p99 ms",
    "CPU µs",
    "times: CPU",
    "p50",
)


def tool_calls(query: str, seeded: SeededFile) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls that correspond to the requests of `bench.reads`."""
    if query == "get_ticket":
        return [("get_ticket", {"ticket_id": ticket}) for ticket in seeded.tickets]
    if query == "list of 50":
        return [("list_tickets", {"project_id": seeded.project, "limit": 50})]
    if query == "list of 50, all projects":
        return [("list_tickets", {"limit": 50})]
    return [("search_tickets", {"q": words, "limit": 50}) for words in ("checkout button", "coupon", "stale results")]


def requests(query: str, surface: str, server: Server, seeded: SeededFile) -> list[bytes]:
    """Return a query's requests."""
    if surface == "MCP":
        return calls(server, NEWEST, tool_calls(query, seeded), seeded.token)
    return [get(path, server.host, seeded.token) for path in request_paths(query, seeded)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=QUERIES, default=QUERIES)
    options = parser.parse_args()
    files = [seed(options.folder / f"{count}.db", count) for count in options.tickets]
    print(
        describe_machine(),
        f"{options.rounds} rounds of {options.seconds} s, {options.connections} connections\n",
        sep="\n",
    )
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(launch_ticketbox(seeded.db)) for seeded in files]
        for server, seeded in zip(servers, files, strict=True):  # a server loads its MCP code after the start
            fetch(server.url, requests(QUERIES[0], "MCP", server, seeded)[0])
        for query in options.only:
            for surface in ("REST", "MCP"):
                queries = [requests(query, surface, *side) for side in zip(servers, files, strict=True)]
                for server, each in zip(servers, queries, strict=True):
                    fetch(server.url, each[0])
                    run_round(server, each, options.connections, min(options.seconds, 0.5))
                results: list[list[Round]] = [[] for _ in files]
                for _ in range(options.rounds):
                    for runs, server, each in zip(results, servers, queries, strict=True):
                        runs.append(run_round(server, each, options.connections, options.seconds))
                for count, runs in zip(options.tickets, results, strict=True):
                    rows.append([query, surface, count, *_figures(runs), *_compare_to_first(runs, results[0])])
    print(format_table(HEAD, rows))


def _figures(runs: list[Round]) -> list[float]:
    return [
        statistics.median(run.sample.rate for run in runs),
        statistics.median(run.sample.p50 for run in runs),
        statistics.median(run.sample.p99 for run in runs),
        min(run.sample.p99 for run in runs),
        min(run.cpu for run in runs),
    ]


def _compare_to_first(runs: list[Round], first: list[Round]) -> list[float]:
    """Return the ratios of processor time and of latency to those of the first size."""
    latencies = [run.sample.p50 / other.sample.p50 for run, other in zip(runs, first, strict=True)]
    return [min(run.cpu for run in runs) / min(run.cpu for run in first), statistics.median(latencies)]


if __name__ == "__main__":
    main()

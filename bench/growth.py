"""Does a read's cost grow with the file? `uv run --group dev python -m bench.growth --tickets 1000 100000 1000000`.

The same questions over REST and over MCP, asked of a server for each size, in turn, for some rounds. *Times* is the
processor time for a request, and the middle latency, each against those of the first size.
"""

import argparse
import contextlib
import statistics
from pathlib import Path
from typing import Any

from bench.client import get, once
from bench.machine import describe, table
from bench.mcp import NEWEST, calls
from bench.reads import Round, one_round, paths
from bench.seed import Seeded, seed
from bench.serving import Server, ticketbox

QUESTIONS = ("get_ticket", "list of 50", "list of 50, all projects", "search")
HEAD = (
    "question",
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


def tools(question: str, seeded: Seeded) -> list[tuple[str, dict[str, Any]]]:
    """The calls that ask over MCP what `bench.reads` asks over REST."""
    if question == "get_ticket":
        return [("get_ticket", {"ticket_id": ticket}) for ticket in seeded.tickets]
    if question == "list of 50":
        return [("list_tickets", {"project_id": seeded.project, "limit": 50})]
    if question == "list of 50, all projects":
        return [("list_tickets", {"limit": 50})]
    return [("search_tickets", {"q": words, "limit": 50}) for words in ("checkout button", "coupon", "stale results")]


def requests(question: str, surface: str, server: Server, seeded: Seeded) -> list[bytes]:
    """A question as requests."""
    if surface == "MCP":
        return calls(server, NEWEST, tools(question, seeded), seeded.token)
    return [get(path, server.host, seeded.token) for path in paths(question, seeded)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS)
    given = parser.parse_args()
    files = [seed(given.folder / f"{count}.db", count) for count in given.tickets]
    print(describe(), f"{given.rounds} rounds of {given.seconds} s, {given.connections} connections\n", sep="\n")
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(ticketbox(seeded.db)) for seeded in files]
        for server, seeded in zip(servers, files, strict=True):  # what serves MCP is loaded beside the running server
            once(server.url, requests(QUESTIONS[0], "MCP", server, seeded)[0])
        for question in given.only:
            for surface in ("REST", "MCP"):
                asked = [requests(question, surface, *side) for side in zip(servers, files, strict=True)]
                for server, each in zip(servers, asked, strict=True):
                    once(server.url, each[0])
                    one_round(server, each, given.connections, min(given.seconds, 0.5))
                found: list[list[Round]] = [[] for _ in files]
                for _ in range(given.rounds):
                    for runs, server, each in zip(found, servers, asked, strict=True):
                        runs.append(one_round(server, each, given.connections, given.seconds))
                for count, runs in zip(given.tickets, found, strict=True):
                    rows.append([question, surface, count, *_figures(runs), *_grown(runs, found[0])])
    print(table(HEAD, rows))


def _figures(runs: list[Round]) -> list[float]:
    return [
        statistics.median(run.sample.rate for run in runs),
        statistics.median(run.sample.p50 for run in runs),
        statistics.median(run.sample.p99 for run in runs),
        min(run.sample.p99 for run in runs),
        min(run.cpu for run in runs),
    ]


def _grown(runs: list[Round], first: list[Round]) -> list[float]:
    """How many times the first size's processor time, and its latency turn by turn."""
    latencies = [run.sample.p50 / other.sample.p50 for run, other in zip(runs, first, strict=True)]
    return [min(run.cpu for run in runs) / min(run.cpu for run in first), statistics.median(latencies)]


if __name__ == "__main__":
    main()

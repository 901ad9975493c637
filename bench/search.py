"""Searches on files of several sizes: `uv run --group dev python -m bench.search --tickets 1000 100000 1000000`.

Each query is sent over REST on one connection, to the server of each file in every round. Nearly every ticket of the
seeded files contains each of the words, which is the hard case: an index that reads all matches would get slower with
the number of tickets. *In scope* is the number of active tickets of the caller's company with the word `cart`.
"""

import argparse
import contextlib
import sqlite3
import statistics
from pathlib import Path
from urllib.parse import quote

from bench.client import Sample, fetch, get, load
from bench.launch import Server, launch_ticketbox
from bench.machine import CLIENT_CORE, describe_machine, format_table, pin_to_core
from bench.seed import SeededFile, seed

QUERIES = {
    "a word": ["q=cart"],
    "two words": ["q=cart checkout"],
    "a phrase": ['q="cart stays"'],
    "a word, resolved, with a label": ["q=cart is:resolved label:bug"],
    "a word, one assignee": ['q=cart assignee:"Person 3"'],
    "a word, this quarter": ["q=cart created:>90d"],
    "a word, in a column": ['q=cart column:"Column 1"'],
    "while typing": [f"q={'checkout'[:length]}&typing=true" for length in range(2, 9)],
    "filters alone": ["q=label:bug priority:urgent"],
    "a word without matches": ["q=zebra"],
}


def search_paths(query: str) -> list[str]:
    """Return the paths of a query's requests, each for a page of 50."""
    return [f"/api/v1/search?{quote(parameters, safe='=&')}&limit=50" for parameters in QUERIES[query]]


def count_in_scope(seeded: SeededFile) -> int:
    """Count the active tickets of the first company that contain the word `cart`."""
    with contextlib.closing(sqlite3.connect(seeded.db)) as connection:
        sql = "SELECT count(*) FROM search WHERE search MATCH ?"
        return connection.execute(sql, ('({scope} : ("c1" AND "sactive")) AND cart',)).fetchone()[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", default=list(QUERIES))
    options = parser.parse_args()
    files = [seed(options.folder / f"{count}.db", count) for count in options.tickets]
    print(describe_machine(), f"{options.rounds} rounds of {options.seconds} s, one connection\n", sep="\n")
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(launch_ticketbox(seeded.db)) for seeded in files]
        scopes = [count_in_scope(seeded) for seeded in files]
        for query in options.only:
            rounds = [[_run_round(s, f, query, options.seconds) for s, f in zip(servers, files, strict=True)]
                      for _ in range(options.rounds + 1)][1:]  # fmt: skip
            for index, count in enumerate(options.tickets):
                samples = [each[index] for each in rounds]
                rows.append([query, count, scopes[index], *_figures(samples)])
    print(format_table(("query", "tickets", "in scope", "requests/s", "p50 ms", "p99 ms", "best p99 ms"), rows))


def _run_round(server: Server, seeded: SeededFile, query: str, seconds: float) -> Sample:
    requests = [get(path, server.host, seeded.token) for path in search_paths(query)]
    fetch(server.url, requests[0])
    with pin_to_core(CLIENT_CORE):
        sample = load(server.url, requests, 1, seconds)
    if sample.failed:
        raise RuntimeError(f"{sample.failed} of {sample.requests} requests failed: {sample.refusal[:1000]!r}")
    return sample


def _figures(samples: list[Sample]) -> list[float]:
    return [
        statistics.median(sample.rate for sample in samples),
        statistics.median(sample.p50 for sample in samples),
        statistics.median(sample.p99 for sample in samples),
        min(sample.p99 for sample in samples),
    ]


if __name__ == "__main__":
    main()

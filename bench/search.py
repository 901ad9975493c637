"""Searches on files of several sizes: `uv run --group dev python -m bench.search --tickets 1000 100000 1000000`.

Each question is asked over REST by one connection, in turn of all files, for some rounds. Nearly every ticket of the
seeded files holds each of the words, which is the hard case: an index that reads all that fits would get slower with
the number of tickets. *In scope* is how many active tickets of the caller's company hold the first word.
"""

import argparse
import contextlib
import sqlite3
import statistics
from pathlib import Path
from urllib.parse import quote

from bench.client import Sample, get, load, once
from bench.machine import CLIENT_CORE, describe, pinned, table
from bench.seed import Seeded, seed
from bench.serving import Server, ticketbox

QUESTIONS = {
    "a word": ["q=cart"],
    "two words": ["q=cart checkout"],
    "a phrase": ['q="cart stays"'],
    "a word, resolved, with a label": ["q=cart is:resolved label:bug"],
    "a word, assigned to one": ['q=cart assignee:"Person 3"'],
    "a word, this quarter": ["q=cart created:>90d"],
    "a word, in a column": ['q=cart column:"Column 1"'],
    "as it is typed": [f"q={'checkout'[:length]}&typing=true" for length in range(2, 9)],
    "filters alone": ["q=label:bug priority:urgent"],
    "a word that nothing holds": ["q=zebra"],
}


def addresses(question: str) -> list[str]:
    """The addresses that one question asks for, a page of 50 each."""
    return [f"/api/v1/search?{quote(given, safe='=&')}&limit=50" for given in QUESTIONS[question]]


def in_scope(seeded: Seeded) -> int:
    """How many active tickets of the first company hold the word `cart`."""
    with contextlib.closing(sqlite3.connect(seeded.db)) as connection:
        question = "SELECT count(*) FROM search WHERE search MATCH ?"
        return connection.execute(question, ('({scope} : ("c1" AND "sactive")) AND cart',)).fetchone()[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", default=list(QUESTIONS))
    given = parser.parse_args()
    files = [seed(given.folder / f"{count}.db", count) for count in given.tickets]
    print(describe(), f"{given.rounds} rounds of {given.seconds} s, one connection\n", sep="\n")
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(ticketbox(seeded.db)) for seeded in files]
        scopes = [in_scope(seeded) for seeded in files]
        for question in given.only:
            rounds = [[_round(s, f, question, given.seconds) for s, f in zip(servers, files, strict=True)]
                      for _ in range(given.rounds + 1)][1:]  # fmt: skip
            for place, count in enumerate(given.tickets):
                samples = [each[place] for each in rounds]
                rows.append([question, count, scopes[place], *_figures(samples)])
    print(table(("question", "tickets", "in scope", "requests/s", "p50 ms", "p99 ms", "best p99 ms"), rows))


def _round(server: Server, seeded: Seeded, question: str, seconds: float) -> Sample:
    requests = [get(path, server.host, seeded.token) for path in addresses(question)]
    once(server.url, requests[0])
    with pinned(CLIENT_CORE):
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

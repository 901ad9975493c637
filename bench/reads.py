"""Reads against the constant: `uv run --group dev python -m bench.reads --tickets 100000`.

Every question is asked of ticketbox, with and without gzip, and of three constants of the same size, in turn, for
some rounds; the figures are medians of the rounds. In the same turns the question's SQL runs alone, on one thread
with nothing around it. `--tree` measures another checkout in the same turns.
"""

import argparse
import contextlib
import itertools
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.client import Sample, get, load, once
from bench.machine import CLIENT_CORE, SERVER_CORE, cpu_seconds, describe, pinned, table
from bench.seed import Seeded, seed
from bench.serving import ROOT, Server, constant, ticketbox
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.policy import Via
from ticketbox.domain.tickets.records import Status
from ticketbox.store.accounts import credentials
from ticketbox.store.core import bylines
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import assignments, lists, tickets
from ticketbox.store.tickets.lists import Sort, TicketFilter

QUESTIONS = ("get_ticket", "list of 50", "list of 50, all projects", "list of 50, label", "search")


class Round(NamedTuple):
    """A round of load, with the server's processor time for each request in microseconds."""

    sample: Sample
    cpu: float


def paths(question: str, seeded: Seeded) -> list[str]:
    """The addresses that one question asks for."""
    if question == "get_ticket":
        return [f"/api/v1/tickets/{ticket}" for ticket in seeded.tickets]
    if question == "get_ticket again":
        return [f"/api/v1/tickets/{seeded.tickets[0]}"]
    if question == "list of 50":
        return [f"/api/v1/tickets?project_id={seeded.project}&limit=50"]
    if question == "list of 50, all projects":
        return ["/api/v1/tickets?limit=50"]
    if question == "list of 50, label":
        return [f"/api/v1/tickets?project_id={seeded.project}&label=bug&limit=50"]
    if question == "search":
        return [f"/api/v1/search?q={word}&limit=50" for word in ("checkout+button", "coupon", "stale+results")]
    if question == "token":
        return ["/api/v1/me"]
    raise ValueError(question)


def one_round(server: Server, requests: list[bytes], connections: int, seconds: float) -> Round:
    """Load one server from the client's core."""
    before = cpu_seconds(server.pid)
    with pinned(CLIENT_CORE):
        sample = load(server.url, requests, connections, seconds)
    if sample.failed:
        raise RuntimeError(f"{sample.failed} of {sample.requests} requests failed: {sample.refusal[:1000]!r}")
    return Round(sample, (cpu_seconds(server.pid) - before) / sample.requests * 1e6)


class Alone:
    """The SQL of a question as the product runs it, rows taken and dropped: tickets, their bylines and assignees."""

    def __init__(self, question: str, seeded: Seeded) -> None:
        self._connection = connect(seeded.db, writes=False)
        self._tx = Read(self._connection, time.time_ns() // 1_000_000)
        actor = credentials.resolve_actor(self._tx, secrets.hash_secret(seeded.token), Via.REST)
        assert actor is not None
        self._asked: list[tuple[str, dict[str, object]]] = []
        if question.startswith("get_ticket"):
            given = {**actor.viewer, "status": "active"}
            self._asked = [
                (tickets.SELECT_TICKET, {**given, "id": path.rpartition("/")[2]}) for path in paths(question, seeded)
            ]
        elif question.startswith("list of 50"):
            project = None if "all" in question else seeded.project
            label = "bug" if "label" in question else None
            wanted = TicketFilter((Status.ACTIVE,), Sort.UPDATED_DOWN, project=project, label=label)
            given = lists.build_parameters(actor.viewer, wanted, None, 51)
            self._asked = [(lists.compose_query(wanted, resumed=False), given)]

    def cpu(self, seconds: float) -> float:
        """Microseconds of processor time for one question; 0 for one whose SQL isn't known here."""
        if not self._asked:
            return 0
        done, started, stop = 0, time.thread_time(), time.monotonic() + seconds
        self._connection.execute("BEGIN")
        for sql, given in itertools.cycle(self._asked):
            rows = self._tx.all(sql, given)
            keys = {row[place] for row in rows for place in (13, 21, 23, 25)} - {None}
            self._tx.all(bylines.SELECT_BYLINES, (msgspec.json.encode(list(keys)).decode(),))
            self._tx.all(
                assignments.SELECT_ASSIGNEES_OF_TICKETS, (msgspec.json.encode([row[0] for row in rows]).decode(),)
            )
            done += 1
            if time.monotonic() > stop:
                break
        self._connection.execute("COMMIT")
        return (time.thread_time() - started) / done * 1e6


def compare(
    question: str, seeded: Seeded, trees: list[Path], connections: int, rounds: int, seconds: float
) -> list[list[object]]:
    """One question, asked in turn of every server; a row of the table for each."""
    asked = paths(question, seeded)
    with contextlib.ExitStack() as stack:
        servers: list[tuple[str, Server, list[bytes]]] = []
        for number, tree in enumerate(trees):
            server = stack.enter_context(ticketbox(_copy(seeded, number), tree))
            servers.append(
                (tree.name if number else "ticketbox", server, [get(p, server.host, seeded.token) for p in asked])
            )
        ours = servers[0][1]
        servers.append(("gzip", ours, [get(p, ours.host, seeded.token, packed=True) for p in asked]))
        size = len(once(servers[0][1].url, servers[0][2][0]))
        for kind in ("edge", "constant", "bare"):
            server = stack.enter_context(constant(size, kind))
            servers.append(
                (kind, server, [get("/constant/one", server.host, seeded.token if kind == "edge" else None)])
            )
        for _, server, requests in servers:
            one_round(server, requests, connections, min(seconds, 0.5))
        found: dict[str, list[Round]] = {name: [] for name, _, _ in servers}
        alone, sql = Alone(question, seeded), list[float]()
        for _ in range(rounds):
            for name, server, requests in servers:
                found[name].append(one_round(server, requests, connections, seconds))
            with pinned(SERVER_CORE):
                sql.append(alone.cpu(seconds / 2))
    base, bare = found["constant"], min(run.cpu for run in found["bare"])
    rows: list[list[object]] = []
    for name, runs in found.items():
        ratios = [run.sample.rate / other.sample.rate for run, other in zip(runs, base, strict=True)]
        rows.append([
            question, connections, name, runs[0].sample.body,
            statistics.median(run.sample.rate for run in runs),
            statistics.median(run.sample.p50 for run in runs),
            statistics.median(run.sample.p99 for run in runs),
            min(run.cpu for run in runs),
            statistics.median(ratios),
            max(run.sample.rate for run in runs) / max(run.sample.rate for run in base),
            *[cpu / min(run.cpu for run in runs) for cpu in (min(run.cpu for run in base), bare, min(sql))],
        ])  # fmt: skip
    print(f"{question}, {connections} connections: the SQL alone takes {min(sql):.0f} µs", file=sys.stderr)
    return rows


def _copy(seeded: Seeded, number: int) -> Path:
    """The file itself for the first server, a copy for each further one: a file has one server."""
    if number == 0:
        return seeded.db
    import shutil

    other = seeded.db.with_name(f"{seeded.db.stem}-{number}.db")
    shutil.copyfile(seeded.db, other)
    return other


HEAD = (
    "question",
    "conn.",
    "server",
    "bytes",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "CPU µs",
    "ratio",
    "of best",
    "CPU: constant",
    "bare",
    "SQL alone",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="measure this checkout as well")
    parser.add_argument("--only", nargs="+", default=QUESTIONS)
    given = parser.parse_args()
    seeded = seed(given.folder / f"{given.tickets}.db", given.tickets)
    print(describe(), f"{given.tickets:,} tickets, {given.rounds} rounds of {given.seconds} s\n", sep="\n")
    rows: list[list[object]] = []
    for question in given.only:
        for connections in given.connections:
            rows += compare(question, seeded, [ROOT, *given.tree], connections, given.rounds, given.seconds)
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()

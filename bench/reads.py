"""Reads, compared with constants of the same size: `uv run --group dev python -m bench.reads --tickets 100000`.

Each round sends every query to ticketbox, with and without gzip, and to three constants; the results are medians of the
rounds. Each round also runs only the query's SQL, on one thread. `--tree` measures another checkout in the same rounds.
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

from bench.client import Sample, fetch, get, load
from bench.launch import ROOT, Server, launch_constant, launch_ticketbox
from bench.machine import CLIENT_CORE, SERVER_CORE, cpu_seconds, describe_machine, format_table, pin_to_core
from bench.seed import SeededFile, seed
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.tickets.records import Sort, Status
from ticketbox.store.accounts import actors
from ticketbox.store.core import bylines
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import assignments, lists, records
from ticketbox.store.tickets.lists import TicketFilter

QUERIES = ("get_ticket", "list of 50", "list of 50, all projects", "list of 50, label", "search")


class Round(NamedTuple):
    """The results of one round, with the server's processor time for each request in microseconds."""

    sample: Sample
    cpu: float


def request_paths(query: str, seeded: SeededFile) -> list[str]:
    """Return the paths of a query's requests."""
    if query == "get_ticket":
        return [f"/api/v1/tickets/{ticket}" for ticket in seeded.tickets]
    if query == "get_ticket again":
        return [f"/api/v1/tickets/{seeded.tickets[0]}"]
    if query == "list of 50":
        return [f"/api/v1/tickets?project_id={seeded.project}&limit=50"]
    if query == "list of 50, all projects":
        return ["/api/v1/tickets?limit=50"]
    if query == "list of 50, label":
        return [f"/api/v1/tickets?project_id={seeded.project}&label=bug&limit=50"]
    if query == "search":
        return [f"/api/v1/search?q={word}&limit=50" for word in ("checkout+button", "coupon", "stale+results")]
    if query == "token":
        return ["/api/v1/me"]
    raise ValueError(query)


def run_round(server: Server, requests: list[bytes], connections: int, seconds: float) -> Round:
    """Load a server from the client's core. Raises RuntimeError if a request fails."""
    before = cpu_seconds(server.pid)
    with pin_to_core(CLIENT_CORE):
        sample = load(server.url, requests, connections, seconds)
    if sample.failed:
        raise RuntimeError(f"{sample.failed} of {sample.requests} requests failed: {sample.refusal[:1000]!r}")
    return Round(sample, (cpu_seconds(server.pid) - before) / sample.requests * 1e6)


class SqlOnly:
    """The SQL of a query as ticketbox runs it, for tickets, their bylines and assignees, without using the rows."""

    def __init__(self, query: str, seeded: SeededFile) -> None:
        self._connection = connect(seeded.db, writes=False)
        self._tx = Read(self._connection, time.time_ns() // 1_000_000)
        actor = actors.resolve_actor(self._tx, secrets.hash_secret(seeded.token), Via.REST)
        assert actor is not None
        self._statements: list[tuple[str, dict[str, object]]] = []
        if query.startswith("get_ticket"):
            parameters = {**actor.viewer, "status": "active"}
            self._statements = [
                (records.SELECT_TICKET, {**parameters, "id": path.rpartition("/")[2]})
                for path in request_paths(query, seeded)
            ]
        elif query.startswith("list of 50"):
            project = None if "all" in query else seeded.project
            label = "bug" if "label" in query else None
            wanted = TicketFilter(
                (Status.ACTIVE,), Sort.UPDATED_DOWN, project=project, labels=(label,) if label else ()
            )
            parameters = lists.build_parameters(actor.viewer, wanted, None, 51)
            self._statements = [(lists.compose_query(wanted, resumed=False), parameters)]

    def cpu(self, seconds: float) -> float:
        """Return the microseconds of processor time of one query, or 0 if its SQL isn't listed here."""
        if not self._statements:
            return 0
        get_key = records.get_fields("key")
        get_writers = records.get_fields("claimed_by", "created_by", "updated_by", "archived_by")
        done, started, stop = 0, time.thread_time(), time.monotonic() + seconds
        self._connection.execute("BEGIN")
        for sql, parameters in itertools.cycle(self._statements):
            rows = self._tx.fetch_all(sql, parameters)
            keys = {key for row in rows for key in get_writers(row)} - {None}
            self._tx.fetch_all(bylines.SELECT_BYLINES, (msgspec.json.encode(list(keys)).decode(),))
            self._tx.fetch_all(
                assignments.SELECT_ASSIGNEES_OF_TICKETS, (msgspec.json.encode([get_key(row) for row in rows]).decode(),)
            )
            done += 1
            if time.monotonic() > stop:
                break
        self._connection.execute("COMMIT")
        return (time.thread_time() - started) / done * 1e6


def compare(
    query: str, seeded: SeededFile, trees: list[Path], connections: int, rounds: int, seconds: float
) -> list[list[object]]:
    """Send a query to every server in each round; return a row of the table for each server."""
    paths = request_paths(query, seeded)
    with contextlib.ExitStack() as stack:
        servers: list[tuple[str, Server, list[bytes]]] = []
        for number, tree in enumerate(trees):
            server = stack.enter_context(launch_ticketbox(_copy_for(seeded, number), tree))
            servers.append(
                (tree.name if number else "ticketbox", server, [get(p, server.host, seeded.token) for p in paths])
            )
        ours = servers[0][1]
        servers.append(("gzip", ours, [get(p, ours.host, seeded.token, gzip=True) for p in paths]))
        size = len(fetch(servers[0][1].url, servers[0][2][0]))
        for kind in ("edge", "constant", "bare"):
            server = stack.enter_context(launch_constant(size, kind))
            servers.append(
                (kind, server, [get("/constant/one", server.host, seeded.token if kind == "edge" else None)])
            )
        for _, server, requests in servers:
            run_round(server, requests, connections, min(seconds, 0.5))
        results: dict[str, list[Round]] = {name: [] for name, _, _ in servers}
        sql_only, sql = SqlOnly(query, seeded), list[float]()
        for _ in range(rounds):
            for name, server, requests in servers:
                results[name].append(run_round(server, requests, connections, seconds))
            with pin_to_core(SERVER_CORE):
                sql.append(sql_only.cpu(seconds / 2))
    base, bare = results["constant"], min(run.cpu for run in results["bare"])
    rows: list[list[object]] = []
    for name, runs in results.items():
        ratios = [run.sample.rate / other.sample.rate for run, other in zip(runs, base, strict=True)]
        rows.append([
            query, connections, name, runs[0].sample.body,
            statistics.median(run.sample.rate for run in runs),
            statistics.median(run.sample.p50 for run in runs),
            statistics.median(run.sample.p99 for run in runs),
            min(run.cpu for run in runs),
            statistics.median(ratios),
            max(run.sample.rate for run in runs) / max(run.sample.rate for run in base),
            *[cpu / min(run.cpu for run in runs) for cpu in (min(run.cpu for run in base), bare, min(sql))],
        ])  # fmt: skip
    print(f"{query}, {connections} connections: the SQL costs {min(sql):.0f} µs", file=sys.stderr)
    return rows


def _copy_for(seeded: SeededFile, number: int) -> Path:
    """Return the file for the first server and a copy for each other one, since a file has one server."""
    if number == 0:
        return seeded.db
    import shutil

    other = seeded.db.with_name(f"{seeded.db.stem}-{number}.db")
    shutil.copyfile(seeded.db, other)
    return other


HEAD = (
    "query",
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
    "SQL only",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    parser.add_argument("--only", nargs="+", default=QUERIES)
    options = parser.parse_args()
    seeded = seed(options.folder / f"{options.tickets}.db", options.tickets)
    print(
        describe_machine(), f"{options.tickets:,} tickets, {options.rounds} rounds of {options.seconds} s\n", sep="\n"
    )
    rows: list[list[object]] = []
    for query in options.only:
        for connections in options.connections:
            rows += compare(query, seeded, [ROOT, *options.tree], connections, options.rounds, options.seconds)
    print(format_table(HEAD, rows))


if __name__ == "__main__":
    main()

"""Durable writes, compared with bare commits of the same rows: `uv run --group dev python -m bench.writes`.

The bare commits insert the rows of a created ticket (ticket, label, event) on one thread, one commit for as many
tickets as there are clients, with ticketbox's connection settings. They do no HTTP, no checks and no response.
"""

import argparse
import contextlib
import itertools
import shutil
import sqlite3
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.client import load, post
from bench.launch import ROOT, Server, launch_ticketbox
from bench.machine import CLIENT_CORE, SERVER_CORE, cpu_seconds, describe_machine, format_table, pin_to_core
from bench.seed import SeededFile, seed
from ticketbox.store.file.connection import connect

TEXT = "When a coupon was used before signing in, the cart is empty after a reload. " * 5


def create_requests(seeded: SeededFile, server: Server) -> Iterator[bytes]:
    """Yield requests without end, each to create a ticket."""
    for number in itertools.count():
        body = {"project_id": seeded.project, "title": f"Ticket {number}", "description": TEXT, "labels": ["bug"]}
        yield post("/api/v1/tickets", server.host, seeded.token, msgspec.json.encode(body))


def comment_requests(seeded: SeededFile, server: Server) -> Iterator[bytes]:
    """Yield requests without end, each to add a comment."""
    for number, ticket in enumerate(itertools.cycle(seeded.tickets)):
        body = msgspec.json.encode({"body": f"Comment {number}: {TEXT}"})
        yield post(f"/api/v1/tickets/{ticket}/comments", server.host, seeded.token, body)


class BareCommits:
    """Inserts of the same rows, without a server."""

    def __init__(self, db: Path) -> None:
        self.connection = connect(db, writes=True, checkpoints=True)
        self.project, self.company, self.column = self.connection.execute(
            """SELECT p.id, p.company_id, c.id FROM project p JOIN board_column c ON c.project_id = p.id LIMIT 1"""
        ).fetchone()
        self.number = 0

    def measure_rate(self, group: int, seconds: float) -> float:
        """Return how many tickets a second are created, with `group` of them in a commit."""
        done, started = 0, time.perf_counter()
        while (now := time.perf_counter()) - started < seconds:
            self.connection.execute("BEGIN IMMEDIATE")
            for _ in range(group):
                self._create()
            self.connection.execute("COMMIT")
            done += group
        return done / (now - started)

    def _create(self) -> None:
        self.number += 1
        now = time.time_ns() // 1_000_000
        key = self.connection.execute(
            """INSERT INTO ticket (public_id, project_id, column_id, position, title, description, labels,
                 created_at, created_by, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?, '["bug"]', ?, 1, ?, 1)""",
            (f"t-b{self.number:07}", self.project, self.column, self.number << 20, "A ticket", TEXT, now, now),
        ).lastrowid
        self.connection.execute("INSERT INTO ticket_label (label, ticket_id) VALUES ('bug', ?)", (key,))
        self.connection.execute(
            """INSERT INTO event (type, company_id, project_id, ticket_id, byline_id, data, at)
               VALUES ('ticket.created', ?, ?, ?, 1, '{"title":"A ticket"}', ?)""",
            (self.company, self.project, key, now),
        )


def _copy_file(seeded: SeededFile, name: str) -> SeededFile:
    other = seeded.db.with_name(f"{seeded.db.stem}-{name}.db")
    for end in ("-wal", "-shm"):
        other.with_name(other.name + end).unlink(missing_ok=True)
    shutil.copyfile(seeded.db, other)
    return seeded._replace(db=other)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    options = parser.parse_args()
    seeded = seed(options.folder / f"{options.tickets}.db", options.tickets)
    print(
        describe_machine(), f"{options.tickets:,} tickets, {options.rounds} rounds of {options.seconds} s\n", sep="\n"
    )
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        bare = BareCommits(_copy_file(seeded, "bare").db)
        servers = [
            (
                tree.name if number else "ticketbox",
                stack.enter_context(launch_ticketbox(_copy_file(seeded, f"w{number}").db, tree)),
            )
            for number, tree in enumerate([ROOT, *options.tree])
        ]
        for clients in options.clients:
            results: dict[tuple[str, str], list[tuple[float, float, float, float, float]]] = {}
            for _ in range(options.rounds):
                with pin_to_core(SERVER_CORE):
                    base = bare.measure_rate(clients, options.seconds)
                results.setdefault(("bare commits", "create"), []).append((base, 0, 0, 0, 1))
                for name, server in servers:
                    for operation, requests in (("create", create_requests), ("comment", comment_requests)):
                        before = cpu_seconds(server.pid)
                        with pin_to_core(CLIENT_CORE):
                            sample = load(server.url, requests(seeded, server).__next__, clients, options.seconds)
                        if sample.failed:
                            raise RuntimeError(sample.refusal[:1000])
                        cpu = (cpu_seconds(server.pid) - before) / sample.requests * 1e6
                        figures = (sample.rate, sample.p50, sample.p99, cpu, sample.rate / base)
                        results.setdefault((name, operation), []).append(figures)
            for (name, operation), runs in results.items():
                rows.append(
                    [operation, clients, name, *(statistics.median(column) for column in zip(*runs, strict=True))]
                )
        bare.connection.close()
    print(format_table(("operation", "clients", "server", "writes/s", "p50 ms", "p99 ms", "CPU µs", "ratio"), rows))
    with contextlib.suppress(sqlite3.Error, OSError):
        for left in options.folder.glob(f"{options.tickets}-*.db*"):
            left.unlink()


if __name__ == "__main__":
    main()

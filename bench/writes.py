"""Durable creates against bare commits of the same rows: `uv run --group dev python -m bench.writes`.

The bare side inserts the rows that a create leaves (ticket, label, event) on one thread, as many creates to a
commit as there are clients, with the product's own connection settings. No HTTP, no check, no answer.
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
from bench.machine import CLIENT_CORE, SERVER_CORE, cpu_seconds, describe, pinned, table
from bench.seed import Seeded, seed
from bench.serving import ROOT, Server, ticketbox
from ticketbox.store.file.connection import connect

TEXT = "When a coupon was used before signing in, the cart is empty after a reload. " * 5


def creates(seeded: Seeded, server: Server) -> Iterator[bytes]:
    """Endless requests, each for another ticket."""
    for number in itertools.count():
        body = {"project_id": seeded.project, "title": f"Ticket {number}", "description": TEXT, "labels": ["bug"]}
        yield post("/api/v1/tickets", server.host, seeded.token, msgspec.json.encode(body))


def comments(seeded: Seeded, server: Server) -> Iterator[bytes]:
    """Endless requests, each for another comment."""
    for number, ticket in enumerate(itertools.cycle(seeded.tickets)):
        body = msgspec.json.encode({"body": f"Comment {number}: {TEXT}"})
        yield post(f"/api/v1/tickets/{ticket}/comments", server.host, seeded.token, body)


class Bare:
    """The same rows without a product around them."""

    def __init__(self, db: Path) -> None:
        self.connection = connect(db, writes=True, checkpoints=True)
        self.project, self.company, self.column = self.connection.execute(
            """SELECT p.id, p.company_id, c.id FROM project p JOIN board_column c ON c.project_id = p.id LIMIT 1"""
        ).fetchone()
        self.number = 0

    def rate(self, group: int, seconds: float) -> float:
        """Rows' creates a second, so many to a commit."""
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


def _copied(seeded: Seeded, name: str) -> Seeded:
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
    parser.add_argument("--tree", type=Path, action="append", default=[], help="measure this checkout as well")
    given = parser.parse_args()
    seeded = seed(given.folder / f"{given.tickets}.db", given.tickets)
    print(describe(), f"{given.tickets:,} tickets, {given.rounds} rounds of {given.seconds} s\n", sep="\n")
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        bare = Bare(_copied(seeded, "bare").db)
        servers = [
            (
                tree.name if number else "ticketbox",
                stack.enter_context(ticketbox(_copied(seeded, f"w{number}").db, tree)),
            )
            for number, tree in enumerate([ROOT, *given.tree])
        ]
        for clients in given.clients:
            found: dict[tuple[str, str], list[tuple[float, float, float, float, float]]] = {}
            for _ in range(given.rounds):
                with pinned(SERVER_CORE):
                    base = bare.rate(clients, given.seconds)
                found.setdefault(("bare commits", "create"), []).append((base, 0, 0, 0, 1))
                for name, server in servers:
                    for what, requests in (("create", creates), ("comment", comments)):
                        before = cpu_seconds(server.pid)
                        with pinned(CLIENT_CORE):
                            sample = load(server.url, requests(seeded, server).__next__, clients, given.seconds)
                        if sample.failed:
                            raise RuntimeError(sample.refusal[:1000])
                        cpu = (cpu_seconds(server.pid) - before) / sample.requests * 1e6
                        figures = (sample.rate, sample.p50, sample.p99, cpu, sample.rate / base)
                        found.setdefault((name, what), []).append(figures)
            for (name, what), runs in found.items():
                rows.append([what, clients, name, *(statistics.median(column) for column in zip(*runs, strict=True))])
        bare.connection.close()
    print(table(("what", "clients", "server", "writes/s", "p50 ms", "p99 ms", "CPU µs", "ratio"), rows))
    with contextlib.suppress(sqlite3.Error, OSError):
        for left in given.folder.glob(f"{given.tickets}-*.db*"):
            left.unlink()


if __name__ == "__main__":
    main()

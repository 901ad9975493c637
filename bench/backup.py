"""Backups: how long one takes, and how long it holds writers up: `uv run --group dev python -m bench.backup`.

One client makes a ticket every 10 ms and waits for each. The same is measured with nothing beside it, with
`ticketbox backup` beside the server, and with the backup that `serve` makes itself.
"""

import argparse
import hashlib
import http.client
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.machine import SERVER_CORE, describe, percentile, pinned, table
from bench.seed import Seeded, seed
from bench.serving import ROOT, Server, running

EVERY_SECONDS = 0.01
CONTENT_BYTES = 1_000_000
AIM_MS = 50


class Writer(threading.Thread):
    """Makes tickets until it is told to stop; `times` are the milliseconds that each took."""

    def __init__(self, server: Server, seeded: Seeded) -> None:
        super().__init__()
        self.times: list[float] = []
        self.stopping = threading.Event()
        self._server, self._seeded = server, seeded

    def run(self) -> None:
        """Write."""
        connection = http.client.HTTPConnection(self._server.host)
        headers = {"Authorization": f"Bearer {self._seeded.token}", "Content-Type": "application/json"}
        body = json.dumps({"project_id": self._seeded.project, "title": "A ticket"})
        while not self.stopping.wait(EVERY_SECONDS):
            started = time.perf_counter()
            connection.request("POST", "/api/v1/tickets", body, headers)
            answer = connection.getresponse()
            answer.read()
            self.times.append((time.perf_counter() - started) * 1000)
            assert answer.status == 201, answer.status


def enlarge(db: Path, megabytes: int) -> None:
    """Add attachments of random bytes."""
    connection = sqlite3.connect(db)
    with connection:
        for number in range(megabytes * 1_000_000 // CONTENT_BYTES):
            data = os.urandom(CONTENT_BYTES)
            blob = connection.execute(
                "INSERT INTO blob (sha256, encoding, bytes, data) VALUES (?, 'identity', ?, ?)",
                (hashlib.sha256(data).digest(), len(data), data),
            ).lastrowid
            connection.execute(
                """INSERT INTO asset (public_id, ticket_id, kind, blob_id, media_type, name, created_at, created_by)
                   VALUES (?, 1, 'attachment', ?, 'application/octet-stream', 'noise', 0, 1)""",
                (f"asset_b{number:011}", blob),
            )
    connection.close()


def measure(server: Server, seeded: Seeded, during: Callable[[], object]) -> tuple[float, list[float]]:
    """Seconds that something takes, and how long each write took meanwhile."""
    writer = Writer(server, seeded)
    writer.start()
    started = time.perf_counter()
    during()
    seconds = time.perf_counter() - started
    writer.stopping.set()
    writer.join()
    return seconds, writer.times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=500, help="of attachments")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    original = seed(given.folder / f"{given.tickets}.db", given.tickets)
    db = given.folder / "backup-bench.db"
    shutil.copyfile(original.db, db)
    seeded = original._replace(db=db)
    enlarge(db, given.megabytes)
    copies = given.folder / "backup-bench"
    shutil.rmtree(copies, ignore_errors=True)
    serve = ["-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"]
    command = [sys.executable, "-m", "ticketbox", "backup", str(copies / "one.db"), "--db", str(db), "--force"]

    def beside() -> None:
        with pinned(SERVER_CORE):
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    def inside() -> None:
        while not list(copies.glob("backup-bench-*.db")):
            time.sleep(0.05)

    found: dict[str, list[tuple[float, list[float]]]] = {}
    for _ in range(given.rounds):
        with running(serve, ROOT) as server:
            found.setdefault("nothing beside", []).append(measure(server, seeded, lambda: time.sleep(8)))
            found.setdefault("`ticketbox backup` beside", []).append(measure(server, seeded, beside))
        for old in copies.glob("backup-bench-*.db"):
            old.unlink()
        with running([*serve, "--backup-every", "1d", "--backup-dir", str(copies)], ROOT) as server:
            found.setdefault("inside `serve`", []).append(measure(server, seeded, inside))
    rows: list[list[object]] = []
    for what, runs in found.items():
        times = [each for _, run in runs for each in run]
        taken = statistics.median(seconds for seconds, _ in runs)
        late = sum(each > AIM_MS for each in times) / len(times) * 100
        rows.append([what, taken, len(times), percentile(times, 0.5), percentile(times, 0.99), max(times), late])
    print(describe(), f"{db.stat().st_size / 1e6:,.0f} MB, {given.tickets:,} tickets\n", sep="\n")
    print(table(("what", "seconds", "writes", "p50 ms", "p99 ms", "longest ms", f"% over {AIM_MS} ms"), rows))
    shutil.rmtree(copies)
    db.unlink()


if __name__ == "__main__":
    main()

"""Duration of a backup, and how much it delays writes: `uv run --group dev python -m bench.backup`.

One client creates a ticket 10 ms after the other. Measured without a backup, with `ticketbox backup` running beside the
server, and with a scheduled backup inside `serve`.
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

from bench.launch import ROOT, Server, launch
from bench.machine import SERVER_CORE, describe_machine, format_table, percentile, pin_to_core
from bench.seed import SeededFile, seed

EVERY_SECONDS = 0.01
CONTENT_BYTES = 1_000_000
LIMIT_MS = 50


class Writer(threading.Thread):
    """Creates tickets until `stopping` is set; `times` has the milliseconds of each."""

    def __init__(self, server: Server, seeded: SeededFile) -> None:
        super().__init__()
        self.times: list[float] = []
        self.stopping = threading.Event()
        self._server, self._seeded = server, seeded

    def run(self) -> None:
        """Create tickets."""
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
    """Add attachments of random bytes to a file."""
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


def measure(server: Server, seeded: SeededFile, action: Callable[[], object]) -> tuple[float, list[float]]:
    """Run an action beside a writer: its seconds, and the milliseconds of each write."""
    writer = Writer(server, seeded)
    writer.start()
    started = time.perf_counter()
    action()
    seconds = time.perf_counter() - started
    writer.stopping.set()
    writer.join()
    return seconds, writer.times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=500, help="size of the attachments")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    original = seed(options.folder / f"{options.tickets}.db", options.tickets)
    db = options.folder / "backup-bench.db"
    shutil.copyfile(original.db, db)
    seeded = original._replace(db=db)
    enlarge(db, options.megabytes)
    copies = options.folder / "backup-bench"
    shutil.rmtree(copies, ignore_errors=True)
    serve = ["-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"]
    command = [sys.executable, "-m", "ticketbox", "backup", str(copies / "one.db"), "--db", str(db), "--force"]

    def run_backup() -> None:
        with pin_to_core(SERVER_CORE):
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    def wait_for_scheduled_backup() -> None:
        while not list(copies.glob("backup-bench-*.db")):
            time.sleep(0.05)

    results: dict[str, list[tuple[float, list[float]]]] = {}
    for _ in range(options.rounds):
        with launch(serve, ROOT) as server:
            results.setdefault("none", []).append(measure(server, seeded, lambda: time.sleep(8)))
            results.setdefault("`ticketbox backup`", []).append(measure(server, seeded, run_backup))
        for old in copies.glob("backup-bench-*.db"):
            old.unlink()
        with launch([*serve, "--backup-every", "1d", "--backup-dir", str(copies)], ROOT) as server:
            results.setdefault("scheduled, inside `serve`", []).append(
                measure(server, seeded, wait_for_scheduled_backup)
            )
    rows: list[list[object]] = []
    for backup, runs in results.items():
        times = [each for _, run in runs for each in run]
        duration = statistics.median(seconds for seconds, _ in runs)
        late = sum(each > LIMIT_MS for each in times) / len(times) * 100
        rows.append([backup, duration, len(times), percentile(times, 0.5), percentile(times, 0.99), max(times), late])
    print(describe_machine(), f"{db.stat().st_size / 1e6:,.0f} MB, {options.tickets:,} tickets\n", sep="\n")
    print(
        format_table(("backup", "seconds", "writes", "p50 ms", "p99 ms", "longest ms", f"% over {LIMIT_MS} ms"), rows)
    )
    shutil.rmtree(copies)
    db.unlink()


if __name__ == "__main__":
    main()

"""Starting: `version`, `serve` to its first answer, memory at rest: `uv run --group dev python -m bench.start`."""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.client import get, once
from bench.machine import SERVER_CORE, describe, memory_mb, pinned, table
from bench.seed import seed
from bench.serving import ROOT, ticketbox


def version(executable: list[str]) -> float:
    """Seconds that `version` takes."""
    started = time.perf_counter()
    with pinned(SERVER_CORE):
        subprocess.run([*executable, "version"], check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def serve(db: Path) -> tuple[float, float]:
    """Seconds from the start of the process to its first answer, and its memory then in MB."""
    started = time.perf_counter()
    with ticketbox(db) as server:
        once(server.url, get("/healthz", server.host, None))
        return time.perf_counter() - started, memory_mb(server.pid, "VmRSS")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--executable", type=Path, help="the single executable, measured as well")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a start without compiled modules is no usual one
    print(describe() + "\n")
    rows: list[list[object]] = []
    commands = {"from the environment": [sys.executable, "-m", "ticketbox"]}
    if given.executable:
        commands["executable"] = [str(given.executable.resolve())]
    for name, command in commands.items():
        times = [version(command) for _ in range(given.rounds)]
        rows.append([f"version, {name}", statistics.median(times) * 1000, min(times) * 1000, ""])
    for tickets in (1_000, 100_000):
        seeded = seed(given.folder / f"{tickets}.db", tickets)
        runs = [serve(seeded.db) for _ in range(given.rounds)]
        times, memory = [run[0] for run in runs], statistics.median(run[1] for run in runs)
        rows.append([f"serve, {tickets:,} tickets", statistics.median(times) * 1000, min(times) * 1000, memory])
    print(table(("what", "ms", "best ms", "RSS MB"), rows))


if __name__ == "__main__":
    main()

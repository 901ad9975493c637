"""Start times and idle memory: `uv run --group dev python -m bench.startup`."""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.client import fetch, get
from bench.launch import ROOT, launch_ticketbox
from bench.machine import SERVER_CORE, describe_machine, format_table, memory_mb, pin_to_core
from bench.seed import seed


def measure_version(executable: list[str]) -> float:
    """Measure `version` in seconds."""
    started = time.perf_counter()
    with pin_to_core(SERVER_CORE):
        subprocess.run([*executable, "version"], check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def measure_serve(db: Path) -> tuple[float, float]:
    """Measure `serve`: seconds until the first response, and the memory in MB at that time."""
    started = time.perf_counter()
    with launch_ticketbox(db) as server:
        fetch(server.url, get("/healthz", server.host, None))
        return time.perf_counter() - started, memory_mb(server.pid, "VmRSS")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--executable", type=Path, help="also measure this executable")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users start with compiled modules
    print(describe_machine() + "\n")
    rows: list[list[object]] = []
    commands = {"from the environment": [sys.executable, "-m", "ticketbox"]}
    if options.executable:
        commands["executable"] = [str(options.executable.resolve())]
    for name, command in commands.items():
        times = [measure_version(command) for _ in range(options.rounds)]
        rows.append([f"version, {name}", statistics.median(times) * 1000, min(times) * 1000, ""])
    for tickets in (1_000, 100_000):
        seeded = seed(options.folder / f"{tickets}.db", tickets)
        runs = [measure_serve(seeded.db) for _ in range(options.rounds)]
        times, memory = [run[0] for run in runs], statistics.median(run[1] for run in runs)
        rows.append([f"serve, {tickets:,} tickets", statistics.median(times) * 1000, min(times) * 1000, memory])
    print(format_table(("command", "ms", "best ms", "RSS MB"), rows))


if __name__ == "__main__":
    main()

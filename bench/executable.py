"""Size, start and memory of the executable: `uv run --group dev python -m bench.executable dist/ticketbox`.

Processor time includes child processes, and is that of `serve` until its first response; on a busy machine it is more
reliable than the elapsed time. Several executables, and Python from the environment, are measured alternately.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.client import fetch, get
from bench.machine import SERVER_CORE, cpu_seconds, describe_machine, format_table, memory_mb, pin_to_core
from bench.seed import seed

IDLE_SECONDS = 5.0


def measure_version(command: list[str]) -> tuple[float, float]:
    """Measure `version`: elapsed and processor time in milliseconds."""
    before, started = os.times(), time.perf_counter()
    with pin_to_core(SERVER_CORE):
        subprocess.run([*command, "version"], check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return (time.perf_counter() - started) * 1000, cpu * 1000


def measure_serve(command: list[str], db: Path) -> tuple[float, float, float]:
    """Measure `serve`: elapsed and processor time in ms until the first response, and the memory in MB when idle."""
    started = time.perf_counter()
    with pin_to_core(SERVER_CORE):
        process = subprocess.Popen(
            [*command, "serve", "--db", str(db), "--port", "0", "--no-open"],
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        address = re.search(r" at http://localhost:(\d+)", process.stdout.readline())
        assert address is not None
        host = f"127.0.0.1:{address[1]}"
        fetch(f"http://{host}", get("/healthz", host, None))
        first = (time.perf_counter() - started) * 1000
        processes = [process.pid, *_children(process.pid)]
        cpu = sum(map(cpu_seconds, processes)) * 1000
        time.sleep(IDLE_SECONDS)
        return first, cpu, sum(memory_mb(pid, "VmRSS") for pid in processes)
    finally:
        process.terminate()
        process.wait(20)


def _children(pid: int) -> list[int]:
    """Return the child processes: the executable unpacks itself and serves in a second process."""
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("executables", type=Path, nargs="*", default=[Path("dist/ticketbox")])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    seeded = seed(options.folder / "1000.db", 1_000)
    commands = {f"{path}, {path.stat().st_size / 1e6:.1f} MB": [str(path.resolve())] for path in options.executables}
    commands["from the environment"] = [sys.executable, "-m", "ticketbox"]
    versions: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    serves: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            versions[name].append(measure_version(command))
            serves[name].append(measure_serve(command, seeded.db))
    rows: list[list[object]] = []
    for name in commands:
        wall, cpu = zip(*versions[name], strict=True)
        first, until, memory = zip(*serves[name], strict=True)
        rows.append([f"version, {name}", statistics.median(wall), min(wall), min(cpu), ""])
        rows.append([f"serve, {name}", statistics.median(first), min(first), min(until), statistics.median(memory)])
    print(describe_machine(), "", sep="\n")
    print(format_table(("command", "ms", "best ms", "CPU ms", "RSS MB"), rows))


if __name__ == "__main__":
    main()

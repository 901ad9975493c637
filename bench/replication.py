"""What is lost with a machine, and how long its return takes: `uv run --group dev python -m bench.replication`.

One client creates a ticket 10 ms after the other. Litestream and the server are killed together; the restored file then
lacks the last tickets. sqlite3_rsync copies the file again two seconds after it ended, and is killed with the server. A
backup lacks what was written since it began, so only its duration and return are measured.
"""

import argparse
import contextlib
import os
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import psutil

from bench.backup import EVERY_SECONDS, enlarge
from bench.launch import ROOT, Server, launch
from bench.machine import describe_machine, format_table, percentile
from bench.seed import SeededFile, seed

LITESTREAM = Path(sys.executable).with_name("litestream")
RSYNC = Path(sysconfig.get_path("platlib")) / "apsw/sqlite_extra_binaries/sqlite3_rsync"
SETTLE_SECONDS = 20.0
RSYNC_PAUSE_SECONDS = 2.0
TITLE = "Replicated"


@contextlib.contextmanager
def launch_replicated(db: Path, replica: Path) -> Generator[Server]:
    """Run a server inside of `litestream replicate -exec`; `process` is Litestream's."""
    serve = [sys.executable, "-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"]
    inner = shlex.join([*serve, "--leave-checkpoints"])
    start = f"import os; os.execv({str(LITESTREAM)!r}, ['litestream', 'replicate', '-exec', {inner!r}, {str(db)!r}, "
    with launch(["-c", f"{start}'file://{replica}'])"], ROOT) as server:
        yield server


def write_for(server: Server, seeded: SeededFile, seconds: float) -> tuple[list[float], list[float]]:
    """Create numbered tickets; the times at which each was acknowledged, and how many ms each write took."""
    acknowledged: list[float] = []
    took: list[float] = []
    headers = {"Authorization": f"Bearer {seeded.token}"}
    stop = time.monotonic() + seconds
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as client:
        while time.monotonic() < stop:
            body = {"project_id": seeded.project, "title": f"{TITLE} {len(acknowledged)}"}
            started = time.perf_counter()
            client.post("/api/v1/tickets", json=body).raise_for_status()
            took.append((time.perf_counter() - started) * 1000)
            acknowledged.append(time.monotonic())
            time.sleep(EVERY_SECONDS)
    return acknowledged, took


def kill_all(server: Server) -> float:
    """Kill Litestream and the server as a power failure does; return when."""
    processes = [psutil.Process(server.process.pid), *psutil.Process(server.process.pid).children(recursive=True)]
    killed_at = time.monotonic()
    for each in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes[1:], timeout=20)
    return killed_at


def count_written(db: Path) -> int:
    """Count the tickets of the run that a file has."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute("SELECT count(*) FROM ticket WHERE title GLOB ?", (f"{TITLE} *",)).fetchone()[0]


def run_command(*arguments: object) -> float:
    """Run a program to its end; return its seconds."""
    started = time.monotonic()
    subprocess.run([str(each) for each in arguments], check=True, capture_output=True, cwd=ROOT)
    return time.monotonic() - started


def measure_start(db: Path) -> float:
    """Return the seconds until a server on this file has answered."""
    started = time.monotonic()
    with launch(["-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"], ROOT):
        return time.monotonic() - started


def measure_litestream(seeded: SeededFile, folder: Path, seconds: float) -> dict[str, float]:
    """Write beside Litestream, kill both, restore and start again."""
    replica, restored = folder / "replica", folder / "restored.db"
    shutil.rmtree(replica, ignore_errors=True)
    for each in folder.glob("restored.db*"):
        each.unlink()
    with launch_replicated(seeded.db, replica) as server:
        time.sleep(SETTLE_SECONDS)  # the first copy of the whole file
        acknowledged, took = write_for(server, seeded, seconds)
        killed_at = kill_all(server)
    restore = run_command(LITESTREAM, "restore", "-o", restored, f"file://{replica}")
    check = run_command(sys.executable, "-m", "ticketbox", "check", "--db", restored)
    there = count_written(restored)
    newest = acknowledged[there - 1] if there else acknowledged[0]
    return {
        "write p50 ms": percentile(took, 0.5), "write p99 ms": percentile(took, 0.99),
        "lost s": killed_at - newest, "lost writes": len(acknowledged) - there,
        "restore s": restore, "check s": check, "start s": measure_start(restored),
        "replica MB": sum(each.stat().st_size for each in replica.rglob("*") if each.is_file()) / 1e6,
    }  # fmt: skip


def measure_rsync(seeded: SeededFile, folder: Path, seconds: float) -> dict[str, float]:
    """Write while sqlite3_rsync copies the file again and again, kill the server and start on the copy."""
    copy = folder / "copy.db"
    for each in folder.glob("copy.db*"):
        each.unlink()
    again: list[float] = []
    stopping = threading.Event()

    def copy_again() -> None:
        while not stopping.wait(RSYNC_PAUSE_SECONDS):
            started = time.monotonic()
            process = subprocess.Popen([RSYNC, seeded.db, copy], start_new_session=True, stdout=subprocess.DEVNULL)
            while process.poll() is None:
                if stopping.wait(0.01):  # the machine is lost, and the copy isn't finished
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    return
            again.append(time.monotonic() - started)

    with launch(["-m", "ticketbox", "serve", "--db", str(seeded.db), "--port", "0", "--no-open"], ROOT) as server:
        first = run_command(RSYNC, seeded.db, copy)
        copying = threading.Thread(target=copy_again)
        copying.start()
        acknowledged, took = write_for(server, seeded, seconds)
        stopping.set()
        killed_at = kill_all(server)
        copying.join()
    check = run_command(sys.executable, "-m", "ticketbox", "check", "--db", copy)
    there = count_written(copy)
    return {
        "write p50 ms": percentile(took, 0.5), "write p99 ms": percentile(took, 0.99), "first copy s": first,
        "next copy, median s": statistics.median(again), "next copy, most s": max(again),
        "lost s": killed_at - acknowledged[max(there, 1) - 1], "lost writes": len(acknowledged) - there,
        "check s": check, "start s": measure_start(copy), "copy MB": copy.stat().st_size / 1e6,
    }  # fmt: skip


def measure_backup(seeded: SeededFile, folder: Path, seconds: float) -> dict[str, float]:
    """Write without Litestream, back up, restore the backup and start again."""
    copy, restored = folder / "copy.db", folder / "restored.db"
    for each in (*folder.glob("copy.db*"), *folder.glob("restored.db*")):
        each.unlink()
    with launch(["-m", "ticketbox", "serve", "--db", str(seeded.db), "--port", "0", "--no-open"], ROOT) as server:
        _, took = write_for(server, seeded, seconds)
        backup = run_command(sys.executable, "-m", "ticketbox", "backup", copy, "--db", seeded.db)
    restore = run_command(sys.executable, "-m", "ticketbox", "restore", copy, "--db", restored)
    return {
        "write p50 ms": percentile(took, 0.5), "write p99 ms": percentile(took, 0.99), "backup s": backup,
        "restore s": restore, "start s": measure_start(restored),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--megabytes", type=int, default=500, help="size of the attachments")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each round writes")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    seeded = seed(options.folder / "1000.db", 1000)
    original = options.folder / "replication-bench.db.original"
    shutil.copyfile(seeded.db, original)
    enlarge(original, options.megabytes)
    db = options.folder / "replication-bench.db"
    results: dict[str, list[dict[str, float]]] = {}
    ways = {"Litestream": measure_litestream, "sqlite3_rsync": measure_rsync, "backup": measure_backup}
    for _ in range(options.rounds):
        for name, measure in ways.items():
            for each in options.folder.glob("replication-bench.db*"):
                if each != original:
                    shutil.rmtree(each) if each.is_dir() else each.unlink()
            for each in options.folder.glob(".replication-bench.db*"):  # Litestream's own folder
                shutil.rmtree(each)
            shutil.copyfile(original, db)
            results.setdefault(name, []).append(measure(seeded._replace(db=db), options.folder, options.seconds))
    print(describe_machine(), f"{original.stat().st_size / 1e6:,.0f} MB, {options.rounds} rounds\n", sep="\n")
    for name, runs in results.items():
        rows = [
            [figure, statistics.median(run[figure] for run in runs), max(run[figure] for run in runs)]
            for figure in runs[0]
        ]
        print(format_table((name, "median", "most"), rows), "", sep="\n")
    for each in options.folder.glob("*replication-bench.db*"):
        shutil.rmtree(each) if each.is_dir() else each.unlink()


if __name__ == "__main__":
    main()

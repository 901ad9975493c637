"""Backups of a file with and without an assets folder: `uv run --group dev python -m bench.assets`.

Seconds of the commands and sizes, for a file with attachments of 1 MB of random bytes that no server has open.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.backup import enlarge
from bench.launch import ROOT
from bench.machine import describe_machine, format_table
from bench.seed import seed


def run(*arguments: str | Path) -> tuple[float, dict[str, int]]:
    """Run a command: its seconds, and its JSON output."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "ticketbox", *map(str, arguments), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started, json.loads(done.stdout)


def measure_new_bytes(*paths: Path) -> int:
    """The bytes on the disk of files and folders, without those that have another hard link."""
    files = [each for path in paths for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file()]
    return sum(each.stat().st_size for each in files if each.stat().st_nlink == 1)


def back_up(db: Path, to: Path) -> list[str]:
    """Back up: seconds, and the megabytes that are new on the disk."""
    os.sync()
    seconds, _ = run("backup", to, "--db", db)
    return [f"{seconds:.1f}", f"{measure_new_bytes(to, to.with_name(f'{to.name}.assets')) / 1e6:,.0f}"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("/tmp/ticketbox-bench"))
    parser.add_argument("--tickets", type=int, default=1_000)
    parser.add_argument("--megabytes", type=int, default=1_000, help="size of the attachments")
    options = parser.parse_args()
    original = seed(options.folder / f"{options.tickets}.db", options.tickets)
    folder = options.folder / "assets-bench"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    db, copies = folder / "file.db", folder / "backups"
    shutil.copyfile(original.db, db)
    enlarge(db, options.megabytes)
    rows = [["without a folder: backup", *back_up(db, copies / "a.db")]]
    rows.append(["without a folder: restore", f"{run('restore', copies / 'a.db', '--db', folder / 'r.db')[0]:.1f}", ""])
    seconds, _ = run("assets", "move", folder / "assets", "--db", db)
    rows.append(
        ["moving everything to the folder", f"{seconds:.1f}", f"{db.stat().st_size / 1e6:,.0f} left in the file"]
    )
    rows.append(["with a folder: first backup", *back_up(db, copies / "b.db")])
    rows.append(["with a folder: next backup, nothing new", *back_up(db, copies / "c.db")])
    seconds, _ = run("check", "--db", copies / "c.db")
    rows.append(["with a folder: check of a backup", f"{seconds:.1f}", ""])
    seconds, _ = run("restore", copies / "c.db", "--db", folder / "s.db")
    rows.append(["with a folder: restore", f"{seconds:.1f}", ""])
    seconds, _ = run("assets", "move", "--into-file", "--db", db)
    rows.append(["moving everything back", f"{seconds:.1f}", ""])
    print(describe_machine())
    print(f"{options.tickets:,} tickets and {options.megabytes:,} MB of attachments")
    print(format_table(["what", "seconds", "MB on the disk"], rows))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

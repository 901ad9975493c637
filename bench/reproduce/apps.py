"""Builds the benchmark's applications with npm, in a temporary folder."""

import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).with_name("apps")
APPS = ("plain", "react", "vue")
SECONDS = 300


class NpmMissingError(Exception):
    """npm isn't installed, or can't install the packages; the text says why."""


def build_apps(folder: Path) -> dict[str, Path]:
    """Build the applications in a folder; return what to serve, by name. Raises NpmMissingError."""
    npm = shutil.which("npm")
    if npm is None:
        raise NpmMissingError("npm isn't installed")
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    _run(folder, npm, "install", "--no-audit", "--no-fund", "--loglevel", "error")
    for app in APPS:
        if app != "plain":
            _run(folder, str(folder / "node_modules" / ".bin" / "vite"), "build", app, "--config", "vite.config.js")
    return list_apps(folder)


def list_apps(folder: Path) -> dict[str, Path]:
    """Return what to serve of the applications that were built in a folder, by name."""
    return {app: folder / app / ("" if app == "plain" else "dist") for app in APPS}


def _run(folder: Path, *command: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.CalledProcessError as error:
        raise NpmMissingError(f"`{' '.join(command)}` failed: {error.stderr.strip()[-500:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NpmMissingError(str(error)) from error

"""What a real application is: its packages, how it starts, and the bugs that a person runs into."""

import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from playwright.async_api import Page

SECONDS = 900


class Fault(NamedTuple):
    """What the proxy changes in the answers to matching requests: their status, or a text in them.

    `path` is a regular expression for the path with its query, and `sent` a text of the request's body. A fault of the
    `front` end is in the application's own files, so its reproduction needs no backend.
    """

    path: str
    method: str = "GET"
    status: int = 0
    old: str = ""
    new: str = ""
    sent: str = ""
    front: bool = False


class Case(NamedTuple):
    """A bug: the steps of a person from the page at `start` on.

    `before` is a page and what was done there earlier, in a tab that isn't captured; the runs get the cookies that it
    left. `live`: all calls go to the server, which the guide advises for an answer with a good status and a wrong
    content.
    """

    name: str
    fault: Fault
    walk: Callable[[Page], Awaitable[None]]
    start: str = "/"
    before: tuple[str, Callable[[Page], Awaitable[None]]] | None = None
    live: bool = False


class Application(NamedTuple):
    """An application: its packages from PyPI and npm, and the command that starts it.

    `command` gets the folder of the installation and a port; `files` are written to the folder first, and `prepare`
    returns what to run once after the installation. It has started when `ready` answers. `fresh`: it starts again
    before each run, because the bugs change its state.
    """

    name: str
    command: Callable[[Path, int], list[str]]
    cases: list[Case]
    pypi: Sequence[str] = ()
    npm: Sequence[str] = ()
    files: Mapping[str, str] = MappingProxyType({})
    prepare: Callable[[Path], list[list[str]]] = lambda _: []
    ready: str = "/"
    fresh: bool = False


class InstallError(Exception):
    """An application can't be installed here; the text says why."""


def install(application: Application, cache: Path) -> Path:
    """Install an application in a separate folder, unless it is there; return the folder. Raises InstallError."""
    folder = cache / application.name.lower()
    done = folder / "installed.txt"
    wanted = "\n".join([*application.pypi, *application.npm])
    for name, content in application.files.items():
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(content)
    if done.exists() and done.read_text() == wanted:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for command in _list_commands(application, folder) + application.prepare(folder):
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.CalledProcessError as error:
            raise InstallError(f"`{' '.join(command)}` failed: {(error.stderr or error.stdout)[-500:]}") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(str(error)) from error
    done.write_text(wanted)
    return folder


def _list_commands(application: Application, folder: Path) -> list[list[str]]:
    commands: list[list[str]] = []
    if application.pypi:
        commands.append(["uv", "venv", "--quiet", "--no-project", "--allow-existing", str(folder)])
        python = str(folder / "bin" / "python")
        commands.append(["uv", "pip", "install", "--quiet", "--python", python, *application.pypi])
    if application.npm:
        if not folder.joinpath("package.json").exists():
            folder.joinpath("package.json").write_text("{}")  # or npm installs in a folder above
        commands.append(["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error", *application.npm])
    return commands


def start(application: Application, folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start an application; its output is in `server.log` of its folder."""
    with folder.joinpath("server.log").open("wb") as log:
        return subprocess.Popen(
            application.command(folder, port), cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, "HOME": str(folder), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip

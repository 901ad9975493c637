"""What a peer is here: something that can be installed, filled with tickets, served, and asked four questions."""

import contextlib
import random
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

import httpx

from bench.machine import SERVER_CORE, pinned
from bench.seed import WORDS
from bench.serving import Server

READ, LIST, SEARCH, CREATE = QUESTIONS = ("read a ticket", "list 50", "search a word", "create a ticket")
RARE = "zephyr"  # one ticket in a hundred holds it
USER, PASSWORD = "bench", secrets.token_hex(8)
READABLE = 500


class Text(NamedTuple):
    """What stands in a ticket."""

    title: str
    description: str


def texts(tickets: int) -> Iterator[Text]:
    """The same tickets for everybody."""
    chance = random.Random(1)
    for number in range(tickets):
        words = [*chance.choices(WORDS, k=chance.randint(20, 120)), *([RARE] if number % 100 == 0 else [])]
        yield Text(" ".join(chance.choices(WORDS, k=8)).capitalize(), " ".join(words))


Asked = dict[str, Sequence[bytes] | Callable[[], bytes]]


class Peer(Protocol):
    """One tracker. `serving` says who listens, and what to ask of it; `created` is how the status of a create begins.

    Where a form is sent that is a redirect, because a page says that something is wrong. `hits` is how many a page of
    its search has.
    """

    name: str
    created: bytes
    hits: int

    def missing(self, folder: Path) -> str | None:
        """What isn't there and can't be had by `install`, or None."""
        ...

    def install(self, folder: Path) -> str:
        """Install it, unless it is there; its version."""
        ...

    def serving(self, folder: Path, tickets: int) -> contextlib.AbstractContextManager[tuple[Server, Asked]]:
        """Serve a copy of so many tickets, and end it."""
        ...


def venv(folder: Path, *requirements: str) -> Path:
    """The `bin` of a virtual environment with these in it, which need to be had from PyPI."""
    found = folder / "venv" / "bin"
    if not (found / "done").exists():
        shutil.rmtree(folder / "venv", ignore_errors=True)
        run(sys.executable, "-m", "venv", str(folder / "venv"))
        run(str(found / "python"), "-m", "pip", "install", "--quiet", *requirements)
        (found / "done").touch()
    return found


def run(*command: str, cwd: Path | None = None, **environment: str) -> str:
    """Run a command to its end; what it printed. Raises RuntimeError with its words when it fails."""
    import os

    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def served(command: list[str], port: int, cwd: Path, **environment: str) -> Generator[Server]:
    """A server on the server's core until the end, with everything that it started."""
    import os
    import signal

    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+") as log, pinned(SERVER_CORE):
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, **environment}, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True, text=True,
        )  # fmt: skip
        try:
            for _ in range(1200):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                if process.poll() is not None:
                    log.seek(0)
                    raise RuntimeError(f"it ended: {log.read()[-3000:]}")
                time.sleep(0.1)
            else:
                raise RuntimeError("it doesn't listen")
            yield Server(url, process.pid, process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def gunicorn(found: Path, module: str, port: int) -> list[str]:
    """One process with four threads, as these would be served on one core."""
    bind = ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "4", "--keep-alive", "30"]
    return [str(found / "gunicorn"), *bind, "--no-control-socket", module]


def free_port() -> int:
    """A port that nobody has."""
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(method: str, path: str, server: Server, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {server.host}", "Accept: */*"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}"] if body or method != "GET" else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def form(path: str, server: Server, headers: dict[str, str], fields: dict[str, str]) -> bytes:
    """A form that is sent, as a browser does."""
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Referer": server.url + path, "Origin": server.url}
    return request("POST", path, server, {**kind, **headers}, urlencode(fields).encode())


def cookies(client: httpx.Client) -> dict[str, str]:
    """The Cookie header that a client has collected."""
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


def hidden(page: str, name: str) -> str:
    """The value of a form's field."""
    field = re.search(rf"<input[^>]*name=[\"']{name}[\"'][^>]*>", page)
    value = field and re.search(r"value=[\"']([^\"']*)", field[0])
    if not value:
        raise RuntimeError(f"no field {name}: {page[:1000]}")
    return value[1]


def new_texts() -> Iterator[Text]:
    """Endless tickets to create."""
    chance = random.Random()
    while True:
        yield Text(" ".join(chance.choices(WORDS, k=8)), " ".join(chance.choices(WORDS, k=70)))

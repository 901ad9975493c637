"""What peers have in common: installation, tickets, a server, and the requests of four operations."""

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

from bench.launch import Server
from bench.machine import SERVER_CORE, pin_to_core
from bench.seed import WORDS

READ, LIST, SEARCH, CREATE = OPERATIONS = ("read a ticket", "list 50", "search a word", "create a ticket")
RARE = "zephyr"  # one ticket in a hundred holds it
USER, PASSWORD = "bench", secrets.token_hex(8)
READ_COUNT = 500


class TicketText(NamedTuple):
    """The texts of a ticket."""

    title: str
    description: str


def ticket_texts(tickets: int) -> Iterator[TicketText]:
    """Yield the same tickets for every peer."""
    chance = random.Random(1)
    for number in range(tickets):
        words = [*chance.choices(WORDS, k=chance.randint(20, 120)), *([RARE] if number % 100 == 0 else [])]
        yield TicketText(" ".join(chance.choices(WORDS, k=8)).capitalize(), " ".join(words))


Requests = dict[str, Sequence[bytes] | Callable[[], bytes]]


class Peer(Protocol):
    """A tracker.

    `create_status` is the first digit of the status of a successful create: a form that is accepted redirects, a page
    reports an error. `search_page_size` is the number of results on a page of its search.
    """

    name: str
    create_status: bytes
    search_page_size: int

    def missing_requirement(self, folder: Path) -> str | None:
        """Return how to install what `install` can't, or None if nothing is missing."""
        ...

    def install(self, folder: Path) -> str:
        """Install it if needed; return its version."""
        ...

    def serve(self, folder: Path, tickets: int) -> contextlib.AbstractContextManager[tuple[Server, Requests]]:
        """Serve a new instance with this number of tickets, and return the requests to send to it."""
        ...


def make_venv(folder: Path, *requirements: str) -> Path:
    """Create a virtual environment with these packages from PyPI; return its `bin`."""
    programs = folder / "venv" / "bin"
    if not (programs / "done").exists():
        shutil.rmtree(folder / "venv", ignore_errors=True)
        run_command(sys.executable, "-m", "venv", str(folder / "venv"))
        run_command(str(programs / "python"), "-m", "pip", "install", "--quiet", *requirements)
        (programs / "done").touch()
    return programs


def run_command(*command: str, cwd: Path | None = None, **environment: str) -> str:
    """Run a command; return what it printed. Raises RuntimeError with its output if it fails."""
    import os

    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def start_server(command: list[str], port: int, cwd: Path, **environment: str) -> Generator[Server]:
    """Run a server on the server's core during the block, then stop it with all its processes."""
    import os
    import signal

    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+") as log, pin_to_core(SERVER_CORE):
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
                    raise RuntimeError(f"the server ended: {log.read()[-3000:]}")
                time.sleep(0.1)
            else:
                raise RuntimeError("the server doesn't listen")
            yield Server(url, process.pid, process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def gunicorn(programs: Path, module: str, port: int) -> list[str]:
    """Return the command for one process with four threads, which suits one core."""
    bind = ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "4", "--keep-alive", "30"]
    return [str(programs / "gunicorn"), *bind, "--no-control-socket", module]


def free_port() -> int:
    """Return a free port."""
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(method: str, path: str, server: Server, headers: dict[str, str], body: bytes = b"") -> bytes:
    """Build a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {server.host}", "Accept: */*"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}"] if body or method != "GET" else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def form_request(path: str, server: Server, headers: dict[str, str], fields: dict[str, str]) -> bytes:
    """Build the request of a submitted form, as a browser sends it."""
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Referer": server.url + path, "Origin": server.url}
    return request("POST", path, server, {**kind, **headers}, urlencode(fields).encode())


def cookie_header(client: httpx.Client) -> dict[str, str]:
    """Return a client's cookies as a header."""
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


def form_field(page: str, name: str) -> str:
    """Return the value of a form's field. Raises RuntimeError if there is none."""
    field = re.search(rf"<input[^>]*name=[\"']{name}[\"'][^>]*>", page)
    value = field and re.search(r"value=[\"']([^\"']*)", field[0])
    if not value:
        raise RuntimeError(f"no field {name}: {page[:1000]}")
    return value[1]


def new_ticket_texts() -> Iterator[TicketText]:
    """Yield tickets without end, to create."""
    chance = random.Random()
    while True:
        yield TicketText(" ".join(chance.choices(WORDS, k=8)), " ".join(chance.choices(WORDS, k=70)))

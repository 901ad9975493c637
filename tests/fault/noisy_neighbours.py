"""Noisy neighbours: clients that overload the server while others work.

Each runs in a separate process. It receives its task as JSON in its only argument, prints `ready`, works while its
standard input is open, and then prints what it counted as JSON; `faults` counts what must not happen.
"""

import asyncio
import contextlib
import functools
import itertools
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.agents import Connection
from bench.client import get, post
from bench.launch import ROOT, Server
from bench.machine import SERVER_CORE, pin_to_core
from bench.mcp import NEWEST, message
from bench.seed import SeededFile
from bench.uploads import MB, envelope, screenshot, streams
from tests.fault.abuse_everything import abuse_everything
from ticketbox.domain.core.fairness.limits import DEFAULT_READS, DEFAULT_WRITES

TIMES = 10
CONNECTIONS = 4
ABUSERS = "all abusers"
BYTE_SECONDS = 0.01


class Task(msgspec.Struct):
    """What to do, on which server and with which token."""

    kind: str
    url: str
    db: str
    token: str
    project: str
    ticket: str

    @property
    def server(self) -> Server:
        """The server, whose process belongs to the test."""
        return Server(self.url, 0, None)  # type: ignore[arg-type]

    @property
    def seeded(self) -> SeededFile:
        """The file, as other benchmarks expect it."""
        return SeededFile(Path(self.db), self.token, self.project, [self.ticket])


Counts = Counter[str]
MOST_CALLS = 5_000


def exceed_budget(task: Task, stopped: threading.Event, counts: Counts) -> None:
    """Use up a token's budget and go on at ten times its rate, with reads and writes over REST and MCP."""
    asyncio.run(_exceed_budget(task, stopped, counts))


async def _exceed_budget(task: Task, stopped: threading.Event, counts: Counts) -> None:
    server, token = task.server, task.token
    path = f"/api/v1/tickets/{task.ticket}"
    reads = [
        get(path, server.host, token),
        message(server, NEWEST, "tools/call", {"name": "get_ticket", "arguments": {"ticket_id": task.ticket}}, token),
    ]
    writes = [
        post(path + "/comments", server.host, token, b'{"body":"Again."}'),
        message(server, NEWEST, "tools/call",
                {"name": "add_comment", "arguments": {"ticket_id": task.ticket, "body": "Again."}}, token),
    ]  # fmt: skip

    async def send_all(requests: list[bytes], per_minute: int) -> None:
        connection, due = Connection(server), 0.0
        for request in itertools.cycle(requests):
            # a slow machine needs longer to use a budget; without limits, it has to end as well
            if stopped.is_set() and (counts["429"] or counts.total() > MOST_CALLS):
                break
            response = await connection.request(request)
            counts[f"{response.status}"] += 1
            if response.status != 429:
                counts["faults"] += response.status // 100 != 2
            else:
                counts["faults"] += not all(
                    b"\r\n%s: " % name in response.head for name in (b"retry-after", b"retry_after")
                )
                due = (due or time.monotonic()) + CONNECTIONS * 60 / per_minute
                await asyncio.sleep(due - time.monotonic())
        connection.close()

    senders = [send_all(reads, DEFAULT_READS * TIMES) for _ in range(CONNECTIONS)]
    await asyncio.gather(*senders, *(send_all(writes, DEFAULT_WRITES * TIMES) for _ in range(CONNECTIONS)))


def trickle(task: Task, stopped: threading.Event, counts: Counts) -> None:
    """Send a head, send a body, read a response and read events, each one byte at a time."""
    server, token = task.server, task.token
    listing = get(f"/api/v1/tickets?project_id={task.project}&limit=50", server.host, token)
    comment = post(f"/api/v1/tickets/{task.ticket}/comments", server.host, token, b'{"body":"' + b"x" * 4000 + b'"}')
    head, body = comment.split(b"\r\n\r\n")
    stream = get("/api/v1/events/stream", server.host, token)
    clients: list[tuple[str, bytes, bytes]] = [  # its name, what it sends first, what it then sends byte by byte
        ("heads", b"", listing.replace(b"Accept", b"X-Filler: " + b"x" * 4000 + b"\r\nAccept")),
        ("bodies", head + b"\r\n\r\n", body),
        ("responses", listing, b""),
        ("events", stream, b""),
    ]
    threads = [threading.Thread(target=_trickle, args=(server, stopped, counts, *client)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _trickle(server: Server, stopped: threading.Event, counts: Counts, name: str, first: bytes, slowly: bytes) -> None:
    host, _, port = server.host.partition(":")
    while not stopped.is_set():
        with contextlib.closing(socket.socket()) as connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            connection.connect((host, int(port)))
            connection.settimeout(5)
            counts[name] += 1
            connection.sendall(first)
            for index in range(len(slowly)):
                if stopped.wait(BYTE_SECONDS):
                    return
                connection.sendall(slowly[index : index + 1])
                counts["bytes"] += 1
            while not stopped.wait(BYTE_SECONDS) and connection.recv(1):
                counts["bytes"] += 1


def upload(task: Task, stopped: threading.Event, counts: Counts) -> None:
    """Upload again and again: a body that never ends, then a capture of the largest size."""
    import httpx

    with httpx.Client(headers={"Authorization": f"Bearer {task.token}"}, timeout=120) as client:
        for files in _captures(task, stopped):
            counts["endless, sent MB"] += _upload_endlessly(task, stopped) // MB
            response = client.post(f"{task.url}/api/v1/captures", files=files)
            counts[f"at the limit, {response.status_code}"] += 1
            if response.status_code not in {201, 429}:
                raise RuntimeError(response.text[:1000])


def _captures(task: Task, stopped: threading.Event) -> Iterator[dict[str, tuple[str | None, bytes]]]:
    picture, parts = _largest_capture()
    while not stopped.is_set():
        noise = picture[MB : 2 * MB] * 20 + time.time_ns().to_bytes(8, "big")
        yield {
            "capture": (None, envelope(task.seeded)),
            **{name: (None, data) for name, data in parts.items()},
            "screenshot": ("page.png", picture),
            "attachments": ("noise.bin", noise),
        }


@functools.cache
def _largest_capture() -> tuple[bytes, dict[str, bytes]]:
    """Return a picture and streams of nearly the largest size. Building them needs a second."""
    return screenshot(int(9.5 * MB)), streams()


def _upload_endlessly(task: Task, stopped: threading.Event) -> int:
    """Send a body until the server closes the connection; return the number of bytes."""
    host, _, port = task.server.host.partition(":")
    head = (
        f"POST /api/v1/captures HTTP/1.1\r\nHost: {task.server.host}\r\nAuthorization: Bearer {task.token}\r\n"
        'Content-Type: multipart/form-data; boundary="b"\r\nTransfer-Encoding: chunked\r\n\r\n'
    )
    begin = b'--b\r\nContent-Disposition: form-data; name="screenshot"; filename="a.png"\r\n\r\n'
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    sent = 0
    with contextlib.closing(socket.create_connection((host, int(port)), timeout=10)) as connection:
        connection.sendall(head.encode() + b"%x\r\n%s\r\n" % (len(begin), begin))
        with contextlib.suppress(OSError):
            while not stopped.is_set() and sent < 1000 * MB:
                connection.sendall(chunk)
                sent += 65_536
    return sent


def backup(task: Task, stopped: threading.Event, counts: Counts) -> None:
    """Make one backup after the other on the server's core."""
    folder = Path(tempfile.mkdtemp(prefix="load-", dir=Path(task.db).parent))
    command = [sys.executable, "-m", "ticketbox", "backup", str(folder / "copy.db"), "--db", task.db, "--force"]
    try:
        while not stopped.is_set():
            with pin_to_core(SERVER_CORE):
                done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
            counts["backups"] += 1
            counts["faults"] += done.returncode != 0
    finally:
        shutil.rmtree(folder)


def abuse(task: Task, stopped: threading.Event, counts: Counts) -> None:
    """Take all that another company can get (abuse_everything.py)."""
    abuse_everything(task.server, task.token, stopped, counts)


KINDS: dict[str, Callable[[Task, threading.Event, Counts], None]] = {
    "one abusive token": exceed_budget,
    "one slow client": trickle,
    "one huge upload": upload,
    "one backup": backup,
    ABUSERS: abuse,
}


def main() -> None:
    """Do the task until standard input is closed."""
    task = msgspec.json.decode(sys.argv[1], type=Task)
    if task.kind == "one huge upload":
        _largest_capture()
    stopped = threading.Event()
    counts: Counts = Counter(faults=0)
    print("ready", flush=True)
    sys.stdin.readline()
    worker = threading.Thread(target=KINDS[task.kind], args=(task, stopped, counts))
    worker.start()
    sys.stdin.read()
    stopped.set()
    worker.join()
    print(json.dumps(counts), flush=True)


class NoisyNeighbour:
    """The process of a noisy neighbour, ready to begin."""

    def __init__(self, task: Task) -> None:
        arguments = [sys.executable, "-m", "tests.fault.noisy_neighbours", msgspec.json.encode(task).decode()]
        self._process = subprocess.Popen(
            arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self._read_line()

    def begin(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Stop it; return what it counted."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        counts = json.loads(self._read_line())
        self._process.wait(60)
        return counts

    def kill(self) -> None:
        """Kill it, whatever it is doing."""
        self._process.kill()
        self._process.__exit__(None, None, None)

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the noisy neighbour ended early")
        return line


if __name__ == "__main__":
    main()

"""One that disturbs the others, as a process of its own: `bench.load` starts it, and measures beside it.

It gets what it is to do as JSON in its only argument, says `ready`, works while its standard input is open, and says
at the end as JSON what it saw. `faults` among it is what shouldn't have been.
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
from bench.machine import SERVER_CORE, pinned
from bench.mcp import NEWEST, message
from bench.seed import Seeded
from bench.serving import ROOT, Server
from bench.uploads import MB, envelope, screenshot, streams
from ticketbox.domain.core.limits import DEFAULT_READS, DEFAULT_WRITES

TIMES = 10
CONNECTIONS = 4
BYTE_SECONDS = 0.01


class Task(msgspec.Struct):
    """What to do, to whom, and with which token."""

    kind: str
    url: str
    db: str
    token: str
    project: str
    ticket: str

    @property
    def server(self) -> Server:
        """Where it goes; the process isn't ours."""
        return Server(self.url, 0, None)  # type: ignore[arg-type]

    @property
    def seeded(self) -> Seeded:
        """The same for functions of other benchmarks."""
        return Seeded(Path(self.db), self.token, self.project, [self.ticket])


Saw = Counter[str]


def abuse(task: Task, stopped: threading.Event, saw: Saw) -> None:
    """One token that has used up its budget, and goes on at ten times of it: reads and writes over REST and MCP."""
    asyncio.run(_abuse(task, stopped, saw))


async def _abuse(task: Task, stopped: threading.Event, saw: Saw) -> None:
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

    async def press(requests: list[bytes], a_minute: int) -> None:
        connection, due = Connection(server), 0.0
        for request in itertools.cycle(requests):
            if stopped.is_set():
                break
            answer = await connection.ask(request)
            saw[f"{answer.status}"] += 1
            if answer.status != 429:
                saw["faults"] += answer.status // 100 != 2
            else:
                saw["faults"] += not all(b"\r\n%s: " % name in answer.head for name in (b"retry-after", b"retry_after"))
                due = (due or time.monotonic()) + CONNECTIONS * 60 / a_minute
                await asyncio.sleep(due - time.monotonic())
        connection.close()

    each = [press(reads, DEFAULT_READS * TIMES) for _ in range(CONNECTIONS)]
    await asyncio.gather(*each, *(press(writes, DEFAULT_WRITES * TIMES) for _ in range(CONNECTIONS)))


def crawl(task: Task, stopped: threading.Event, saw: Saw) -> None:
    """One client that writes a head, writes a body, reads an answer and reads events, a byte at a time each."""
    server, token = task.server, task.token
    listing = get(f"/api/v1/tickets?project_id={task.project}&limit=50", server.host, token)
    comment = post(f"/api/v1/tickets/{task.ticket}/comments", server.host, token, b'{"body":"' + b"x" * 4000 + b'"}')
    head, body = comment.split(b"\r\n\r\n")
    stream = get("/api/v1/events/stream", server.host, token)
    ways: list[tuple[str, bytes, bytes]] = [  # what it does, what it sends at once, and then slowly
        ("heads", b"", listing.replace(b"Accept", b"X-Filler: " + b"x" * 4000 + b"\r\nAccept")),
        ("bodies", head + b"\r\n\r\n", body),
        ("answers", listing, b""),
        ("events", stream, b""),
    ]
    threads = [threading.Thread(target=_crawl, args=(server, stopped, saw, *way)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _crawl(server: Server, stopped: threading.Event, saw: Saw, name: str, at_once: bytes, slowly: bytes) -> None:
    host, _, port = server.host.partition(":")
    while not stopped.is_set():
        with contextlib.closing(socket.socket()) as connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            connection.connect((host, int(port)))
            connection.settimeout(5)
            saw[name] += 1
            connection.sendall(at_once)
            for place in range(len(slowly)):
                if stopped.wait(BYTE_SECONDS):
                    return
                connection.sendall(slowly[place : place + 1])
                saw["bytes"] += 1
            while not stopped.wait(BYTE_SECONDS) and connection.recv(1):
                saw["bytes"] += 1


def upload(task: Task, stopped: threading.Event, saw: Saw) -> None:
    """Uploads one after the other: one without end, then one as large as is taken."""
    import httpx

    with httpx.Client(headers={"Authorization": f"Bearer {task.token}"}, timeout=120) as client:
        for files in _captures(task, stopped):
            saw["endless, sent MB"] += _endless(task, stopped) // MB
            answer = client.post(f"{task.url}/api/v1/captures", files=files)
            saw[f"at the limit, {answer.status_code}"] += 1
            if answer.status_code not in {201, 429}:
                raise RuntimeError(answer.text[:1000])


def _captures(task: Task, stopped: threading.Event) -> Iterator[dict[str, tuple[str | None, bytes]]]:
    picture, told = _largest()
    while not stopped.is_set():
        noise = picture[MB : 2 * MB] * 20 + time.time_ns().to_bytes(8, "big")
        yield {
            "capture": (None, envelope(task.seeded)),
            **{name: (None, data) for name, data in told.items()},
            "screenshot": ("page.png", picture),
            "attachments": ("noise.bin", noise),
        }


@functools.cache
def _largest() -> tuple[bytes, dict[str, bytes]]:
    """A picture and streams about as large as they may be; making them takes a second."""
    return screenshot(int(9.5 * MB)), streams()


def _endless(task: Task, stopped: threading.Event) -> int:
    """Send a body that doesn't end until the server has had enough; the bytes that were sent."""
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


def backup(task: Task, stopped: threading.Event, saw: Saw) -> None:
    """Backups one after the other, on the server's core."""
    folder = Path(tempfile.mkdtemp(prefix="load-", dir=Path(task.db).parent))
    command = [sys.executable, "-m", "ticketbox", "backup", str(folder / "copy.db"), "--db", task.db, "--force"]
    try:
        while not stopped.is_set():
            with pinned(SERVER_CORE):
                done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
            saw["backups"] += 1
            saw["faults"] += done.returncode != 0
    finally:
        shutil.rmtree(folder)


KINDS: dict[str, Callable[[Task, threading.Event, Saw], None]] = {
    "one abusive token": abuse,
    "one slow client": crawl,
    "one huge upload": upload,
    "one backup": backup,
}


def main() -> None:
    """Do one thing until standard input ends."""
    task = msgspec.json.decode(sys.argv[1], type=Task)
    if task.kind == "one huge upload":
        _largest()
    stopped = threading.Event()
    saw: Saw = Counter(faults=0)
    print("ready", flush=True)
    sys.stdin.readline()
    worker = threading.Thread(target=KINDS[task.kind], args=(task, stopped, saw))
    worker.start()
    sys.stdin.read()
    stopped.set()
    worker.join()
    print(json.dumps(saw), flush=True)


class Disturber:
    """Such a process, ready to begin; `kill` ends it in any case."""

    def __init__(self, task: Task) -> None:
        arguments = [sys.executable, "-m", "bench.disturbing", msgspec.json.encode(task).decode()]
        self._process = subprocess.Popen(
            arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self._line()

    def begin(self) -> None:
        """Disturb from now on."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Stop it; what it saw."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        saw = json.loads(self._line())
        self._process.wait(60)
        return saw

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.__exit__(None, None, None)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the one who disturbs ended by itself")
        return line


if __name__ == "__main__":
    main()

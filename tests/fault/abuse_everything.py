"""Callers of another company who take all that they can get, all together, with a million calls a minute.

They send captures that expand from 50 kB to 30 MB, download HAR files, upload 20 bytes every 5 s, and open event
streams. Slow receivers of webhooks aren't among them: tests/jobs/test_webhooks.py tests these.
"""

import contextlib
import gzip
import itertools
import json
import os
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

from bench.launch import Server

UPLOADERS = 4
DOWNLOADERS = 4
DRIPS = 4
STREAMS = 20
DRIP_SECONDS = 5

_LINE = b'{"seq":1,"ts":1,"level":"log","args":["\xf0\x9f\x98\x80%s\\u0000"]}' % (b"x" * 580)
_REQUEST = b'{"id":"r","ts":1,"method":"GET","url":"https://h/?a=b","status":500,"type":"xhr","duration_ms":3}'


def abuse_everything(server: Server, token: str, stopped: threading.Event, counts: Counter[str]) -> None:
    """Abuse the server until stopped; count the answers by kind and status."""
    import httpx

    os.nice(10)  # the other client of this core is the one that is measured
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=120) as client:
        project = client.get("/projects").json()["items"][0]["id"]
        lines = gzip.compress(b"[%s]" % b",".join([_LINE] * 48_000))
        requests = gzip.compress(b"[%s]" % b",".join([_REQUEST] * 5_000))
        first = client.post("/captures", files=_build_parts(project, network=requests))
        har = f"/captures/{first.raise_for_status().json()['capture_id']}/har"

        def repeat(name: str, call: Callable[[], Any]) -> None:
            while not stopped.is_set():
                with contextlib.suppress(httpx.HTTPError):
                    status = call().status_code
                    counts[f"{name} {status}"] += 1
                    if status in {429, 503}:
                        stopped.wait(0.1)

        work: list[Callable[[], None]] = [
            *itertools.repeat(
                lambda: repeat("capture", lambda: client.post("/captures", files=_build_parts(project, console=lines))),
                UPLOADERS,
            ),
            *itertools.repeat(lambda: repeat("HAR", lambda: client.get(har)), DOWNLOADERS),
            *itertools.repeat(lambda: _drip(server, token, stopped, counts), DRIPS),
            *itertools.repeat(lambda: _listen(server, token, stopped, counts), STREAMS),
        ]
        threads = [threading.Thread(target=each) for each in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _build_parts(project: str, **streams: bytes) -> dict[str, tuple[None, bytes]]:
    healthy = {"status": "ok"}
    envelope = {
        "id": str(uuid.uuid4()), "project_id": project, "captured_at": time.time() * 1000,
        "page": {"url": "https://shop.example/", "title": "Shop"},
        "health": {"console": healthy, "network": healthy, "errors": healthy},
    }  # fmt: skip
    return {"capture": (None, json.dumps(envelope).encode()), **{name: (None, data) for name, data in streams.items()}}


def _drip(server: Server, token: str, stopped: threading.Event, counts: Counter[str]) -> None:
    """Upload 20 bytes every 5 s, again and again."""
    head = (
        f"POST /api/v1/captures HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n"
        'Content-Type: multipart/form-data; boundary="b"\r\nContent-Length: 200000\r\n\r\n'
        '--b\r\nContent-Disposition: form-data; name="screenshot"; filename="a.png"\r\n\r\n'
    )
    while not stopped.is_set():
        with contextlib.suppress(OSError), _connect(server) as connection:
            connection.sendall(head.encode())
            while not stopped.wait(DRIP_SECONDS):
                connection.sendall(b"x" * 20)
                counts["drips"] += 1


def _listen(server: Server, token: str, stopped: threading.Event, counts: Counter[str]) -> None:
    """Open an event stream and read nothing of it."""
    head = f"GET /api/v1/events/stream HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    with contextlib.suppress(OSError), _connect(server) as connection:
        connection.sendall(head.encode())
        counts["event streams"] += 1
        stopped.wait()


def _connect(server: Server) -> socket.socket:
    host, _, port = server.host.partition(":")
    return socket.create_connection((host, int(port)), timeout=30)

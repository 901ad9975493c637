"""A small HTTP/1.1 client for load: keep-alive, one process, one epoll loop, nothing it can leave out.

It answers with what it saw: requests a second, latencies, and how many answers weren't 2xx. Its own cost is
about 15 microseconds for a request, so it isn't what limits a Python server (bench/RESULTS.md).
"""

import re
import select
import socket
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import NamedTuple
from urllib.parse import urlsplit

from bench.machine import percentile

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_CLOSES = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)


class Sample(NamedTuple):
    """What one round of load showed; times in milliseconds."""

    rate: float
    p50: float
    p99: float
    requests: int
    failed: int
    body: int
    refusal: bytes


class _Connection:
    """A connection; `over` says that the server closes it after the answer that came last."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.over = False
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.parts: list[bytes] = []
        self.missing = -1
        self.sent_at = 0.0

    def send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter()
        self.socket.setblocking(True)
        self.socket.sendall(request)
        self.socket.setblocking(False)

    def take(self) -> bytes | None:
        """Read what is there; the whole answer once it is complete."""
        data = self.socket.recv(262_144)
        if not data:
            if self.parts and self.over:  # an answer without a length ends so
                return b"".join(self.parts)
            raise ConnectionError("the server closed the connection")
        self.parts.append(data)
        if self.missing < 0:
            data = b"".join(self.parts)
            self.parts = [data]
            end = data.find(b"\r\n\r\n")
            if end < 0:
                return None
            self.over = data[7:8] == b"0" or _CLOSES.search(data, 0, end + 2) is not None
            length = _LENGTH.search(data, 0, end + 2)
            if length is None and (self.over or _CHUNKED.search(data, 0, end + 2)):
                if self.over or not data.endswith(b"\r\n0\r\n\r\n"):
                    return None
                self.missing = 0
            else:
                self.missing = end + 4 + (int(length[1]) if length else 0) - len(data)
        else:
            self.missing -= len(data)
        if self.missing > 0:
            return None
        whole = self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)
        self.parts, self.missing = [], -1
        return whole


def get(path: str, host: str, token: str | None, *, packed: bool = False) -> bytes:
    """A GET request as bytes; with `packed` it takes gzip."""
    credential = f"Authorization: Bearer {token}\r\n" if token else ""
    encoding = "Accept-Encoding: gzip\r\n" if packed else ""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{credential}{encoding}Accept: */*\r\n\r\n".encode()


def post(path: str, host: str, token: str, body: bytes) -> bytes:
    """A POST of JSON as bytes."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(
    url: str, requests: Sequence[bytes] | Callable[[], bytes], connections: int, seconds: float, good: bytes = b"2"
) -> Sample:
    """Keep so many connections busy for a time, each with one request at a time.

    `good` are the first figures of the statuses that aren't failures. A connection that the server closes after an
    answer is opened anew, and that counts.
    """
    parts = urlsplit(url)
    assert parts.hostname == "127.0.0.1", "loopback only"
    assert parts.port is not None
    following = requests if callable(requests) else cycle(requests).__next__
    poll = select.epoll()
    opened: dict[int, _Connection] = {}
    for _ in range(connections):
        connection = _Connection((parts.hostname, parts.port))
        opened[connection.socket.fileno()] = connection
        poll.register(connection.socket.fileno(), select.EPOLLIN)
    latencies: list[float] = []
    failed = body = 0
    refusal = b""
    started = time.perf_counter()
    stop = started + seconds
    for connection in opened.values():
        connection.send(following())
    busy = connections
    while busy:
        ready = poll.poll(30)
        if not ready:
            raise TimeoutError("the server doesn't answer")
        for number, _ in ready:
            connection = opened[number]
            answer = connection.take()
            if answer is None:
                continue
            now = time.perf_counter()
            latencies.append(now - connection.sent_at)
            if answer[9:10] not in good:
                failed += 1
                refusal = answer
            if connection.over:
                poll.unregister(number)
                opened.pop(number).socket.close()
                if now < stop:
                    connection = _Connection((parts.hostname, parts.port))
                    opened[connection.socket.fileno()] = connection
                    poll.register(connection.socket.fileno(), select.EPOLLIN)
            if now < stop:
                connection.send(following())
            else:
                busy -= 1
                body = len(answer) - answer.find(b"\r\n\r\n") - 4
    ended = time.perf_counter()
    for connection in opened.values():
        connection.socket.close()
    return Sample(
        rate=len(latencies) / (ended - started),
        p50=percentile(latencies, 0.5) * 1000,
        p99=percentile(latencies, 0.99) * 1000,
        requests=len(latencies),
        failed=failed,
        body=body,
        refusal=refusal,
    )


def once(url: str, request: bytes) -> bytes:
    """The body of one answer."""
    parts = urlsplit(url)
    connection = _Connection((parts.hostname or "", parts.port or 0))
    connection.socket.settimeout(60)
    connection.send(request)
    connection.socket.settimeout(60)
    while (answer := connection.take()) is None:
        pass
    connection.socket.close()
    if answer[9:10] != b"2":
        raise RuntimeError(answer[:2000].decode("latin-1"))
    return answer[answer.find(b"\r\n\r\n") + 4 :]

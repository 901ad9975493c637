"""A minimal HTTP/1.1 load generator: one process, one epoll loop, connections that are kept alive.

It measures requests a second, latencies, and how many responses weren't 2xx. A request costs it about 15
microseconds, so it isn't what limits a Python server (bench/RESULTS.md).
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
    """The results of one round of load; times in milliseconds."""

    rate: float
    p50: float
    p99: float
    requests: int
    failed: int
    body: int
    refusal: bytes


class _Connection:
    """A connection. `closes` is set when the server closes it after the last response."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.closes = False
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

    def receive(self) -> bytes | None:
        """Read what has arrived; return the response once it is complete."""
        data = self.socket.recv(262_144)
        if not data:
            if self.parts and self.closes:  # the end of a response without a length
                return b"".join(self.parts)
            raise ConnectionError("the server closed the connection")
        self.parts.append(data)
        if self.missing < 0:
            data = b"".join(self.parts)
            self.parts = [data]
            end = data.find(b"\r\n\r\n")
            if end < 0:
                return None
            self.closes = data[7:8] == b"0" or _CLOSES.search(data, 0, end + 2) is not None
            length = _LENGTH.search(data, 0, end + 2)
            if length is None and (self.closes or _CHUNKED.search(data, 0, end + 2)):
                if self.closes or not data.endswith(b"\r\n0\r\n\r\n"):
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


def get(path: str, host: str, token: str | None, *, gzip: bool = False) -> bytes:
    """Build a GET request; with `gzip` it accepts that encoding."""
    credential = f"Authorization: Bearer {token}\r\n" if token else ""
    encoding = "Accept-Encoding: gzip\r\n" if gzip else ""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{credential}{encoding}Accept: */*\r\n\r\n".encode()


def post(path: str, host: str, token: str, body: bytes) -> bytes:
    """Build a POST request with a JSON body."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(
    url: str, requests: Sequence[bytes] | Callable[[], bytes], connections: int, seconds: float, good: bytes = b"2"
) -> Sample:
    """Keep a number of connections busy for a time, each with one request at a time.

    A status that begins with one of the digits in `good` isn't a failure. A connection that the server closes is
    opened again; that time is part of the result.
    """
    parts = urlsplit(url)
    assert parts.hostname == "127.0.0.1", "loopback only"
    assert parts.port is not None
    next_request = requests if callable(requests) else cycle(requests).__next__
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
        connection.send(next_request())
    busy = connections
    while busy:
        ready = poll.poll(30)
        if not ready:
            raise TimeoutError("the server doesn't respond")
        for number, _ in ready:
            connection = opened[number]
            response = connection.receive()
            if response is None:
                continue
            now = time.perf_counter()
            latencies.append(now - connection.sent_at)
            if response[9:10] not in good:
                failed += 1
                refusal = response
            if connection.closes:
                poll.unregister(number)
                opened.pop(number).socket.close()
                if now < stop:
                    connection = _Connection((parts.hostname, parts.port))
                    opened[connection.socket.fileno()] = connection
                    poll.register(connection.socket.fileno(), select.EPOLLIN)
            if now < stop:
                connection.send(next_request())
            else:
                busy -= 1
                body = len(response) - response.find(b"\r\n\r\n") - 4
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


def fetch(url: str, request: bytes) -> bytes:
    """Send one request and return the body of its response. Raises RuntimeError unless the status is 2xx."""
    parts = urlsplit(url)
    connection = _Connection((parts.hostname or "", parts.port or 0))
    connection.socket.settimeout(60)
    connection.send(request)
    connection.socket.settimeout(60)
    while (response := connection.receive()) is None:
        pass
    connection.socket.close()
    if response[9:10] != b"2":
        raise RuntimeError(response[:2000].decode("latin-1"))
    return response[response.find(b"\r\n\r\n") + 4 :]

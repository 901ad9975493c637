"""Stops and clients that go away: what runs is ended within 10 s, and every write is whole or not there."""

import contextlib
import json
import random
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.long_runs import mark_long
from tests.support.seed import EMAIL, SCOPES, PatchedServer, Seed, capture_parts, faults, public_ids
from tests.support.server import Box, eventually, ok
from ticketbox.cli import serve
from ticketbox.cli.core.operations import run_operation

assert serve.STOP_SECONDS < 10  # seconds; the rest is for what ends after the requests


def connect(box: Box) -> socket.socket:
    """A bare connection to the server."""
    parts = urlsplit(box.url)
    return socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30)


def refuses_connections(box: Box) -> bool:
    """Whether the server no longer listens."""
    try:
        connect(box).close()
    except ConnectionError:  # refused, or reset while the server stops listening
        return True
    return False


def wait_until_body_is_read(connection: socket.socket) -> None:
    """Wait for the interim answer to `Expect: 100-continue`, which comes when the server begins to read the body."""
    text = b""
    while not text.endswith(b"\r\n\r\n"):
        text += connection.recv(1)
    assert text.startswith(b"HTTP/1.1 100 "), text


def build_upload(box: Box, seed: Seed, number: int, token: str | None = None) -> bytes:
    """A complete request that uploads a capture, with another token if one is given."""
    headers = {"Authorization": f"Bearer {token or seed.token}", "Host": urlsplit(box.url).netloc}
    request = httpx.Request("POST", f"{box.api}/captures", files=capture_parts(seed.project, number), headers=headers)
    return serialize(request)


def build_ticket_request(box: Box, seed: Seed, title: str) -> bytes:
    """A complete request that creates a ticket."""
    headers = {"Authorization": f"Bearer {seed.token}", "Host": urlsplit(box.url).netloc}
    given = {"project_id": seed.project, "title": title, "labels": ["gone"]}
    return serialize(httpx.Request("POST", f"{box.api}/tickets", json=given, headers=headers))


def serialize(request: httpx.Request) -> bytes:
    """The bytes of a request."""
    body = request.read()
    lines = [
        f"{request.method} {request.url.path} HTTP/1.1",
        *(f"{name}: {text}" for name, text in request.headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_response(connection: socket.socket) -> tuple[int, str]:
    """The status and the rest of an answer; 0 when there was none."""
    text = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            text += part
            length = re.search(rb"content-length: (\d+)", text, re.IGNORECASE)
            _, _, body = text.partition(b"\r\n\r\n")
            if length and len(body) >= int(length[1]) and body:
                break
    status = re.match(rb"HTTP/1\.1 (\d{3})", text)
    return int(status[1]) if status else 0, text.decode("latin-1")


HURRIED = """
from ticketbox.cli import main, serve
serve.STOP_SECONDS = 4
main()
"""


@pytest.mark.parametrize("seconds", [4, pytest.param(serve.STOP_SECONDS, marks=pytest.mark.long)])
def test_stop_completes_uploads_and_cuts_stalled_ones(seed: Seed, tmp_path: Path, seconds: float) -> None:
    db = seed.copy(tmp_path)
    with PatchedServer(HURRIED, db) if seconds == 4 else Box(db) as box:
        ends, stalls, idle = connect(box), connect(box), connect(box)
        given = {"user": EMAIL, "label": "another", "scopes": SCOPES}
        tokens = seed.token, run_operation(db, "issue_token", given).secret  # each is read one upload at a time
        with ends, stalls, idle:
            first, second = (
                build_upload(box, seed, number, token).replace(b"\r\n", b"\r\nExpect: 100-continue\r\n", 1)
                for number, token in enumerate(tokens)
            )
            idle.sendall(b"GET /api/v1/me HTTP/1.1\r\n")
            ends.sendall(first[:-100])
            stalls.sendall(second[:-100])
            wait_until_body_is_read(ends)
            wait_until_body_is_read(stalls)
            started = time.monotonic()
            box.process.send_signal(signal.SIGTERM)
            eventually(lambda: refuses_connections(box))
            ends.sendall(first[-100:])
            status, text = read_response(ends)
            assert status == 201, text
            assert box.process.wait(60) == 0
            assert seconds < time.monotonic() - started
            assert read_response(stalls)[0] == 503
        assert not box.db.with_name(box.db.name + "-wal").exists()
        capture = json.loads(text.partition("\r\n\r\n")[2])["capture_id"]
        assert public_ids(box.db, "capture") == {capture}
        assert faults(box.db) == {}
        assert "Traceback" not in box.log.read_text()


@pytest.mark.parametrize("signal_", [signal.SIGTERM, mark_long(signal.SIGINT)])
def test_idle_stop_is_quick(seed: Seed, tmp_path: Path, signal_: signal.Signals) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        ok(client.get("/me"))  # a connection that is kept alive
        started = time.monotonic()
        assert box.stop(signal_) == 0
        assert time.monotonic() - started < serve.STOP_SECONDS
        assert box.log.read_text().count("Traceback") == 0


def test_acknowledged_writes_survive_a_stop(seed: Seed, tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    with seed.box(tmp_path) as box:

        def write(client: httpx.Client) -> None:
            with contextlib.suppress(httpx.TransportError):
                while (ticket := client.post("/tickets", json={"project_id": seed.project, "title": "T"})).is_success:
                    acknowledged.add(ticket.json()["id"])
                assert ticket.status_code == 503, ticket.text

        threads = [threading.Thread(target=write, args=(box.client(seed.token),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) > 30)
        assert box.stop() == 0
        for thread in threads:
            thread.join(10)
        assert public_ids(box.db, "ticket") >= acknowledged
        assert faults(box.db) == {}


def test_disconnected_client_leaves_its_write_complete_or_absent(seed: Seed, tmp_path: Path) -> None:
    chance = random.Random(7)
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        for number in range(100, 140):
            request = (
                build_upload(box, seed, number) if number % 2 else build_ticket_request(box, seed, f"Gone {number}")
            )
            cut = chance.choice([chance.randrange(len(request)), len(request) - 1, len(request)])
            with connect(box) as connection:
                connection.sendall(request[:cut])
                time.sleep(chance.choice([0, 0, 0.002, 0.01]))  # it leaves at any moment
                if chance.random() < 0.5:  # a reset instead of an orderly end
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        ok(client.post("/captures", files=capture_parts(seed.project, 101)))  # the queue sends it again
        ok(client.post("/tickets", json={"project_id": seed.project, "title": "After all that"}))
        assert faults(box.db) == {}
        listed = ok(client.get("/tickets", params={"limit": 100}))["items"]
        assert sum(each["title"] == "Capture 101" for each in listed) == 1
        assert "Traceback" not in box.log.read_text()


QUICK = """
from ticketbox.http import protocol, rest, uploads
rest.BODY_SECONDS = uploads.UPLOAD_SECONDS = protocol.HEAD_SECONDS = 1
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="module")
def impatient(seed: Seed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that waits 1 s for a head instead of 20 s, and for a body instead of 30 s and 180 s."""
    with PatchedServer(QUICK, seed.copy(tmp_path_factory.mktemp("impatient"))) as box:
        yield box


@pytest.mark.long
@pytest.mark.parametrize("kind", ["upload", "json"])
@pytest.mark.parametrize("drip", [False, True])
def test_slow_body_is_cut_off(seed: Seed, impatient: Box, kind: str, drip: bool) -> None:
    request = build_upload(impatient, seed, 500) if kind == "upload" else build_ticket_request(impatient, seed, "Slow")
    head, _, body = request.partition(b"\r\n\r\n")
    tickets = public_ids(impatient.db, "ticket")
    with connect(impatient) as connection:
        connection.sendall(head + b"\r\n\r\n" + body[:10])
        started = time.monotonic()
        if drip:
            with contextlib.suppress(ConnectionError):
                for place in range(10, 40):
                    connection.sendall(body[place : place + 1])
                    time.sleep(0.06)  # a slow client's pace
        status, text = read_response(connection)
        assert (status, json.loads(text.partition("\r\n\r\n")[2])["code"]) == (408, "request_timeout")
        assert time.monotonic() - started < 25
    assert public_ids(impatient.db, "ticket") == tickets


WHOLE, BEGUN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /healthz HTTP/1.1\r\nX-Slow: "


@pytest.mark.long
@pytest.mark.parametrize(("before", "head"), [(b"", b""), (b"", BEGUN), (WHOLE, BEGUN)])
def test_endless_head_is_cut_off(impatient: Box, before: bytes, head: bytes) -> None:
    started = time.monotonic()
    with connect(impatient) as connection:
        if before:
            connection.sendall(before)
            assert read_response(connection)[0] == 200
        connection.sendall(head)
        connection.settimeout(0.05)
        while time.monotonic() < started + 30:
            try:
                if connection.recv(100) == b"":
                    break
            except TimeoutError:
                pass
            except ConnectionError:  # it was closed while something of ours was on its way
                break
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"x" if head else b"")
        else:
            raise AssertionError("the connection is still open")
        assert time.monotonic() - started > 0.7


@pytest.mark.parametrize("kind", ["upload", "json"])
def test_endless_body_is_cut_off_at_its_limit(seed: Seed, tmp_path: Path, kind: str) -> None:
    with seed.box(tmp_path) as box, connect(box) as connection:
        tickets = public_ids(box.db, "ticket")
        request = build_upload(box, seed, 600) if kind == "upload" else build_ticket_request(box, seed, "Endless")
        head = re.sub(rb"(?i)content-length: \d+", b"Transfer-Encoding: chunked", request.partition(b"\r\n\r\n")[0])
        boundary = re.search(rb"boundary=(\S+)", head)
        lead = (
            b'--%s\r\nContent-Disposition: form-data; name="console"\r\n\r\n' % boundary[1]
            if boundary
            else b'{"title": "'
        )
        connection.sendall(head + b"\r\n\r\n" + b"%x\r\n%s\r\n" % (len(lead), lead))
        piece = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
        sent = 0
        with contextlib.suppress(ConnectionError, TimeoutError):
            connection.settimeout(30)
            while sent < 100:
                connection.sendall(piece)
                sent += 1
        assert sent < 100
        assert read_response(connection)[0] in {413, 0}
        with box.client(seed.token) as client:
            ok(client.get("/me"))
        assert public_ids(box.db, "ticket") == tickets

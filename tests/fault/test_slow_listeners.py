"""Listeners that don't read, and the stop: bounded memory, no hold-up, and everybody goes on where they were."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.support.event_stream import open_stream
from tests.support.operation_cases import update_row
from tests.support.seed import PatchedServer, Seed
from tests.support.server import Box, eventually, ok

STRICT = """
from ticketbox.http import sse as stream
stream.WRITE_SECONDS = 12
from ticketbox.cli import main
main()
"""
# 2,000 events of 4 kB, as long as they get: far more than the sockets hold.
MANY = """
INSERT INTO event (type, company_id, project_id, byline_id, data, at)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
SELECT e.type, e.company_id, p.id, e.byline_id, json_object('x', hex(zeroblob(2000))), e.at
FROM n, (SELECT * FROM event LIMIT 1) e, (SELECT max(id) AS id FROM project) p
"""


@pytest.fixture(scope="module")
def strict(seed: Seed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that gives a listener 12 s to take what is sent, instead of 20 s."""
    with PatchedServer(STRICT, seed.copy(tmp_path_factory.mktemp("strict"))) as box:
        yield box


def deaf(box: Box, seed: Seed, after: str = "evt_000000000000") -> socket.socket:
    """A listener that never reads, with little room for what comes."""
    parts = urlsplit(box.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((parts.hostname or "", parts.port or 80))
    head = f"GET /api/v1/events/stream?after={after} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
    connection.sendall(f"{head}Authorization: Bearer {seed.token}\r\n\r\n".encode())
    return connection


@pytest.mark.long
def test_listener_that_does_not_read_is_dropped_and_can_resume(seed: Seed, strict: Box) -> None:
    with strict.client(seed.token) as client:
        server = psutil.Process(strict.process.pid)
        tickets = [ok(client.post("/tickets", json={"project_id": seed.project, "title": "T"}))["id"] for _ in range(3)]
        update_row(strict.db, MANY)
        held = server.memory_info().rss
        listeners = [deaf(strict, seed) for _ in range(15)]
        try:
            started = time.monotonic()
            ok(client.patch(f"/tickets/{tickets[1]}", json={"title": "Meanwhile"}))
            assert time.monotonic() - started < 10, "a deaf listener held a write up"
            port = urlsplit(strict.url).port
            eventually(lambda: sum(each.laddr.port == port and each.status == "ESTABLISHED"
                                   for each in server.net_connections("tcp")) <= 1, 60)  # fmt: skip
            assert server.memory_info().rss - held < 64 * 2**20
        finally:
            for each in listeners:
                each.close()
        with open_stream(client, after="evt_000000000000", types="ticket.created") as again:
            again.hears(*["ticket.created"] * 3)
        assert "Traceback" not in strict.log.read_text()
        assert "without completing" not in strict.log.read_text()


@pytest.mark.long
def test_stop_ends_every_stream_and_a_start_lets_them_resume(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box:
        client = box.client(seed.token)
        listeners = [open_stream(client) for _ in range(5)]
        ok(client.post("/tickets", json={"project_id": seed.project, "title": "Before"}))
        for each in listeners:
            each.hears("ticket.created")
        last = listeners[0].heard[-1]["id"]
        assert box.stop() == 0
        assert "running task" not in box.log.read_text()  # none had to be cut off when the patience ended
        for each in listeners:
            each.ends()
            each.close()
        assert "Traceback" not in box.log.read_text()
        box.start()
        client = box.client(seed.token)
        ok(client.post("/tickets", json={"project_id": seed.project, "title": "After"}))
        with open_stream(client, {"Last-Event-ID": last}) as again:
            again.hears("ticket.created")


@pytest.mark.long
def test_disconnected_listener_leaves_nothing_behind(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        for _ in range(60):  # three times what one credential may have open
            connection = deaf(box, seed)
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.close()
        open_stream(client).close()
        assert "Traceback" not in box.log.read_text()

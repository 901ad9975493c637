"""Readers keep the write-ahead log from shrinking, one way or another: once they end, so does its size on the disk."""

import contextlib
import random
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.fault.test_stop import connect
from tests.http.core.test_metrics import figures
from tests.support.seed import PatchedServer, faults
from tests.support.server import Box, World, copy_initialized_file, eventually, ok

pytestmark = pytest.mark.long

MB = 1_000_000
SMALL = 8 * 1024 * 1024 + 64 * 1024  # docs/develop/promises.md, "Storage": 8 MB, and the log's header
FILES, FILE_MB = 3, 8
QUICK = """
from ticketbox.jobs import housekeeping
housekeeping.INTERVAL_SECONDS = 0.5
from ticketbox.cli import main
main()
"""
READ = """
import sqlite3, sys, time
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM ticket").fetchall()
print("reading", flush=True)
time.sleep(600)
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A company on a server of the test."""
    with Box(copy_initialized_file(tmp_path)) as running:
        yield World(running)


def measure_log(box: Box) -> int:
    """The bytes of the log, by its length or by what it takes on the disk."""
    state = Path(f"{box.db}-wal").stat()
    return max(state.st_size, state.st_blocks * 512)


def write_much(world: World, between: Callable[[], object] = lambda: None) -> list[tuple[str, bytes]]:
    """Attach files of three times what the log may keep, and return them."""
    stored: list[tuple[str, bytes]] = []
    for _ in range(FILES):
        data = b"\x01" + random.randbytes(FILE_MB * MB)
        ticket = world.ticket()["id"]
        made = ok(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("x.bin", data)}))
        stored.append((made["id"], data))
        between()
    return stored


def expect_small_log(world: World, stored: list[tuple[str, bytes]], *, writes: bool = True) -> None:
    """Expect that the log shrinks with the next writes, or soon without any, and nothing is lost."""

    def is_small() -> bool:
        if writes:
            ok(world.owner.web.patch("/profile", json={"name": secrets.token_hex(8)}))
        return measure_log(world.box) <= SMALL

    eventually(is_small, describe=lambda: measure_log(world.box))
    assert figures(world.box)["ticketbox_wal_bytes", ()] <= SMALL
    for asset, data in stored:
        assert world.api.get(f"/assets/{asset}/content").content == data
    assert faults(world.box.db) == {}


def begin_reading(db: Path) -> sqlite3.Connection:
    """A reader beside the server that sees the file as it is now."""
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM ticket").fetchall()
    return connection


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_log_shrinks_after_several_readers_of_different_moments(world: World, order: str) -> None:
    readers = [begin_reading(world.box.db)]
    stored = write_much(world, lambda: readers.append(begin_reading(world.box.db)))
    assert measure_log(world.box) > 2 * SMALL
    if order == "newest first":
        readers.reverse()
    for reader in readers:
        world.ticket()
        reader.close()
    expect_small_log(world, stored)


def test_log_shrinks_after_a_reader_that_is_killed(tmp_path: Path) -> None:
    """Without any write, too, because housekeeping looks."""
    with PatchedServer(QUICK, copy_initialized_file(tmp_path)) as box:
        kill_a_reader(World(box))


def kill_a_reader(world: World) -> None:
    """Read beside many writes, in a process that is killed."""
    reader = subprocess.Popen([sys.executable, "-c", READ, world.box.db], stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    with reader.stdout:
        assert reader.stdout.readline() == "reading\n"
        stored = write_much(world)
        assert measure_log(world.box) > 2 * SMALL
        reader.kill()
        reader.wait()
    expect_small_log(world, stored, writes=False)


def test_log_shrinks_after_a_backup_that_was_stopped_halfway(world: World, tmp_path: Path) -> None:
    """The copy is paused once it has begun, and goes on after much was written."""
    stored = write_much(world)
    folder = tmp_path / "backups"
    folder.mkdir()
    command = [sys.executable, "-m", "ticketbox", "backup", "--db", str(world.box.db), str(folder)]
    backup = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while not any(each.stat().st_size for each in folder.iterdir()):
            assert backup.poll() is None, "the backup ended before it was stopped"
            time.sleep(0.001)
        backup.send_signal(signal.SIGSTOP)
        stored += write_much(world)
    finally:
        backup.send_signal(signal.SIGCONT)
        output, _ = backup.communicate(timeout=120)
    assert backup.returncode == 0, output
    expect_small_log(world, stored)
    (copy,) = [each for each in folder.iterdir() if each.suffix == ".db"]
    assert faults(copy) == {}


def test_log_stays_small_beside_downloads_that_nobody_reads(world: World) -> None:
    """Answers of 8 MB and a list, requested and never read: they hold no view of the file while they wait."""
    first = write_much(world)
    token = world.owner.token("read")
    host = urlsplit(world.box.url).netloc
    paths = [f"/assets/{asset}/content" for asset, _ in first] * 2 + ["/tickets.csv", "/events/stream", "/events/wait"]
    with contextlib.ExitStack() as connections:
        for path in paths:
            connection = connections.enter_context(connect(world.box))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lines = [f"GET /api/v1{path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", "", ""]
            connection.sendall("\r\n".join(lines).encode())
            if not path.endswith("wait"):
                assert connection.recv(12) == b"HTTP/1.1 200"
        stored = write_much(world)
        expect_small_log(world, [*first, *stored])


def test_log_stays_small_beside_searches_that_never_pause(world: World) -> None:
    """Eight readers through the server: another has always begun before one ends."""
    limits = {"reads_per_minute": 10**6, "writes_per_minute": 10**6}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    for number in range(20):
        world.ticket(f"Ticket {number}", description="abc " * 10_000)
    stopping = threading.Event()

    def search() -> None:
        client = world.owner.client("read", company_id=world.company)
        while not stopping.is_set():
            client.get("/search", params={"q": "a* OR b* OR t*", "limit": "100"})

    threads = [threading.Thread(target=search) for _ in range(8)]
    for each in threads:
        each.start()
    try:
        stored = write_much(world)
        expect_small_log(world, stored)
    finally:
        stopping.set()
        for each in threads:
            each.join()

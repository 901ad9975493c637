"""What systemd hears over its notification socket, with a real socket in its place."""

import contextlib
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.long_runs import mark_long
from tests.support.seed import Seed
from tests.support.server import Box


class Supervisor:
    """The receiving end of the notification socket."""

    def __init__(self, way: socket.socket, address: str) -> None:
        self._way = way
        self.address = address

    def hear(self, seconds: float = 60.0) -> str:
        """The next message; empty when none comes in time."""
        self._way.settimeout(seconds)
        try:
            return self._way.recv(4096).decode()
        except TimeoutError:
            return ""

    def forget(self) -> None:
        """Drop what has come so far."""
        while self.hear(0.001):
            pass


@pytest.fixture
def supervisor(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """A supervisor that every process started here speaks to."""
    abstract = getattr(request, "param", "file") == "abstract"
    address = f"@{tmp_path.name}-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
        way.bind(address.replace("@", "\0"))
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        yield Supervisor(way, address)


@pytest.mark.parametrize("supervisor", ["file", mark_long("abstract")], indirect=True)
def test_systemd_is_notified_of_ready_and_stopping(seed: Seed, tmp_path: Path, supervisor: Supervisor) -> None:
    with seed.box(tmp_path) as box:
        assert supervisor.hear() == f"READY=1\nSTATUS=serving {box.db} at {box.url}"
        assert supervisor.hear(0.5) == ""  # nobody asked for a watchdog
        assert box.stop() == 0
        assert supervisor.hear() == "STOPPING=1"


@pytest.mark.long
def test_watchdog_is_notified_only_while_the_server_can_write(
    seed: Seed, tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "600000")
    with seed.box(tmp_path) as box:
        heard = [supervisor.hear() for _ in range(4)]
        assert sum(message.startswith("READY=1\n") for message in heard) == 1
        assert heard.count("WATCHDOG=1") == 3
        with contextlib.closing(sqlite3.connect(box.db, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # the writer waits for this
            supervisor.forget()
            supervisor.hear(1)  # a message that was sent before the lock
            assert supervisor.hear(1) == ""  # silent for more than three intervals
            other.execute("ROLLBACK")
        assert supervisor.hear() == "WATCHDOG=1"


@pytest.mark.long
def test_watchdog_of_another_process_is_ignored(
    seed: Seed, tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    with seed.box(tmp_path):
        assert supervisor.hear().startswith("READY=1\n")
        assert supervisor.hear(0.5) == ""


@pytest.mark.long
def test_missing_notification_socket_does_not_prevent_a_stop(
    seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    with Box(seed.copy(tmp_path)) as box:
        assert box.stop() == 0
        assert "can't send READY=1 to systemd at" in box.log.read_text()

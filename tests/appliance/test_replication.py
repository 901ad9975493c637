"""Litestream copies the file of a server that writes; every restore is whole and passes `ticketbox check`."""

import contextlib
import sqlite3
from pathlib import Path

import psutil
import pytest

from tests.appliance.database_files import rows
from tests.support.capture_writer import write
from tests.support.cli import run
from tests.support.litestream import PROGRAM, ReplicatedBox
from tests.support.long_runs import choose_rounds
from tests.support.seed import Seed
from tests.support.server import Box, eventually, ok

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PROGRAM.exists(), reason="Litestream isn't packaged for this machine"),
]
RESTORES = choose_rounds(3, 10)  # docs/operate/replication.md has the result of 100


def wait_for_restore(box: ReplicatedBox, target: Path, wanted: set[str]) -> None:
    """Restore until these captures are there. Every earlier restore is whole too."""

    def restore() -> bool:
        restored = box.restore(target)
        if restored is None:
            return False
        done = run("check", "--db", restored)
        assert done.exit_code == 0, done.stdout
        return wanted <= rows(restored)["capture"]

    assert eventually(restore, 120)


def test_every_restore_beside_a_busy_server_is_whole(seed: Seed, tmp_path: Path) -> None:
    with ReplicatedBox(seed.copy(tmp_path), tmp_path / "replica") as box:
        with write(box, seed, 1000) as writer:
            for number in range(RESTORES):
                before = len(writer.created)
                eventually(lambda at=before: len(writer.created) > at + 5)
                wait_for_restore(box, tmp_path / f"restored-{number}.db", set(writer.created))
        assert box.stop() == 0
        restored = box.restore(tmp_path / "last.db")  # it copies what is left when it stops
        assert restored is not None
        assert set(writer.created) <= rows(restored)["capture"]
    with Box(restored) as again, again.client(seed.token) as client:
        ok(client.get(f"/captures/{writer.created[-1]}/console"))


def test_crashes_of_the_server_and_of_litestream_lose_nothing(seed: Seed, tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    with ReplicatedBox(seed.copy(tmp_path), tmp_path / "replica") as box:
        for number, end in enumerate((box.crash, box.crash, lambda: kill_both(box))):
            with write(box, seed, 1000 * (number + 1)) as writer:
                eventually(lambda of=writer: len(of.created) > 10, 60)
                end()
            box.start()
            acknowledged |= set(writer.created)
            wait_for_restore(box, tmp_path / "restored.db", acknowledged)
    assert run("check", "--db", box.db).exit_code == 0


def kill_both(box: ReplicatedBox) -> None:
    """Kill Litestream, and the server as systemd does then."""
    (server,) = psutil.Process(box.process.pid).children()
    box.process.kill()
    server.kill()
    psutil.wait_procs([server])
    box.stop()


def test_server_leaves_checkpoints_to_the_replicator(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path, "--leave-checkpoints") as box, contextlib.closing(sqlite3.connect(box.db)) as beside:
        beside.execute("SELECT count(*) FROM ticket").fetchone()
        size = box.db.stat().st_size
        log = box.db.with_name(f"{box.db.name}-wal")
        with write(box, seed, 1000):
            eventually(lambda: log.stat().st_size > 10 * 1024 * 1024, 120)
        assert box.stop() == 0
        assert box.db.stat().st_size == size  # not when it stops either: another connection is open

"""sqlite3_rsync copies the file of a server that writes; every copy is whole and passes `ticketbox check`."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.appliance.database_files import rows
from tests.support.capture_writer import write
from tests.support.cli import run
from tests.support.long_runs import choose_rounds
from tests.support.rsync import PROGRAM, copy_file, start_copy
from tests.support.seed import Seed
from tests.support.server import Box, eventually, ok

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PROGRAM.exists(), reason="sqlite3_rsync isn't packaged for this machine"),
]
COPIES = choose_rounds(3, 10)  # docs/operate/replication.md has the result of 100
KILLS = choose_rounds(3, 10)


def check(copy: Path) -> set[str]:
    """Check a copy, and list its captures."""
    done = run("check", "--db", copy)
    assert done.exit_code == 0, done.stdout
    return rows(copy)["capture"]


def test_every_copy_of_a_busy_file_is_whole_and_serves(seed: Seed, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    acknowledged: set[str] = set()
    with seed.box(tmp_path) as box, write(box, seed, 1000) as writer:
        for _ in range(COPIES):
            before = len(writer.created)
            eventually(lambda at=before: len(writer.created) > at + 5)
            acknowledged = set(writer.created)
            copy_file(box.db, copy)
            assert acknowledged <= check(copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    with Box(copy) as again, again.client(seed.token) as client:
        assert ok(client.get(f"/captures/{max(acknowledged)}/console"))["items"]


def test_killed_copy_and_killed_server_leave_a_whole_copy(seed: Seed, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    dice = random.Random(1)
    with seed.box(tmp_path) as box:
        started = time.monotonic()
        copy_file(box.db, copy)
        takes = time.monotonic() - started
        for number in range(KILLS):
            with write(box, seed, 1000 * (number + 1)) as writer:
                eventually(lambda of=writer: len(of.created) > 10, 60)
                copied = check(copy)
                process = start_copy(box.db, copy)
                time.sleep(dice.uniform(0, takes))  # killed at any moment
                if number % 2:
                    box.process.kill()
                    assert process.wait(60) == 0
                else:
                    os.killpg(process.pid, signal.SIGKILL)  # both of its processes
                process.communicate()
                assert copied <= check(copy)
            if number % 2:
                box.stop()
                box.start()
            acknowledged = set(writer.created)
            copy_file(box.db, copy)
            assert acknowledged <= check(copy)
    assert run("check", "--db", box.db).exit_code == 0

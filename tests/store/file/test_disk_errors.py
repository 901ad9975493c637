"""What the disk says: an error of a failing disk isn't called a full one, and every failed write is counted."""

import asyncio
import contextlib
import errno
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.seed import PatchedServer, Seed, faults, public_ids
from tests.support.server import eventually, expect_error, ok
from ticketbox.domain.core.problems import StorageFull
from ticketbox.store.file.connection import connect, get_log_paths
from ticketbox.store.file.database import Database, Write
from ticketbox.store.file.errors import DiskFailed, translate_error
from ticketbox.store.file.migrate import prepare_file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's files of a process")

# SQLite can read the log and not write it, as on a disk that the kernel made read-only after an error.
FAIL_ON_SIGNAL = """
import fcntl, os, signal
def fail(*_):
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target.endswith("-wal") and fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_RDWR:
            os.dup2(os.open(target, os.O_RDONLY), int(name), False)
signal.signal(signal.SIGUSR1, fail)
from ticketbox.cli import main
main()
"""


@contextlib.contextmanager
def failing_disk(path: Path, device: str) -> Iterator[None]:
    """Everything that this process has open as `path` is another device meanwhile.

    Writing to the first bytes of a process's memory, `/proc/self/mem`, where nothing is, fails with EIO.
    """
    opened = [int(each.name) for each in Path("/proc/self/fd").iterdir() if _find_target(each) == path]
    assert opened
    kept = {number: os.dup(number) for number in opened}
    handle = os.open(device, os.O_RDWR)
    try:
        for number in opened:
            os.dup2(handle, number, False)
        yield
    finally:
        for number, original in kept.items():
            os.dup2(original, number, False)
            os.close(original)
        os.close(handle)


def _find_target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:
        return None


def add(tx: Write) -> int:
    """Add a note."""
    return tx.insert("INSERT INTO note DEFAULT VALUES")


def test_failing_disk_is_not_called_full_and_health_reports_it_until_a_write_succeeds(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    with contextlib.closing(connect(db, writes=True)) as connection:
        connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY) STRICT")

    async def use() -> None:
        database = await Database.open(db)
        assert await database.write(add) == 1
        log, _ = get_log_paths(db)
        await database.truncate_log()  # so that nothing is read from what is in its place
        with failing_disk(log, "/dev/full"), pytest.raises(StorageFull, match="the disk is full"):
            await database.write(add)
        await database.check_reads()
        with failing_disk(log, "/proc/self/mem"):
            for _ in range(2):
                with pytest.raises(DiskFailed, match=r"the disk failed \(I/O error\).*see the kernel log"):
                    await database.write(add)
        with pytest.raises(DiskFailed):
            await database.check_reads()
        assert database.write_failures == {"disk_full": 1, "disk_failed": 2}
        assert await database.write(add) == 2
        await database.check_reads()
        await database.close()

    asyncio.run(use())
    assert [path.name for path in tmp_path.glob("*.probe")] == []


@pytest.mark.parametrize("code", ["WRITE", "FSYNC", "TRUNCATE", "READ", "SHMSIZE"])
def test_every_error_of_the_disk_is_a_failure(tmp_path: Path, code: str) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_IOERR_{code}")
    db = tmp_path / "ticketbox.db"
    for path in (db, *get_log_paths(db)):
        path.touch()
    assert isinstance(translate_error(error, db), DiskFailed)
    missing = tmp_path / "unmounted" / "ticketbox.db"
    assert isinstance(translate_error(error, missing), DiskFailed)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_quota_and_limits_are_a_full_disk(tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite reports all but ENOSPC like a failing disk."""

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    db = tmp_path / "ticketbox.db"
    for path in (db, *get_log_paths(db)):
        path.touch()
    monkeypatch.setattr(os, "write", refuse)
    assert isinstance(translate_error(error, db), StorageFull)


@pytest.mark.long
def test_failing_disk_of_a_server_is_named_and_loses_nothing(seed: Seed, tmp_path: Path) -> None:
    with PatchedServer(FAIL_ON_SIGNAL, seed.copy(tmp_path)) as box, box.client(seed.token) as client:
        given = {"project_id": seed.project, "title": "A ticket"}
        kept = {ok(client.post("/tickets", json=given))["id"] for _ in range(3)}
        box.process.send_signal(signal.SIGUSR1)
        eventually(lambda: not _accepts(client, given, kept))
        problem = expect_error(client.post("/tickets", json=given), 503, "unavailable")
        assert "the disk failed (I/O error)" in problem["detail"]
        assert httpx.get(f"{box.url}/healthz").status_code == 503
        for ticket in kept:
            ok(client.get(f"/tickets/{ticket}"))
        assert 'ticketbox_write_failures_total{reason="disk_failed"}' in httpx.get(f"{box.url}/metrics").text
        box.process.kill()
        box.process.wait()
    assert faults(box.db) == {}
    assert public_ids(box.db, "ticket") >= kept


def _accepts(client: httpx.Client, given: dict[str, str], kept: set[str]) -> bool:
    answer = client.post("/tickets", json=given)
    if answer.is_success:
        kept.add(answer.json()["id"])
    return answer.is_success

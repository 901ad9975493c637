"""A write-ahead log that is deleted or damaged while a server writes to it: nothing acknowledged is lost silently."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.support.cli import run
from tests.support.seed import Seed, faults, public_ids
from tests.support.server import expect_error, ok
from ticketbox.domain.core.problems import Unavailable
from ticketbox.jobs.backups import BackupPlan, create_backup, list_backups
from ticketbox.store.file.connection import connect, get_log_paths
from ticketbox.store.file.database import Database, Write
from ticketbox.store.file.guard import FileGuard
from ticketbox.store.file.migrate import prepare_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps open files")

ADVICE = "stop the server in an orderly way: that saves what it has"
LOSSES: dict[str, Callable[[Path, Path], object]] = {
    "log deleted": lambda log, index: log.unlink(),
    "log replaced": lambda log, index: (log.rename(log.with_suffix(".old")), log.touch()),
    "index deleted": lambda log, index: index.unlink(),
    "both deleted": lambda log, index: (log.unlink(), index.unlink()),
}
DAMAGE: dict[str, Callable[[Path], object]] = {
    "emptied": lambda log: os.truncate(log, 0),
    "truncated": lambda log: os.truncate(log, log.stat().st_size - 1),
    "overwritten": lambda log: log.write_bytes(os.urandom(log.stat().st_size)),
}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A migrated file with an additional table."""
    file = tmp_path / "ticketbox.db"
    prepare_file(file)
    with contextlib.closing(connect(file, writes=True)) as connection:
        connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY) STRICT")
    return file


def add(key: int) -> Callable[[Write], int]:
    """A unit that adds a note."""
    return lambda tx: tx.insert("INSERT INTO note (id) VALUES (?)", (key,))


def read_notes(db: Path) -> list[int]:
    """The notes, as another process finds them."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return [key for (key,) in connection.execute("SELECT id FROM note ORDER BY id")]


async def open_guarded(db: Path) -> tuple[Database, FileGuard]:
    """The file as a server has it open."""
    guard = FileGuard(db)
    guard.lock()
    return await Database.open(db, guard=guard), guard


@pytest.mark.parametrize("loss", LOSSES)
def test_writes_to_a_lost_log_are_refused_and_earlier_ones_are_saved(db: Path, tmp_path: Path, loss: str) -> None:
    async def use() -> None:
        database, guard = await open_guarded(db)
        await database.write(add(1))
        LOSSES[loss](*get_log_paths(db))
        with pytest.raises(Unavailable, match=ADVICE):
            await database.check_reads()
        with pytest.raises(Unavailable, match=ADVICE):
            await database.write(add(2))
        (copy := tmp_path / "as-if-killed.db").write_bytes(db.read_bytes())
        assert read_notes(copy) == [1]
        with pytest.raises(Unavailable, match=ADVICE):
            create_backup(BackupPlan(db, tmp_path, None, 1), asyncio.Event(), database.refuse_damage)
        await database.close()
        guard.close()

    asyncio.run(use())
    assert read_notes(db) == [1]


def test_write_during_which_the_log_is_lost_is_not_acknowledged(db: Path) -> None:
    def lose(tx: Write) -> None:
        add(2)(tx)
        get_log_paths(db)[0].unlink()

    async def use() -> None:
        database, guard = await open_guarded(db)
        await database.write(add(1))
        with pytest.raises(Unavailable, match=ADVICE):
            await database.write(lose)
        await database.close()
        guard.close()

    asyncio.run(use())
    assert read_notes(db) == [1, 2]  # committed, but not before it was safe


def test_backup_during_which_the_log_is_lost_is_none(db: Path, tmp_path: Path) -> None:
    async def use() -> None:
        database, guard = await open_guarded(db)
        await database.write(add(1))
        calls = 0

        def lose_between() -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                database.refuse_damage()
                get_log_paths(db)[0].unlink()
            else:
                database.refuse_damage()

        plan = BackupPlan(db, tmp_path / "backups", None, 1)
        with pytest.raises(Unavailable, match=ADVICE):
            create_backup(plan, asyncio.Event(), lose_between)
        assert (calls, list_backups(plan)) == (2, [])
        await database.close()
        guard.close()

    asyncio.run(use())


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_log_is_noticed_and_never_copied_into_the_file(db: Path, damage: str) -> None:
    async def use() -> None:
        database, guard = await open_guarded(db)
        await database.write(add(1))
        before = db.read_bytes()
        DAMAGE[damage](get_log_paths(db)[0])
        for refused in (database.write(add(2)), database.check_reads(), database.truncate_log()):
            with pytest.raises(Unavailable, match="run ticketbox check"):
                await refused
        assert guard.has_damaged_log()
        assert db.read_bytes() == before
        guard.close()
        await database.close()

    asyncio.run(use())


def test_log_that_shrinks_in_the_usual_way_is_no_fault(db: Path) -> None:
    async def use() -> None:
        database, guard = await open_guarded(db)
        for key in range(20):
            await database.write(add(key))
            if key % 3 == 0:
                await database.truncate_log()
            assert guard.find_fault() is None
        with contextlib.closing(sqlite3.connect(db)) as other, other:  # a command beside the server
            other.execute("PRAGMA wal_autocheckpoint = 0")
            other.execute("INSERT INTO note (id) VALUES (100)")
        await database.write(add(101))
        assert guard.find_fault() is None
        await database.close()
        guard.close()

    asyncio.run(use())
    assert read_notes(db) == [*range(20), 100, 101]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux who has the file open")
def test_kill_after_the_log_was_deleted_loses_nothing_and_commands_refuse_meanwhile(seed: Seed, tmp_path: Path) -> None:
    (link := tmp_path / "link.db").symlink_to(tmp_path / "ticketbox.db")
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        given = {"project_id": seed.project, "title": "Kept"}
        kept = {ok(client.post("/tickets", json=given))["id"] for _ in range(3)}
        assert run("backup", tmp_path / "by-link.db", "--db", link).exit_code == 0
        assert public_ids(tmp_path / "by-link.db", "ticket") >= kept
        get_log_paths(box.db)[0].unlink()
        commands = (
            ["backup", tmp_path / "copy.db"], ["export", tmp_path / "copy.zip"], ["token", "list"], ["check"],
            ["user", "add", "--email", "x@example.org", "--name", "X", "--company", seed.company, "--password-stdin"],
        )  # fmt: skip
        for command in commands:
            done = run(*command, "--db", box.db, stdin="correct horse battery")
            assert (done.exit_code, ADVICE in done.output) == (1, True), done.output
        assert not (tmp_path / "copy.db").exists()
        assert not (tmp_path / "copy.zip").exists()
        problem = expect_error(client.post("/tickets", json=given), 503, "unavailable")
        assert ADVICE in problem["detail"]
        assert ADVICE in httpx.get(f"{box.url}/healthz").text
        assert ADVICE in box.log.read_text()
        box.process.send_signal(signal.SIGKILL)
        box.process.wait()
    assert faults(box.db) == {}
    assert public_ids(box.db, "ticket") >= kept


@pytest.mark.long
def test_stop_with_a_damaged_log_leaves_the_file_as_a_kill_does(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        given = {"project_id": seed.project, "title": "A ticket"}
        ids = [ok(client.post("/tickets", json=given))["id"] for _ in range(5)]
        log, _ = get_log_paths(box.db)
        os.truncate(log, log.stat().st_size - 10)
        expect_error(client.post("/tickets", json=given), 503, "unavailable")
        assert box.stop() == 1
    assert run("check", "--db", box.db).exit_code == 0
    assert public_ids(box.db, "ticket") >= set(ids[:-1])

"""The file that a server uses: its lock, what happens when it disappears, and what remains of deleted bytes."""

import asyncio
import contextlib
import os
import secrets
from pathlib import Path

import httpx
import pytest

from tests.support.cli import run
from tests.support.long_runs import mark_long
from tests.support.seed import Seed
from tests.support.server import eventually, expect_error, ok
from ticketbox.app import lock_file
from ticketbox.store.core import blobs
from ticketbox.store.file.backup import back_up
from ticketbox.store.file.connection import LEFT_LOG, connect
from ticketbox.store.file.database import LONG_LOG, Database, Write
from ticketbox.store.file.guard import FileGuard
from ticketbox.store.file.migrate import PAGE_SIZE, prepare_file


def test_lock_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a.db.lock"
    with lock_file(tmp_path / "a.db"):
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
@pytest.mark.parametrize("way", ["symbolic link", "hard link", "without its lock file"])
def test_second_server_is_refused_by_any_path(seed: Seed, tmp_path: Path, way: str) -> None:
    with seed.box(tmp_path) as box:
        other = tmp_path / "other" / "copy.db"
        other.parent.mkdir()
        if way == "symbolic link":
            other.symlink_to(box.db)
        elif way == "hard link":
            other.hardlink_to(box.db)
        else:
            box.db.with_name(box.db.name + ".lock").unlink()
            other = box.db
        done = run("serve", "--port", "0", "--no-open", "--db", other)
        assert done.exit_code == 1
        assert "another ticketbox server is using this file" in done.stderr
    with seed.box(tmp_path / "other") as again:
        ok(again.client(seed.token).get("/me"))


@pytest.mark.parametrize("damage", ["deleted", mark_long("replaced"), "truncated", mark_long("overwritten")])
def test_health_and_writes_report_a_file_that_is_gone(seed: Seed, tmp_path: Path, damage: str) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        given = {"project_id": seed.project, "title": "Before"}
        ok(client.post("/tickets", json=given))
        kept = tmp_path / "kept"
        if damage == "deleted":
            box.db.rename(kept)
        elif damage == "replaced":
            box.db.rename(kept)
            box.db.write_bytes(seed.db.read_bytes())
        else:
            with box.db.open("r+b") as file:
                file.truncate(8_192) if damage == "truncated" else file.write(b"\0" * 4_096)
        problem = expect_error(client.post("/tickets", json={**given, "title": "Lost"}), 503, "unavailable")
        assert "restore a backup" in problem["detail"]
        assert httpx.get(f"{box.url}/healthz").status_code == 503
        assert "restore a backup" in box.log.read_text()
        if damage == "deleted":  # nothing is lost
            kept.rename(box.db)
            assert httpx.get(f"{box.url}/healthz").status_code == 200
            ok(client.post("/tickets", json=given))


def test_checkpoint_that_a_reader_limits_is_not_taken_for_damage(tmp_path: Path) -> None:
    """The first page, with the new number of pages, is in the file; pages that changed again are still in the log."""
    db, guard = tmp_path / "ticketbox.db", FileGuard(tmp_path / "ticketbox.db")
    prepare_file(db)
    guard.lock()
    with (
        contextlib.closing(connect(db, writes=True, checkpoints=False)) as writer,
        contextlib.closing(connect(db, writes=False)) as reader,
    ):
        writer.execute("CREATE TABLE grown (content TEXT)")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO grown VALUES (?)", [("x" * 1_000,)] * 2_000)
        writer.execute("COMMIT")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM grown").fetchone()
        writer.execute("UPDATE grown SET content = upper(content)")
        writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        counted = PAGE_SIZE * int.from_bytes(db.read_bytes()[28:32])
        assert db.stat().st_size < counted
        assert guard.find_fault() is None
        reader.execute("COMMIT")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert db.stat().st_size == counted
        assert guard.find_fault() is None
    os.truncate(db, counted - PAGE_SIZE)
    assert guard.find_fault() == "the database file was truncated; stop the server and restore a backup"
    guard.close()


def test_destroyed_bytes_are_in_no_file(tmp_path: Path) -> None:
    """The bytes of a deleted blob and of a deleted row are neither in the file nor in its log nor in a backup."""
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    marker = b"BURNT-" + secrets.token_hex(16).encode()

    def insert(tx: Write) -> int:
        return blobs.save_blob(tx, blobs.pack_content(marker * 2_000, compress=False))

    async def write() -> None:
        database = await Database.open(db)
        key = await database.write(insert)
        log = db.with_name(db.name + "-wal")
        assert marker in log.read_bytes()
        await database.write(lambda tx: blobs.delete_if_unused(tx, key))
        assert log.stat().st_size == 0
        assert marker not in db.read_bytes()
        back_up(db, tmp_path / "backup.db")
        assert marker not in (tmp_path / "backup.db").read_bytes()
        await database.close()

    asyncio.run(write())


@pytest.mark.long
def test_log_of_a_server_shrinks_to_8_mb_with_the_next_writes(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        client.timeout = 120
        log = box.db.with_name(box.db.name + "-wal")
        given = {"project_id": seed.project, "title": "A ticket"}
        ticket = ok(client.post("/tickets", json=given))["id"]
        with contextlib.closing(connect(box.db, writes=False)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM ticket").fetchone()
            for _ in range(4):
                files = {"file": ("a.bin", secrets.token_bytes(8_000_000))}
                ok(client.post(f"/tickets/{ticket}/attachments", files=files))
            assert log.stat().st_size > 32_000_000
            reader.execute("COMMIT")

        def write() -> bool:
            ok(client.post("/tickets", json=given))
            return log.stat().st_size <= LEFT_LOG

        # one write copies the log into the file, and the next begins a new log, unless somebody reads meanwhile
        eventually(write)


@pytest.mark.long
def test_log_shrinks_after_a_long_reader(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)

    async def write() -> None:
        database = await Database.open(db)
        with contextlib.closing(connect(db, writes=False)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM blob").fetchone()
            for _ in range(24):
                data = secrets.token_bytes(1_000_000)
                await database.write(
                    lambda tx, data=data: blobs.save_blob(tx, blobs.pack_content(data, compress=False))
                )
            await database.shrink_log()
            assert database.measure_sizes().log > LONG_LOG
            reader.execute("COMMIT")
        await database.shrink_log()
        assert database.measure_sizes().log == 0
        await database.close()

    asyncio.run(write())

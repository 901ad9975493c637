"""`ticketbox restore`: the backup in the file's place, with what was there kept; or everything as it was."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.appliance.database_files import OTHER_ROWS, change, digest, names, rows
from tests.support.cli import run
from tests.support.seed import Seed
from tests.support.server import Box, ok
from ticketbox.store.file.migrate import UnusableFile
from ticketbox.store.file.restore import restore_backup


@pytest.fixture
def saved(db: Path, tmp_path: Path) -> Path:
    """A backup of the file."""
    assert run("backup", tmp_path / "saved.db", "--db", db).exit_code == 0
    return tmp_path / "saved.db"


def find_replaced_file(db: Path) -> Path:
    """The one file that a restore put aside."""
    (copies,) = [path for path in db.parent.glob(f"{db.name}.before-restore-*") if not path.name.endswith("-wal")]
    return copies


def test_restored_database_serves_what_the_backup_held(seed: Seed, saved: Path, tmp_path: Path) -> None:
    new = tmp_path / "deep" / "folder" / "new.db"
    done = run("restore", saved, "--db", new)
    assert (done.exit_code, done.stdout.startswith(f"Restored {new} from ")) == (0, True)
    assert rows(new) == rows(saved)
    with Box(new) as box, box.client(seed.token) as client:
        assert len(ok(client.get("/tickets"))["items"]) == 6


def test_restore_keeps_the_existing_database_or_refuses(db: Path, saved: Path) -> None:
    change(db, "UPDATE ticket SET title = 'newer'")
    before = digest(db)
    done = run("restore", saved, "--db", db)
    assert (done.exit_code, digest(db), "--force" in done.stderr) == (1, before, True)
    done = run("restore", saved, "--db", db, "--force")
    assert done.exit_code == 0, done.stderr
    assert f"The previous file is now {find_replaced_file(db)}" in done.stdout
    for path, found in ((db, 0), (find_replaced_file(db), 6)):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM ticket WHERE title = 'newer'").fetchone() == (found,)
    assert run("restore", find_replaced_file(db), "--db", db.with_name("again.db")).exit_code == 0


@pytest.mark.parametrize("damage", OTHER_ROWS)
def test_copy_with_fewer_or_more_rows_is_not_restored(db: Path, saved: Path, damage: str) -> None:
    """The copy that would take the file's place is sound in itself."""
    before = digest(db)

    def break_copy(doing: str, share: float | None) -> None:
        if doing == "verifying":
            change(db.with_name(f"{db.name}.part"), damage)

    with pytest.raises(UnusableFile, match="rows are missing in the copy"):
        restore_backup(saved, db, force=True, report=break_copy)
    assert digest(db) == before
    assert names(db.parent) == sorted([db.name, saved.name, f"{saved.name}.sha256"])


def test_wal_of_a_killed_server_is_moved_with_its_database(seed: Seed, saved: Path, tmp_path: Path) -> None:
    """SQLite would play it into the restored file."""
    folder = tmp_path / "served"
    folder.mkdir()
    with seed.box(folder) as box, box.client(seed.token) as client:
        ticket = ok(client.post("/tickets", json={"project_id": seed.project, "title": "In the log alone"}))["id"]
        box.process.kill()
        box.process.wait()
    assert box.db.with_name(box.db.name + "-wal").stat().st_size > 0
    assert run("restore", saved, "--db", box.db, "--force").exit_code == 0
    assert ticket not in rows(box.db)["ticket"]
    assert rows(box.db) == rows(saved)
    assert ticket in rows(find_replaced_file(box.db))["ticket"]


@pytest.mark.long
def test_wal_without_a_database_is_moved_aside(seed: Seed, saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    with seed.box(folder) as box, box.client(seed.token) as client:
        ok(client.post("/tickets", json={"project_id": seed.project, "title": "In the log alone"}))
        box.process.kill()
        box.process.wait()
    box.db.unlink()
    assert run("restore", saved, "--db", box.db).exit_code == 0
    assert rows(box.db) == rows(saved)
    assert len(list(folder.glob("*.before-restore-*-wal"))) == 1


def test_corrupt_database_is_kept_unchanged(db: Path, saved: Path) -> None:
    db.write_bytes(os.urandom(50_000))
    before = digest(db)
    assert run("restore", saved, "--db", db, "--force").exit_code == 0
    assert rows(db) == rows(saved)
    assert digest(find_replaced_file(db)) == before


@pytest.mark.long
def test_restore_leaves_a_database_in_use_alone(seed: Seed, saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    with seed.box(folder) as box, box.client(seed.token) as client:
        done = run("restore", saved, "--db", box.db, "--force")
        assert (done.exit_code, "another ticketbox server is using this file" in done.stderr) == (1, True)
        ok(client.get("/tickets"))
    with contextlib.closing(sqlite3.connect(box.db)) as other:
        other.execute("SELECT count(*) FROM ticket").fetchone()
        other.execute("BEGIN IMMEDIATE")
        before = digest(box.db)
        done = run("restore", saved, "--db", box.db, "--force")
        assert (done.exit_code, "another command uses the file" in done.stderr) == (1, True)
        assert digest(box.db) == before
    assert not list(folder.glob("*.before-restore-*"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda path: change(path, "PRAGMA user_version = 999"),
            "use the newer ticketbox",
        ),
        (lambda path: change(path, "UPDATE blob SET data = zeroblob(length(data))"), "doesn't match its hash"),
        (lambda path: change(path, "PRAGMA application_id = 7"), "isn't a file of ticketbox"),
        (lambda path: path.write_bytes(path.read_bytes()[:100_000]), str),
        (lambda path: path.write_bytes(os.urandom(100_000)), "file is not a database"),
        (lambda path: path.write_bytes(b""), "isn't a file of ticketbox"),
        (lambda path: path.unlink(), "no such file"),
    ],
    ids=["newer", "contents", "foreign", "cut", "garbage", "empty", "missing"],
)
def test_corrupt_backup_changes_nothing(db: Path, saved: Path, tmp_path: Path, spoil, words) -> None:
    saved.with_name(f"{saved.name}.sha256").unlink()  # as a backup of an earlier version
    spoil(saved)
    before, there = digest(db), [name for name in names(tmp_path) if not name.startswith("saved")]
    done = run("restore", saved, "--db", db, "--force")
    assert (done.exit_code, done.stdout) == (1, "")
    assert words is str or words in done.stderr
    assert str(saved) in done.stderr
    assert digest(db) == before
    assert [name for name in names(tmp_path) if not name.startswith("saved")] in (there, [*there, f"{db.name}.lock"])


@pytest.mark.long
def test_copy_made_by_an_upgrade_can_be_served_again(db: Path, tmp_path: Path, seed: Seed) -> None:
    """VACUUM INTO leaves WAL; a server without it would keep readers waiting."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    with Box(tmp_path / "copy.db") as box, box.client(seed.token) as client:
        ok(client.post("/tickets", json={"project_id": seed.project, "title": "Goes on"}))
        assert (tmp_path / "copy.db-wal").stat().st_size > 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("there", [True, False])
def test_restore_by_root_keeps_the_owner_of_the_file(saved: Path, tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    db = folder / "ticketbox.db"
    if there:
        shutil.copy(saved, db)
        os.chown(db, 10_001, 10_002)
    else:
        os.chown(folder, 10_001, 10_002)
    assert run("restore", saved, "--db", db, *(["--force"] if there else [])).exit_code == 0
    assert (db.stat().st_uid, db.stat().st_gid, db.stat().st_mode & 0o777) == (10_001, 10_002, 0o600)


def test_restore_never_overwrites_its_source(db: Path) -> None:
    before = digest(db)
    done = run("restore", db, "--db", db, "--force")
    assert (done.exit_code, digest(db)) == (1, before)
    alias = Path(shutil.copy(db, db.with_name("other.db")))
    assert run("restore", alias, "--db", db, "--force").exit_code == 0


@pytest.mark.parametrize("damage", ["bit", "end"])
def test_backup_with_a_changed_bit_is_refused(saved: Path, tmp_path: Path, damage: str) -> None:
    """Also in a text, or at the end of a free page, where SQLite notices nothing."""
    data = bytearray(saved.read_bytes())
    if damage == "bit":
        data[data.index(b"Capture 1")] ^= 1
    else:
        del data[-1]
    saved.write_bytes(data)
    done = run("restore", saved, "--db", tmp_path / "new.db")
    assert (done.exit_code, f"differs from its checksum in {saved.name}.sha256" in done.stderr) == (1, True)
    assert not (tmp_path / "new.db").exists()
    checked = run("check", "--db", saved)
    assert (checked.exit_code, "differs from its checksum" in checked.stdout) == (1, True)
    saved.with_name(f"{saved.name}.sha256").unlink()
    if damage == "bit":
        assert run("restore", saved, "--db", tmp_path / "new.db").exit_code == 0

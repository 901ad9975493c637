"""`ticketbox backup`: a whole, sound copy of one moment, or none."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.appliance.database_files import OTHER_ROWS, change, digest, names, rows
from tests.support.cli import run
from tests.support.seed import NAMESPACE, Seed, can_mount, capture_parts
from tests.support.server import ok
from ticketbox.store.file.backup import back_up
from ticketbox.store.file.migrate import UnusableFile, find_newest_number


def test_backup_has_the_same_rows_as_the_database(db: Path, tmp_path: Path) -> None:
    done = run("backup", tmp_path / "copy.db", "--db", db)
    assert (done.exit_code, done.stderr) == (
        0,
        "copying …\nverifying …\ncomparing contents with their hashes …\ncomputing the checksum …\n",
    )
    assert done.stdout.startswith(f"Copied {db} to {tmp_path / 'copy.db'}: ")
    assert "6 tickets, 6 captures" in done.stdout
    assert rows(tmp_path / "copy.db") == rows(db)
    if os.name == "posix":
        assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_json_output_has_nothing_but_json(db: Path, tmp_path: Path) -> None:
    done = run("backup", tmp_path / "copy.db", "--db", db, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    output = json.loads(done.stdout)
    assert output["file"] == str(tmp_path / "copy.db")
    assert output["bytes"] == (tmp_path / "copy.db").stat().st_size
    assert (output["schema"], output["rows"]["capture"], output["kept"]) == (find_newest_number(), 6, None)


def test_backup_into_a_directory_is_named_by_time(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    assert run("backup", folder, "--db", db).exit_code == 0
    name, checksum = names(folder)
    assert name.startswith("ticketbox-20")
    assert name.endswith("Z.db")
    assert (folder / checksum).read_text() == f"{digest(folder / name)}  {name}\n"


@pytest.mark.long
def test_backup_beside_a_busy_server_is_consistent_and_does_not_touch_its_files(seed: Seed, tmp_path: Path) -> None:
    result: list[str] = []
    stop = threading.Event()
    with seed.box(tmp_path) as box, box.client(seed.token) as client:

        def write() -> None:
            number = 1000
            while not stop.is_set():
                result.append(ok(client.post("/captures", files=capture_parts(seed.project, number)))["capture_id"])
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(3):
                before = len(result)
                done = run("backup", tmp_path / f"copy-{number}.db", "--db", box.db)
                assert done.exit_code == 0, done.stderr
                captures = rows(tmp_path / f"copy-{number}.db")["capture"]
                assert set(result[:before]) <= captures  # acknowledged before it began
                assert captures <= set(result) | rows(seed.db)["capture"] | {client_made(result, captures)}
        finally:
            stop.set()
            writer.join()
        log = box.db.with_name(box.db.name + "-wal")
        still = digest(box.db), digest(log)
        assert run("backup", tmp_path / "still.db", "--db", box.db).exit_code == 0
        assert (digest(box.db), digest(log)) == still
    assert rows(tmp_path / "still.db") == rows(box.db)


def client_made(made: list[str], found: set[str]) -> str:
    """The one capture that may be in the copy before its answer is in our list."""
    return next(iter(found - set(made)), "")


@pytest.mark.parametrize("force", [False, True])
def test_existing_file_is_overwritten_only_with_the_flag(db: Path, tmp_path: Path, force: bool) -> None:
    there = tmp_path / "copy.db"
    there.write_bytes(b"precious")
    done = run("backup", there, "--db", db, *(["--force"] if force else []))
    if force:
        assert (done.exit_code, rows(there)) == (0, rows(db))
    else:
        assert (done.exit_code, there.read_bytes()) == (1, b"precious")
        assert "--force" in done.stderr


def test_backup_never_overwrites_its_source_or_a_database_in_use(seed: Seed, db: Path, tmp_path: Path) -> None:
    (tmp_path / "alias.db").symlink_to(db)
    before = digest(db)
    for target in (db, tmp_path / "alias.db"):
        done = run("backup", target, "--db", db, "--force")
        assert (done.exit_code, "this is the file itself" in done.stderr) == (1, True)
    folder = tmp_path / "other"
    folder.mkdir()
    with seed.box(folder) as box:
        done = run("backup", box.db, "--db", db, "--force")
        assert (done.exit_code, "in use" in done.stderr) == (1, True)
    assert digest(db) == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("UPDATE blob SET data = zeroblob(length(data)) WHERE id = 1", "doesn't match its hash"),
        ("DELETE FROM blob WHERE id = (SELECT blob_id FROM asset LIMIT 1)", "asset 1 -> blob"),
        ("PRAGMA application_id = 1", "this isn't a file of ticketbox"),
        ("PRAGMA user_version = 999", "use the newer ticketbox"),
    ],
)
def test_corrupt_database_is_not_backed_up(db: Path, tmp_path: Path, damage: str, words: str) -> None:
    change(db, "PRAGMA foreign_keys = OFF", damage)
    before = names(tmp_path)
    done = run("backup", tmp_path / "copy.db", "--db", db)
    assert (done.exit_code, done.stdout) == (1, "")
    assert words in done.stderr
    assert names(tmp_path) == before


def test_corrupt_pages_are_not_backed_up(db: Path, tmp_path: Path) -> None:
    data = db.read_bytes()
    db.write_bytes(data[: 9 * 8192] + os.urandom(20 * 8192) + data[29 * 8192 :])
    done = run("backup", tmp_path / "copy.db", "--db", db)
    assert done.exit_code == 1
    assert not list(tmp_path.glob("copy*"))


@pytest.mark.parametrize("damage", OTHER_ROWS)
def test_copy_with_fewer_or_more_rows_is_not_a_backup(db: Path, tmp_path: Path, damage: str) -> None:
    """The copy is sound in itself: only the number of its rows differs from that of the source."""

    def break_copy(doing: str, share: float | None) -> None:
        if doing == "verifying":
            change(tmp_path / "copy.db.part", damage)

    with pytest.raises(UnusableFile, match="rows are missing in the copy"):
        back_up(db, tmp_path / "copy.db", report=break_copy)
    assert not list(tmp_path.glob("copy*"))
    assert back_up(db, tmp_path / "copy.db").rows["event"] > 0


@pytest.mark.skipif(not can_mount(), reason="a separate file system can't be mounted here")
def test_full_disk_makes_no_backup_and_reports_it(db: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    for size in ("200k", f"{db.stat().st_size + 20_000}"):
        script = f'mount -t tmpfs -o size={size} tmpfs "$1" && shift && "$@"; status=$?; ls -A "{disk}"; exit $status'
        command = [sys.executable, "-m", "ticketbox", "backup", str(disk / "copy.db"), "--db", str(db)]
        launch = [*NAMESPACE, "sh", "-c", script, "sh", str(disk), *command]
        done = subprocess.run(launch, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            assert ("free space" in done.stderr or "disk full" in done.stderr, done.stdout) == (True, "")
            assert "Traceback" not in done.stderr
        else:
            assert "Copied " in done.stdout
            assert size != "200k"


@pytest.mark.long
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_backup_never_gets_the_final_name(seed: Seed, tmp_path: Path, signal_: signal.Signals) -> None:
    db = seed.copy(tmp_path)
    change(db, *["INSERT INTO idempotency SELECT 1, hex(randomblob(9)), x'', randomblob(60000), 0"] * 400)
    command = [sys.executable, "-m", "ticketbox", "backup", str(tmp_path / "copy.db"), "--db", str(db)]
    for wait in (0.0, 0.05, 0.15):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert process.stderr is not None
        process.stderr.readline()  # it has begun
        time.sleep(wait)  # interrupted at several moments of the copy
        process.send_signal(signal_)
        process.communicate(timeout=30)
        if (tmp_path / "copy.db").exists():  # it was done by then
            assert rows(tmp_path / "copy.db") == rows(db)
            (tmp_path / "copy.db").unlink()
        if signal_ is signal.SIGINT:
            assert not (tmp_path / "copy.db.part").exists()
    assert run("backup", tmp_path / "copy.db", "--db", db).exit_code == 0
    assert not (tmp_path / "copy.db.part").exists()


def test_progress_is_shown_at_a_terminal(db: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ticketbox", "backup", str(tmp_path / "copy.db"), "--db", str(db), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=60, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "copying 100%" in shown
    assert json.loads(done.stdout)["rows"]["ticket"] == 6

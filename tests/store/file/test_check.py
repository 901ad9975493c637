"""`ticketbox check`: finds what is wrong, says what to do, and never changes a byte."""

import contextlib
import hashlib
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run
from tests.support.seed import Seed, capture_parts
from tests.support.server import eventually, ok
from ticketbox.store.file.check import is_sound, open_inspection
from ticketbox.store.file.connection import add_functions
from ticketbox.store.file.migrate import find_newest_number, prepare_file


@pytest.fixture(scope="module")
def filled(seed: Seed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with captures, closed."""
    with seed.box(tmp_path_factory.mktemp("filled")) as box, box.client(seed.token) as client:
        for number in range(5):
            ok(client.post("/captures", files=capture_parts(seed.project, number)))
    return box.db


@pytest.fixture
def db(filled: Path, tmp_path: Path) -> Path:
    """A copy with captures, to break."""
    return Path(shutil.copy(filled, tmp_path / "ticketbox.db"))


def change(db: Path, *statements: str) -> None:
    """Do to a file what only damage or a stranger does."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        add_functions(connection)
        for statement in statements:
            connection.execute(statement)


def digest(db: Path) -> str:
    """The file's bytes, in short."""
    return hashlib.sha256(db.read_bytes()).hexdigest()


def report(db: Path, status: int) -> dict[str, Any]:
    """What `check --json` says, by subject; the file stays as it is."""
    before = digest(db)
    done = run("check", "--db", db, "--json")
    assert (done.exit_code, done.stderr) == (status, "")
    assert digest(db) == before
    output = json.loads(done.stdout)
    assert output["ok"] is (status == 0)
    return {"": output, **{finding["subject"]: finding for finding in output["findings"]}}


def test_intact_database_passes(db: Path) -> None:
    done = run("check", "--db", db)
    assert (done.exit_code, done.stderr) == (0, "")
    first, *lines, last = done.stdout.splitlines()
    assert first.startswith(f"{db}, with ticketbox ")
    assert last == "No problems."
    assert {line.split()[0] for line in lines} <= {"ok", "note", "→"}
    assert any("5 tickets, 5 captures, 5 pictures and files" in line for line in lines)
    output = report(db, 0)
    assert output[""]["rows"]["ticket"] == 5
    assert output[""]["schema"] == output[""]["newest_schema"] == find_newest_number()
    assert output[""]["bytes"] == db.stat().st_size
    subjects = ("schema", "pages", "references", "rows", "contents", "storage", "room")
    assert {output[subject]["level"] for subject in subjects} == {"ok"}
    if sqlite3.sqlite_version_info < (3, 51, 3):
        assert (output["sqlite"]["level"], "3.51.3" in output["sqlite"]["words"]) == ("note", True)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blob SET data = zeroblob(length(data)) WHERE id = (SELECT blob_id FROM asset LIMIT 1)",
        "UPDATE blob SET data = substr(data, 1, length(data) - 1) WHERE id = (SELECT console FROM capture LIMIT 1)",
        "UPDATE blob SET data = CAST(data || x'00' AS BLOB) WHERE id = (SELECT blob_id FROM asset LIMIT 1)",
        "UPDATE blob SET bytes = bytes + 1 WHERE id = (SELECT network FROM capture LIMIT 1)",
        "UPDATE blob SET sha256 = randomblob(32) WHERE id = (SELECT errors FROM capture LIMIT 1)",
        "UPDATE blob SET encoding = 'identity' WHERE id = (SELECT console FROM capture LIMIT 1)",
    ],
)
def test_content_that_does_not_match_its_hash_is_a_problem(db: Path, damage: str) -> None:
    change(db, damage)
    output = report(db, 1)
    assert output["pages"]["level"] == "ok"
    assert output["contents"]["level"] == "problem"
    assert "1 of " in output["contents"]["words"]
    assert "ticketbox restore BACKUP --db " in output["contents"]["advice"]


def test_missing_foreign_keys_are_a_problem(db: Path) -> None:
    change(db, "PRAGMA foreign_keys = OFF", "DELETE FROM blob WHERE id = (SELECT blob_id FROM asset LIMIT 1)")
    output = report(db, 1)
    assert output["references"]["level"] == "problem"
    assert "asset 1 -> blob" in output["references"]["words"]
    assert "backup" in output["references"]["advice"]


def test_wrong_count_of_a_companys_storage_is_a_problem(db: Path) -> None:
    change(db, "UPDATE company_storage SET bytes = bytes + 7")
    output = report(db, 1)
    assert output["storage"]["level"] == "problem"
    figures = re.search(r"co_\w+: ([\d,]+) bytes counted, ([\d,]+) stored", output["storage"]["words"])
    assert figures is not None
    counted, stored = (int(each.replace(",", "")) for each in figures.groups())
    assert counted == stored + 7
    change(db, "DELETE FROM company_storage")
    assert ": 0 bytes counted" in report(db, 1)["storage"]["words"]


def test_index_entry_without_a_row_is_a_problem(db: Path) -> None:
    change(
        db,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX ticket_of_capture ON ticket (title)'"
        " WHERE name = 'ticket_of_capture'",
    )
    output = report(db, 1)
    assert output["pages"]["level"] == "problem"
    assert "ticket_of_capture" in output["pages"]["words"]


def test_orphans_are_a_note(db: Path) -> None:
    change(db, "DELETE FROM asset WHERE id = 1")
    output = report(db, 0)
    assert output["orphans"]["level"] == "note"
    assert output["orphans"]["words"].startswith("unused blobs: 1 ")


def test_older_schema_is_a_note_and_newer_schema_is_a_problem(db: Path) -> None:
    change(db, f"PRAGMA user_version = {find_newest_number() - 1}")
    older = report(db, 0)["schema"]
    assert (older["level"], "ticketbox serve" in older["advice"]) == ("note", True)
    change(db, f"PRAGMA user_version = {find_newest_number() + 1}")
    newer = report(db, 1)["schema"]
    assert (newer["level"], newer["advice"]) == ("problem", "use the newer ticketbox that wrote it")


def test_file_readable_by_others_is_a_warning(db: Path) -> None:
    db.chmod(0o600)
    assert "permissions" not in report(db, 0)
    db.chmod(0o644)
    output = report(db, 0)["permissions"]
    assert output["level"] == "warning"
    assert output["advice"].startswith(f"chmod o= {db}")


def test_low_disk_space_is_a_warning(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert report(db, 0)["room"]["level"] == "ok"
    usage = shutil.disk_usage(db.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=db.stat().st_size - 1))
    output = report(db, 0)["room"]
    assert (output["level"], "free some space" in output["advice"]) == ("warning", True)


def test_database_that_is_not_set_up_is_valid(tmp_path: Path) -> None:
    prepare_file(tmp_path / "new.db")
    assert report(tmp_path / "new.db", 0)["rows"]["words"] == "the file is empty: it isn't set up yet"


@pytest.mark.long
def test_check_runs_beside_a_busy_server_without_touching_its_files(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        for number in range(3):
            ok(client.post("/captures", files=capture_parts(seed.project, number)))
        log = box.db.with_name(box.db.name + "-wal")
        before = digest(box.db), digest(log)
        output = report(box.db, 0)
        assert output[""]["rows"]["capture"] == 3  # the newest rows are in the log alone
        assert (digest(box.db), digest(log)) == before
        with contextlib.closing(sqlite3.connect(box.db, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")  # somebody writes just now
            assert report(box.db, 0)[""]["rows"]["capture"] == 3
        ok(client.post("/captures", files=capture_parts(seed.project, 4)))


def test_progress_is_shown_at_a_terminal_and_as_lines_elsewhere(db: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ticketbox", "check", "--db", str(db)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=60, check=True)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert "reading every page" in shown.decode()
    assert "100%" in shown.decode()
    assert "reading every page" not in done.stdout
    assert "%" not in done.stdout


def test_corrupt_frame_that_claims_a_huge_size_uses_little_memory() -> None:
    huge = bytes.fromhex("28b52ffd") + b"\xe0" + (1 << 50).to_bytes(8, "little") + b"\x01\x00\x00"
    assert is_sound(b"", "zstd", 100, huge) is False
    assert is_sound(hashlib.sha256(b"").digest(), "zstd", 0, huge) is False


def test_contents_are_read_one_by_one(db: Path) -> None:
    with open_inspection(db) as inspection:
        blobs = list(inspection.check_blobs())
        assert len(blobs) == inspection.count_rows()["blob"]
        assert sum(blob.stored for blob in blobs) == inspection.measure_blob_bytes()
        assert all(blob.sound for blob in blobs)


def test_clock_that_is_behind_is_a_warning(db: Path) -> None:
    assert report(db, 0)["clock"]["level"] == "ok"
    change(db, "UPDATE event SET at = at + 86400000 WHERE id = (SELECT max(id) FROM event)")
    output = report(db, 0)["clock"]
    assert (output["level"], "timedatectl" in output["advice"]) == ("warning", True)


@pytest.mark.long
def test_public_url_is_requested_and_problems_are_reported(seed: Seed, tmp_path: Path) -> None:
    def check_url(url: str) -> dict[str, Any]:
        done = run("check", "--db", db, "--json", "--public-url", url)
        assert done.exit_code == 0, done.stderr
        return {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}

    with seed.box(tmp_path) as box:
        db = box.db
        port = box.url.rpartition(":")[2]
        assert check_url(box.url)["address"]["level"] == "ok"
        elsewhere = check_url(f"http://localhost.localdomain:{port}")
        assert (elsewhere["address"]["level"], elsewhere["https"]["level"]) == ("warning", "warning")
    told_off = check_url(box.url)["address"]
    assert (told_off["level"], "start `ticketbox serve`" in told_off["advice"]) == ("warning", True)
    assert "can't be resolved" in check_url("https://nobody.invalid")["address"]["words"]
    assert run("check", "--db", db, "--public-url", "ftp://x").exit_code == 1


@pytest.mark.long
def test_compacting_frees_space_with_and_without_a_server(seed: Seed, tmp_path: Path) -> None:
    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        fill = ["INSERT INTO idempotency SELECT 1, hex(randomblob(9)), x'', randomblob(60000), 0"] * 300
        change(box.db, *fill, "DELETE FROM idempotency")
        output = json.loads(run("check", "--db", box.db, "--json").stdout)
        assert "empty" in {finding["subject"] for finding in output["findings"]}
        done = run("check", "--db", box.db, "--compact", "--json")
        assert json.loads(done.stdout)["given_back"] > 15_000_000
        ok(client.post("/captures", files=capture_parts(seed.project, 1)))
        assert eventually(lambda: box.db.stat().st_size < 3_000_000)  # it was above 18 MB
    change(box.db, *fill, "DELETE FROM idempotency")
    before = box.db.stat().st_size
    done = run("check", "--db", box.db, "--compact")
    assert (done.exit_code, "freed" in done.stdout) == (0, True)
    assert box.db.stat().st_size < before / 5
    assert run("check", "--db", box.db).exit_code == 0


def test_database_with_a_problem_is_not_compacted(db: Path) -> None:
    change(db, "UPDATE blob SET bytes = bytes + 1")
    before = digest(db)
    done = run("check", "--db", db, "--compact")
    assert (done.exit_code, digest(db)) == (1, before)

"""Backups that `serve` makes on a schedule: when they are due, how many are kept, and what they never delete."""

import asyncio
import calendar
import os
import time
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.appliance.database_files import change, digest, names, rows
from tests.support.cli import run
from tests.support.seed import Seed, capture_parts
from tests.support.server import Box, eventually, ok
from ticketbox.domain.core.clock import DAY
from ticketbox.jobs.backups import BackupPlan, create_backup, get_seconds_until_due, list_backups
from ticketbox.store.file.migrate import UnusableFile


def plan(db: Path, keep: int = 3, every: int = 3600) -> BackupPlan:
    """A plan for backups in a folder beside the file."""
    return BackupPlan(db, db.parent / "backups", every, keep)


@pytest.mark.long
def test_server_makes_its_first_backup_at_startup_and_it_restores(seed: Seed, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    flags = ["--backup-every", "6h", "--backup-dir", str(folder)]
    with seed.box(tmp_path, *flags) as box:
        made = eventually(lambda: [*folder.glob("ticketbox-*.db")])[0]
        assert eventually(lambda: f"info created backup {made}, " in box.log.read_text())
    assert rows(made) == rows(seed.db)
    assert run("restore", made, "--db", tmp_path / "new.db").exit_code == 0
    with Box(box.db, *flags):  # the next is due in six hours
        time.sleep(0.5)  # long enough for a backup that is due to be written
    assert [*folder.glob("*.db")] == [made]


@pytest.mark.long
def test_stopping_the_server_cancels_a_running_backup(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    change(
        db,
        """INSERT INTO idempotency WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
           SELECT 1, hex(randomblob(9)), x'', randomblob(60000), 0 FROM n""",
    )
    with Box(db, "--backup-every", "1h", "--backup-dir", str(tmp_path / "backups")) as box:
        eventually(lambda: [*(tmp_path / "backups").glob("*.part")])
        assert box.stop() == 0
    assert names(tmp_path / "backups") == []  # neither the finished backup nor its beginning


def test_old_backups_are_deleted_and_other_files_are_kept(db: Path) -> None:
    ours = plan(db)
    ours.folder.mkdir()
    strangers = {"ticketbox-old.db", "other-20200101T000000Z.db", "ticketbox-20200101T000000Z.db.gz", "notes.txt"}
    for name in strangers | {f"ticketbox-2020010{day}T000000Z.db" for day in range(1, 6)}:
        (ours.folder / name).write_bytes(b"")
    killed, running = (ours.folder / f"ticketbox-2020010{day}T000000Z.db.part" for day in (8, 9))
    running.write_bytes(b"")
    killed.write_bytes(b"")
    os.utime(killed, (0, 0))
    made = create_backup(ours, asyncio.Event())
    found = set(names(ours.folder)) - strangers - {running.name}
    assert running.exists()
    name = Path(made.file).name
    assert found == {"ticketbox-20200104T000000Z.db", "ticketbox-20200105T000000Z.db", name, f"{name}.sha256"}
    assert strangers <= set(names(ours.folder))


def test_corrupt_database_never_replaces_a_good_backup(db: Path) -> None:
    ours = plan(db, keep=1)
    good = Path(create_backup(ours, asyncio.Event()).file).rename(ours.folder / "ticketbox-20260101T000000Z.db")
    before = digest(good)
    change(db, "UPDATE blob SET data = zeroblob(length(data))")
    with pytest.raises(UnusableFile, match="hash"):
        create_backup(ours, asyncio.Event())
    assert list_backups(ours) == [good]
    assert digest(good) == before


def test_next_backup_is_due_by_the_name_of_the_newest(db: Path) -> None:
    ours = plan(db)
    assert get_seconds_until_due(ours, 0) == 0
    ours.folder.mkdir()
    (ours.folder / "ticketbox-20261121T093000Z.db").touch()
    made = calendar.timegm((2026, 11, 21, 9, 30, 0))
    assert get_seconds_until_due(ours, made + 600) == 3000
    assert get_seconds_until_due(ours, made + 9999) == 0
    (ours.folder / "ticketbox-20261323T093000Z.db").touch()  # no date
    assert get_seconds_until_due(ours, made + 600) == 3000
    assert get_seconds_until_due(ours, made - 999_999) == 0  # the clock was ahead: its name says nothing


@pytest.mark.parametrize("ahead", [1, 3])
def test_names_of_a_clock_that_was_ahead_never_cost_a_backup(
    db: Path, ahead: int, caplog: pytest.LogCaptureFixture
) -> None:
    ours = plan(db, keep=2)
    ours.folder.mkdir()
    later = {f"ticketbox-2999010{day}T000000Z.db" for day in range(1, ahead + 1)}
    for name in later | {f"ticketbox-2020010{day}T000000Z.db" for day in range(1, 4)}:
        (ours.folder / name).write_bytes(b"")
    made = Path(create_backup(ours, asyncio.Event()).file)
    assert {each.name for each in list_backups(ours)} == {*later, "ticketbox-20200103T000000Z.db", made.name}
    assert f"never deleted: {ahead}, up to {max(later)}" in caplog.text
    assert 0 < get_seconds_until_due(ours, time.time()) <= 3600


def test_metrics_count_failed_backups_and_know_the_last_one_from_the_start(db: Path) -> None:
    ours = plan(db)
    ours.folder.mkdir()
    for name in ("ticketbox-20260101T000000Z.db", "ticketbox-29990101T000000Z.db"):
        (ours.folder / name).touch()
    change(db, "UPDATE blob SET data = zeroblob(length(data))")
    with Box(db, "--backup-every", "6h", "--backup-dir", str(ours.folder)) as box:

        def read() -> set[str]:
            return {line for line in httpx.get(f"{box.url}/metrics").text.splitlines() if "_backup" in line}

        eventually(lambda: "ticketbox_backup_failures_total 1.0" in read())
        assert "ticketbox_last_backup_timestamp_seconds 1.7672256e+09" in read()


def test_folder_that_is_missing_with_its_parent_is_not_created(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mnt" / "backups"  # as if its disk weren't mounted
    with pytest.raises(UnusableFile, match=f"{folder.parent}: there is no such folder; create it, or mount"):
        create_backup(msgspec.structs.replace(plan(db), folder=folder), asyncio.Event())
    assert not folder.parent.exists()


@pytest.mark.parametrize("elsewhere", [True, False])
def test_folder_on_the_same_disk_is_reported_if_another_was_named(
    db: Path, elsewhere: bool, caplog: pytest.LogCaptureFixture
) -> None:
    ours = msgspec.structs.replace(plan(db), elsewhere=elsewhere)
    create_backup(ours, asyncio.Event())
    assert ("is on the same disk as" in caplog.text) == elsewhere


def test_invalid_durations_are_rejected(db: Path) -> None:
    for wrong in ("6", "0h", "-1h", "six hours", "1.5h", "6 h", "999999d", ""):
        done = run("serve", "--db", db, "--backup-every", wrong)
        assert (done.exit_code, "is not a duration" in done.stderr) == (2, True), wrong
    assert run("serve", "--db", db, "--backup-keep", "0").exit_code == 2


@pytest.mark.long
def test_captures_of_old_archived_tickets_are_deleted_and_their_space_is_freed(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    with Box(db) as box, box.client(seed.token) as client:
        tickets = [each["id"] for each in ok(client.get("/tickets"))["items"]]
        noise = {"file": ("noise.bin", bytes(range(256)) * 4)}
        ok(client.post(f"/tickets/{tickets[0]}/attachments", files=noise))
        for ticket in tickets[:3]:
            ok(client.post(f"/tickets/{ticket}/archive", json={}))
    change(
        db,
        f"UPDATE ticket SET archived_at = archived_at - {31 * DAY} WHERE public_id IN ('{tickets[0]}', '{tickets[1]}')",
    )
    with Box(db) as box:
        assert box.stop() == 0  # a round of housekeeping
    assert len(rows(db)["capture"]) == 6
    for _ in range(2):  # one round removes the captures, the next their contents
        with Box(db, "--drop-captures-after", "30d") as box:
            assert box.stop() == 0
    found = rows(db)
    assert (len(found["ticket"]), len(found["capture"]), len(found["asset"])) == (6, 4, 5)
    with Box(db) as box, box.client(seed.token) as client:
        read = ok(client.get(f"/tickets/{tickets[0]}?status=archived"))
        assert read.get("capture") is None
        ok(client.post("/captures", files=capture_parts(seed.project, 77)))


@pytest.mark.long
def test_clock_far_ahead_of_the_newest_change_deletes_nothing_at_a_start(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    with Box(db) as box, box.client(seed.token) as client:
        for ticket in ok(client.get("/tickets"))["items"]:
            ok(client.post(f"/tickets/{ticket['id']}/archive", json={}))
    change(db, f"UPDATE ticket SET archived_at = archived_at - {200 * DAY}")  # as if the clock were ahead by as much
    change(db, f"UPDATE event SET at = at - {200 * DAY}")
    captures = len(rows(db)["capture"])
    for _ in range(2):  # after the first, the newest change is recent by the wrong clock
        with Box(db, "--drop-captures-after", "30d") as box, box.client(seed.token) as client:
            eventually(lambda url=box.url: "the clock may be wrong" in httpx.get(f"{url}/healthz").text)
            assert "\nticketbox_deletion_by_age 0.0\n" in httpx.get(f"{box.url}/metrics").text
            ok(client.post("/tickets", json={"project_id": seed.project, "title": "Another ticket"}))
            assert box.stop() == 0
    assert len(rows(db)["capture"]) == captures
    assert box.log.read_text().count("--trust-clock") == 2
    with Box(db, "--drop-captures-after", "30d", "--trust-clock") as box:
        assert httpx.get(f"{box.url}/healthz").text == "ok\n"
        assert box.stop() == 0
    assert rows(db)["capture"] == set()

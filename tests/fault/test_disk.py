"""A full disk: 507, nothing half, reads go on, and all is well again when there is room."""

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.seed import NAMESPACE, PatchedServer, Seed, can_mount, capture_parts, faults, public_ids
from tests.support.server import Box, expect_error, ok

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's limits and file systems")
needs_mount = pytest.mark.skipif(not can_mount(), reason="a separate file system can't be mounted here")

SMALL = """
set -e
mount -t tmpfs -o size="$2" tmpfs "$1"
cp "$3" "$1/ticketbox.db"
eval "$4"
shift 4
exec "$@"
"""
FILL = 'cat /dev/zero > "$1/filler" 2> /dev/null || true'


@contextlib.contextmanager
def on_a_small_disk(seed: Seed, folder: Path, size: str, before: str) -> Iterator[tuple[Box, Path]]:
    """A server whose file is on a file system of this size, and the path of that file system from here."""
    disk = folder / "disk"
    disk.mkdir()
    launcher = [*NAMESPACE, "sh", "-c", SMALL, "sh", str(disk), size, str(seed.db), before]
    with PatchedServer(launcher, disk / "ticketbox.db", log=folder / "log") as box:
        yield box, Path(f"/proc/{box.process.pid}/root{disk}")


def attach(client: httpx.Client, ticket: str, size: int) -> httpx.Response:
    """A file that can't be packed any smaller."""
    return client.post(f"/tickets/{ticket}/attachments", files={"file": ("noise.bin", os.urandom(size))})


numbers = itertools.count(1)


def fill(client: httpx.Client, seed: Seed) -> dict[str, set[str]]:
    """Write until the disk is full, big things and then small ones; what was acknowledged."""
    acknowledged: dict[str, set[str]] = {"ticket": set(), "capture": set(), "asset": set(), "comment": set()}
    ticket = ok(client.post("/tickets", json={"project_id": seed.project, "title": "Where files go"}))["id"]
    acknowledged["ticket"].add(ticket)
    for size in (300_000, 30_000, 1_000):
        for _ in range(200):
            answer = attach(client, ticket, size)
            if not answer.is_success:
                expect_error(answer, 507, "storage_full")
                break
            acknowledged["asset"].add(answer.json()["id"])
            captured = client.post("/captures", files=capture_parts(seed.project, next(numbers)))
            if captured.is_success:
                acknowledged["capture"].add(captured.json()["capture_id"])
                acknowledged["ticket"].add(captured.json()["ticket_id"])
            said = client.post(f"/tickets/{ticket}/comments", json={"body": "x" * min(size, 50_000)})
            if said.is_success:
                acknowledged["comment"].add(said.json()["id"])
            for each in (captured, said):
                assert each.status_code in {201, 507}, each.text
        else:
            raise AssertionError("the disk never was full")
    return acknowledged


def check_reads(client: httpx.Client, acknowledged: dict[str, set[str]]) -> None:
    """Everything that was acknowledged can be read."""
    for ticket in acknowledged["ticket"]:
        ok(client.get(f"/tickets/{ticket}"))
    for asset in acknowledged["asset"]:
        answer = client.get(f"/assets/{asset}/content")
        assert answer.status_code == 200
        assert len(answer.content) == ok(client.get(f"/assets/{asset}"))["bytes"]


def copy_database(disk: Path, folder: Path) -> Path:
    """The file and its log, brought here from another process's disk while nobody writes."""
    for name in ("ticketbox.db", "ticketbox.db-wal"):
        (folder / name).write_bytes((disk / name).read_bytes())
    return folder / "ticketbox.db"


def check_file(db: Path, acknowledged: dict[str, set[str]]) -> None:
    """Everything that was acknowledged is in the file, and nothing is half."""
    assert faults(db) == {}
    for table, ids in acknowledged.items():
        assert ids <= public_ids(db, table), table


@needs_mount
def test_full_disk_rejects_writes_and_keeps_existing_data(seed: Seed, tmp_path: Path) -> None:
    reserve = 'head -c 2000000 /dev/zero > "$1/reserve"'
    with on_a_small_disk(seed, tmp_path, "8m", reserve) as (box, disk), box.client(seed.token) as client:
        acknowledged = fill(client, seed)
        assert len(acknowledged["asset"]) > 3
        check_reads(client, acknowledged)
        check_file(copy_database(disk, tmp_path), acknowledged)
        unread = [*capture_parts(seed.project, 8_888_888)[:2], ("console", (None, "not a stream"))]
        unread.append(("attachments", ("noise.bin", os.urandom(3_000_000))))
        expect_error(client.post("/captures", files=unread), 507, "storage_full")  # before it is read
        (disk / "reserve").unlink()
        capture = ok(client.post("/captures", files=capture_parts(seed.project, 7_777_777)))
        acknowledged["capture"].add(capture["capture_id"])
        again = fill(client, seed)
        check_reads(client, again)
        check_file(copy_database(disk, tmp_path), {name: ids | again[name] for name, ids in acknowledged.items()})
        assert "Traceback" not in box.log.read_text()


@needs_mount
def test_start_on_a_full_disk_reports_it(seed: Seed, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    serve = [sys.executable, "-m", "ticketbox", "serve", "--db", str(disk / "ticketbox.db"), "--port", "0", "--no-open"]
    command = [*NAMESPACE, "sh", "-c", SMALL, "sh", str(disk), "4m", str(seed.db), FILL, *serve]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ticketbox: {disk}/ticketbox.db: ")
    assert "Traceback" not in done.stderr


@needs_mount
@pytest.mark.parametrize("command", ["serve --port 0 --no-open", "check"])
def test_database_on_a_read_only_disk_is_not_served_but_can_be_checked(
    seed: Seed, tmp_path: Path, command: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [sys.executable, "-m", "ticketbox", *command.split(), "--db", str(disk / "ticketbox.db")]
    remount = 'mount -o remount,ro "$1"'
    launch = [*NAMESPACE, "sh", "-c", SMALL, "sh", str(disk), "4m", str(seed.db), remount, *words]
    done = subprocess.run(launch, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    if command == "check":
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "No problems.")
    else:
        assert done.returncode == 1
        assert "Read-only file system" in done.stderr


@pytest.mark.long
def test_file_size_limit_acts_like_a_full_disk(seed: Seed, tmp_path: Path) -> None:
    import resource

    with seed.box(tmp_path) as box, box.client(seed.token) as client:
        limit: Any = resource.RLIMIT_FSIZE
        resource.prlimit(box.process.pid, limit, (3_000_000, resource.RLIM_INFINITY))
        acknowledged = fill(client, seed)
        check_reads(client, acknowledged)
        check_file(box.db, acknowledged)
        resource.prlimit(box.process.pid, limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        capture = ok(client.post("/captures", files=capture_parts(seed.project, 7_777_777)))
        acknowledged["capture"].add(capture["capture_id"])
        check_file(box.db, acknowledged)

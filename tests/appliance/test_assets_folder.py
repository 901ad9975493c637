"""A server whose large contents are in a folder: served, redacted, backed up, restored, checked and exported."""

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.appliance.database_files import names, rows
from tests.support.cli import run
from tests.support.pictures import encode
from tests.support.seed import NAMESPACE, PatchedServer, Seed, can_mount, capture_parts, public_ids
from tests.support.server import Box, expect_error, ok, ticketbox
from ticketbox.jobs.backups import BackupPlan, create_backup
from ticketbox.store.file.folder.contents import AssetsFolder

SIZE = 100_000


def attach(client: httpx.Client, ticket: str, data: bytes) -> httpx.Response:
    """Attach a file."""
    return client.post(f"/tickets/{ticket}/attachments", files={"file": ("a.bin", data)})


class FolderServer:
    """A server with an assets folder, and what is attached there."""

    def __init__(self, seed: Seed, folder: Path) -> None:
        self.root = folder / "assets"
        self.box = seed.box(folder, "--assets-dir", str(self.root))
        self.client = self.box.client(seed.token)
        self.ticket = ok(self.client.post("/tickets", json={"project_id": seed.project, "title": "Files"}))["id"]
        self.sent: dict[str, bytes] = {}

    @property
    def db(self) -> Path:
        """The database file."""
        return self.box.db

    def attach(self) -> str:
        """Attach a large file, and return its id."""
        data = os.urandom(SIZE)
        asset = ok(attach(self.client, self.ticket, data))["id"]
        self.sent[asset] = data
        return asset

    def files(self) -> list[Path]:
        """The files in the folder."""
        (folder,) = self.root.iterdir()
        return [folder / name for name in AssetsFolder(folder).list_files()]


@pytest.fixture
def served(seed: Seed, tmp_path: Path) -> Iterator[FolderServer]:
    """A server that is stopped at the end."""
    running = FolderServer(seed, tmp_path)
    yield running
    running.box.close_clients()
    if running.box.process.poll() is None:
        running.box.stop()


def read(client: httpx.Client, sent: dict[str, bytes]) -> bool:
    """Whether everything that was sent can be read."""
    return all(client.get(f"/assets/{asset}/content").content == data for asset, data in sent.items())


def check(db: Path) -> tuple[int, dict[str, str]]:
    """The exit status of a check, and its findings."""
    done = run("check", "--db", db, "--json")
    return done.exit_code, {each["subject"]: each["words"] for each in json.loads(done.stdout)["findings"]}


@pytest.mark.long
def test_files_are_served_and_their_loss_is_reported(served: FolderServer) -> None:
    asset = served.attach()
    assert [path.read_bytes() for path in served.files()] == [served.sent[asset]]
    assert read(served.client, served.sent)
    health = f"{served.box.url}/healthz"
    assert httpx.get(health).status_code == 200
    served.files()[0].unlink()
    expect_error(served.client.get(f"/assets/{asset}/content"), 503, "unavailable")
    status, findings = check(served.db)
    assert (status, "(missing)" in findings["contents"]) == (1, True)
    served.root.rename(served.root.with_name("unmounted"))
    answer = httpx.get(health)
    assert (answer.status_code, "assets folder" in answer.text) == (503, True)
    expect_error(attach(served.client, served.ticket, os.urandom(SIZE)), 503, "unavailable")
    ok(served.client.post(f"/tickets/{served.ticket}/comments", json={"body": "Small writes go on."}))
    served.root.with_name("unmounted").rename(served.root)
    assert httpx.get(health).status_code == 200


@pytest.mark.long
def test_check_finds_altered_truncated_and_unused_files(served: FolderServer) -> None:
    for _ in range(3):
        served.attach()
    assert check(served.db)[0] == 0
    first, second, third = served.files()
    first.write_bytes(bytes(SIZE))
    second.write_bytes(second.read_bytes()[:-1])
    stray = third.with_name(third.name[:2] + 62 * "0")
    stray.write_bytes(b"no row has it")
    status, findings = check(served.db)
    assert (status, findings["contents"].startswith("2 of ")) == (1, True)
    assert str(first) in findings["contents"]
    assert str(second) in findings["contents"]
    assert "unused files in the assets folder: 1 " in findings["orphans"]
    assert stray.name in findings["orphans"]
    served.box.stop()
    served.box.start()
    assert not stray.exists()


@pytest.mark.long
def test_redacted_pixels_leave_the_folder(served: FolderServer, seed: Seed) -> None:
    earlier = public_ids(served.db, "asset")
    parts = [part for part in capture_parts(seed.project, 999) if part[0] != "screenshot"]
    noise = encode(Image.frombytes("RGB", (500, 500), os.urandom(750_000)), "PNG")
    ok(served.client.post("/captures", files=[*parts, ("screenshot", ("a.png", noise, "image/png"))]))
    (before,) = served.files()
    size = before.stat().st_size
    (asset,) = public_ids(served.db, "asset") - earlier
    mark = {"kind": "redact", "geometry": {"x": 0, "y": 0, "width": 50, "height": 50}, "color": "#000000", "text": ""}
    with before.open("rb") as same_bytes_on_the_disk:
        ok(served.client.put(f"/assets/{asset}/annotations", json={"annotations": [mark]}))
        assert before not in served.files()
        assert same_bytes_on_the_disk.read() == bytes(size)
    assert served.client.get(f"/assets/{asset}/content").status_code == 200


@pytest.mark.long
def test_backup_has_the_files_and_is_restored_with_them(served: FolderServer, seed: Seed, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    kept = served.attach()
    for name, copied in (("one.db", SIZE), ("two.db", SIZE)):
        served.attach()
        done = run("backup", backups / name, "--db", served.db, "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["assets"] == (copied if name == "two.db" else 2 * SIZE)  # the rest is linked
    assert names(backups) == ["one.db", "one.db.assets", "one.db.sha256", "two.db", "two.db.assets", "two.db.sha256"]
    assert [check(backups / name)[0] for name in ("one.db", "two.db")] == [0, 0]
    sent = dict(served.sent)
    ok(seed.sign_in(served.box).delete(f"/assets/{kept}"))
    served.box.stop()
    shutil.move(backups, tmp_path / "moved")  # a backup needs nothing else
    shutil.rmtree(served.root)
    refused = ticketbox("serve", "--port", "0", db=served.db)
    assert (refused.returncode, "the assets folder of" in refused.stderr) == (1, True), refused.stderr
    done = run("restore", tmp_path / "moved" / "two.db", "--db", served.db, "--force")
    assert done.exit_code == 0, done.stderr
    assert check(served.db)[0] == 0
    assert rows(served.db) == rows(tmp_path / "moved" / "two.db")
    with Box(served.db) as box, box.client(seed.token) as client:
        assert read(client, sent)
    assert len(served.files()) == 3


@pytest.mark.long
def test_scheduled_backups_delete_their_assets_with_them(served: FolderServer) -> None:
    served.attach()
    plan = BackupPlan(served.db, served.db.parent / "scheduled", 3600, 1)
    plan.folder.mkdir()
    old = plan.folder / "ticketbox-20200101T000000Z.db"
    old.touch()
    killed = plan.folder / "ticketbox-20200102T000000Z.db.part"
    killed.touch()
    os.utime(killed, (0, 0))
    for name in (old.name, "ticketbox-20200102T000000Z.db", "foreign.db"):
        (plan.folder / f"{name}.assets" / "assets-1").mkdir(parents=True)
    made = Path(create_backup(plan, asyncio.Event()).file)
    assert names(plan.folder) == sorted(["foreign.db.assets", made.name, f"{made.name}.assets", f"{made.name}.sha256"])
    assert check(made)[0] == 0


@pytest.mark.long
def test_damaged_backup_is_refused_and_leaves_no_folder(served: FolderServer, tmp_path: Path) -> None:
    served.attach()
    served.files()[0].write_bytes(bytes(SIZE))
    done = run("backup", tmp_path / "backups" / "x.db", "--db", served.db)
    assert (done.exit_code, "doesn't match its hash" in done.stderr) == (1, True)
    assert names(tmp_path / "backups") == []
    served.files()[0].unlink()
    done = run("backup", tmp_path / "backups" / "x.db", "--db", served.db)
    assert (done.exit_code, "missing or truncated" in done.stderr) == (1, True)
    assert names(tmp_path / "backups") == []


@pytest.mark.long
def test_contents_move_there_and_back_and_are_exported(served: FolderServer, seed: Seed, tmp_path: Path) -> None:
    served.attach()
    assert run("export", tmp_path / "all.zip", "--db", served.db).exit_code == 0
    assert run("import", tmp_path / "all.zip", "--db", tmp_path / "new.db").exit_code == 0
    refused = run("assets", "move", "--into-file", "--db", served.db)
    assert (refused.exit_code, "another ticketbox server" in refused.stderr) == (1, True)
    served.box.stop()
    assert run("assets", "move", "--into-file", "--db", served.db).exit_code == 0
    assert list(served.root.iterdir()) == []
    assert check(served.db)[0] == 0
    for db in (served.db, tmp_path / "new.db"):
        with sqlite3.connect(db) as connection:
            assert connection.execute("SELECT count(*) FROM blob WHERE stored IS NULL AND length(data) = ?",
                                      (SIZE,)).fetchone() == (1,)  # fmt: skip
    done = run("assets", "move", tmp_path / "second", "--db", served.db)
    assert (done.exit_code, done.stdout.startswith("1 contents moved")) == (0, True)
    with Box(served.db) as box, box.client(seed.token) as client:
        assert read(client, served.sent)


@pytest.mark.long
@pytest.mark.skipif(not can_mount(), reason="a separate file system can't be mounted here")
def test_full_disk_of_the_folder_refuses_uploads_until_there_is_room(seed: Seed, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$@"'
    launcher = [*NAMESPACE, "sh", "-c", mount, "sh", str(disk)]
    with PatchedServer(launcher, seed.copy(tmp_path), "--assets-dir", str(disk / "assets")) as box:
        client = seed.sign_in(box)
        ticket = ok(client.post("/tickets", json={"project_id": seed.project, "title": "Files"}))["id"]
        sent: dict[str, bytes] = {}
        while (answer := attach(client, ticket, data := os.urandom(SIZE))).is_success:
            sent[answer.json()["id"]] = data
            assert len(sent) < 20
        expect_error(answer, 507, "storage_full")
        assert len(sent) > 3
        assert read(client, sent)
        ok(client.post(f"/tickets/{ticket}/comments", json={"body": "Small writes go on."}))
        ok(client.delete(f"/assets/{sent.popitem()[0]}"))
        ok(attach(client, ticket, os.urandom(SIZE)))
        assert read(client, sent)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_folder_that_cannot_be_used_is_refused_at_the_start(seed: Seed, tmp_path: Path) -> None:
    db = seed.copy(tmp_path)
    (tmp_path / "file").touch()
    for given, why in ((tmp_path / "file" / "x", "Not a directory"), (Path("/proc/assets"), "can't be created")):
        refused = ticketbox("serve", "--port", "0", "--assets-dir", str(given), db=db)
        assert (refused.returncode, why in refused.stderr) == (1, True), refused.stderr


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_files_that_root_moves_and_restores_belong_to_the_owner_of_the_file(seed: Seed, tmp_path: Path) -> None:
    state, backup = tmp_path / "state", tmp_path / "backup.db"
    state.mkdir()
    served = FolderServer(seed, state)
    served.attach()
    served.box.close_clients()
    served.box.stop()
    account = (10_001, 10_002)
    for path in (state, *state.rglob("*")):
        os.chown(path, *account)

    def run_as_root(*command: str | Path) -> None:
        done = run(*command, "--db", served.db)
        assert done.exit_code == 0, done.stderr
        strangers = [path for path in served.root.rglob("*") if (path.stat().st_uid, path.stat().st_gid) != account]
        assert strangers == []

    run_as_root("backup", backup)
    run_as_root("assets", "move")
    run_as_root("assets", "move", "--into-file")
    served.root.rmdir()
    run_as_root("assets", "move", served.root)
    assert served.root.stat().st_uid == account[0]
    run_as_root("restore", backup, "--force")
    assert len(list(served.root.iterdir())) == 2
    run_as_root("restore", backup, "--force", "--assets-dir", state / "other")
    assert {(path.stat().st_uid, path.stat().st_gid) for path in (state / "other", *(state / "other").rglob("*"))} == {
        account
    }

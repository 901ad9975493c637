"""A replicated file and a copy of its assets folder, taken after it, serve what was there when the file was copied."""

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import httpx
import pytest

from tests.support import litestream, rsync
from tests.support.cli import run
from tests.support.litestream import ReplicatedBox
from tests.support.rsync import copy_file
from tests.support.seed import Seed, public_ids
from tests.support.server import Box, eventually, ok

pytestmark = pytest.mark.long
SIZE = 100_000
ROUNDS = 3


@contextlib.contextmanager
def attach_files(client: httpx.Client, project: str) -> Generator[list[str]]:
    """Attach large files to new tickets all the time; the list has those that were acknowledged."""
    attached: list[str] = []
    stopping = threading.Event()

    def attach() -> None:
        while not stopping.is_set():
            ticket = ok(client.post("/tickets", json={"project_id": project, "title": "File"}))["id"]
            answer = client.post(f"/tickets/{ticket}/attachments", files={"file": ("a.bin", os.urandom(SIZE))})
            attached.append(ok(answer)["id"])

    thread = threading.Thread(target=attach)
    thread.start()
    try:
        yield attached
    finally:
        stopping.set()
        thread.join()


def copy_folder(source: Path, target: Path) -> None:
    """Copy what the target doesn't have, as `rsync -a` without `--delete` does."""
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        with contextlib.suppress(FileNotFoundError):  # it was renamed meanwhile
            if path.is_dir():
                copy.mkdir(parents=True, exist_ok=True, mode=0o700)
            elif not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                shutil.copy2(path, copy)


def restore_with_litestream(box: Box, copy: Path) -> bool:
    """Restore the newest state that Litestream has."""
    assert isinstance(box, ReplicatedBox)
    return box.restore(copy) is not None


def copy_with_rsync(box: Box, copy: Path) -> bool:
    """Copy the file with sqlite3_rsync."""
    copy_file(box.db, copy)
    return True


@pytest.mark.parametrize(
    ("program", "copy_database"),
    [(litestream.PROGRAM, restore_with_litestream), (rsync.PROGRAM, copy_with_rsync)],
    ids=["litestream", "rsync"],
)
def test_copied_file_is_served_with_a_later_copy_of_its_folder(
    seed: Seed, tmp_path: Path, program: Path, copy_database: Callable[[Box, Path], bool]
) -> None:
    if not program.exists():
        pytest.skip(f"{program.name} isn't packaged for this machine")
    db, assets, copied = seed.copy(tmp_path), tmp_path / "assets", tmp_path / "copied"
    flags = ["--assets-dir", str(assets)]
    is_replicated = copy_database is restore_with_litestream
    with ReplicatedBox(db, tmp_path / "replica", *flags) if is_replicated else Box(db, *flags) as box:
        client = box.client(seed.token)
        wanted: set[str] = set()
        for number in range(ROUNDS):
            copy = tmp_path / f"copy-{number}.db"
            with attach_files(client, seed.project) as attached:
                eventually(lambda of=attached: len(of) > 5)
                wanted.update(attached)
                assert eventually(
                    lambda to=copy, of=wanted: copy_database(box, to) and of <= public_ids(to, "asset"), 120
                )
                copy_folder(assets, copied)
            with Box(copy, "--assets-dir", str(copied)) as restored, restored.client(seed.token) as reader:
                for asset in wanted:
                    assert len(reader.get(f"/assets/{asset}/content").content) == SIZE
            done = run("check", "--db", copy)
            assert done.exit_code == 0, done.stdout

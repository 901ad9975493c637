"""Large contents are files in a folder: complete before their row, erased after it, and nowhere else."""

import asyncio
import contextlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.appliance.database_files import change
from ticketbox.domain.core.problems import Unavailable
from ticketbox.store.core import blobs
from ticketbox.store.file.check import open_inspection
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Database, Write
from ticketbox.store.file.folder import moves
from ticketbox.store.file.folder.contents import MIN_FILE_BYTES, AssetsFolder, format_name
from ticketbox.store.file.folder.location import open_folder
from ticketbox.store.file.migrate import UnusableFile, prepare_file

T = TypeVar("T")

LARGE = random.Random(1).randbytes(3 * MIN_FILE_BYTES)
OTHER = random.Random(2).randbytes(2 * MIN_FILE_BYTES)
SMALL = b"x" * (MIN_FILE_BYTES - 1)


class Files:
    """An open file with an assets folder; its event loop runs while a method does."""

    def __init__(self, db: Path, folder: AssetsFolder | None) -> None:
        assert folder is not None
        self.db, self.folder = db, folder
        self.loop, self.is_open = asyncio.Runner(), True
        self.database = self.loop.run(Database.open(db, folder=folder))

    def write(self, work: Callable[[Write], T]) -> T:
        """Run a unit that writes."""
        return self.loop.run(self.database.write(work))

    def save(self, data: bytes) -> int:
        """Store a content, and return its key."""
        return self.write(lambda tx: blobs.save_blob(tx, blobs.pack_content(data, compress=False)))

    def load(self, key: int) -> bytes:
        """Read a content as a handler does."""
        return self.loop.run(self.database.read(lambda tx: blobs.load_content(tx, key), inline=True))

    def delete(self, key: int) -> None:
        """Delete a content that nothing uses."""
        self.write(lambda tx: blobs.delete_if_unused(tx, key))

    def names(self) -> list[str]:
        """The files in the folder."""
        return sorted(self.folder.list_files())

    def close(self) -> None:
        """Close the file and the folder, unless they are closed."""
        if self.is_open:
            self.loop.run(self.database.close())
        self.is_open = False
        self.loop.close()
        self.folder.close()


def name_of(data: bytes) -> str:
    """The name of a content's file."""
    return format_name(blobs.pack_content(data, compress=False).sha256)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    opened = Files(db, open_folder(db, tmp_path / "assets"))
    yield opened
    opened.close()


def test_large_contents_are_private_files_and_small_ones_are_rows(files: Files) -> None:
    keys = [files.save(data) for data in (LARGE, SMALL)]
    assert files.names() == [name_of(LARGE)]
    path = files.folder.path / name_of(LARGE)
    assert path.read_bytes() == LARGE
    assert [each.stat().st_mode & 0o777 for each in (path, path.parent, files.folder.path)] == [0o600, 0o700, 0o700]
    assert [files.load(key) for key in keys] == [LARGE, SMALL]
    assert files.save(LARGE) == keys[0]


def test_deleted_content_is_overwritten_in_its_file(files: Files) -> None:
    key = files.save(LARGE)
    with (files.folder.path / name_of(LARGE)).open("rb") as same_bytes_on_the_disk:
        files.delete(key)
        assert files.names() == []
        assert same_bytes_on_the_disk.read() == bytes(len(LARGE))


def test_content_that_a_backup_links_to_is_not_overwritten(files: Files, tmp_path: Path) -> None:
    key = files.save(LARGE)
    os.link(files.folder.path / name_of(LARGE), tmp_path / "in-a-backup")
    files.delete(key)
    assert files.names() == []
    assert (tmp_path / "in-a-backup").read_bytes() == LARGE


def test_content_that_is_stored_again_in_the_same_commit_keeps_its_file(files: Files) -> None:
    key = files.save(LARGE)

    def delete_and_save(tx: Write) -> int:
        blobs.delete_if_unused(tx, key)
        return blobs.save_blob(tx, blobs.pack_content(LARGE, compress=False))

    assert files.load(files.write(delete_and_save)) == LARGE


def test_failed_write_leaves_no_file(files: Files) -> None:
    def fail(tx: Write) -> None:
        blobs.save_blob(tx, blobs.pack_content(LARGE, compress=False))
        assert files.names() == [name_of(LARGE)]
        raise LookupError

    with pytest.raises(LookupError):
        files.write(fail)
    assert files.names() == []


def test_files_are_erased_only_after_a_backup_has_read_the_folder(files: Files) -> None:
    key = files.save(LARGE)
    with files.folder.hold():
        files.delete(key)
        files.loop.run(files.database.shrink_log())
        assert files.names() == [name_of(LARGE)]
    files.loop.run(files.database.shrink_log())
    assert files.names() == []


def test_housekeeping_erases_files_without_a_row_and_no_others(files: Files) -> None:
    files.save(LARGE)
    stray = files.folder.path / name_of(OTHER)
    for path in (stray, stray.with_name(f"{stray.name}.part"), stray.with_name(f"{stray.name}.erased")):
        path.write_bytes(OTHER)
    foreign = stray.with_name("notes.txt")
    foreign.write_text("mine")
    for _ in range(16):
        files.loop.run(files.database.sweep_folder())
    assert set(files.names()) == {name_of(LARGE), f"{stray.parent.name}/notes.txt"}


def test_missing_or_truncated_file_is_reported(files: Files) -> None:
    key = files.save(LARGE)
    path = files.folder.path / name_of(LARGE)
    for spoil in (lambda: path.write_bytes(LARGE[:-1]), path.unlink):
        spoil()
        with pytest.raises(Unavailable, match="missing or truncated"):
            files.load(key)
        with open_inspection(files.db) as inspection:
            assert [blob.sound for blob in inspection.check_blobs()] == [False]


@pytest.mark.parametrize("compress", [False, True])
def test_missing_or_truncated_file_is_written_again_with_the_same_content(files: Files, compress: bool) -> None:
    data = LARGE.hex().encode() if compress else LARGE
    packed = blobs.pack_content(data, compress=compress)
    key = files.write(lambda tx: blobs.save_blob(tx, packed))
    (name,) = files.names()
    path = files.folder.path / name
    for spoil in (lambda: path.write_bytes(packed.data[:-1]), path.unlink):
        spoil()
        assert files.write(lambda tx: blobs.save_blob(tx, packed)) == key
        assert files.load(key) == data
    with open_inspection(files.db) as inspection:
        assert [blob.sound for blob in inspection.check_blobs()] == [True]


def test_health_notices_that_the_folder_is_gone(files: Files) -> None:
    files.loop.run(files.database.check_reads())
    files.folder.path.rename(files.folder.path.with_name("elsewhere"))
    with pytest.raises(Unavailable, match="can't be found any more"):
        files.loop.run(files.database.check_reads())
    with pytest.raises(Unavailable, match="can't be written"):
        files.save(LARGE)


def test_company_storage_counts_files(files: Files) -> None:
    files.save(LARGE)
    files.save(SMALL)
    with open_inspection(files.db) as inspection:
        assert inspection.measure_blob_bytes() == len(LARGE) + len(SMALL)
        assert inspection.measure_orphans().bytes == len(LARGE) + len(SMALL)


def test_second_server_on_the_folder_is_refused(files: Files) -> None:
    with pytest.raises(UnusableFile, match="another ticketbox server is using this assets folder"):
        open_folder(files.db, None)


def test_unsafe_folders_are_refused(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "file").touch()
    for name, why in (
        ("link", "symbolic link"), ("link/inside", "symbolic link"), ("open", "other users can write"),
        ("open/inside", "other users can write"), ("file", "isn't a folder"),
    ):  # fmt: skip
        with pytest.raises(UnusableFile, match=why):
            open_folder(db, tmp_path / name)
    assert open_folder(db, None) is None
    assert list((tmp_path / "real").iterdir()) == list((tmp_path / "open").iterdir()) == []


def test_moved_folder_is_found_again_and_another_is_refused(files: Files, tmp_path: Path) -> None:
    key = files.save(LARGE)
    files.close()
    (tmp_path / "assets").rename(tmp_path / "moved")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnusableFile, match="isn't here"):
        open_folder(files.db, None)
    with pytest.raises(UnusableFile, match="doesn't have the assets of"):
        open_folder(files.db, tmp_path / "empty")
    for given in (tmp_path / "moved", None):
        folder = open_folder(files.db, given)
        assert folder is not None
        folder.close()
    again = Files(files.db, open_folder(files.db, None))
    assert again.load(key) == LARGE
    again.close()


def test_recorded_folder_must_have_a_name_of_ticketbox(tmp_path: Path) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    change(db, "INSERT INTO assets_folder (id, name, path) VALUES (1, '../../etc', '/')")
    with pytest.raises(UnusableFile, match="name of the assets folder is invalid"):
        open_folder(db, None)


def dump(db: Path) -> list[tuple[object, ...]]:
    """The stored contents, wherever they are."""
    with open_inspection(db) as inspection:
        assert all(blob.sound for blob in inspection.check_blobs())
        assert inspection.list_unused_files() == []
        return [(blob.key, blob.stored) for blob in inspection.check_blobs()]


def test_contents_move_to_the_folder_and_back_also_when_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "ticketbox.db"
    prepare_file(db)
    with contextlib.closing(connect(db, writes=True)) as connection:
        for data in (LARGE, SMALL, OTHER):
            blobs.save_blob(Write(connection, 0), blobs.pack_content(data, compress=False))
    before = dump(db)
    monkeypatch.setattr(moves, "BATCH_BYTES", 1)
    size = db.stat().st_size

    def interrupt(doing: str, share: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moves.move_to_folder(db, tmp_path / "assets", interrupt)
    assert dump(db) == before
    moved = moves.move_to_folder(db, None, lambda doing, share: None)
    assert (moved.count, moved.bytes) == (1, len(OTHER))  # the first was moved before
    assert db.stat().st_size < size - len(LARGE)
    assert dump(db) == before
    (root,) = (tmp_path / "assets").iterdir()
    assert sorted(AssetsFolder(root).list_files()) == sorted(map(name_of, (LARGE, OTHER)))
    with pytest.raises(KeyboardInterrupt):
        moves.move_into_file(db, interrupt)
    assert dump(db) == before
    moves.move_into_file(db, lambda doing, share: None)
    assert dump(db) == before
    assert list((tmp_path / "assets").iterdir()) == []


def test_damaged_file_is_not_moved_back(files: Files) -> None:
    files.save(LARGE)
    files.close()
    path = files.folder.path / name_of(LARGE)
    path.write_bytes(bytes(len(LARGE)))
    with pytest.raises(UnusableFile, match="doesn't match its hash"):
        moves.move_into_file(files.db, lambda doing, share: None)
    assert path.exists()


def test_refused_place_is_not_recorded(files: Files, tmp_path: Path) -> None:
    files.save(LARGE)
    files.close()
    (tmp_path / "link").symlink_to(tmp_path / "assets")
    with pytest.raises(UnusableFile, match="symbolic link"):
        open_folder(files.db, tmp_path / "link")
    folder = open_folder(files.db, None)
    assert folder is not None
    folder.close()

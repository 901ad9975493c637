"""Copies of assets folders, for backups and restores: the files that a copied database file refers to, no others."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from pathlib import Path

from ticketbox.domain.core.problems import Problem
from ticketbox.store.file.check import open_inspection
from ticketbox.store.file.connection import get_log_paths
from ticketbox.store.file.folder.contents import AssetsFolder, format_name
from ticketbox.store.file.folder.location import Location, give_to_owner, refuse_unsafe_place
from ticketbox.store.file.migrate import UnusableFile


class AssetsCopy:
    """A copy of the assets of a file at `place`: the bytes that were copied, and the hashes that were only linked."""

    def __init__(self, source: AssetsFolder, place: Location, to: Path) -> None:
        self.place = place
        self.folder = AssetsFolder(place.resolve(to))
        self.copied = 0
        self.linked: set[bytes] = set()
        self._source = source
        self._to = to
        self._files: list[tuple[bytes, int]] = []

    def copy(self, part: Path, on_file: Callable[[float], None]) -> None:
        """Copy what the copied file `part` refers to; `on_file` gets the share that is done.

        A file that an earlier backup next to this one has becomes a hard link to it, if the file system has such links:
        it was verified when it was copied, and no file of a backup ever changes. Raises UnusableFile and OSError.
        """
        with open_inspection(part, alone=True, folder=self.folder) as inspection:
            self._files = list(inspection.list_files())
        earlier = self._find_earlier()
        missing = [file for file in self._files if not self.folder.has(*file)]
        total = sum(file[1] for file in missing if earlier is None or not earlier.has(*file))
        self.folder.create()
        free = shutil.disk_usage(self.folder.path).free
        if free < total:
            raise UnusableFile(
                f"{self.folder.path}: {free:,} bytes of free space aren't enough for {total:,} of assets"
            )
        for sha256, size in missing:
            on_file(self.copied / max(total, 1))
            if earlier is not None and self._link(earlier, sha256, size):
                continue
            try:
                self.folder.write(sha256, self._source.read(sha256, size))
            except Problem as error:
                raise UnusableFile(f"{self._source.get_path(sha256)}: {error.detail}") from error
            self.copied += size

    def _find_earlier(self) -> AssetsFolder | None:
        """Find the folder of the newest other backup of the same database file next to this one."""
        if self.place.path is not None:
            return None
        found = [each / self.place.name for each in self._to.parent.glob("*.assets")]
        found = [each for each in found if each != self.folder.path and each.is_dir() and not each.is_symlink()]
        return AssetsFolder(max(found, key=lambda each: each.stat().st_mtime)) if found else None

    def _link(self, earlier: AssetsFolder, sha256: bytes, size: int) -> bool:
        with contextlib.suppress(OSError):
            if earlier.has(sha256, size):
                os.link(earlier.get_path(sha256), self.folder.get_path(sha256))
                self.linked.add(sha256)
                return True
        return False

    def remove_others(self) -> None:
        """Remove what a replaced backup of the same name had."""
        names = {format_name(sha256) for sha256, _ in self._files}
        for name in [name for name in self.folder.list_files() if name not in names]:
            (self.folder.path / name).unlink()
        for other in self.folder.path.parent.iterdir():
            if other != self.folder.path and other.is_dir():
                shutil.rmtree(other)

    def remove(self) -> None:
        """Remove a copy that isn't complete."""
        shutil.rmtree(self.folder.path, ignore_errors=True)
        if self.place.path is None:
            with contextlib.suppress(OSError):
                self.folder.path.parent.rmdir()


@contextlib.contextmanager
def prepare_copy(source: Path, to: Path, place: Location | None, *, alone: bool) -> Generator[AssetsCopy | None]:
    """Prepare to copy the assets of `source` for the file `to`, and keep a server from erasing any meanwhile.

    Yields None if the file has no folder. Without a `place`, the copy is a backup next to `to`. A copy that fails is
    removed, unless a complete one was there before. Raises UnusableFile.
    """
    with open_inspection(source, alone=alone) as inspection:
        location, folder = inspection.location, inspection.folder
    if location is None or folder is None:
        yield None
        return
    if not folder.path.is_dir():
        raise UnusableFile(f"{folder.path}: the assets folder of {source} isn't here (docs/operate/assets.md)")
    if place is not None and place.path is not None:
        refuse_unsafe_place(Path(place.path), to)
    copy = AssetsCopy(folder, place or location._replace(path=None), to)
    is_new = not copy.folder.path.exists()
    parent = copy.folder.path.parent
    restored = None if place is None else copy.folder.path if parent.exists() else parent
    try:
        with folder.hold():
            yield copy
        if restored is not None:
            give_to_owner(restored, to)
        if place is None and not is_new:
            copy.remove_others()
    except BaseException:
        if is_new:
            copy.remove()
        raise


def find_assets_dir(db: Path) -> str | None:
    """Return the folder that a file has its assets in; None for the default, or a file that is absent or damaged."""
    alone = not get_log_paths(db)[0].exists()
    with contextlib.suppress(UnusableFile, sqlite3.Error), open_inspection(db, alone=alone) as inspection:
        return None if inspection.location is None else inspection.location.path
    return None

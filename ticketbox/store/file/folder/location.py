"""Where the assets folder of a file is: recorded in the file, so that no other folder is used by mistake."""

import contextlib
import os
import re
import secrets
import sqlite3
import stat
from pathlib import Path
from typing import NamedTuple

from ticketbox.store.file.connection import connect
from ticketbox.store.file.folder.contents import AssetsFolder, FolderInUse
from ticketbox.store.file.migrate import UnusableFile


class Location(NamedTuple):
    """The subfolder of this file's assets, and the folder that it is in (None: beside the file)."""

    name: str
    path: str | None

    def resolve(self, db: Path) -> Path:
        """Return where the files are."""
        if self.path is not None:
            return Path(self.path) / self.name
        file = db.resolve()  # a backup can have another name, but not another place than its folder
        return file.with_name(f"{file.name}.assets") / self.name


_NAME = re.compile(r"assets-[0-9a-f]{16}")
SELECT_TABLE = "SELECT 1 FROM sqlite_schema WHERE name = 'assets_folder'"
SELECT_LOCATION = "SELECT name, path FROM assets_folder"
SAVE_LOCATION = "INSERT OR REPLACE INTO assets_folder (id, name, path) VALUES (1, ?, ?)"


def create_location(path: str | None) -> Location:
    """Create a location with a new name."""
    return Location(f"assets-{secrets.token_hex(8)}", path)


def read_location(connection: sqlite3.Connection) -> Location | None:
    """Read where a file's folder is; None if it has none, or isn't a file of ticketbox.

    Raises UnusableFile for a name that ticketbox doesn't give.
    """
    if connection.execute(SELECT_TABLE).fetchone() is None:
        return None
    row = connection.execute(SELECT_LOCATION).fetchone()
    if row is not None and not _NAME.fullmatch(row[0]):
        raise UnusableFile(f"the name of the assets folder is invalid: {row[0]!r}")
    return None if row is None else Location._make(row)


def save_location(connection: sqlite3.Connection, location: Location | None) -> None:
    """Record where a file's folder is, or that it has none."""
    if location is None:
        connection.execute("DELETE FROM assets_folder")
    else:
        connection.execute(SAVE_LOCATION, location)


def open_folder(db: Path, given: Path | None) -> AssetsFolder | None:
    """Open and lock the folder of a migrated file; create it if the file has none yet and one is given.

    Raises UnusableFile for a folder that is missing, another file's, unsafe, not writable or in use.
    """
    with contextlib.closing(connect(db, writes=True)) as connection:
        location = read_location(connection)
        if given is not None:
            location = _choose(connection, db, location, given.absolute())
    if location is None:
        return None
    path = location.resolve(db)
    if not path.is_dir():
        raise UnusableFile(
            f"{path}: the assets folder of {db} isn't here; mount it, or name the folder that {path.name} is in "
            "with --assets-dir (docs/operate/assets.md)"
        )
    refuse_unsafe_place(path, db)
    folder = AssetsFolder(path)
    try:
        folder.lock()
    except FolderInUse:
        raise UnusableFile(f"{path}: another ticketbox server is using this assets folder") from None
    except OSError as error:
        raise UnusableFile(f"{path}: the assets folder can't be written: {error.strerror}") from error
    return folder


def _choose(connection: sqlite3.Connection, db: Path, location: Location | None, given: Path) -> Location:
    """Return the location with the folder that was given, recorded in the file."""
    if location is not None and (given / location.name).is_dir():
        chosen = location._replace(path=str(given))
        refuse_unsafe_place(chosen.resolve(db), db)
    elif location is not None:
        raise UnusableFile(
            f"{given}: this folder doesn't have the assets of {db}, which are in {location.resolve(db)}; move the "
            f"folder {location.name} there, or leave --assets-dir out"
        )
    else:
        refuse_unsafe_place(given, db)
        chosen = create_location(str(given))
        is_new = not given.exists()
        try:
            AssetsFolder(chosen.resolve(db)).create()
        except OSError as error:
            raise UnusableFile(f"{given}: the assets folder can't be created: {error.strerror}") from error
        give_to_owner(given if is_new else chosen.resolve(db), db)
    if chosen != location:
        save_location(connection, chosen)
    return chosen


def find_owner(db: Path) -> os.stat_result:
    """Find whose a file is, or, if there is none yet, whose its folder is."""
    return (db if db.exists() else db.parent).stat()


def give_to_owner(folder: Path, db: Path) -> None:
    """When run by root, give a folder and everything in it to the owner of the database file."""
    if os.name == "posix" and os.geteuid() == 0:
        owner = find_owner(db)
        for root, _, names in os.walk(folder):
            for each in (root, *(os.path.join(root, name) for name in names)):  # noqa: PTH118 (many files)
                os.chown(each, owner.st_uid, owner.st_gid, follow_symlinks=False)


def refuse_unsafe_place(path: Path, db: Path) -> None:
    """Refuse a folder that somebody else could replace or write to; root uses that of the database file's owner.

    Raises UnusableFile.
    """
    if os.name != "posix":
        return
    owners = {os.geteuid(), 0, *([find_owner(db).st_uid] if os.geteuid() == 0 else [])}
    for each in (path, *path.parents):
        try:
            found = each.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UnusableFile(f"{path}: the assets folder can't be used: {error.strerror}") from error
        if stat.S_ISLNK(found.st_mode):
            raise UnusableFile(f"{path}: {each} is a symbolic link; name the folder itself: {os.path.realpath(path)}")
        if not stat.S_ISDIR(found.st_mode):
            raise UnusableFile(f"{path}: {each} isn't a folder")
        is_open = found.st_mode & stat.S_IWOTH and (each == path or not found.st_mode & stat.S_ISVTX)
        if is_open or (each == path and found.st_uid not in owners):
            raise UnusableFile(f"{path}: other users can write to {each}; choose a folder that only you can write to")

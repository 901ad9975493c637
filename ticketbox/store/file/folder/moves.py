"""Moves of existing contents between the database file and its assets folder. They can stop at any content."""

import contextlib
import shutil
import sqlite3
from collections.abc import Generator, Iterator
from pathlib import Path

import msgspec

from ticketbox.domain.core.problems import Problem
from ticketbox.store.file.backup import ReportProgress
from ticketbox.store.file.check import is_sound
from ticketbox.store.file.compaction import compact_file
from ticketbox.store.file.connection import connect
from ticketbox.store.file.folder.contents import MIN_FILE_BYTES, AssetsFolder, format_name
from ticketbox.store.file.folder.location import give_to_owner, open_folder, save_location
from ticketbox.store.file.migrate import UnusableFile

BATCH_BYTES = 32 * 1024 * 1024


class MovedContents(msgspec.Struct, frozen=True):
    """How many contents were moved, their bytes, and the bytes by which the file shrank."""

    count: int
    bytes: int
    freed: int


SELECT_LARGE = """
SELECT id, sha256, data FROM blob WHERE stored IS NULL AND length(data) >= ? AND id > ? ORDER BY id LIMIT 1
"""
SET_STORED = "UPDATE blob SET stored = length(data), data = x'' WHERE id = ?"
SELECT_FILE = "SELECT id, sha256, encoding, bytes, stored FROM blob WHERE stored IS NOT NULL ORDER BY id LIMIT ?"
SET_DATA = "UPDATE blob SET data = ?, stored = NULL WHERE id = ?"
SUM_LARGE = "SELECT ifnull(sum(length(data)), 0) FROM blob WHERE stored IS NULL AND length(data) >= ?"
SUM_FILES = "SELECT ifnull(sum(stored), 0) FROM blob"


def move_to_folder(db: Path, given: Path | None, report: ReportProgress) -> MovedContents:
    """Move large contents of a file to its assets folder, then shrink the file. The caller has locked the file.

    Raises UnusableFile.
    """
    count = done = 0
    with _open(db, given) as (connection, folder):
        total = connection.execute(SUM_LARGE, (MIN_FILE_BYTES,)).fetchone()[0]
        for keys, size in _write_files(connection, folder):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(SET_STORED, keys)
            connection.execute("COMMIT")
            count, done = count + len(keys), done + size
            report("moving contents to the folder", done / total)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return MovedContents(count, done, compact_file(db, checkpoints=True, report=report))


def _write_files(connection: sqlite3.Connection, folder: AssetsFolder) -> Iterator[tuple[list[tuple[int]], int]]:
    """Write files; yield the keys and the bytes of each batch when it is on the disk."""
    keys: list[tuple[int]] = []
    size, after = 0, -1
    while row := connection.execute(SELECT_LARGE, (MIN_FILE_BYTES, after)).fetchone():
        after, sha256, data = row
        folder.write(sha256, data)
        keys.append((after,))
        size += len(data)
        if size >= BATCH_BYTES:
            yield keys, size
            keys, size = [], 0
    if keys:
        yield keys, size


def move_into_file(db: Path, report: ReportProgress) -> MovedContents:
    """Move all contents of the assets folder back into the file, and remove the folder. The caller has locked the file.

    Raises UnusableFile, also for a content that is missing or damaged; it stays where it is.
    """
    count = done = 0
    with _open(db, None) as (connection, folder):
        total = connection.execute(SUM_FILES).fetchone()[0]
        while rows := connection.execute(SELECT_FILE, (16,)).fetchall():
            connection.execute("BEGIN IMMEDIATE")
            for key, sha256, encoding, size, stored in rows:
                data = folder.read(sha256, stored)
                if not is_sound(sha256, encoding, size, data):
                    raise UnusableFile(f"{folder.get_path(sha256)}: the file doesn't match its hash")
                connection.execute(SET_DATA, (data, key))
                count, done = count + 1, done + stored
            connection.execute("COMMIT")
            for _, sha256, *_ in rows:
                folder.erase(format_name(sha256))
            report("moving contents into the file", done / total)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for name in list(folder.list_files()):
            folder.erase(name)
        save_location(connection, None)
        shutil.rmtree(folder.path)
    return MovedContents(count, done, 0)


@contextlib.contextmanager
def _open(db: Path, given: Path | None) -> Generator[tuple[sqlite3.Connection, AssetsFolder]]:
    folder = open_folder(db, given)
    if folder is None:
        raise UnusableFile(f"{db}: the file has no assets folder")
    try:
        with contextlib.closing(connect(db, writes=True, checkpoints=True)) as connection:
            yield connection, folder
    except Problem as error:
        raise UnusableFile(f"{folder.path}: {error.detail}; what was moved is intact, run it again later") from error
    except (OSError, sqlite3.Error) as error:
        raise UnusableFile(f"{folder.path}: {error}; what was moved is intact, run it again later") from error
    finally:
        folder.close()
        if folder.path.exists():
            give_to_owner(folder.path, db)

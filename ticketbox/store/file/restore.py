"""Restores: a verified copy of a backup takes the file's place, and what was there is kept beside it."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ticketbox.store.file.backup import FinishedCopy, ReportProgress, make_verified_copy
from ticketbox.store.file.checksums import verify_checksum
from ticketbox.store.file.connection import connect, get_log_paths
from ticketbox.store.file.folder.contents import flush_folder
from ticketbox.store.file.folder.copies import find_assets_dir
from ticketbox.store.file.folder.location import create_location, find_owner
from ticketbox.store.file.migrate import UnusableFile


def restore_backup(
    source: Path,
    db: Path,
    *,
    force: bool = False,
    assets_dir: Path | None = None,
    report: ReportProgress = lambda doing, share: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FinishedCopy:
    """Replace `db` by a verified copy of `source`. The old file is kept beside it, and its assets where they are.

    The assets of the backup are copied to a new subfolder of `assets_dir`, else of the folder that the old file has.
    The caller holds the file's lock. Raises UnusableFile for a source that is damaged or whose schema
    this version doesn't support, and for a file that already exists (unless `force`); nothing is changed then.
    """
    if not force and db.exists() and db.stat().st_size:
        raise UnusableFile(f"{db}: the file already exists; --force replaces it, and keeps the old one beside it")
    if db.exists() and db.samefile(source):
        raise UnusableFile(f"{source}: this is the file that would be replaced")
    report("comparing the backup with its checksum", None)
    verify_checksum(source)
    path = find_assets_dir(db) if assets_dir is None else str(assets_dir.absolute())
    with make_verified_copy(source, db, report, is_cancelled, create_location(path)) as (part, copy):
        _give_to_owner(part, db)
        old_copy = _set_aside(db)
        part.replace(db)
        flush_folder(db.parent)
    return msgspec.structs.replace(copy, kept=str(old_copy) if old_copy else None)


def _give_to_owner(part: Path, db: Path) -> None:
    """When run by root, give the file to the owner of the old file or its folder."""
    if os.name == "posix" and os.geteuid() == 0:
        owner = find_owner(db)
        os.chown(part, owner.st_uid, owner.st_gid)


def _set_aside(db: Path) -> Path | None:
    """Link the old file to another name; it also keeps its name until it is replaced.

    Its write-ahead log must be moved too: SQLite would apply it to the new file.
    """
    old_copy = db.with_name(f"{db.name}.before-restore-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}")
    if db.exists() and db.stat().st_size:
        _merge_log(db)
    log, shared = get_log_paths(db)
    if log.exists():
        log.rename(old_copy.with_name(f"{old_copy.name}-wal"))
    shared.unlink(missing_ok=True)
    if not db.exists():
        return None
    try:
        os.link(db, old_copy)
    except OSError:  # a file system without links: for a moment there is no file
        db.rename(old_copy)
    return old_copy


def _merge_log(db: Path) -> None:
    """Merge the write-ahead log into the file; a damaged file stays unchanged.

    Leaving WAL mode requires exclusive access, so this also detects another command that uses the file.
    """
    try:
        with contextlib.closing(connect(db, writes=True, checkpoints=True)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise UnusableFile(f"{db}: another command uses the file; try again when it is done") from None

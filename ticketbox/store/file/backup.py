"""Backups: copies made while the server writes, verified, and only then renamed to their final name.

A copy is a consistent snapshot: the source is read in one transaction, which blocks no writer and never checkpoints
(docs/develop/architecture.md, "The writer").
"""

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Protocol

import msgspec

from ticketbox.store.file.check import Inspection, open_inspection, open_read_only
from ticketbox.store.file.checksums import compute_checksum, get_checksum_path, write_checksum
from ticketbox.store.file.connection import get_log_paths
from ticketbox.store.file.folder.contents import flush_folder
from ticketbox.store.file.folder.copies import AssetsCopy, prepare_copy
from ticketbox.store.file.folder.location import Location, save_location
from ticketbox.store.file.migrate import UnusableFile, find_schema_fault

NAME_FORMAT = "%Y%m%dT%H%M%SZ"
STEP_PAGES = 64
# Data is flushed to the disk in small parts: one large flush would delay the commits of a server on the same disk.
_FLUSH_PAGES = 128
_MAX_REST_SECONDS = 0.1
_CACHE_KIB = 2048
_PROGRESS_STEPS = 50_000


class ReportProgress(Protocol):
    """Reports progress: the step, and the share of it that is done (None: unknown)."""

    def __call__(self, doing: str, share: float | None) -> None:
        """Report a step."""
        ...


class OperationCancelled(Exception):
    """The operation was cancelled, and its partial output deleted."""


class FinishedCopy(msgspec.Struct, frozen=True):
    """A finished copy: where it is, its bytes, its schema's number, and how many rows each table has.

    `kept` is the replaced file that a restore set aside, `assets` the bytes that were copied to the assets folder.
    """

    file: str
    bytes: int
    schema: int
    rows: dict[str, int]
    seconds: float
    kept: str | None = None
    assets: int = 0


def back_up(
    db: Path,
    to: Path,
    refuse_damage: Callable[[], None] = lambda: None,
    *,
    replace: bool = False,
    report: ReportProgress = lambda doing, share: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> FinishedCopy:
    """Copy `db` to the file `to`, also beside a running server, and verify the copy.

    `refuse_damage` raises an error if what a server writes can't be read; it is called before and after. Raises
    UnusableFile for a damaged source, for a target that already exists (unless `replace`) or can't be written, and
    OperationCancelled.
    """
    refuse_damage()
    _check_target(db, to, replace=replace)
    pause_and_check = _throttle(is_cancelled)
    with make_verified_copy(db, to, report, pause_and_check) as (part, copy):
        refuse_damage()
        report("computing the checksum", None)
        checksum = compute_checksum(part, lambda: _stop_if(pause_and_check()))
        get_checksum_path(to).unlink(missing_ok=True)  # of the backup that this one replaces
        part.replace(to)
        write_checksum(to, checksum)
        flush_folder(to.parent)
    return copy


def delete_backup(backup: Path) -> None:
    """Delete a backup, its checksum and its assets."""
    backup.unlink(missing_ok=True)
    get_checksum_path(backup).unlink(missing_ok=True)
    shutil.rmtree(backup.with_name(f"{backup.name}.assets"), ignore_errors=True)


def _stop_if(cancelled: bool) -> None:
    if cancelled:
        raise OperationCancelled


def _throttle(is_cancelled: Callable[[], bool]) -> Callable[[], bool]:
    """Wrap the check for cancellation so that it sleeps for as long as the work since its last call took.

    It is called often, so that a server beside a backup has the disk and the cores half of the time.
    """
    since = time.monotonic()

    def check_after_pause() -> bool:
        nonlocal since
        time.sleep(min(time.monotonic() - since, _MAX_REST_SECONDS))
        since = time.monotonic()
        return is_cancelled()

    return check_after_pause


def build_backup_name(db: Path) -> str:
    """Return the name of a backup made now: `ticketbox-20261121T093000Z.db`, in UTC."""
    return f"{db.stem}-{time.strftime(NAME_FORMAT, time.gmtime())}.db"


def _check_target(db: Path, to: Path, *, replace: bool) -> None:
    if to.exists():
        if to.samefile(db):
            raise UnusableFile(f"{to}: this is the file itself; name another for the backup")
        if not replace:
            raise UnusableFile(f"{to}: the file already exists; --force replaces it")
    log, shared = get_log_paths(to)
    lock = to.with_name(f"{to.name}.lock")
    if lock.exists() or (log.exists() and log.stat().st_size):
        raise UnusableFile(f"{to}: this file is or was in use; name another for the backup")
    log.unlink(missing_ok=True)  # left by a reader of an earlier backup
    shared.unlink(missing_ok=True)


@contextlib.contextmanager
def make_verified_copy(
    source: Path, to: Path, report: ReportProgress, is_cancelled: Callable[[], bool], place: Location | None = None
) -> Generator[tuple[Path, FinishedCopy]]:
    """Make a verified copy beside its final place; it is deleted afterwards unless it was moved.

    Its assets are copied to `place`, else next to it.
    """
    started = time.monotonic()
    if not source.is_file():
        raise UnusableFile(f"{source}: there is no such file")
    part = to.with_name(f"{to.name}.part")

    def on_asset(share: float) -> None:
        if is_cancelled():
            raise OperationCancelled
        report("copying assets", share)

    try:
        if not to.absolute().parent.parent.is_dir():
            raise UnusableFile(f"{to.parent.parent}: there is no such folder; create it, or mount the disk it is on")
        to.parent.mkdir(exist_ok=True)
        _check_free_space(source, to.parent)
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        alone = not get_log_paths(source)[0].exists()
        with _report_damage(source), prepare_copy(source, to, place, alone=alone) as assets:
            schema, rows = _copy_pages(source, part, report, is_cancelled, assets)
            if assets is not None:
                assets.copy(part, on_asset)
            _verify(source, part, rows, report, is_cancelled, assets)
            finished = FinishedCopy(str(to), part.stat().st_size, schema, rows, time.monotonic() - started)
            yield part, finished if assets is None else msgspec.structs.replace(finished, assets=assets.copied)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise OperationCancelled from None
        is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        advice = "free some space" if is_full else "see the kernel log"
        raise UnusableFile(f"{to}: reading or writing failed ({error}); nothing was changed; {advice}") from error
    except OSError as error:
        raise UnusableFile(f"{error.filename or to}: {error.strerror}; nothing was changed") from error
    finally:
        part.unlink(missing_ok=True)


def _check_free_space(source: Path, folder: Path) -> None:
    needed = source.stat().st_size
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UnusableFile(f"{folder}: {free:,} bytes of free space aren't enough for a file of {needed:,}")


def _copy_pages(
    source: Path, part: Path, report: ReportProgress, is_cancelled: Callable[[], bool], assets: AssetsCopy | None
) -> tuple[int, dict[str, int]]:
    with (
        _report_damage(source),
        contextlib.closing(open_read_only(source, alone=not get_log_paths(source)[0].exists())) as reader,
        contextlib.closing(sqlite3.connect(part, isolation_level=None)) as writer,
        part.open("rb+") as file,
    ):
        # An incomplete copy is worthless, so it needs no journal.
        writer.execute("PRAGMA journal_mode = OFF")
        writer.execute("PRAGMA synchronous = OFF")
        writer.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        reader.execute("BEGIN")
        inspection = Inspection(reader)
        if not inspection.is_ticketbox_file():
            raise UnusableFile(f"{source}: this isn't a file of ticketbox")
        schema = inspection.read_schema_number()
        if fault := find_schema_fault(schema):
            raise UnusableFile(f"{source}: {fault}")
        steps = 0

        def on_step(_: int, left: int, total: int) -> None:
            nonlocal steps
            steps += 1
            if is_cancelled():
                raise OperationCancelled
            if steps * STEP_PAGES % _FLUSH_PAGES == 0:
                os.fsync(file.fileno())
            report("copying", 1 - left / total if total else 1.0)

        reader.backup(writer, pages=STEP_PAGES, progress=on_step)
        if assets is not None:
            save_location(writer, assets.place)
        os.fsync(file.fileno())
        return schema, inspection.count_rows()


def _verify(
    source: Path,
    part: Path,
    rows: dict[str, int],
    report: ReportProgress,
    is_cancelled: Callable[[], bool],
    assets: AssetsCopy | None,
) -> None:
    """Verify a copy: pages, foreign keys, rows, contents. A fault in it is a fault in its source.

    Raises UnusableFile, and OperationCancelled.
    """
    with _report_damage(source), open_inspection(part, alone=True, folder=assets and assets.folder) as copy:
        copy.interrupt_when(is_cancelled, _PROGRESS_STEPS)
        report("verifying", None)
        if faults := copy.list_page_faults() or copy.list_broken_references():
            raise UnusableFile(faults[0])
        if copy.count_rows() != rows:
            raise UnusableFile("rows are missing in the copy")
        done, total = 0, copy.measure_blob_bytes()
        for blob in copy.check_blobs(() if assets is None else assets.linked):
            if is_cancelled():
                raise OperationCancelled
            if not blob.sound:
                raise UnusableFile(f"the content {blob.key} doesn't match its hash")
            done += blob.stored
            report("comparing contents with their hashes", done / max(total, 1))


@contextlib.contextmanager
def _report_damage(path: Path) -> Generator[None]:
    """Raise UnusableFile for damage; let other errors pass."""
    try:
        yield
    except UnusableFile as error:
        raise error if str(path) in str(error) else UnusableFile(f"{path}: {error}") from error
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise UnusableFile(f"{path}: the file is damaged ({error})") from error

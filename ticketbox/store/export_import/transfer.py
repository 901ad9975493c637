"""Export and import of files: an export is one snapshot, an import one transaction that succeeds or changes nothing."""

import contextlib
import os
import sqlite3
from pathlib import Path

from ticketbox import __version__
from ticketbox.store.export_import import records
from ticketbox.store.export_import.archive import ArchiveReader, ArchiveWriter, InvalidArchive, Manifest
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read
from ticketbox.store.file.folder.contents import AssetsFolder
from ticketbox.store.file.folder.location import read_location
from ticketbox.store.file.migrate import find_newest_number, prepare_file, read_schema_number


class CompanyNotFound(Exception):
    """The file has no company with this id."""


def export_file(db: Path, target: Path, company: str | None, report: records.ReportCount) -> Manifest:
    """Write an export, also beside a running server. Its name ends in `.part` until it is complete.

    Raises CompanyNotFound, MissingContent for a file that the assets folder lacks, and OSError if the target can't be
    written.
    """
    part = target.with_name(target.name + ".part")
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(connect(db, writes=False)))
        location = read_location(connection)
        folder = None if location is None else AssetsFolder(location.resolve(db))
        stack.enter_context(contextlib.nullcontext() if folder is None else folder.hold())
        connection.execute("BEGIN")
        key: int | None = None
        if company is not None:
            row = connection.execute("SELECT id FROM company WHERE public_id = ?", (company,)).fetchone()
            if row is None:
                raise CompanyNotFound(company)
            key = row[0]
        try:
            part.unlink(missing_ok=True)
            part.touch(mode=0o600)
            with part.open("wb") as file:
                writer = ArchiveWriter(file, __version__, read_schema_number(connection), company)
                manifest = records.export_records(Read(connection, 0, folder=folder), writer, key, report)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return manifest


def import_file(db: Path, source: Path, report: records.ReportCount) -> dict[str, int]:
    """Import an export into a file, in one transaction; create the file if it is missing and the import succeeds.

    Returns how many records of each kind there were. Raises InvalidArchive; the file is then unchanged.
    """
    reader = ArchiveReader(source, find_newest_number())
    if db.exists():
        return _import_records(db, reader, report, checkpoints=False)
    part = db.with_name(db.name + ".import.part")
    leftovers = [part, *(part.with_name(part.name + ending) for ending in ("-wal", "-shm"))]
    try:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
        prepare_file(part)
        counts = _import_records(part, reader, report, checkpoints=True)
        if db.exists():
            raise InvalidArchive(f"{db}: this file was created during the import")
        part.rename(db)
    finally:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
    return counts


def _import_records(
    db: Path, reader: ArchiveReader, report: records.ReportCount, *, checkpoints: bool
) -> dict[str, int]:
    with contextlib.closing(connect(db, writes=True, checkpoints=checkpoints)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            counts = records.import_records(connection, reader, report)
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise OSError(0, str(error)) from error
            raise
        if checkpoints:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return counts

"""Blobs: deleted contents leave no bytes in the file."""

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest

from ticketbox.store.core import blobs
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read, Write
from ticketbox.store.file.migrate import prepare_file

SECRET = random.Random(1).randbytes(50_000)  # several pages


def write_back(connection: sqlite3.Connection) -> None:
    """Move everything from the write-ahead log to the file, and empty the log."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def traces(path: Path) -> int:
    """How many samples of the secret are in the file or its write-ahead log."""
    result = b"".join(each.read_bytes() for each in path.parent.glob(path.name + "*"))
    return sum(SECRET[at : at + 64] in result for at in range(0, len(SECRET), 500))


@pytest.mark.parametrize("compress", [False, True])
def test_discarded_bytes_are_overwritten_in_the_file(tmp_path: Path, compress: bool) -> None:
    path = tmp_path / "ticketbox.db"
    prepare_file(path)
    with contextlib.closing(connect(path, writes=True)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")  # some builds of SQLite zero what they free; most don't
        tx = Write(connection, 0)
        key = blobs.save_blob(tx, blobs.pack_content(SECRET, compress=compress))
        write_back(connection)
        assert traces(path) > 90  # a sample may lie on two pages
        blobs.delete_if_unused(tx, key)
        write_back(connection)
        assert tx.fetch_value("SELECT count(*) FROM blob") == 0
        assert traces(path) == 0


def test_a_blob_in_use_is_not_discarded(tmp_path: Path) -> None:
    path = tmp_path / "ticketbox.db"
    prepare_file(path)
    with contextlib.closing(connect(path, writes=True)) as connection:
        tx = Write(connection, 0)
        key = blobs.save_blob(tx, blobs.pack_content(SECRET, compress=False))
        connection.executescript(
            """
            INSERT INTO user (id, public_id, email, name, created_at) VALUES (1, 'usr_1', 'a@b', 'Ann', 0);
            INSERT INTO byline (id, user_id, via) VALUES (1, 1, 'web');
            INSERT INTO company (id, public_id, name, created_at, created_by) VALUES (1, 'co_1', 'C', 0, 1);
            INSERT INTO project (id, public_id, company_id, name, created_at, created_by)
              VALUES (1, 'proj_1', 1, 'P', 0, 1);
            INSERT INTO board_column (id, public_id, project_id, name, position) VALUES (1, 'col_1', 1, 'C', 0);
            INSERT INTO ticket (id, public_id, project_id, column_id, position, title, description, created_at,
              created_by, updated_at, updated_by) VALUES (1, 't-1', 1, 1, 0, 'T', '', 0, 1, 0, 1);
            """
        )
        connection.execute(
            "INSERT INTO asset (public_id, ticket_id, kind, blob_id, media_type, name, created_at, created_by) "
            "VALUES ('asset_1', 1, 'attachment', ?, 'text/plain', 'a', 0, 1)",
            (key,),
        )
        blobs.delete_if_unused(tx, key)
        assert blobs.load_content(Read(connection, 0), key) == SECRET

"""Partial updates set the columns that are given, NULL included (ticketbox/store/core/updates.py)."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import UNSET

from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Write
from ticketbox.store.file.migrate import prepare_file


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    prepare_file(tmp_path / "a.db")
    opened = connect(tmp_path / "a.db", writes=True)
    opened.execute(
        "INSERT INTO user (id, public_id, email, name, password_hash, created_at) VALUES (1, 'u', 'a@b', 'Ann', 'x', 0)"
    )
    yield opened
    opened.close()


def test_update_sets_null_and_keeps_what_is_unset(connection: sqlite3.Connection) -> None:
    update_columns(Write(connection, 0), "user", 1, name="Bea", email=UNSET, password_hash=None)
    assert connection.execute("SELECT name, email, password_hash FROM user").fetchone() == ("Bea", "a@b", None)


def test_update_of_nothing_runs_no_statement(connection: sqlite3.Connection) -> None:
    before = connection.total_changes
    update_columns(Write(connection, 0), "user", 1, name=UNSET)
    assert connection.total_changes == before

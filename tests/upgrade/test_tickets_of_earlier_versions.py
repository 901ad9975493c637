"""Files and exports of earlier versions get kinds of columns and keys of tickets."""

import contextlib
import json
import sqlite3
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from ticketbox.store.export_import import records
from ticketbox.store.export_import.transfer import export_file, import_file
from ticketbox.store.file import migrate
from ticketbox.store.file.migrate import list_migrations, prepare_file

BEFORE = 10
ROWS = """
INSERT INTO user (id, public_id, email, name, created_at) VALUES (1, 'usr_1', 'a@example.org', 'A', 0);
INSERT INTO byline (id, user_id, via) VALUES (1, 1, 'web');
INSERT INTO company (id, public_id, name, created_at, created_by) VALUES (1, 'co_1', 'C', 0, 1);
INSERT INTO project (id, public_id, company_id, name, created_at, created_by)
  VALUES (1, 'proj_1', 1, 'Pro', 0, 1), (2, 'proj_2', 1, 'Pro', 0, 1);
INSERT INTO board_column (id, public_id, project_id, name, position) VALUES
  (1, 'col_1', 1, 'Backlog', 0), (2, 'col_2', 1, 'Review', 1), (3, 'col_3', 1, 'FIXED ', 2), (4, 'col_4', 1, 'Done', 3),
  (5, 'col_5', 2, 'Closed', 0), (6, 'col_6', 2, 'Todo', 1);
"""
TICKETS = [
    # key, project, column, position, status, resolved → column, resolved
    (1, 1, 1, 100, "active", 0, 1, 0),
    (2, 1, 2, 100, "active", 1, 3, 1),
    (3, 1, 1, 200, "archived", 1, 3, 1),
    (4, 1, 3, 300, "active", 0, 3, 1),
    (5, 1, 4, 100, "archived", 0, 4, 1),
    (6, 2, 6, 100, "active", 1, 5, 1),
    (7, 1, None, 100, "archived", 1, None, 1),
]
INSERT = """
INSERT INTO ticket (id, public_id, project_id, column_id, position, status, resolved, title, description, created_at,
  created_by, updated_at, updated_by) VALUES (?, 't-aaaaaa' || ?1, ?, ?, ?, ?, ?, 'T', '', 0, 1, 0, 1)
"""


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the schema before kinds, with its export beside it."""
    path = tmp_path / "old.db"
    with monkeypatch.context() as patched:
        earlier = list_migrations()[:BEFORE]
        patched.setattr(migrate, "list_migrations", lambda: earlier)
        prepare_file(path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(ROWS)
            connection.executemany(INSERT, [row[:6] for row in TICKETS])
            connection.commit()
    return path


def check(path: Path) -> None:
    """The columns have their kinds, and each ticket is where and what it should be."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        kinds = [kind for (kind,) in connection.execute("SELECT kind FROM board_column ORDER BY id")]
        assert kinds == ["todo", "doing", "done", "done", "done", "doing"]
        found = connection.execute("SELECT id, column_id, resolved FROM ticket ORDER BY id").fetchall()
        assert found == [(row[0], *row[6:]) for row in TICKETS]
        moved = connection.execute("SELECT id FROM ticket WHERE column_id = 3 ORDER BY position").fetchall()
        assert moved == [(4,), (3,), (2,)]
        keys = connection.execute("SELECT key, next_number FROM project ORDER BY id").fetchall()
        assert keys == [("PRO", 7), ("PRO2", 2)]
        owners = connection.execute("SELECT key, company_id, project_id FROM project_key ORDER BY key").fetchall()
        assert owners == [("PRO", 1, 1), ("PRO2", 1, 2)]
        numbers = connection.execute("SELECT id, number FROM ticket ORDER BY id").fetchall()
        assert numbers == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 1), (7, 6)]
        assert connection.execute("SELECT count(*) FROM search WHERE search MATCH 'scope: r1'").fetchone() == (6,)


def test_migration_gives_columns_kinds_tickets_one_status_and_keys(old: Path) -> None:
    prepare_file(old)
    check(old)


def test_import_of_an_earlier_export_gives_kinds_and_keys(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "old.zip"
    with monkeypatch.context() as patched:
        with contextlib.closing(sqlite3.connect(old)) as connection:
            held = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        patched.setattr(records, "TABLES", {name: where for name, where in records.TABLES.items() if name in held})
        export_file(old, source, None, lambda _, __: None)
    with zipfile.ZipFile(source) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        columns = archive.read("records/board_column.ndjson")
    assert manifest["schema"] == BEFORE
    assert b'"kind"' not in columns
    assert manifest["entries"]["records/board_column.ndjson"]["sha256"] == sha256(columns).hexdigest()
    import_file(tmp_path / "new.db", source, lambda _, __: None)
    check(tmp_path / "new.db")

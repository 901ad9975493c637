"""Upgrades: a file of the schema before becomes what a new one is, in steps that are done whole or not at all."""

import contextlib
import gzip
import hashlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cli import run
from tests.support.long_runs import choose_rounds
from tests.support.seed import EMAIL, capture_parts, faults
from tests.support.server import Box, ok
from tests.upgrade.keep_file import FILES
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.tickets.search_words import write_query
from ticketbox.store.file import migrate
from ticketbox.store.file.connection import connect
from ticketbox.store.file.migrate import Migration, UnusableFile, find_newest_number, list_migrations, prepare_file

VERSIONS = sorted(path.name.removesuffix(".db.gz") for path in FILES.glob("*.db.gz"))
OLDEST = list_migrations()[0].number - 1
NEXT = find_newest_number() + 1
ROWS = 20_000
# The columns that the steps from schema 52 rename.
RENAMED = {"likeness": "similarity", "news": "changes"}
REMOVED_OR_ADDED = {
    "page_storage", "criteria", "head_at", "excerpt_version", "bug", "bug_text", "bug_at", "bug_by", "expectations",
}  # fmt: skip


def schema(path: Path) -> list[str]:
    """A file's whole schema, each statement without its layout, and without the quotes that ALTER TABLE adds."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        statements = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"
        listed = connection.execute(statements).fetchall()
    return [re.sub(r" ?([(),]) ?", r"\1", re.sub(r"\s+", " ", sql.replace('"', ""))) for (sql,) in listed]


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a file, without the columns and rows that the steps from schema 52 remove or add."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = lambda cursor, row: tuple(
            (RENAMED.get(column[0], column[0]), each) for column, each in zip(cursor.description, row, strict=True)
            if column[0] not in REMOVED_OR_ADDED
        )  # fmt: skip
        names = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view'"
        tables = [row[0][1] for row in connection.execute(names)]
        gone = {
            "migration", "replay_frame", "sqlite_schema", "search_term", "search_data", "search_idx", "address_change",
            "account_link", "criterion", "evidence", "expectation",
        }  # fmt: skip
        tables = [name for name in tables if name not in gone]
        return {name: connection.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2').fetchall() for name in tables}


def value(path: Path, sql: str) -> object:
    """The first value of a query's result."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchone()[0]


def digest(path: Path) -> str:
    """The file's bytes, in short."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copies(path: Path) -> list[Path]:
    """The copies that upgrades made beside a file."""
    return sorted(path.parent.glob(f"{path.name}.before-*"))


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A file of this version with many rows."""
    path = tmp_path / "ticketbox.db"
    prepare_file(path)
    fill(path)
    return path


def fill(path: Path) -> None:
    """Rows that a copy and a migration take their time over."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        rows = [(f"{number:032}".encode(), number) for number in range(ROWS)]
        connection.executemany("INSERT INTO setup_key (secret_hash, expires_at) VALUES (?, ?)", rows)


def open_kept(version: str, path: Path) -> None:
    """Write a file that a version wrote."""
    path.write_bytes(gzip.decompress((FILES / f"{version}.db.gz").read_bytes()))


@pytest.mark.parametrize("version", VERSIONS)
def test_file_of_an_earlier_schema_becomes_a_new_one_and_is_served(tmp_path: Path, version: str) -> None:
    db, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    open_kept(version, db)
    before = content(db)
    notes = json.loads((FILES / f"{version}.json").read_text("utf-8"))
    said: list[str] = []
    prepare_file(db, said.append)
    prepare_file(fresh)
    assert [line.split()[0] for line in said] == ["copying"] + ["applying"] * len(list_migrations())
    assert schema(db) == schema(fresh)
    assert content(db) == before
    assert value(db, "PRAGMA user_version") == value(fresh, "PRAGMA user_version") == find_newest_number()
    assert faults(db) == {}
    (copy,) = copies(db)
    assert content(copy) == before
    if os.name == "posix":
        assert copy.stat().st_mode & 0o777 == 0o600
    prepare_file(db, said.append)
    assert len(copies(db)) == 1
    token = run_operation(db, "issue_token", {"user": EMAIL, "label": "reader", "scopes": ["tickets:write"]}).secret
    with Box(db) as box, box.client(token) as client:
        assigned = ok(client.get(f"/tickets/{notes['assigned']}"))
        assert (assigned["labels"], assigned["priority"], len(assigned["assignees"])) == (["kept"], "high", 1)
        assert assigned["capture"]["console"]["items"][0]["args"] == ["line 2"]
        assert ok(client.get(f"/tickets/{notes['archived']}?status=archived"))["status"] == "archived"
        (comment,) = ok(client.get(f"/tickets/{notes['commented']}/comments"))["items"]
        assert comment["body"] == "A comment with ünïcode"
        assert client.get(f"/tickets/{notes['assigned']}/screenshot").status_code == 200
        assert [each["id"] for each in ok(client.get("/search?q=ünïcode"))["items"]] == [notes["commented"]]
        ok(client.post("/captures", files=capture_parts(assigned["project_id"], 99)))
    assert faults(db) == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_index_of_words_is_rebuilt(tmp_path: Path, version: str) -> None:
    db = tmp_path / "old.db"
    open_kept(version, db)
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE ticket SET title = '清空购物车' WHERE id = (SELECT min(id) FROM ticket)")
    prepare_file(db)
    with contextlib.closing(connect(db, writes=True)) as connection:
        connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
        indexed = connection.execute("SELECT rowid, * FROM search ORDER BY rowid").fetchall()
        assert indexed == connection.execute("SELECT * FROM searchable ORDER BY id").fetchall()
        assert write_query("购物车") in indexed[0][2] + "\x1f"


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in list_migrations()] == list(range(OLDEST + 1, NEXT))
    for migration in list_migrations():
        words = migration.sql.upper().split()
        assert not {"COMMIT;", "BEGIN;", "ROLLBACK;", "VACUUM;"} & set(words), migration.name


def test_failed_migration_leaves_the_file_unchanged(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema(db)
    broken = Migration(NEXT, "broken", "CREATE TABLE half (id INTEGER); DELETE FROM setup_key; SELECT nonsense;")
    every = [*list_migrations(), broken]
    monkeypatch.setattr(migrate, "list_migrations", lambda: every)
    with pytest.raises(UnusableFile, match="nonsense"):
        prepare_file(db)
    assert schema(db) == before
    assert value(db, "SELECT count(*) FROM setup_key") == ROWS
    assert value(db, "PRAGMA user_version") == NEXT - 1
    assert len(copies(db)) == 1


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (f"PRAGMA user_version = {NEXT}", "use the newer ticketbox that wrote it"),
        (f"PRAGMA user_version = {OLDEST - 1}", "migrate it first with an older ticketbox"),
        (
            "PRAGMA user_version = 0; CREATE TABLE migration (number INTEGER, name TEXT, applied_at INTEGER);"
            f"INSERT INTO migration VALUES ({OLDEST - 1}, 'of_a_development_version', 0)",
            "migrate it first with an older ticketbox",
        ),
    ],
    ids=["newer", "older", "of a development version"],
)
def test_file_of_another_schema_is_rejected_unchanged_by_every_command(
    tmp_path: Path, change: str, advice: str
) -> None:
    db, copy = tmp_path / "ticketbox.db", tmp_path / "copy.db"
    prepare_file(db)
    export = tmp_path / "export.zip"
    assert run("export", export, "--db", db).exit_code == 0
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.executescript(change)
    before = digest(db)
    owner = ["--email", "a@example.org", "--name", "A", "--company", "C", "--project", "P", "--password-stdin"]
    for command in (
        ["serve", "--port", "0", "--no-open", "--db", db],
        ["user", "list", "--db", db],
        ["init", *owner, "--db", db],
        ["check", "--db", db],
        ["backup", copy, "--db", db],
        ["restore", db, "--db", copy],
        ["export", tmp_path / "other.zip", "--db", db],
        ["import", export, "--db", db],
        ["assets", "move", tmp_path / "assets", "--db", db],
    ):
        done = run(*command, stdin="a good long password")
        assert done.exit_code == 1, command
        assert advice in done.output, command
        assert digest(db) == before
    assert copies(db) == []
    assert not copy.exists()


def test_concurrent_migrations_both_succeed(db: Path) -> None:
    processes = [migrating(db) for _ in range(3)]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert value(db, "PRAGMA user_version") == NEXT


MIGRATE = """
import sys
from pathlib import Path
from ticketbox.domain.tickets.search_words import write_query
from ticketbox.store.file import migrate
from ticketbox.store.file.connection import connect
every = [*migrate.list_migrations(), migrate.Migration(int(sys.argv[2]), "slow", '''
  CREATE TABLE added (id INTEGER PRIMARY KEY, text TEXT) STRICT;
  INSERT INTO added (text) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
    SELECT 'row ' || i FROM n;
  ALTER TABLE ticket ADD COLUMN added TEXT;
  DELETE FROM setup_key;
''')]
migrate.list_migrations = lambda: every
migrate.prepare_file(Path(sys.argv[1]), lambda line: print(line, flush=True))
print("done", flush=True)
"""


def migrating(db: Path) -> subprocess.Popen[str]:
    """A process that brings a file to a schema of the future, slowly."""
    command = [sys.executable, "-c", MIGRATE, str(db), str(NEXT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def state(db: Path) -> tuple[object, ...]:
    """What tells an old file from a new one."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        questions = (
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_schema WHERE name = 'added'",
            "SELECT count(*) FROM pragma_table_info('ticket') WHERE name = 'added'",
            "SELECT count(*) FROM setup_key",
            "PRAGMA integrity_check",
        )
        return tuple(connection.execute(question).fetchone()[0] for question in questions)


OLD = (NEXT - 1, 0, 0, ROWS, "ok")
NEW = (NEXT, 1, 1, 0, "ok")


@pytest.mark.long
def test_kill_during_a_migration_leaves_the_old_or_the_new_file(db: Path, tmp_path: Path) -> None:
    pristine = db.read_bytes()
    timed = migrating(db)
    started = time.monotonic()
    assert timed.stdout is not None
    assert timed.stdout.readline().startswith("copying")
    first = time.monotonic() - started
    timed.communicate()
    whole = time.monotonic() - started
    assert state(db) == NEW
    dice = random.Random(1)
    seen = {OLD: 0, NEW: 0}
    pace = 1.0  # the machine may be faster or slower now than it was
    for number in range(choose_rounds(8, 40)):
        folder = tmp_path / str(number)
        folder.mkdir()
        victim = folder / "ticketbox.db"
        victim.write_bytes(pristine)
        process = migrating(victim)
        time.sleep(dice.uniform(first * 0.8, whole) * pace)  # killed at any moment
        process.kill()
        said = process.communicate()[0]
        state_after = state(victim)
        assert state_after in seen, said
        seen[state_after] += 1
        pace *= 0.8 if state_after == NEW else 1.1
        if "applying" in said:
            (copy,) = copies(victim)
            assert state(copy) == OLD
        assert [state(copy) for copy in copies(victim)] in ([], [OLD])
        again = migrating(victim)
        again.communicate()
        assert again.returncode == 0
        assert state(victim) == NEW
    print({"old": seen[OLD], "new": seen[NEW]})
    assert seen[OLD] > 0

"""Upgrades: any earlier file becomes what a fresh one is, in steps that are done whole or not at all."""

import contextlib
import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.long_runs import choose_rounds, select_cases
from tests.support.server import ticketbox
from ticketbox.store.file import migrate
from ticketbox.store.file.migrate import Migration, UnusableFile, find_newest_number, list_migrations, prepare_file

SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "schema.sql"
NEXT = find_newest_number() + 1
ROWS = 20_000


def schema(path: Path) -> str:
    """A file's whole schema as text."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        listed = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, name"
        ).fetchall()
    return "".join(f"{sql};\n\n" for (sql,) in listed)


def value(path: Path, sql: str) -> object:
    """What a question about a file answers."""
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


def test_schema_matches_the_reviewed_snapshot(tmp_path: Path) -> None:
    """`TICKETBOX_SNAPSHOTS=write uv run --group dev pytest tests/upgrade` rewrites it."""
    prepare_file(tmp_path / "fresh.db")
    fresh_schema = schema(tmp_path / "fresh.db")
    if os.environ.get("TICKETBOX_SNAPSHOTS") == "write":
        SNAPSHOT.write_text(fresh_schema, "utf-8")
    assert fresh_schema == SNAPSHOT.read_text("utf-8")


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in list_migrations()] == list(range(1, find_newest_number() + 1))
    for migration in list_migrations():
        words = migration.sql.upper().split()
        assert not {"COMMIT;", "BEGIN;", "ROLLBACK;", "VACUUM;"} & set(words), migration.name


@pytest.mark.parametrize("start", select_cases(range(1, find_newest_number() + 1), 6))
def test_every_earlier_schema_becomes_the_current_schema(
    tmp_path: Path, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = Migration(NEXT, "following", "ALTER TABLE ticket ADD COLUMN added TEXT; CREATE TABLE new (id INTEGER);")
    every = [*list_migrations(), following]
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    monkeypatch.setattr(migrate, "list_migrations", lambda: every[:start])
    prepare_file(old)
    fill(old)
    monkeypatch.setattr(migrate, "list_migrations", lambda: every)
    said: list[str] = []
    prepare_file(old, said.append)
    prepare_file(fresh)
    assert schema(old) == schema(fresh)
    assert value(old, "SELECT group_concat(number) FROM migration") == ",".join(str(each.number) for each in every)
    assert value(old, "SELECT count(*) FROM setup_key") == ROWS
    assert said[0].startswith("copying the file to ")
    assert [line.split()[2] for line in said[1:]] == [f"{each.number:04}" for each in every[start:]]
    (copy,) = copies(old)
    assert value(copy, "SELECT max(number) FROM migration") == start
    assert value(copy, "SELECT count(*) FROM setup_key") == ROWS
    if os.name == "posix":
        assert copy.stat().st_mode & 0o777 == 0o600
    prepare_file(old, said.append)
    assert len(copies(old)) == 1


def test_failed_migration_leaves_the_file_unchanged(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema(db)
    broken = Migration(NEXT, "broken", "CREATE TABLE half (id INTEGER); DELETE FROM setup_key; SELECT nonsense;")
    every = [*list_migrations(), broken]
    monkeypatch.setattr(migrate, "list_migrations", lambda: every)
    with pytest.raises(UnusableFile, match="nonsense"):
        prepare_file(db)
    assert schema(db) == before
    assert value(db, "SELECT count(*) FROM setup_key") == ROWS
    assert value(db, "SELECT max(number) FROM migration") == NEXT - 1
    assert len(copies(db)) == 1


@pytest.mark.long
def test_newer_file_is_rejected_unchanged_by_every_command(db: Path) -> None:
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("INSERT INTO migration VALUES (?, 'of_the_future', 0)", (NEXT,))
    before = digest(db)
    owner = ["--email", "a@example.org", "--name", "A", "--company", "C", "--project", "P", "--password-stdin"]
    for command in (["serve", "--port", "0", "--no-open"], ["user", "list"], ["init", *owner], ["check"]):
        done = ticketbox(*command, db=db, stdin="a good long password")
        assert done.returncode == 1, command
        assert "the newer ticketbox that wrote it" in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        assert digest(db) == before
    assert copies(db) == []


def test_concurrent_migrations_both_succeed(db: Path) -> None:
    processes = [migrating(db) for _ in range(3)]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert value(db, "SELECT max(number) FROM migration") == NEXT


MIGRATE = """
import sys
from pathlib import Path
from ticketbox.store.file import migrate
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
            "SELECT max(number) FROM migration",
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

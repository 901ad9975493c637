"""The index of words: made for old files by its migration, and asked within a time limit."""

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ticketbox.domain.tickets.records import Status
from ticketbox.domain.tickets.search_query import parse_query
from ticketbox.store.core import blobs
from ticketbox.store.file import migrate
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.tickets.search import search, search_scope
from ticketbox.store.tickets.search.search import IndexQuery

VIEWER = {"user": 1, "credential": 1, "pinned": None, "restricted": False}
HOUSE = """
INSERT INTO user (id, public_id, email, name, created_at) VALUES (1, 'usr_1', 'a@b', 'Ann', 0);
INSERT INTO byline (id, user_id, via) VALUES (1, 1, 'web');
INSERT INTO company (id, public_id, name, created_at, created_by) VALUES (1, 'co_1', 'C', 0, 1);
INSERT INTO member (company_id, user_id, role, created_at, created_by) VALUES (1, 1, 3, 0, 1);
INSERT INTO project (id, public_id, company_id, name, created_at, created_by) VALUES (1, 'proj_1', 1, 'P', 0, 1);
INSERT INTO board_column (id, public_id, project_id, name, position) VALUES (1, 'col_1', 1, 'C', 0);
"""
TICKET = """
INSERT INTO ticket (id, public_id, project_id, column_id, position, title, description, created_at, created_by,
  updated_at, updated_by) VALUES (?, ?, 1, 1, ?, ?, ?, 0, 1, 0, 1)
"""


def ask(connection: sqlite3.Connection, q: str, limit: int = 10) -> tuple[list[int], bool]:
    """What a query finds for the one who sees everything."""
    tx = Read(connection, 0)
    query = parse_query(q, 0)
    homes = search_scope.list_visible_projects(tx, VIEWER)
    scope = search_scope.compose_scope(homes, (Status.ACTIVE,), query, {}, 0)
    question = IndexQuery(scope, (1,), search.expand_prefixes(tx, query.texts), query.periods, ())
    hits, whole = search.find_matches(tx, VIEWER, question, None, limit)
    return [each.key for each in hits], whole


def old_file(path: Path, monkeypatch: pytest.MonkeyPatch, errors: bytes) -> None:
    """A file from before the index, with a ticket that has a comment and a capture."""
    every = migrate.list_migrations()
    monkeypatch.setattr(migrate, "list_migrations", lambda: [each for each in every if each.number < 5])
    prepare_file(path)
    monkeypatch.setattr(migrate, "list_migrations", lambda: every)
    console = [{"seq": 1, "ts": 1, "level": "error", "args": ["quux exploded"]}]
    streams = {"console": json.dumps(console).encode(), "errors": errors, "other": b"[]"}
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(HOUSE)
        connection.execute(TICKET, (1, "t-000001", 0, "An old ticket", "about carts"))
        connection.execute("INSERT INTO comment (public_id, ticket_id, body, created_at, created_by) "
                           "VALUES ('cmt_1', 1, 'seen in Safari', 0, 1)")  # fmt: skip
        keys: dict[str, int] = {}
        for name, data in streams.items():
            packed = blobs.pack_content(data, compress=True)
            new = "INSERT INTO blob (sha256, encoding, bytes, data) VALUES (?, ?, ?, ?) RETURNING id"
            (keys[name],) = connection.execute(new, (packed.sha256, "zstd", packed.size, packed.data)).fetchone()
        if not errors:
            connection.execute("UPDATE blob SET data = x'00ff' WHERE id = ?", (keys["errors"],))
        connection.execute(
            "INSERT INTO capture (id, public_id, client_id, user_id, ticket_id, captured_at, page, environment, health,"
            " redaction, summary, excerpt, console, network, errors, created_at, created_by)"
            " VALUES (1, 'cap_1', 'x', 1, 1, 0, ?, '{}', '{}', '{}', '{}', ?, ?, ?, ?, 0, 1)",
            (json.dumps({"url": "https://shop.example/basket"}), keys["other"], keys["console"], keys["other"],
             keys["errors"]),
        )  # fmt: skip
        connection.execute("UPDATE ticket SET capture_id = 1")


def test_migration_builds_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"seq": 2, "ts": 1, "kind": "error", "name": "TypeError", "message": "cart is undefined"}
    old_file(tmp_path / "old.db", monkeypatch, json.dumps([error]).encode())
    prepare_file(tmp_path / "old.db")
    with contextlib.closing(connect(tmp_path / "old.db", writes=True)) as connection:
        for q in ("old", "carts", "safari", "error:TypeError", "error:quux", "page:basket", "has:capture", "t-000001"):
            assert ask(connection, q) == ([1], True), q
        prints = connection.execute("SELECT ticket_id, likeness, label FROM fingerprint ORDER BY likeness").fetchall()
        assert prints == [
            (1, "same_message", "TypeError: cart is undefined"),
            (1, "same_page", "shop.example/basket"),
        ]
        held = connection.execute("SELECT rowid, * FROM search").fetchall()
        assert held == connection.execute("SELECT * FROM searchable").fetchall()


def test_corrupt_stream_does_not_stop_a_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old_file(tmp_path / "old.db", monkeypatch, b"")
    prepare_file(tmp_path / "old.db")
    with contextlib.closing(connect(tmp_path / "old.db", writes=False)) as connection:
        assert ask(connection, "old error:quux") == ([1], True)


def test_long_migration_reports_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = migrate.list_migrations()
    monkeypatch.setattr(migrate, "list_migrations", lambda: [each for each in every if each.number < 5])
    prepare_file(tmp_path / "old.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as connection, connection:
        connection.executescript(HOUSE)
        connection.executemany(TICKET, [(n, f"t-{n:06}", n, "T", "") for n in range(1, 3001)])
    monkeypatch.setattr(migrate, "list_migrations", lambda: every)
    monkeypatch.setattr("ticketbox.store.file.migrations.functions.REPORT_SECONDS", 0)
    said: list[str] = []
    prepare_file(tmp_path / "old.db", said.append)
    assert "indexing tickets: 2,000 done" in said


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A file with many tickets that all have one word in common."""
    path = tmp_path_factory.mktemp("search") / "ticketbox.db"
    prepare_file(path)
    with contextlib.closing(connect(path, writes=True)) as connection:
        connection.executescript(HOUSE)
        connection.execute("BEGIN")
        rows = [(n, f"t-{n:06}", n, f"common rank{n % 50}" if n % 7 == 0 else "T", "common") for n in range(1, 4001)]
        connection.executemany(TICKET, rows)
        connection.execute("COMMIT")
        yield connection


def test_pages_cover_all_ranks_without_gap_or_repeat(filled: sqlite3.Connection) -> None:
    tx = Read(filled, 0)
    query = parse_query("common", 0)
    question = IndexQuery(
        search_scope.compose_scope(search_scope.list_visible_projects(tx, VIEWER), (Status.ACTIVE,), query, {}, 0),
        (1,),
        query.texts,
        (),
        (),
    )
    after: tuple[int, ...] | None = None
    keys: list[int] = []
    while True:
        hits, whole = search.find_matches(tx, VIEWER, question, after, 100)
        assert whole
        keys += [each.key for each in hits]
        if len(hits) < 100:
            break
        after = hits[-1].place
    newest = range(4000, 4000 - search.MAX_RANKED, -1)
    titled = [key for key in newest if key % 7 == 0]
    rest = [key for key in newest if key % 7]
    assert keys == [*titled, *rest, *range(4000 - search.MAX_RANKED, 0, -1)]


def test_search_that_takes_too_long_returns_what_it_has_and_says_so(
    filled: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(filled, "common updated:>2030-01-01") == ([], True)
    monkeypatch.setattr(search, "TIME_LIMIT_SECONDS", 0.002)
    hits, whole = ask(filled, "common", limit=4000)
    assert not whole
    assert 0 <= len(hits) < 4000
    assert filled.execute("SELECT count(*) FROM ticket").fetchone() == (4000,)  # the connection is as good as before


def test_time_limit_of_a_read_applies_during_and_after_a_search(filled: sqlite3.Connection) -> None:
    late = Read(filled, 0, lambda: True)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        late.fetch_until("SELECT count(*) FROM ticket a, ticket b", (), time.monotonic() + 60)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        late.fetch_all("SELECT count(*) FROM ticket a, ticket b")
    filled.set_progress_handler(None, 0)

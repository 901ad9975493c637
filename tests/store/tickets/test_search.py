"""The index of words, asked within a time limit."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator

import pytest

from ticketbox.domain.tickets.records import Status
from ticketbox.domain.tickets.search_query import parse_query
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

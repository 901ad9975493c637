"""Whatever is typed: parsed or refused, and nothing in it means anything to the index."""

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ticketbox.domain.core.problems import InvalidRequest
from ticketbox.domain.tickets.records import Status
from ticketbox.domain.tickets.search_filters import KEYS, TimeField
from ticketbox.domain.tickets.search_query import TimeTerm, parse_query
from ticketbox.store.file.connection import connect
from ticketbox.store.file.database import Read
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.tickets.search import search, search_scope
from ticketbox.store.tickets.search.search import IndexQuery
from ticketbox.store.tickets.search.search_scope import VisibleProject

NOW = 1_795_253_400_000
VIEWER = {"user": 1, "credential": 1, "pinned": None, "restricted": False}
WORDS = st.sampled_from(
    [*(f"{key}:" for key in KEYS), "AND", "OR", "NOT", "NEAR", '"', "-", "*", "(", ")", "{", "}", ":", "^", "+", ",",
     "title", "scope", "cart", "stays", "é", "日本", "\u0301", "..", ">", "2026-01-01", "7d", " ", "me", "''", ";"]
)  # fmt: skip
QUERIES = st.one_of(st.lists(WORDS, max_size=40).map("".join), st.lists(WORDS, max_size=20).map(" ".join), st.text())


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    """An index with one ticket in it."""
    with tempfile.TemporaryDirectory() as folder:
        prepare_file(Path(folder) / "ticketbox.db")
        with contextlib.closing(connect(Path(folder) / "ticketbox.db", writes=True)) as connection:
            connection.execute("INSERT INTO search (rowid, title, scope) VALUES (1, 'the cart stays', 'p1 sactive')")
            yield connection


@settings(deadline=None)  # a busy machine is slow at times
@given(QUERIES, st.booleans())
@example("cart\0", False)
@example('"the\0cart"', True)
def test_any_text_is_a_valid_index_query_or_rejected(index: sqlite3.Connection, text: str, typing: bool) -> None:
    try:
        query = parse_query(text, NOW, typing=typing)
    except InvalidRequest as problem:
        at = problem.extra.get("at")
        assert at is None or text[at.start : at.end] == at.text
        return
    tx = Read(index, NOW)
    homes = [VisibleProject(1, 1, "co_1", "proj_1", "P", 2)]
    scope = search_scope.compose_scope(homes, (Status.ACTIVE,), query, {}, NOW)
    question = IndexQuery(scope, (1,), search.expand_prefixes(tx, query.texts), query.periods, ())
    found, whole = search.find_matches(tx, VIEWER, question, None, 10)
    assert (found, whole) == ([], True)  # there is no such project to be seen
    for titled in (None, True, False) if question.words_in_any_field else (None,):
        index.execute("SELECT rowid FROM search(?)", (search.compose_expression(question, titled=titled),)).fetchall()


@settings(deadline=None)  # a busy machine is slow at times
@given(st.lists(st.sampled_from(["cart", "stays", "the", "CART", "Stáys"]), min_size=1, max_size=4))
def test_all_words_of_a_title_find_it_in_any_order(index: sqlite3.Connection, words: list[str]) -> None:
    query = parse_query(" ".join(words), NOW)
    question = IndexQuery('{scope} : ("p1")', (1,), query.texts, (), ())
    assert index.execute("SELECT rowid FROM search(?)", (search.compose_expression(question),)).fetchall() == [(1,)]


@settings(deadline=None)  # a busy machine is slow at times
@given(st.integers(0, NOW), st.integers(0, NOW))
def test_months_of_a_period_cover_every_moment(one: int, two: int) -> None:
    least, most = min(one, two), max(one, two) + 1
    found = set(search_scope.list_month_tokens(TimeTerm(TimeField.CREATED, least, most, negated=False), NOW))
    for at in (least, (least + most) // 2, most - 1):
        year, month = sqlite3.connect(":memory:").execute(
            "SELECT strftime('d%Y', :at / 1000, 'unixepoch'), strftime('d%Y%m', :at / 1000, 'unixepoch')", {"at": at}
        ).fetchone()  # fmt: skip
        assert {year, month} & found

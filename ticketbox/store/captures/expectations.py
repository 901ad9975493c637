"""Expectations of captures: what people say is wrong on a page (docs/use/reproduce.md)."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.expectations import SentExpectation, describe_expectation
from ticketbox.domain.captures.records import Expectation
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.tickets.records import ExpectedWords
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Write

_SELECT_EXPECTATION = """
SELECT e.public_id, c.public_id, e.content, e.words, c.captured_at, e.created_at, e.created_by,
  e.confirmed_at, e.confirmed_by
FROM expectation e JOIN capture c ON c.id = e.capture_id
"""
SELECT_EXPECTATIONS = f"{_SELECT_EXPECTATION} WHERE e.capture_id = ? ORDER BY e.id"
SELECT_EXPECTATION = f"{_SELECT_EXPECTATION} WHERE e.id = ?"


class _ExpectationRow(NamedTuple):
    """A row of `_SELECT_EXPECTATION`."""

    id: str
    capture_id: str
    content: str
    words: str
    captured_at: int
    created_at: int
    created_by: int
    confirmed_at: int | None
    confirmed_by: int | None


def list_expectations(tx: Read, capture: int) -> list[Expectation]:
    """List the expectations of a capture, oldest first."""
    return _build_expectations(tx, [_ExpectationRow(*row) for row in tx.fetch_all(SELECT_EXPECTATIONS, (capture,))])


def load_expectation(tx: Read, key: int) -> Expectation:
    """Load an expectation that exists."""
    return _build_expectations(tx, [_ExpectationRow(*row) for row in tx.fetch_all(SELECT_EXPECTATION, (key,))])[0]


def _build_expectations(tx: Read, rows: list[_ExpectationRow]) -> list[Expectation]:
    bylines = Bylines(tx, [key for row in rows for key in (row.created_by, row.confirmed_by)]) if rows else None
    return [_build_expectation(row, bylines) for row in rows if bylines is not None]


def _build_expectation(row: _ExpectationRow, bylines: Bylines) -> Expectation:
    sent = msgspec.json.decode(row.content, type=SentExpectation)
    return Expectation(
        id=row.id,
        capture_id=row.capture_id,
        is_=sent.is_,
        target=sent.target,
        frame=sent.frame,
        frame_path=sent.frame_path,
        name=sent.name,
        seen=sent.seen,
        right=sent.right,
        other=sent.other,
        shown=sent.shown,
        words=row.words,
        at=row.captured_at if sent.at is None else sent.at,
        by=bylines.build(row.created_by, row.created_at),
        confirmed=bylines.build_optional(row.confirmed_by, row.confirmed_at),
    )


INSERT_EXPECTATION = """
INSERT INTO expectation (public_id, capture_id, content, words, created_at, created_by, confirmed_at, confirmed_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_expectation(tx: Write, capture: int, sent: SentExpectation, byline: int, *, is_confirmed: bool) -> int:
    """Insert an expectation, and return its key."""
    content, words = msgspec.json.encode(sent).decode(), describe_expectation(sent)
    confirmed = (tx.now, byline) if is_confirmed else (None, None)
    public_id = generate_id(Prefix.EXPECTATION)
    key = tx.insert(INSERT_EXPECTATION, (public_id, capture, content, words, tx.now, byline, *confirmed))
    if is_confirmed:
        _set_confirmed(tx, capture)
    return key


def confirm_expectation(tx: Write, capture: int, key: int, byline: int) -> None:
    """Record who confirmed an expectation."""
    tx.execute("UPDATE expectation SET confirmed_at = ?, confirmed_by = ? WHERE id = ?", (tx.now, byline, key))
    _set_confirmed(tx, capture)


def delete_expectation(tx: Write, capture: int, key: int) -> None:
    """Delete an expectation."""
    tx.execute("DELETE FROM expectation WHERE id = ?", (key,))
    _set_confirmed(tx, capture)


def _set_confirmed(tx: Write, capture: int) -> None:
    """Let a capture be about its confirmed expectations."""
    confirmed = [ExpectedWords(each.id, each.words) for each in list_expectations(tx, capture) if each.confirmed]
    tx.execute("UPDATE capture SET expectations = ? WHERE id = ?", (encode_expected(confirmed), capture))


def encode_expected(listed: list[ExpectedWords]) -> str:
    """Write which expectations these are as it is stored: the same for the same ones."""
    return msgspec.json.encode(listed).decode()


def count_expectations(tx: Read, capture: int) -> int:
    """Count the expectations of a capture."""
    return tx.fetch_value("SELECT count(*) FROM expectation WHERE capture_id = ?", (capture,))


class Origin(NamedTuple):
    """The internal keys of the capture of an expectation, and of the user who added it."""

    capture: int
    user: int


SELECT_ORIGIN = """
SELECT e.capture_id, b.user_id FROM expectation e JOIN byline b ON b.id = e.created_by WHERE e.id = ?
"""


def load_origin(tx: Read, key: int) -> Origin:
    """Load the origin of an expectation that exists."""
    row = tx.fetch_one(SELECT_ORIGIN, (key,))
    assert row is not None
    return Origin._make(row)

"""Comments on tickets."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.tickets.records import Comment
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write

_SELECT_COMMENT = """
SELECT c.id, c.public_id, t.public_id, c.body, c.created_at, c.created_by, c.edited_at
FROM comment c JOIN ticket t ON t.id = c.ticket_id
"""


class _CommentRow(NamedTuple):
    """A row of `_SELECT_COMMENT`."""

    key: int
    id: str
    ticket_id: str
    body: str
    created_at: int
    created_by: int
    edited_at: int | None


SELECT_COMMENTS = f"{_SELECT_COMMENT} WHERE c.ticket_id = ? AND c.id > ? ORDER BY c.id LIMIT ?"
SELECT_COMMENT = f"{_SELECT_COMMENT} WHERE c.id = ?"


def list_comments(tx: Read, ticket: int, after: int, limit: int) -> list[tuple[int, Comment]]:
    """List a ticket's comments, oldest first, each with its key."""
    return _build_comments(tx, tx.fetch_all(SELECT_COMMENTS, (ticket, after, limit)))


SELECT_LAST_COMMENTS = f"{_SELECT_COMMENT} WHERE c.ticket_id = ? ORDER BY c.id DESC LIMIT ?"


def list_last_comments(tx: Read, ticket: int, limit: int) -> list[Comment]:
    """List a ticket's newest comments, oldest first."""
    return [
        comment for _, comment in reversed(_build_comments(tx, tx.fetch_all(SELECT_LAST_COMMENTS, (ticket, limit))))
    ]


def load_comment(tx: Read, key: int) -> Comment:
    """Load a comment that exists."""
    return _build_comments(tx, tx.fetch_all(SELECT_COMMENT, (key,)))[0][1]


def _build_comments(tx: Read, records: list[Row]) -> list[tuple[int, Comment]]:
    rows = [_CommentRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Comment(
                id=row.id,
                ticket_id=row.ticket_id,
                body=row.body,
                by=bylines.build(row.created_by, row.created_at),
                edited_at=None if row.edited_at is None else format_rfc3339(row.edited_at),
            ),
        )
        for row in rows
    ]


class CommentKeys(msgspec.Struct, frozen=True):
    """The internal keys of a comment's ticket and author."""

    ticket: int
    user: int


SELECT_KEYS = "SELECT c.ticket_id, b.user_id FROM comment c JOIN byline b ON b.id = c.created_by WHERE c.id = ?"


def load_comment_keys(tx: Read, key: int) -> CommentKeys:
    """Load the keys of a comment that exists."""
    row = tx.fetch_one(SELECT_KEYS, (key,))
    assert row is not None
    return CommentKeys(*row)


INSERT_COMMENT = "INSERT INTO comment (public_id, ticket_id, body, created_at, created_by) VALUES (?, ?, ?, ?, ?)"
UPDATE_COMMENT_COUNT = "UPDATE ticket SET comment_count = comment_count + ? WHERE id = ?"


def insert_comment(tx: Write, ticket: int, body: str, byline: int) -> int:
    """Insert a comment; return its key."""
    tx.execute(UPDATE_COMMENT_COUNT, (1, ticket))
    return tx.insert(INSERT_COMMENT, (generate_id(Prefix.COMMENT), ticket, body, tx.now, byline))


def update_comment(tx: Write, key: int, body: str) -> None:
    """Replace a comment's text."""
    tx.execute("UPDATE comment SET body = ?, edited_at = ? WHERE id = ?", (body, tx.now, key))


def delete_comment(tx: Write, key: int, ticket: int) -> None:
    """Delete a comment."""
    tx.execute(UPDATE_COMMENT_COUNT, (-1, ticket))
    tx.execute("DELETE FROM comment WHERE id = ?", (key,))

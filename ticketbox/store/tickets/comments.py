"""Comments on tickets."""

import msgspec

from ticketbox.domain.core.clock import rfc3339
from ticketbox.domain.core.ids import Prefix, new_id
from ticketbox.domain.tickets.records import Comment
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.file.database import Read, Row, Write

_COMMENT = """
SELECT c.id, c.public_id, t.public_id, c.body, c.created_at, c.created_by, c.edited_at
FROM comment c JOIN ticket t ON t.id = c.ticket_id
"""
OF_TICKET = f"{_COMMENT} WHERE c.ticket_id = ? AND c.id > ? ORDER BY c.id LIMIT ?"
GET = f"{_COMMENT} WHERE c.id = ?"


def of_ticket(tx: Read, ticket: int, after: int, limit: int) -> list[tuple[int, Comment]]:
    """A ticket's comments, oldest first, each with its key."""
    return _comments(tx, tx.all(OF_TICKET, (ticket, after, limit)))


def get(tx: Read, key: int) -> Comment:
    """A comment that exists."""
    return _comments(tx, tx.all(GET, (key,)))[0][1]


def _comments(tx: Read, rows: list[Row]) -> list[tuple[int, Comment]]:
    bylines = Bylines(tx, [row[5] for row in rows])
    return [
        (
            row[0],
            Comment(
                id=row[1],
                ticket_id=row[2],
                body=row[3],
                by=bylines.by(row[5], row[4]),
                edited_at=None if row[6] is None else rfc3339(row[6]),
            ),
        )
        for row in rows
    ]


class Place(msgspec.Struct, frozen=True):
    """Where a comment stands and whose it is. Keys are internal."""

    ticket: int
    user: int


PLACE = "SELECT c.ticket_id, b.user_id FROM comment c JOIN byline b ON b.id = c.created_by WHERE c.id = ?"


def place(tx: Read, key: int) -> Place:
    """The ticket and the author of a comment that exists."""
    row = tx.one(PLACE, (key,))
    assert row is not None
    return Place(*row)


ADD = "INSERT INTO comment (public_id, ticket_id, body, created_at, created_by) VALUES (?, ?, ?, ?, ?)"
COUNT = "UPDATE ticket SET comment_count = comment_count + ? WHERE id = ?"


def add(tx: Write, ticket: int, body: str, byline: int) -> int:
    """Store a comment; returns its key."""
    tx.run(COUNT, (1, ticket))
    return tx.insert(ADD, (new_id(Prefix.COMMENT), ticket, body, tx.now, byline))


def edit(tx: Write, key: int, body: str) -> None:
    """Replace a comment's text."""
    tx.run("UPDATE comment SET body = ?, edited_at = ? WHERE id = ?", (body, tx.now, key))


def delete(tx: Write, key: int, ticket: int) -> None:
    """Remove a comment."""
    tx.run(COUNT, (-1, ticket))
    tx.run("DELETE FROM comment WHERE id = ?", (key,))

"""Columns of boards, in their order."""

from ticketbox.domain.companies.records import Column
from ticketbox.domain.core.ids import Prefix, new_id
from ticketbox.store.file.database import Read, Row, Write

_COLUMN = """
SELECT c.id, c.public_id, p.public_id, c.name, c.position
FROM board_column c JOIN project p ON p.id = c.project_id
"""
OF_PROJECT = f"{_COLUMN} WHERE c.project_id = ? ORDER BY c.position"
GET = f"{_COLUMN} WHERE c.id = ?"


def of_project(tx: Read, project: int) -> list[tuple[int, Column]]:
    """A project's columns from left to right, each with its key."""
    return [(row[0], _column(row)) for row in tx.all(OF_PROJECT, (project,))]


def get(tx: Read, key: int) -> Column:
    """A column that exists."""
    row = tx.one(GET, (key,))
    assert row is not None
    return _column(row)


def _column(row: Row) -> Column:
    return Column(id=row[1], project_id=row[2], name=row[3], position=row[4])


FIRST = "SELECT id FROM board_column WHERE project_id = ? ORDER BY position LIMIT 1"


def first(tx: Read, project: int) -> int | None:
    """The key of a project's first column."""
    return tx.value(FIRST, (project,))


def public_id(tx: Read, key: int) -> str:
    """The public id of a column that exists."""
    return tx.value("SELECT public_id FROM board_column WHERE id = ?", (key,))


COMPANY_OF = """
SELECT p.company_id FROM board_column c JOIN project p ON p.id = c.project_id WHERE c.public_id = ?
"""


def company_of(tx: Read, public_id: str) -> int | None:
    """The key of the company that a column belongs to, whoever asks; None for an unknown column."""
    return tx.value(COMPANY_OF, (public_id,))


ADD = "INSERT INTO board_column (public_id, project_id, name, position) VALUES (?, ?, ?, ?)"


def add(tx: Write, project: int, name: str, position: int | None = None) -> int:
    """Store a column at a place from 0, or at the right end; returns its key."""
    order = [key for key, _ in of_project(tx, project)]
    key = tx.insert(ADD, (new_id(Prefix.COLUMN), project, name, len(order)))
    order.insert(len(order) if position is None else position, key)
    _number(tx, order)
    return key


def edit(tx: Write, key: int, project: int, name: str | None, position: int | None) -> None:
    """Rename a column, or put it at another place from 0."""
    if name is not None:
        tx.run("UPDATE board_column SET name = ? WHERE id = ?", (name, key))
    if position is not None:
        order = [other for other, _ in of_project(tx, project) if other != key]
        order.insert(position, key)
        _number(tx, order)


def delete(tx: Write, key: int, project: int) -> None:
    """Remove a column. Archived tickets that left it forget it."""
    tx.run("DELETE FROM board_column WHERE id = ?", (key,))
    _number(tx, [other for other, _ in of_project(tx, project)])


def _number(tx: Write, order: list[int]) -> None:
    tx.many("UPDATE board_column SET position = ? WHERE id = ?", list(enumerate(order)))


HOLDS = "SELECT id FROM ticket WHERE column_id = ? AND status = 'active' ORDER BY position, id"


def held(tx: Read, key: int) -> list[int]:
    """The keys of the active tickets in a column, in their order."""
    return [row[0] for row in tx.all(HOLDS, (key,))]

"""Columns of boards, in order."""

from typing import NamedTuple

from ticketbox.domain.companies.records import Column, ColumnKind
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.file.database import Read, Write

_SELECT_COLUMN = """
SELECT c.id, c.public_id, p.public_id, c.name, c.position, c.kind
FROM board_column c JOIN project p ON p.id = c.project_id
"""


_kinds = {kind.value: kind for kind in ColumnKind}


class _ColumnRow(NamedTuple):
    """A row of `_SELECT_COLUMN`."""

    key: int
    id: str
    project_id: str
    name: str
    position: int
    kind: str


SELECT_COLUMNS = f"{_SELECT_COLUMN} WHERE c.project_id = ? ORDER BY c.position"
SELECT_COLUMN = f"{_SELECT_COLUMN} WHERE c.id = ?"


def list_columns(tx: Read, project: int) -> list[tuple[int, Column]]:
    """List a project's columns from left to right, each with its key."""
    return [(row.key, _build_column(row)) for row in map(_ColumnRow._make, tx.fetch_all(SELECT_COLUMNS, (project,)))]


def load_column(tx: Read, key: int) -> Column:
    """Load a column that exists."""
    row = tx.fetch_one(SELECT_COLUMN, (key,))
    assert row is not None
    return _build_column(_ColumnRow._make(row))


def _build_column(row: _ColumnRow) -> Column:
    return Column(id=row.id, project_id=row.project_id, name=row.name, position=row.position, kind=_kinds[row.kind])


SELECT_FIRST_COLUMN = "SELECT id FROM board_column WHERE project_id = ? ORDER BY position LIMIT 1"


def find_first_column(tx: Read, project: int) -> int | None:
    """Find the key of a project's first column."""
    return tx.fetch_value(SELECT_FIRST_COLUMN, (project,))


SELECT_FIRST_OF_KIND = "SELECT id FROM board_column WHERE project_id = ? AND kind = ? ORDER BY position LIMIT 1"


def find_first_of_kind(tx: Read, project: int, kind: ColumnKind) -> int | None:
    """Find the key of a project's first column of a kind."""
    return tx.fetch_value(SELECT_FIRST_OF_KIND, (project, kind.value))


def load_kind(tx: Read, key: int) -> ColumnKind:
    """Load the kind of a column that exists."""
    return _kinds[tx.fetch_value("SELECT kind FROM board_column WHERE id = ?", (key,))]


def load_column_id(tx: Read, key: int) -> str:
    """Load the public id of a column that exists."""
    return tx.fetch_value("SELECT public_id FROM board_column WHERE id = ?", (key,))


SELECT_COMPANY_KEY = """
SELECT p.company_id FROM board_column c JOIN project p ON p.id = c.project_id WHERE c.public_id = ?
"""


def find_company_of_column(tx: Read, public_id: str) -> int | None:
    """Find the key of a column's company, regardless of the caller; None for an unknown column."""
    return tx.fetch_value(SELECT_COMPANY_KEY, (public_id,))


INSERT_COLUMN = "INSERT INTO board_column (public_id, project_id, name, kind, position) VALUES (?, ?, ?, ?, ?)"


def insert_column(tx: Write, project: int, name: str, kind: ColumnKind, position: int | None = None) -> int:
    """Insert a column at a position from 0, or at the right end; return its key."""
    order = [key for key, _ in list_columns(tx, project)]
    key = tx.insert(INSERT_COLUMN, (generate_id(Prefix.COLUMN), project, name, kind.value, len(order)))
    order.insert(len(order) if position is None else position, key)
    _renumber_columns(tx, order)
    return key


def update_column(
    tx: Write, key: int, project: int, *, name: str | None, kind: ColumnKind | None, position: int | None
) -> None:
    """Rename a column, change its kind, or move it to another position from 0."""
    if name is not None:
        tx.execute("UPDATE board_column SET name = ? WHERE id = ?", (name, key))
    if kind is not None:
        tx.execute("UPDATE board_column SET kind = ? WHERE id = ?", (kind.value, key))
    if position is not None:
        order = [other for other, _ in list_columns(tx, project) if other != key]
        order.insert(position, key)
        _renumber_columns(tx, order)


def delete_column(tx: Write, key: int, project: int) -> None:
    """Delete a column. Archived tickets lose their reference to it."""
    tx.execute("DELETE FROM board_column WHERE id = ?", (key,))
    _renumber_columns(tx, [other for other, _ in list_columns(tx, project)])


def _renumber_columns(tx: Write, order: list[int]) -> None:
    tx.execute_many("UPDATE board_column SET position = ? WHERE id = ?", list(enumerate(order)))


SELECT_ACTIVE_TICKETS = "SELECT id FROM ticket WHERE column_id = ? AND status = 'active' ORDER BY position, id"


def list_active_tickets(tx: Read, key: int) -> list[int]:
    """List the keys of a column's active tickets, in order."""
    return [row[0] for row in tx.fetch_all(SELECT_ACTIVE_TICKETS, (key,))]

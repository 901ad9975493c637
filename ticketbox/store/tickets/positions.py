"""Where tickets stand in their columns: figures with gaps, so that a move rarely has to renumber."""

from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets.tickets import State, state

GAP = 1 << 20

IN_COLUMN = "SELECT id FROM ticket WHERE public_id = ? AND column_id = ? AND status = 'active'"


def in_column(tx: Read, column: int, public_id: str) -> State | None:
    """An active ticket, if it stands in the column."""
    key = tx.value(IN_COLUMN, (public_id, column))
    return None if key is None else state(tx, key)


def place(tx: Write, key: int, project: int, column: int, position: int) -> None:
    """Put a ticket at a place in a column, of its own project or another."""
    tx.run(
        "UPDATE ticket SET project_id = ?, column_id = ?, position = ? WHERE id = ?",
        (project, column, position, key),
    )


LAST = "SELECT max(position) FROM ticket WHERE column_id = ?1 AND status IN ('active', 'archived')"


def end_of(tx: Read, column: int) -> int:
    """The position after the last ticket of a column."""
    last = tx.value(LAST, (column,))
    return GAP if last is None else last + GAP


NEXT = """
SELECT min(position) FROM ticket
WHERE column_id = ? AND status IN ('active', 'archived') AND position > ? AND id <> ?
"""
PREVIOUS = """
SELECT max(position) FROM ticket
WHERE column_id = ? AND status IN ('active', 'archived') AND position < ? AND id <> ?
"""


def beside(tx: Write, column: int, neighbour: State, moved: int, *, after: bool) -> int:
    """A free position right before or after a neighbour in the column; makes room where there is none."""
    anchor = neighbour.position
    other = tx.value(NEXT if after else PREVIOUS, (column, anchor, moved))
    if other is None:
        return anchor + GAP if after else anchor - GAP
    middle = (anchor + other) // 2
    if middle not in {anchor, other}:
        return middle
    _spread(tx, column)
    return beside(tx, column, state(tx, neighbour.key), moved, after=after)


SPREAD = """
UPDATE ticket SET position = n.place * :gap
FROM (SELECT id, row_number() OVER (ORDER BY position, id) AS place FROM ticket WHERE column_id = :column) n
WHERE ticket.id = n.id
"""


def _spread(tx: Write, column: int) -> None:
    tx.run(SPREAD, {"column": column, "gap": GAP})

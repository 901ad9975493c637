"""Positions of tickets in their columns: numbers with gaps, so that a move rarely has to renumber."""

from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets.tickets import RESOLVED_BY_COLUMN, TicketState, allocate_number, load_state

GAP = 1 << 20

SELECT_ACTIVE_IN_COLUMN = "SELECT id FROM ticket WHERE public_id = ? AND column_id = ? AND status = 'active'"


def find_in_column(tx: Read, column: int, public_id: str) -> TicketState | None:
    """Find an active ticket in a column."""
    key = tx.fetch_value(SELECT_ACTIVE_IN_COLUMN, (public_id, column))
    return None if key is None else load_state(tx, key)


KEEP_NUMBER = """
INSERT INTO ticket_number_alias (project_id, number, ticket_id)
SELECT project_id, number, id FROM ticket WHERE id = :key AND project_id <> :project
"""
PLACE_TICKET = f"""
UPDATE ticket SET project_id = :project, column_id = :column, position = :position,
  number = ifnull(:number, number), resolved = {RESOLVED_BY_COLUMN}
WHERE id = :key RETURNING resolved
"""


def place_ticket(tx: Write, key: int, project: int, column: int, position: int) -> bool:
    """Move a ticket to a position in a column of any project. Return whether it is resolved there.

    In another project it gets a new number; its old one keeps referring to it.
    """
    number = allocate_number(tx, project) if tx.execute(KEEP_NUMBER, {"project": project, "key": key}) else None
    given = {"project": project, "column": column, "position": position, "number": number, "key": key}
    return bool(tx.fetch_value(PLACE_TICKET, given))


SELECT_LAST_POSITION = "SELECT max(position) FROM ticket WHERE column_id = ?1 AND status IN ('active', 'archived')"


SELECT_FIRST_POSITION = "SELECT min(position) FROM ticket WHERE column_id = ?1 AND status IN ('active', 'archived')"


def find_top_position(tx: Read, column: int) -> int:
    """Return the position before a column's first ticket."""
    first = tx.fetch_value(SELECT_FIRST_POSITION, (column,))
    return GAP if first is None else first - GAP


def is_on_top(tx: Read, column: int, key: int) -> bool:
    """Whether a ticket is the first of a column."""
    return tx.fetch_value(SELECT_TOP, (column,)) == key


SELECT_TOP = """
SELECT id FROM ticket WHERE column_id = ? AND status = 'active' ORDER BY position, id LIMIT 1
"""


def find_end_position(tx: Read, column: int) -> int:
    """Return the position after a column's last ticket."""
    last = tx.fetch_value(SELECT_LAST_POSITION, (column,))
    return GAP if last is None else last + GAP


SELECT_NEXT_POSITION = """
SELECT min(position) FROM ticket
WHERE column_id = ? AND status IN ('active', 'archived') AND position > ? AND id <> ?
"""
SELECT_PREVIOUS_POSITION = """
SELECT max(position) FROM ticket
WHERE column_id = ? AND status IN ('active', 'archived') AND position < ? AND id <> ?
"""


def allocate_position(tx: Write, column: int, neighbour: TicketState, moved: int, *, after: bool) -> int:
    """Return a free position next to a neighbour in the column; renumber the column if there is none."""
    anchor = neighbour.position
    other = tx.fetch_value(SELECT_NEXT_POSITION if after else SELECT_PREVIOUS_POSITION, (column, anchor, moved))
    if other is None:
        return anchor + GAP if after else anchor - GAP
    middle = (anchor + other) // 2
    if middle not in {anchor, other}:
        return middle
    _renumber_column(tx, column)
    return allocate_position(tx, column, load_state(tx, neighbour.key), moved, after=after)


RENUMBER_COLUMN = """
UPDATE ticket SET position = n.place * :gap
FROM (SELECT id, row_number() OVER (ORDER BY position, id) AS place FROM ticket WHERE column_id = :column) n
WHERE ticket.id = n.id
"""


def _renumber_column(tx: Write, column: int) -> None:
    tx.execute(RENUMBER_COLUMN, {"column": column, "gap": GAP})

"""Tickets: insert, update, archive and restore them."""

from typing import Any

import msgspec

from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.tickets.fields import convert_to_columns
from ticketbox.domain.tickets.records import Priority, Status
from ticketbox.store.core.updates import update_columns
from ticketbox.store.file.database import Read, Write

_statuses = {status.value: status for status in Status}


class TicketState(msgspec.Struct, frozen=True):
    """The fields of a ticket that a write checks or changes. Keys are internal."""

    key: int
    id: str
    project: int
    column: int | None
    position: int
    status: Status
    resolved: bool
    version: int
    branch: str | None
    title: str
    source_url: str | None

    @property
    def is_archived(self) -> bool:
        """Whether the ticket is archived."""
        return self.status is Status.ARCHIVED


SELECT_STATE = """
SELECT public_id, project_id, column_id, position, status, resolved, version, branch, title, source_url
FROM ticket WHERE id = ?
"""


def load_state(tx: Read, key: int) -> TicketState:
    """Load the state of a ticket that exists."""
    row = tx.fetch_one(SELECT_STATE, (key,))
    assert row is not None
    id_, project, column, position, status, resolved, *rest = row
    return TicketState(key, id_, project, column, position, _statuses[status], bool(resolved), *rest)


class NewTicket(msgspec.Struct, frozen=True):
    """The fields of a new ticket. Keys are internal."""

    project: int
    column: int
    position: int
    title: str
    description: str
    priority: Priority
    labels: list[str]
    source_url: str | None
    branch: str | None = None
    due_on: str | None = None


ALLOCATE_NUMBER = "UPDATE project SET next_number = next_number + 1 WHERE id = ? RETURNING next_number - 1"


def allocate_number(tx: Write, project: int) -> int:
    """Return the number of a project's next ticket. A number is never allocated twice."""
    return tx.fetch_value(ALLOCATE_NUMBER, (project,))


RESOLVED_IN_COLUMN = "(SELECT kind = 'done' FROM board_column WHERE id = :column_id)"


def insert_ticket(tx: Write, new: NewTicket, byline: int) -> tuple[int, str]:
    """Insert a ticket; return its key and its public id. In a column of kind `done`, it is resolved."""
    public_id = generate_id(Prefix.TICKET)
    columns = {
        "public_id": public_id,
        "project_id": new.project,
        "number": allocate_number(tx, new.project),
        "column_id": new.column,
        "position": new.position,
        "created_at": tx.now,
        "created_by": byline,
        "updated_at": tx.now,
        "updated_by": byline,
        **convert_to_columns(msgspec.structs.asdict(new)),
    }
    names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    key = tx.insert(f"INSERT INTO ticket ({names}, resolved) VALUES ({values}, {RESOLVED_IN_COLUMN})", columns)
    _index_labels(tx, key, new.labels)
    return key, public_id


def update_ticket(tx: Write, key: int, **changes: Any) -> None:
    """Set fields of a ticket (domain/tickets/fields.py)."""
    update_columns(tx, "ticket", key, **convert_to_columns(changes))
    if "labels" in changes:
        tx.execute("DELETE FROM ticket_label WHERE ticket_id = ?", (key,))
        _index_labels(tx, key, changes["labels"])


def _index_labels(tx: Write, key: int, labels: list[str]) -> None:
    if labels:
        tx.execute_many("INSERT INTO ticket_label (label, ticket_id) VALUES (?, ?)", [(label, key) for label in labels])


SELECT_OTHERWISE_RESOLVED = "SELECT id FROM ticket WHERE column_id = ? AND resolved <> ? ORDER BY id"


def resolve_column(tx: Write, column: int, *, resolved: bool) -> list[int]:
    """Mark all tickets of a column resolved or unresolved; return the keys of those that weren't."""
    keys = [row[0] for row in tx.fetch_all(SELECT_OTHERWISE_RESOLVED, (column, resolved))]
    tx.execute_many("UPDATE ticket SET resolved = ? WHERE id = ?", [(resolved, key) for key in keys])
    return keys


INCREMENT_VERSION = "UPDATE ticket SET version = version + 1, updated_at = ?, updated_by = ? WHERE id = ?"


def mark_updated(tx: Write, key: int, byline: int) -> None:
    """Record a change of a ticket: increment its version, set when and by whom it was updated."""
    tx.execute(INCREMENT_VERSION, (tx.now, byline, key))


COUNT_OCCURRENCE = "UPDATE ticket SET occurrences = occurrences + 1 WHERE id = ? RETURNING occurrences"


def count_occurrence(tx: Write, key: int) -> int:
    """Count an occurrence of a ticket's bug; return how many there are."""
    row = tx.fetch_one(COUNT_OCCURRENCE, (key,))
    assert row is not None
    return row[0]


ARCHIVE_TICKET = """
UPDATE ticket SET status = 'archived', archived_at = ?, archived_by = ? WHERE id = ?
"""


def archive_ticket(tx: Write, key: int, byline: int) -> None:
    """Archive a ticket. It keeps its column and position."""
    tx.execute(ARCHIVE_TICKET, (tx.now, byline, key))


# What `resolved` becomes when a ticket moves to :column. Without a column of kind `done` in its project, a ticket can
# be resolved anywhere, and stays so.
RESOLVED_BY_COLUMN = """
CASE
  WHEN ticket.column_id IS :column THEN ticket.resolved
  WHEN (SELECT c.kind FROM board_column c WHERE c.id = :column) = 'done' THEN 1
  WHEN EXISTS (SELECT 1 FROM board_column c WHERE c.kind = 'done' AND (
    c.id = ticket.column_id
    OR c.project_id = (SELECT target.project_id FROM board_column target WHERE target.id = :column))) THEN 0
  ELSE ticket.resolved
END
"""

RESTORE_TICKET = f"""
UPDATE ticket SET status = 'active', archived_at = NULL, archived_by = NULL, column_id = :column,
  position = :position, resolved = {RESOLVED_BY_COLUMN}
WHERE id = :key
"""


def restore_ticket(tx: Write, key: int, column: int, position: int) -> None:
    """Put an archived ticket back on its board. Its `resolved` follows the column."""
    tx.execute(RESTORE_TICKET, {"column": column, "position": position, "key": key})


def set_branch(tx: Write, key: int, branch: str) -> None:
    """Record the git branch of a ticket."""
    tx.execute("UPDATE ticket SET branch = ? WHERE id = ?", (branch, key))


# Answers that are stored for retries contain the ticket; its creator and its commenters have them.
DELETE_ANSWERS = """
DELETE FROM idempotency
WHERE credential_id IN (
    SELECT b.credential_id FROM ticket t JOIN byline b ON b.id = t.created_by WHERE t.id = :key
    UNION SELECT b.credential_id FROM comment c JOIN byline b ON b.id = c.created_by WHERE c.ticket_id = :key)
  AND instr(answer, CAST(:id AS BLOB))
"""


def delete_ticket(tx: Write, key: int, public_id: str) -> None:
    """Delete a ticket with its comments, links, work sessions, history, and stored answers about it."""
    tx.execute(DELETE_ANSWERS, {"key": key, "id": public_id})
    tx.execute("DELETE FROM event WHERE ticket_id = ?", (key,))
    tx.execute("DELETE FROM ticket WHERE id = ?", (key,))
    tx.destroys = tx.deletes_words = True

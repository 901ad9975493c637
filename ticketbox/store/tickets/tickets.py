"""Tickets: load, insert, update, archive and claim them."""

from collections.abc import Callable, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.core.records import Person
from ticketbox.domain.tickets.records import PRIORITIES, CaptureSummary, Claim, Priority, Status, Ticket
from ticketbox.domain.tickets.work import WorkState
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Row, Write
from ticketbox.store.tickets import assignments

_labels = msgspec.json.Decoder(list[str])
_summary = msgspec.json.Decoder(CaptureSummary)
_statuses = {status.value: status for status in Status}
_work_states = {state.value: state for state in WorkState}

# Each column of a ticket's row, by name: rows are read through `get_fields`, never by a number.
_COLUMNS = {
    "key": "t.id", "id": "t.public_id", "project_key": "v.key", "number": "t.number",
    "company_id": "v.company_id", "project_id": "v.public_id", "project": "v.name",
    "column_id": "c.public_id", "column": "c.name", "position": "t.position",
    "title": "t.title", "description": "t.description",
    "status": "t.status", "resolved": "t.resolved", "priority": "t.priority", "labels": "t.labels",
    "branch": "t.branch", "claimed_by": "t.claimed_by", "claimed_at": "t.claimed_at",
    "claimed_until": "t.claimed_until", "run": "w.run", "session_id": "w.public_id", "session_state": "w.state",
    "source_url": "t.source_url", "capture_summary": "k.summary",
    "comment_count": "t.comment_count", "version": "t.version", "created_at": "t.created_at",
    "created_by": "t.created_by", "updated_at": "t.updated_at", "updated_by": "t.updated_by",
    "archived_at": "t.archived_at", "archived_by": "t.archived_by",
}  # fmt: skip
TICKET_COLUMNS = ", ".join(_COLUMNS.values())
TICKET_JOINS = """
LEFT JOIN board_column c ON c.id = t.column_id
LEFT JOIN capture k ON k.id = t.capture_id
LEFT JOIN work_session w ON w.ticket_id = t.id AND w.ended_at IS NULL
"""


def get_fields(*names: str) -> Callable[[Row], Any]:
    """Return a function that gets these fields of a row of TICKET_COLUMNS: a value, or a tuple of several.

    An object for each row would make a list of 50 tickets 9 % slower.
    """
    order = list(_COLUMNS)
    return itemgetter(*map(order.index, names))


_get_key = get_fields("key")
_get_writers = get_fields("claimed_by", "created_by", "updated_by", "archived_by")


def build_tickets(tx: Read, rows: list[Row]) -> list[Ticket]:
    """Build tickets from rows of TICKET_COLUMNS, with their bylines and assignees."""
    bylines = Bylines(tx, chain.from_iterable(map(_get_writers, rows)))
    assigned = assignments.list_assignees_of_tickets(tx, list(map(_get_key, rows)))
    return [_build_ticket(row, bylines, assigned, tx.now, f"{tx.public_url}/tickets/") for row in rows]


def _build_ticket(row: Row, bylines: Bylines, assigned: Mapping[int, list[Person]], now: int, base: str) -> Ticket:
    (
        key, public_id, project_key, number, company, project, project_name,
        column, column_name, position, title, description, status,
        resolved, priority, labels, branch, claimed_by, claimed_at, claimed_until,
        run, session_id, session_state, source_url, summary, comments, version, created_at, created_by,
        updated_at, updated_by, archived_at, archived_by,
    ) = row  # fmt: skip
    claim = None
    if claimed_until is not None and claimed_until > now:
        claim = Claim(
            bylines.build(claimed_by, claimed_at),
            format_rfc3339(claimed_until),
            run,
            session_id,
            _work_states[session_state],
        )
    # By position, in the record's order: keywords cost as much as all the rest for a page of tickets.
    return Ticket(
        public_id,
        f"{project_key}-{number}",
        number,
        base + public_id,
        company,
        project,
        project_name,
        column,
        column_name,
        position,
        title,
        description,
        _statuses[status],
        bool(resolved),
        PRIORITIES[int(priority)],
        _labels.decode(labels),
        assigned.get(key, []),
        branch,
        claim,
        source_url,
        None if summary is None else _summary.decode(summary),
        comments,
        version,
        bylines.build(created_by, created_at),
        bylines.build(updated_by, updated_at),
        bylines.build_optional(archived_by, archived_at),
    )


SELECT_TICKET = f"""
{WITH_VISIBLE_PROJECTS}
SELECT {TICKET_COLUMNS} FROM ticket t JOIN visible_project v ON v.id = t.project_id {TICKET_JOINS}
WHERE t.public_id = :id AND v.within AND (:status IS NULL OR t.status = :status)
"""


def find_ticket(tx: Read, viewer: Viewer, public_id: str, status: Status | None) -> tuple[int, Ticket] | None:
    """Find a ticket that the viewer sees, with its key; `status` None means any."""
    row = tx.fetch_one(SELECT_TICKET, {**viewer, "id": public_id, "status": status and status.value})
    return None if row is None else (_get_key(row), build_tickets(tx, [row])[0])


SELECT_TICKETS_BY_KEYS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT {TICKET_COLUMNS} FROM json_each(:keys) j CROSS JOIN ticket t ON t.id = j.value
CROSS JOIN visible_project v ON v.id = t.project_id {TICKET_JOINS}
WHERE v.within ORDER BY j.key
"""


def list_tickets_by_keys(tx: Read, viewer: Viewer, keys: list[int]) -> list[Ticket]:
    """List the tickets with these keys, in the order of the keys, as far as the viewer sees them."""
    rows = tx.fetch_all(SELECT_TICKETS_BY_KEYS, {**viewer, "keys": msgspec.json.encode(keys).decode()})
    return build_tickets(tx, rows)


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

    @property
    def is_archived(self) -> bool:
        """Whether the ticket is archived."""
        return self.status is Status.ARCHIVED


SELECT_STATE = """
SELECT public_id, project_id, column_id, position, status, resolved, version, branch, title
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


INSERT_TICKET = """
INSERT INTO ticket (public_id, project_id, column_id, position, title, description, priority, labels, branch,
  source_url, created_at, created_by, updated_at, updated_by, number, resolved)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
  (SELECT kind = 'done' FROM board_column WHERE id = ?3))
"""


ALLOCATE_NUMBER = "UPDATE project SET next_number = next_number + 1 WHERE id = ? RETURNING next_number - 1"


def allocate_number(tx: Write, project: int) -> int:
    """Return the number of a project's next ticket. A number is never allocated twice."""
    return tx.fetch_value(ALLOCATE_NUMBER, (project,))


def insert_ticket(tx: Write, new: NewTicket, byline: int) -> tuple[int, str]:
    """Insert a ticket; return its key and its public id. In a column of kind `done`, it is resolved."""
    public_id = generate_id(Prefix.TICKET)
    labels = msgspec.json.encode(new.labels).decode()
    key = tx.insert(
        INSERT_TICKET,
        (public_id, new.project, new.column, new.position, new.title, new.description,
         PRIORITIES.index(new.priority), labels, new.branch, new.source_url, tx.now, byline, tx.now, byline,
         allocate_number(tx, new.project)),
    )  # fmt: skip
    _index_labels(tx, key, new.labels)
    return key, public_id


def set_labels(tx: Write, key: int, labels: list[str]) -> None:
    """Replace a ticket's labels."""
    tx.execute("UPDATE ticket SET labels = ? WHERE id = ?", (msgspec.json.encode(labels).decode(), key))
    tx.execute("DELETE FROM ticket_label WHERE ticket_id = ?", (key,))
    _index_labels(tx, key, labels)


def _index_labels(tx: Write, key: int, labels: list[str]) -> None:
    if labels:
        tx.execute_many("INSERT INTO ticket_label (label, ticket_id) VALUES (?, ?)", [(label, key) for label in labels])


class TicketChanges(msgspec.Struct, frozen=True):
    """New values of a ticket's plain fields; UNSET keeps the stored value."""

    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


def update_ticket(tx: Write, key: int, changes: TicketChanges) -> None:
    """Update the plain fields that are set."""
    rank = UNSET if changes.priority is UNSET else PRIORITIES.index(changes.priority)
    update_columns(
        tx,
        "ticket",
        key,
        title=changes.title,
        description=changes.description,
        priority=rank,
        resolved=changes.resolved,
    )


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


CLAIM_TICKET = """
UPDATE ticket SET claimed_by = :by, claimed_at = :at, claimed_until = :until, branch = :branch WHERE id = :key
"""
EXTEND_CLAIM = "UPDATE ticket SET claimed_until = ? WHERE id = ?"
RELEASE_CLAIM = "UPDATE ticket SET claimed_by = NULL, claimed_at = NULL, claimed_until = NULL WHERE id = ?"


def claim_ticket(tx: Write, key: int, byline: int, until: int, branch: str) -> None:
    """Record who works on a ticket, until when, and on which branch: a copy of its open work session, for lists."""
    tx.execute(CLAIM_TICKET, {"key": key, "by": byline, "at": tx.now, "until": until, "branch": branch})


def extend_claim(tx: Write, key: int, until: int) -> None:
    """Change the end of a ticket's claim."""
    tx.execute(EXTEND_CLAIM, (until, key))


def set_branch(tx: Write, key: int, branch: str) -> None:
    """Record the git branch of a ticket."""
    tx.execute("UPDATE ticket SET branch = ? WHERE id = ?", (branch, key))


def release_claim(tx: Write, key: int) -> None:
    """Release the claim on a ticket; the branch stays recorded."""
    tx.execute(RELEASE_CLAIM, (key,))

"""Tickets as everybody sees them: their columns, and how rows become records."""

from collections.abc import Callable, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.records import Person
from ticketbox.domain.tickets.records import (
    PRIORITIES,
    Blocker,
    CaptureSummary,
    Claim,
    LastVerification,
    PullRequest,
    Status,
    Ticket,
    Verdict,
    WorkRepository,
    WorkState,
)
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Row
from ticketbox.store.tickets import assignments, pull_requests

_labels = msgspec.json.Decoder(list[str])
_summary = msgspec.json.Decoder(CaptureSummary)
_repository = msgspec.json.Decoder(WorkRepository)
_statuses = {status.value: status for status in Status}
_work_states = {state.value: state for state in WorkState}

# The ids and keys of the tickets that block a ticket `t` and that the viewer sees, or NULL; keys have no commas.
_SELECT_BLOCKERS = """(
  SELECT group_concat(b.public_id || ' ' || bv.key || '-' || b.number)
  FROM ticket_link l CROSS JOIN ticket b ON b.id = l.ticket_id CROSS JOIN visible_project bv ON bv.id = b.project_id
  WHERE l.other_id = t.id AND l.kind = 'blocks' AND b.resolved = 0 AND b.status = 'active' AND bv.within)"""

_SELECT_VERIFICATION = """(
  SELECT n.verdict || ' ' || n.commit_hash FROM verification n WHERE n.ticket_id = t.id ORDER BY n.id DESC LIMIT 1)"""

# Each column of a ticket's row, by name: rows are read through `get_fields`, never by a number.
_COLUMNS = {
    "key": "t.id", "id": "t.public_id", "project_key": "v.key", "number": "t.number",
    "company_id": "v.company_id", "project_id": "v.public_id", "project": "v.name",
    "column_id": "c.public_id", "column": "c.name", "position": "t.position",
    "title": "t.title", "description": "t.description",
    "status": "t.status", "resolved": "t.resolved", "priority": "t.priority", "labels": "t.labels",
    "due_on": "t.due_on", "branch": "t.branch", "claimed_by": "t.claimed_by", "claimed_at": "t.claimed_at",
    "claimed_until": "t.claimed_until", "run": "w.run", "session_id": "w.public_id", "session_state": "w.state",
    "repository": "w.repository",
    "blockers": _SELECT_BLOCKERS, "source_url": "t.source_url", "capture_summary": "k.summary",
    "verification": _SELECT_VERIFICATION, "comment_count": "t.comment_count", "version": "t.version",
    "created_at": "t.created_at", "created_by": "t.created_by",
    "updated_at": "t.updated_at", "updated_by": "t.updated_by",
    "archived_at": "t.archived_at", "archived_by": "t.archived_by",
    "due_day": "t.due_day", "title_key": "t.title_key",
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
    keys = list(map(_get_key, rows))
    assigned = assignments.list_assignees_of_tickets(tx, keys)
    pulls = pull_requests.list_pull_requests(tx, keys)
    return [_build_ticket(row, bylines, assigned, pulls, tx.now, f"{tx.public_url}/tickets/") for row in rows]


def _build_ticket(
    row: Row,
    bylines: Bylines,
    assigned: Mapping[int, list[Person]],
    pulls: Mapping[int, PullRequest],
    now: int,
    base: str,
) -> Ticket:
    (
        key, public_id, project_key, number, company, project, project_name,
        column, column_name, position, title, description, status,
        resolved, priority, labels, due_on, branch, claimed_by, claimed_at, claimed_until,
        run, session_id, session_state, repository,
        blockers, source_url, summary, verification, comments, version, created_at, created_by,
        updated_at, updated_by, archived_at, archived_by, _, _,
    ) = row  # fmt: skip
    claim = None
    if claimed_until is not None and claimed_until > now:
        claim = Claim(
            bylines.build(claimed_by, claimed_at),
            format_rfc3339(claimed_until),
            run,
            session_id,
            _work_states[session_state],
            None if repository is None else _repository.decode(repository),
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
        due_on,
        branch,
        claim,
        _read_blockers(blockers) if blockers else [],
        source_url,
        None if summary is None else _summary.decode(summary),
        None if verification is None else _read_verification(verification),
        pulls.get(key),
        comments,
        version,
        bylines.build(created_by, created_at),
        bylines.build(updated_by, updated_at),
        bylines.build_optional(archived_by, archived_at),
    )


def _read_blockers(blockers: str) -> list[Blocker]:
    """Read the column `blockers`; the oldest ticket of a project comes first."""
    found = [Blocker(*each.split(" ")) for each in blockers.split(",")]
    return sorted(found, key=lambda each: (len(each.key), each.key))


def _read_verification(verification: str) -> LastVerification:
    verdict, commit = verification.split(" ")
    return LastVerification(Verdict(verdict), commit)


# The blockers look projects up as well. For two look-ups SQLite would list all visible projects first, and build an
# index on them, in every call.
SELECT_TICKET = f"""
{WITH_VISIBLE_PROJECTS.replace(" AS (", " AS NOT MATERIALIZED (")}
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


class RelatedRows(NamedTuple):
    """Whether a ticket has attachments, links of both kinds and a reporter, and how often its bug was seen."""

    links: int
    attachments: int
    git_links: int
    reporter: int
    occurrences: int


SELECT_RELATED_ROWS = """
SELECT EXISTS (SELECT 1 FROM ticket_link WHERE ticket_id = :ticket)
    OR EXISTS (SELECT 1 FROM ticket_link WHERE other_id = :ticket),
  EXISTS (SELECT 1 FROM asset WHERE ticket_id = :ticket AND kind = 'attachment'),
  EXISTS (SELECT 1 FROM git_link WHERE ticket_id = :ticket),
  EXISTS (SELECT 1 FROM report WHERE ticket_id = :ticket),
  (SELECT occurrences FROM ticket WHERE id = :ticket)
"""


def find_related_rows(tx: Read, ticket: int) -> RelatedRows:
    """Find out which parts of a ticket aren't empty, and its occurrences, in one query."""
    row = tx.fetch_one(SELECT_RELATED_ROWS, {"ticket": ticket})
    assert row is not None
    return RelatedRows._make(row)

"""Tickets as everybody sees them: their columns, and how rows become records."""

from typing import Any, NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.records import Person
from ticketbox.domain.tickets.fields import FIELDS, SORT_KEYS
from ticketbox.domain.tickets.records import (
    Blocker,
    CaptureSummary,
    Claim,
    CriteriaCount,
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

_summary = msgspec.json.Decoder(CaptureSummary)
_repository = msgspec.json.Decoder(WorkRepository)
_statuses = {status.value: status for status in Status}

# The ids and keys of the tickets that block a ticket `t` and that the viewer sees, or NULL; keys have no commas.
_SELECT_BLOCKERS = """(
  SELECT group_concat(b.public_id || ' ' || bv.key || '-' || b.number)
  FROM ticket_link l CROSS JOIN ticket b ON b.id = l.ticket_id CROSS JOIN visible_project bv ON bv.id = b.project_id
  WHERE l.other_id = t.id AND l.kind = 'blocks' AND b.resolved = 0 AND b.status = 'active' AND bv.within)"""

# The failure that a capture `about` is about: beside confirmed expectations, only one that a person chose.
FAILURE = "iif(about.expectations = '[]' OR about.bug_by IS NOT NULL, about.bug, NULL)"
# Whether a verification `n` proves that the bug is gone: no longer, if its capture is about another bug now.
PROVEN = f"""(n.proven AND NOT EXISTS (
  SELECT 1 FROM capture about WHERE about.id = n.capture_id
    AND ({FAILURE} IS NOT n.bug OR about.expectations <> n.expectations)))"""
_SELECT_VERIFICATION = f"""(
  SELECT n.verdict || ' ' || {PROVEN} || ' ' || n.commit_hash
  FROM verification n WHERE n.ticket_id = t.id ORDER BY n.id DESC LIMIT 1)"""

# How many criteria are met or waived, and how many there are; NULL without any.
_COUNT_CRITERIA = "(SELECT sum(r.state <> 'open') || ' ' || count(*) FROM criterion r WHERE r.ticket_id = t.id)"

_CONVERSIONS = [(field.name, field.from_column) for field in FIELDS if field.from_column is not None]
# Each column of a ticket's row, by the name of what it holds in the record: rows are read by it, never by a number.
_COLUMNS = {
    "key": "t.id", "id": "t.public_id", "project_key": "v.key", "number": "t.number",
    "company_id": "v.company_id", "project_id": "v.public_id", "project": "v.name",
    "column_id": "c.public_id", "column": "c.name", "column_position": "c.position", "position": "t.position",
    "status": "t.status",
    "claimed_by": "t.claimed_by", "claimed_at": "t.claimed_at", "claimed_until": "t.claimed_until",
    "run": "w.run", "session_id": "w.public_id", "session_state": "w.state", "repository": "w.repository",
    "blockers": _SELECT_BLOCKERS, "capture_summary": "k.summary", "verification": _SELECT_VERIFICATION,
    "criteria_count": _COUNT_CRITERIA,
    "comment_count": "t.comment_count", "version": "t.version",
    "created_at": "t.created_at", "created_by": "t.created_by",
    "updated_at": "t.updated_at", "updated_by": "t.updated_by",
    "archived_at": "t.archived_at", "archived_by": "t.archived_by",
    **{field.name: f"t.{field.name}" for field in FIELDS},
    **{key.column: f"t.{key.column}" for key in SORT_KEYS.values()},
}  # fmt: skip
TICKET_COLUMNS = ", ".join(_COLUMNS.values())
TICKET_JOINS = """
LEFT JOIN board_column c ON c.id = t.column_id
LEFT JOIN capture k ON k.id = t.capture_id
LEFT JOIN work_session w ON w.ticket_id = t.id AND w.ended_at IS NULL
"""
_WRITERS = ("claimed_by", "created_by", "updated_by", "archived_by")


def name_columns(row: Row) -> dict[str, Any]:
    """Return the values of a row of TICKET_COLUMNS by their names."""
    return dict(zip(_COLUMNS, row, strict=True))


def build_tickets(tx: Read, rows: list[dict[str, Any]]) -> list[Ticket]:
    """Build tickets from rows of TICKET_COLUMNS by name, with their bylines and assignees."""
    bylines = Bylines(tx, (row[name] for row in rows for name in _WRITERS))
    keys = [row["key"] for row in rows]
    assigned = assignments.list_assignees_of_tickets(tx, keys)
    pulls = pull_requests.list_pull_requests(tx, keys)
    return [_build_ticket(tx, row, bylines, assigned.get(row["key"], []), pulls.get(row["key"])) for row in rows]


def _build_ticket(
    tx: Read, row: dict[str, Any], bylines: Bylines, assignees: list[Person], pull_request: PullRequest | None
) -> Ticket:
    values: dict[str, Any] = {
        **row,
        "key": f"{row['project_key']}-{row['number']}",
        "url": f"{tx.public_url}/tickets/{row['id']}",
        "status": _statuses[row["status"]],
        "assignees": assignees,
        "claim": _read_claim(tx, row, bylines),
        "blocked_by": _read_blockers(row["blockers"]),
        "capture": None if row["capture_summary"] is None else _summary.decode(row["capture_summary"]),
        "verification": _read_verification(row["verification"]),
        "pull_request": pull_request,
        "criteria_count": _read_count(row["criteria_count"]),
        "created": bylines.build(row["created_by"], row["created_at"]),
        "updated": bylines.build(row["updated_by"], row["updated_at"]),
        "archived": bylines.build_optional(row["archived_by"], row["archived_at"]),
    }
    for name, convert in _CONVERSIONS:
        values[name] = convert(values[name])
    return Ticket(*map(values.__getitem__, Ticket.__struct_fields__))


def _read_claim(tx: Read, row: dict[str, Any], bylines: Bylines) -> Claim | None:
    if row["claimed_until"] is None or row["claimed_until"] <= tx.now:
        return None
    return Claim(
        by=bylines.build(row["claimed_by"], row["claimed_at"]),
        until=format_rfc3339(row["claimed_until"]),
        run=row["run"],
        session_id=row["session_id"],
        state=WorkState(row["session_state"]),
        repository=None if row["repository"] is None else _repository.decode(row["repository"]),
    )


def _read_blockers(blockers: str | None) -> list[Blocker]:
    """Read the column `blockers`; the oldest ticket of a project comes first."""
    if blockers is None:
        return []
    found = [Blocker(*each.split(" ")) for each in blockers.split(",")]
    return sorted(found, key=lambda each: (len(each.key), each.key))


def _read_count(count: str | None) -> CriteriaCount | None:
    return None if count is None else CriteriaCount(*map(int, count.split(" ")))


def _read_verification(verification: str | None) -> LastVerification | None:
    if verification is None:
        return None
    verdict, proven, commit = verification.split(" ")
    return LastVerification(Verdict(verdict), proven == "1", commit)


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
    if row is None:
        return None
    named = name_columns(row)
    return named["key"], build_tickets(tx, [named])[0]


SELECT_TICKETS_BY_KEYS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT {TICKET_COLUMNS} FROM json_each(:keys) j CROSS JOIN ticket t ON t.id = j.value
CROSS JOIN visible_project v ON v.id = t.project_id {TICKET_JOINS}
WHERE v.within ORDER BY j.key
"""


def list_tickets_by_keys(tx: Read, viewer: Viewer, keys: list[int]) -> list[Ticket]:
    """List the tickets with these keys, in the order of the keys, as far as the viewer sees them."""
    rows = tx.fetch_all(SELECT_TICKETS_BY_KEYS, {**viewer, "keys": msgspec.json.encode(keys).decode()})
    return build_tickets(tx, list(map(name_columns, rows)))


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

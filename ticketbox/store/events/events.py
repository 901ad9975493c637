"""The event table: ticket history, event stream, webhooks and audit log all read it."""

from typing import Any, NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.ids import ALPHABET, LENGTH, Prefix, encode_key
from ticketbox.domain.events.records import AuditEvent, Event
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file import database
from ticketbox.store.file.database import Read, Row, Write

INSERT_EVENT = """
INSERT INTO event (type, company_id, project_id, ticket_id, byline_id, data, at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def record_event(
    tx: Write,
    type_: str,
    byline: int,
    company: int,
    project: int | None = None,
    ticket: int | None = None,
    credential: int | None = None,
    **data: Any,
) -> None:
    """Record an event in the transaction of its change. `credential` is the credential that changed."""
    text = msgspec.json.encode(data).decode()
    key = tx.insert(INSERT_EVENT, (type_, company, project, ticket, byline, text, tx.now))
    tx.events.append(database.CommittedEvent(key, type_, company, project, ticket, credential))


def encode_event_id(key: int) -> str:
    """Encode an event's number as its public id."""
    return encode_key(Prefix.EVENT, key)


def decode_event_id(public_id: str) -> int | None:
    """Decode an event's public id to its number; None if it isn't one."""
    digits = public_id.removeprefix(Prefix.EVENT)
    if len(digits) != LENGTH or digits == public_id or any(letter not in ALPHABET for letter in digits):
        return None
    key = 0
    for digit in digits:
        key = key * len(ALPHABET) + ALPHABET.index(digit)
    return key if key < 2**62 else None


_EVENT_COLUMNS = """
e.id, e.type, co.public_id, p.public_id, t.public_id, e.byline_id, e.data, e.at
FROM event e JOIN company co ON co.id = e.company_id
LEFT JOIN project p ON p.id = e.project_id
LEFT JOIN ticket t ON t.id = e.ticket_id
"""


class _EventRow(NamedTuple):
    """A row of `_EVENT_COLUMNS`."""

    key: int
    type: str
    company_id: str
    project_id: str | None
    ticket_id: str | None
    byline: int
    data: str
    at: int


SELECT_HISTORY = f"SELECT {_EVENT_COLUMNS} WHERE e.ticket_id = ? AND e.id > ? ORDER BY e.id LIMIT ?"


def list_history(tx: Read, ticket: int, after: int, limit: int) -> list[tuple[int, Event]]:
    """List a ticket's history, oldest first, each event with its number."""
    return _build_events(tx, tx.fetch_all(SELECT_HISTORY, (ticket, after, limit)))


# Each visible project, and each whole company, contributes at most one page by its index, and these are merged:
# the cost doesn't grow with the number of events.
SELECT_VISIBLE_EVENTS = f"""
{WITH_VISIBLE_PROJECTS},
arm (project, company) AS (
  SELECT v.id, NULL FROM visible_project v WHERE v.within
  UNION ALL
  SELECT NULL, m.company_id FROM member m
  WHERE m.user_id = :user AND m.all_projects AND NOT :restricted
    AND (:pinned IS NULL OR m.company_id = :pinned)
)
SELECT {_EVENT_COLUMNS}
WHERE e.id IN (
  SELECT x.value FROM arm CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
      SELECT i.id FROM event i
      WHERE arm.project IS NOT NULL AND i.project_id = arm.project AND i.id > :after
        AND (:types IS NULL OR i.type IN (SELECT value FROM json_each(:types)))
      ORDER BY i.id LIMIT :limit))) x
  UNION ALL
  SELECT x.value FROM arm CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
      SELECT i.id FROM event i
      WHERE arm.company IS NOT NULL AND i.company_id = arm.company AND i.project_id IS NULL AND i.id > :after
        AND i.type NOT LIKE 'token.%' AND i.type NOT LIKE 'account.%'
        AND (:types IS NULL OR i.type IN (SELECT value FROM json_each(:types)))
      ORDER BY i.id LIMIT :limit))) x
)
ORDER BY e.id LIMIT :limit
"""


def list_visible_events(
    tx: Read, viewer: Viewer, after: int, types: list[str] | None, limit: int
) -> list[tuple[int, Event]]:
    """List the events that the viewer may see after a number, oldest first, each with its number.

    Events of a whole company (members, settings) are visible to those who see all of its projects; events about
    tokens and accounts are only in the audit log.
    """
    wanted = None if types is None else msgspec.json.encode(types).decode()
    return _build_events(
        tx, tx.fetch_all(SELECT_VISIBLE_EVENTS, {**viewer, "after": after, "types": wanted, "limit": limit})
    )


SELECT_NEWEST_KEY = "SELECT seq FROM sqlite_sequence WHERE name = 'event'"


def find_newest_key(tx: Read) -> int:
    """Find the number of the last event ever inserted, even if deleted since; 0 before the first."""
    return tx.fetch_value(SELECT_NEWEST_KEY) or 0


MOST_RECENT_EVENTS = 1_000_000

SELECT_NEWEST_TIME = """
SELECT at FROM (SELECT at FROM event ORDER BY id DESC LIMIT ?) WHERE at <= ? LIMIT 1
"""


def find_newest_time(tx: Read, most: int) -> int | None:
    """Find when the newest event up to a time happened, both in epoch milliseconds.

    None if there is no such event among the last million.
    """
    return tx.fetch_value(SELECT_NEWEST_TIME, (MOST_RECENT_EVENTS, most))


SELECT_EVENTS_BY_KEYS = f"SELECT {_EVENT_COLUMNS} WHERE e.id IN (SELECT value FROM json_each(?))"


def load_events_by_key(tx: Read, keys: list[int]) -> dict[int, Event]:
    """Load the events with these numbers."""
    return (
        dict(_build_events(tx, tx.fetch_all(SELECT_EVENTS_BY_KEYS, (msgspec.json.encode(keys).decode(),))))
        if keys
        else {}
    )


SELECT_AUDIT_LOG = f"SELECT {_EVENT_COLUMNS} WHERE e.company_id = ? AND e.id < ? ORDER BY e.id DESC LIMIT ?"


SELECT_TICKET_KEYS = """
SELECT t.public_id, p.key || '-' || t.number FROM ticket t JOIN project p ON p.id = t.project_id
WHERE t.public_id IN (SELECT value FROM json_each(?))
"""


def list_audit_log(tx: Read, company: int, before: int, limit: int) -> list[tuple[int, AuditEvent]]:
    """List a company's events, newest first, each with its number."""
    found = _build_events(tx, tx.fetch_all(SELECT_AUDIT_LOG, (company, before, limit)))
    tickets = msgspec.json.encode({event.ticket_id for _, event in found} - {None}).decode()
    keys = dict(tx.fetch_all(SELECT_TICKET_KEYS, (tickets,)))
    return [
        (number, AuditEvent(**msgspec.structs.asdict(event), ticket_key=keys.get(event.ticket_id)))
        for number, event in found
    ]


def _build_events(tx: Read, records: list[Row]) -> list[tuple[int, Event]]:
    rows = [_EventRow._make(row) for row in records]
    bylines = Bylines(tx, [row.byline for row in rows])
    return [
        (
            row.key,
            Event(
                id=encode_event_id(row.key),
                type=row.type,
                company_id=row.company_id,
                project_id=row.project_id,
                ticket_id=row.ticket_id,
                by=bylines.build(row.byline, row.at),
                data=msgspec.json.decode(row.data),
                at=format_rfc3339(row.at),
            ),
        )
        for row in rows
    ]

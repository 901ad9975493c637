"""Ready tickets: those that somebody can start work on now (docs/use/work-sessions.md, "Ready tickets")."""

import msgspec

from ticketbox.domain.tickets.records import PRIORITIES, Priority
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.lists import READY, READY_ORDER, READY_ORDER_IN_COLUMN


class ReadyFilter(msgspec.Struct, frozen=True):
    """The filters of the queue; None means any. `column` is a key, `assignee` a public id."""

    column: int | None = None
    labels: tuple[str, ...] = ()
    priority: Priority | None = None
    assignee: str | None = None


def compose_query(wanted: ReadyFilter) -> str:
    """Compose the query for the first ready ticket from constant parts: by priority, then by its place on the board.

    Each column contributes its first ticket, read from an index in that order.
    """
    source, where = "ticket i", ""
    if wanted.labels:
        source = (
            "ticket_label l CROSS JOIN ticket i"
            " ON l.label = :label AND l.project_id = :project AND l.status = 'active' AND i.id = l.ticket_id"
        )
        if len(wanted.labels) > 1:
            where += """ AND NOT EXISTS (SELECT 1 FROM json_each(:labels) w WHERE NOT EXISTS (
    SELECT 1 FROM ticket_label m WHERE m.label = w.value AND m.ticket_id = i.id))"""
    if wanted.priority is not None:
        where += " AND i.priority = :priority"
    if wanted.assignee is not None:
        where += """ AND EXISTS (SELECT 1 FROM ticket_assignee a CROSS JOIN user u ON u.id = a.user_id
    WHERE a.ticket_id = i.id AND u.public_id = :assignee)"""
    column = "c.kind = 'todo'" if wanted.column is None else "c.id = :column"
    return f"""
SELECT t.public_id FROM board_column c CROSS JOIN ticket t ON t.id = (
  SELECT i.id FROM {source} WHERE i.column_id = c.id AND {READY}{where}
  ORDER BY {READY_ORDER_IN_COLUMN} LIMIT 1)
WHERE c.project_id = :project AND {column}
ORDER BY {READY_ORDER} LIMIT 1
"""


def find_next_ticket(tx: Read, project: int, wanted: ReadyFilter) -> str | None:
    """Find the id of a project's first ready ticket."""
    given = {
        "project": project,
        "now": tx.now,
        "column": wanted.column,
        "label": wanted.labels[0] if wanted.labels else None,
        "labels": msgspec.json.encode(wanted.labels).decode(),
        "priority": None if wanted.priority is None else PRIORITIES.index(wanted.priority),
        "assignee": wanted.assignee,
    }
    return tx.fetch_value(compose_query(wanted), given)

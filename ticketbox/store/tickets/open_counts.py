"""Counts of open tickets: the active, unresolved ones of a person, and of a saved view."""

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.tickets.fields import ViewFilters
from ticketbox.domain.tickets.records import PRIORITIES
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.lists import PRESENCE_CONDITIONS

COUNT_ASSIGNED = f"""
{WITH_VISIBLE_PROJECTS}
SELECT count(*) FROM (
  SELECT i.id FROM visible_project v
    CROSS JOIN ticket_assignee a ON a.user_id = :user AND a.project_id = v.id AND a.status = 'active'
    CROSS JOIN ticket i ON i.id = a.ticket_id
  WHERE v.within AND i.resolved = 0 LIMIT :most)
"""


def count_assigned(tx: Read, viewer: Viewer, most: int, deadline: float) -> int | None:
    """Count the viewer's own open tickets, up to a number; None if that takes until a time of the monotonic clock."""
    rows, is_finished = tx.fetch_until(COUNT_ASSIGNED, {**viewer, "most": most}, deadline)
    return rows[0][0] if is_finished else None


_PRESENCE = " ".join(f"AND (:{name} IS NULL OR {condition})" for name, condition in PRESENCE_CONDITIONS.items())

# Reads the open tickets of a project and no resolved ones, of which there can be many more. Looking up the tickets
# with a label or an assignee first would read those too.
COUNT_OF_VIEW = f"""
{WITH_VISIBLE_PROJECTS}
SELECT count(*) FROM (
  SELECT i.id FROM visible_project v CROSS JOIN board_column k ON k.project_id = v.id
    CROSS JOIN ticket i INDEXED BY ticket_ready ON i.column_id = k.id
  WHERE v.within AND v.public_id = :project AND i.status = 'active' AND i.resolved = 0
    {_PRESENCE}
    AND (:due_before IS NULL OR i.due_on < :due_before)
    AND (:priorities = '[]' OR i.priority IN (SELECT value FROM json_each(:priorities)))
    AND (:labels = '[]' OR EXISTS (
      SELECT 1 FROM ticket_label l WHERE l.ticket_id = i.id AND l.label IN (SELECT value FROM json_each(:labels))))
    AND (:assignees = '[]'
      OR :unassigned AND NOT EXISTS (SELECT 1 FROM ticket_assignee a WHERE a.ticket_id = i.id)
      OR EXISTS (
        SELECT 1 FROM ticket_assignee a CROSS JOIN user u ON u.id = a.user_id
        WHERE a.ticket_id = i.id
          AND (u.public_id IN (SELECT value FROM json_each(:assignees)) OR :mine AND a.user_id = :user)))
  LIMIT :most)
"""


def count_of_view(
    tx: Read, viewer: Viewer, project: str, filters: ViewFilters, most: int, deadline: float
) -> int | None:
    """Count the open tickets of a view, up to a number; None if that takes until a time of the monotonic clock."""
    if filters.resolved:
        return 0
    given = {
        **viewer,
        "project": project,
        **{name: getattr(filters, name) for name in PRESENCE_CONDITIONS},
        "due_before": format_rfc3339(tx.now)[:10] if filters.overdue else None,
        "priorities": _encode([PRIORITIES.index(each) for each in filters.priority]),
        "labels": _encode(filters.label),
        "assignees": _encode(filters.assignee),
        "mine": "me" in filters.assignee,
        "unassigned": "none" in filters.assignee,
        "most": most,
    }
    rows, is_finished = tx.fetch_until(COUNT_OF_VIEW, given, deadline)
    return rows[0][0] if is_finished else None


def _encode(values: list[int] | list[str]) -> str:
    return msgspec.json.encode(values).decode()

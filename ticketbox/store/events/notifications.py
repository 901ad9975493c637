"""Notifications: who is notified of an event, what a person hasn't read, and what they muted."""

from collections.abc import Iterable
from typing import NamedTuple

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.events.excerpts import cut_excerpt
from ticketbox.domain.events.records import Mutes, Notification, Reason
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer, VisibleRow
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Write

RETENTION_MS = 90 * DAY
MAX_COUNTED = 1_000

# Everyone who sees the ticket and didn't mute it, except the person who acted.
SELECT_AUDIENCE = """
SELECT u.id, u.name FROM member m JOIN user u ON u.id = m.user_id
WHERE m.company_id = :company AND u.id <> :but AND u.disabled_at IS NULL
  AND (m.all_projects OR EXISTS (
    SELECT 1 FROM member_project mp WHERE mp.member_id = m.id AND mp.project_id = :project))
  AND NOT EXISTS (SELECT 1 FROM ticket_mute tm WHERE tm.user_id = u.id AND tm.ticket_id = :ticket)
  AND NOT EXISTS (SELECT 1 FROM project_mute pm WHERE pm.user_id = u.id AND pm.project_id = :project)
"""
INSERT_NOTIFICATION = """
INSERT OR IGNORE INTO notification (public_id, user_id, event_id, ticket_id, reason, created_at, shown_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def list_audience(tx: Read, ticket: VisibleRow, but: int) -> dict[int, str]:
    """List the names of those who may be notified about a ticket, by their keys."""
    parameters = {"company": ticket.company, "project": ticket.project, "ticket": ticket.key, "but": but}
    return dict(tx.fetch_all(SELECT_AUDIENCE, parameters))


def insert_notifications(tx: Write, users: Iterable[int], event: int, ticket: int, reason: Reason) -> None:
    """Notify people of an event, each at most once."""
    tx.execute_many(
        INSERT_NOTIFICATION,
        [
            (generate_id(Prefix.NOTIFICATION), user, event, ticket, reason.value, tx.now, tx.now)
            for user in sorted(set(users))
        ],
    )


_SELECT_NOTIFICATION = f"""
{WITH_VISIBLE_PROJECTS}
SELECT n.id, n.public_id, n.reason, n.event_id, e.type, t.public_id, v.key || '-' || t.number, t.title, v.public_id,
  v.company_id, CASE WHEN e.data ->> 'comment_id' IS NOT NULL THEN c.body
    WHEN n.reason = 'mention' THEN t.description ELSE e.data ->> 'question' END,
  e.byline_id, e.at, n.read_at, n.shown_at
FROM notification n JOIN event e ON e.id = n.event_id JOIN ticket t ON t.id = n.ticket_id
JOIN visible_project v ON v.id = t.project_id
LEFT JOIN comment c ON c.public_id = e.data ->> 'comment_id' AND c.ticket_id = n.ticket_id
WHERE n.user_id = :user
"""


class _NotificationRow(NamedTuple):
    """A row of `_SELECT_NOTIFICATION`."""

    key: int
    id: str
    reason: str
    event: int
    event_type: str
    ticket_id: str
    ticket_key: str
    ticket_title: str
    project_id: str
    company_id: str
    text: str | None
    byline: int
    at: int
    read_at: int | None
    shown_at: int


_IN_ORDER = """
AND n.shown_at > :since AND (n.shown_at, n.id) < (:shown, :before) ORDER BY n.shown_at DESC, n.id DESC LIMIT :limit
"""
SELECT_NOTIFICATIONS = f"{_SELECT_NOTIFICATION} {_IN_ORDER}"
SELECT_UNREAD_NOTIFICATIONS = f"{_SELECT_NOTIFICATION} AND n.read_at IS NULL {_IN_ORDER}"
SELECT_READ_NOTIFICATIONS = f"{_SELECT_NOTIFICATION} AND n.read_at IS NOT NULL {_IN_ORDER}"
_ALWAYS = 2**62


def list_notifications(
    tx: Read, viewer: Viewer, after: tuple[int, ...] | None, limit: int, *, read: bool | None, snoozed: bool
) -> list[tuple[tuple[int, int], Notification]]:
    """List the viewer's notifications of tickets that they can still see, the last shown first, with their positions.

    Those that are snoozed are listed only alone. `read` chooses those that are read, or that aren't; None is both.
    """
    by_state = {None: SELECT_NOTIFICATIONS, True: SELECT_READ_NOTIFICATIONS, False: SELECT_UNREAD_NOTIFICATIONS}
    sql = by_state[read]
    shown, before = after or (_ALWAYS if snoozed else tx.now, _ALWAYS)
    bounds = {"since": tx.now if snoozed else -1, "shown": shown, "before": before, "limit": limit}
    rows = [_NotificationRow._make(row) for row in tx.fetch_all(sql, {**viewer, **bounds})]
    bylines = Bylines(tx, [row.byline for row in rows])
    return [
        (
            (row.shown_at, row.key),
            Notification(
                id=row.id,
                reason=Reason(row.reason),
                event_id=events.encode_event_id(row.event),
                event_type=row.event_type,
                ticket_id=row.ticket_id,
                ticket_key=row.ticket_key,
                ticket_title=row.ticket_title,
                project_id=row.project_id,
                company_id=row.company_id,
                excerpt=cut_excerpt(row.text, from_mention=row.reason == Reason.MENTION) if row.text else None,
                by=bylines.build(row.byline, row.at),
                read=row.read_at is not None,
                snoozed_until=format_rfc3339(row.shown_at) if row.shown_at > tx.now else None,
                at=format_rfc3339(row.at),
            ),
        )
        for row in rows
    ]


COUNT_UNREAD = f"""
{WITH_VISIBLE_PROJECTS}
SELECT count(*) FROM (
  SELECT 1 FROM notification n JOIN ticket t ON t.id = n.ticket_id JOIN visible_project v ON v.id = t.project_id
  WHERE n.user_id = :user AND n.read_at IS NULL AND n.shown_at <= :now LIMIT :most)
"""


def count_unread(tx: Read, viewer: Viewer) -> int:
    """Count the viewer's unread notifications, up to a thousand."""
    return tx.fetch_value(COUNT_UNREAD, {**viewer, "most": MAX_COUNTED, "now": tx.now})


MARK_READ = """
UPDATE notification SET read_at = ifnull(read_at, :now), shown_at = min(shown_at, :now)
WHERE public_id = :id AND user_id = :user
"""
MARK_UNREAD = """
UPDATE notification SET read_at = NULL, shown_at = min(shown_at, :now) WHERE public_id = :id AND user_id = :user
"""
SNOOZE = "UPDATE notification SET read_at = NULL, shown_at = :until WHERE public_id = :id AND user_id = :user"
MARK_ALL_READ = """
UPDATE notification SET read_at = :now WHERE user_id = :user AND read_at IS NULL AND shown_at <= :now
"""


def mark_read(tx: Write, user: int, public_id: str) -> bool:
    """Mark a notification as read, which ends a snooze; False if the user has none with this id."""
    return tx.execute(MARK_READ, {"now": tx.now, "id": public_id, "user": user}) > 0


def mark_unread(tx: Write, user: int, public_id: str) -> bool:
    """Mark a notification as unread, which ends a snooze; False if the user has none with this id."""
    return tx.execute(MARK_UNREAD, {"now": tx.now, "id": public_id, "user": user}) > 0


def snooze(tx: Write, user: int, public_id: str, until: int) -> bool:
    """Hide a notification until a time, then show it as unread; False if the user has none with this id."""
    return tx.execute(SNOOZE, {"until": until, "id": public_id, "user": user}) > 0


def mark_all_read(tx: Write, user: int) -> None:
    """Mark all of a user's notifications as read, but for those that are snoozed."""
    tx.execute(MARK_ALL_READ, {"now": tx.now, "user": user})


def set_ticket_muted(tx: Write, user: int, ticket: int, *, muted: bool) -> None:
    """Mute or unmute a ticket for a user."""
    if muted:
        tx.execute("INSERT OR IGNORE INTO ticket_mute (user_id, ticket_id) VALUES (?, ?)", (user, ticket))
    else:
        tx.execute("DELETE FROM ticket_mute WHERE user_id = ? AND ticket_id = ?", (user, ticket))


def set_project_muted(tx: Write, user: int, project: int, *, muted: bool) -> None:
    """Mute or unmute a project for a user."""
    if muted:
        tx.execute("INSERT OR IGNORE INTO project_mute (user_id, project_id) VALUES (?, ?)", (user, project))
    else:
        tx.execute("DELETE FROM project_mute WHERE user_id = ? AND project_id = ?", (user, project))


SELECT_MUTED_TICKETS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT t.public_id FROM ticket_mute tm JOIN ticket t ON t.id = tm.ticket_id
JOIN visible_project v ON v.id = t.project_id
WHERE tm.user_id = :user ORDER BY tm.ticket_id DESC LIMIT 1000
"""
SELECT_MUTED_PROJECTS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT v.public_id FROM project_mute pm JOIN visible_project v ON v.id = pm.project_id
WHERE pm.user_id = :user ORDER BY pm.project_id DESC LIMIT 1000
"""


def load_mutes(tx: Read, viewer: Viewer) -> Mutes:
    """Load what the viewer muted, as far as they can see it."""
    return Mutes(
        ticket_ids=[public_id for (public_id,) in tx.fetch_all(SELECT_MUTED_TICKETS, viewer)],
        project_ids=[public_id for (public_id,) in tx.fetch_all(SELECT_MUTED_PROJECTS, viewer)],
    )


DELETE_OLD = "DELETE FROM notification WHERE id IN (SELECT id FROM notification WHERE shown_at < ? LIMIT 1000)"


def delete_old_notifications(tx: Write) -> None:
    """Delete notifications after ninety days, read or not."""
    tx.execute(DELETE_OLD, (tx.now - RETENTION_MS,))

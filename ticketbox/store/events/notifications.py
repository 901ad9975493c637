"""Notifications: who is to hear of an event, what a person has to read, and what they muted."""

from collections.abc import Iterable

from ticketbox.domain.core.clock import DAY, rfc3339
from ticketbox.domain.core.ids import Prefix, new_id
from ticketbox.domain.events.records import Mutes, Notification, Reason
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.visibility import VISIBLE, Found, Viewer
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Write

KEPT_MS = 90 * DAY
MOST_COUNTED = 1_000

# Who sees the ticket and wants to hear of it, but for the one who did it.
AUDIENCE = """
SELECT u.id, u.name FROM member m JOIN user u ON u.id = m.user_id
WHERE m.company_id = :company AND u.id <> :but AND u.disabled_at IS NULL
  AND (m.all_projects OR EXISTS (
    SELECT 1 FROM member_project mp WHERE mp.member_id = m.id AND mp.project_id = :project))
  AND NOT EXISTS (SELECT 1 FROM ticket_mute tm WHERE tm.user_id = u.id AND tm.ticket_id = :ticket)
  AND NOT EXISTS (SELECT 1 FROM project_mute pm WHERE pm.user_id = u.id AND pm.project_id = :project)
"""
PARTICIPANTS = """
SELECT b.user_id FROM ticket t JOIN byline b ON b.id = t.created_by WHERE t.id = :ticket
UNION SELECT ta.user_id FROM ticket_assignee ta WHERE ta.ticket_id = :ticket
UNION SELECT n.user_id FROM notification n WHERE n.ticket_id = :ticket AND n.reason = 'mention'
UNION SELECT b.user_id FROM (
  SELECT c.created_by FROM comment c WHERE c.ticket_id = :ticket ORDER BY c.id DESC LIMIT 200
) x JOIN byline b ON b.id = x.created_by
"""
ADD = """
INSERT OR IGNORE INTO notification (public_id, user_id, event_id, ticket_id, reason, created_at)
VALUES (?, ?, ?, ?, ?, ?)
"""


def audience(tx: Read, found: Found, but: int) -> dict[int, str]:
    """The names of those who may be told of something about a ticket, by their keys."""
    asked = {"company": found.company, "project": found.project, "ticket": found.key, "but": but}
    return dict(tx.all(AUDIENCE, asked))


def participants(tx: Read, ticket: int) -> set[int]:
    """Who takes part in a ticket: filed it, is assigned, commented, or was mentioned."""
    return {user for (user,) in tx.all(PARTICIPANTS, {"ticket": ticket})}


def add(tx: Write, users: Iterable[int], event: int, ticket: int, reason: Reason) -> None:
    """Tell people of an event; who was told of it already isn't told again."""
    tx.many(
        ADD, [(new_id(Prefix.NOTIFICATION), user, event, ticket, reason.value, tx.now) for user in sorted(set(users))]
    )


_SHOWN = f"""
{VISIBLE}
SELECT n.id, n.public_id, n.reason, n.event_id, e.type, t.public_id, t.title, v.public_id, v.company_id, e.byline_id,
  e.at, n.read_at
FROM notification n JOIN event e ON e.id = n.event_id JOIN ticket t ON t.id = n.ticket_id
JOIN visible_project v ON v.id = t.project_id
WHERE n.user_id = :user
"""
OF_USER = f"{_SHOWN} AND n.id < :before ORDER BY n.id DESC LIMIT :limit"
UNREAD_OF_USER = f"{_SHOWN} AND n.read_at IS NULL AND n.id < :before ORDER BY n.id DESC LIMIT :limit"


def of_user(tx: Read, viewer: Viewer, before: int, limit: int, *, unread: bool) -> list[tuple[int, Notification]]:
    """What the viewer has to read, of what they still can see, newest first, each with its key."""
    rows = tx.all(UNREAD_OF_USER if unread else OF_USER, {**viewer, "before": before, "limit": limit})
    bylines = Bylines(tx, [row[9] for row in rows])
    return [
        (
            row[0],
            Notification(
                id=row[1],
                reason=Reason(row[2]),
                event_id=events.event_id(row[3]),
                event_type=row[4],
                ticket_id=row[5],
                ticket_title=row[6],
                project_id=row[7],
                company_id=row[8],
                by=bylines.by(row[9], row[10]),
                read=row[11] is not None,
                at=rfc3339(row[10]),
            ),
        )
        for row in rows
    ]


UNREAD = f"""
{VISIBLE}
SELECT count(*) FROM (
  SELECT 1 FROM notification n JOIN ticket t ON t.id = n.ticket_id JOIN visible_project v ON v.id = t.project_id
  WHERE n.user_id = :user AND n.read_at IS NULL LIMIT :most)
"""


def unread(tx: Read, viewer: Viewer) -> int:
    """How many notifications the viewer hasn't read, up to a thousand."""
    return tx.value(UNREAD, {**viewer, "most": MOST_COUNTED})


READ = "UPDATE notification SET read_at = ifnull(read_at, ?) WHERE public_id = ? AND user_id = ?"
READ_ALL = "UPDATE notification SET read_at = ? WHERE user_id = ? AND read_at IS NULL"


def mark_read(tx: Write, user: int, public_id: str) -> bool:
    """Mark one as read; False when the user has none of this id."""
    return tx.run(READ, (tx.now, public_id, user)) > 0


def mark_all_read(tx: Write, user: int) -> None:
    """Mark all of a user's as read."""
    tx.run(READ_ALL, (tx.now, user))


def mute_ticket(tx: Write, user: int, ticket: int, *, muted: bool) -> None:
    """Tell a user nothing more of a ticket, or again."""
    if muted:
        tx.run("INSERT OR IGNORE INTO ticket_mute (user_id, ticket_id) VALUES (?, ?)", (user, ticket))
    else:
        tx.run("DELETE FROM ticket_mute WHERE user_id = ? AND ticket_id = ?", (user, ticket))


def mute_project(tx: Write, user: int, project: int, *, muted: bool) -> None:
    """Tell a user nothing more of a project, or again."""
    if muted:
        tx.run("INSERT OR IGNORE INTO project_mute (user_id, project_id) VALUES (?, ?)", (user, project))
    else:
        tx.run("DELETE FROM project_mute WHERE user_id = ? AND project_id = ?", (user, project))


MUTED_TICKETS = f"""
{VISIBLE}
SELECT t.public_id FROM ticket_mute tm JOIN ticket t ON t.id = tm.ticket_id
JOIN visible_project v ON v.id = t.project_id
WHERE tm.user_id = :user ORDER BY tm.ticket_id DESC LIMIT 1000
"""
MUTED_PROJECTS = f"""
{VISIBLE}
SELECT v.public_id FROM project_mute pm JOIN visible_project v ON v.id = pm.project_id
WHERE pm.user_id = :user ORDER BY pm.project_id DESC LIMIT 1000
"""


def mutes(tx: Read, viewer: Viewer) -> Mutes:
    """What the viewer muted, of what they can see."""
    return Mutes(
        ticket_ids=[public_id for (public_id,) in tx.all(MUTED_TICKETS, viewer)],
        project_ids=[public_id for (public_id,) in tx.all(MUTED_PROJECTS, viewer)],
    )


FORGET = "DELETE FROM notification WHERE id IN (SELECT id FROM notification WHERE created_at < ? LIMIT 1000)"


def forget_old(tx: Write) -> None:
    """Drop notifications after ninety days, read or not."""
    tx.run(FORGET, (tx.now - KEPT_MS,))

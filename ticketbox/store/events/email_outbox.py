"""The email outbox: rows are inserted with the notifications, so a crash loses nothing.

A row holds only a person, a ticket and the first notification to report. What the person may see, and whether
anything is still unread, is decided when the mail is sent. A mail that was being sent when the process stopped is
sent again with the same Message-ID.
"""

from typing import NamedTuple

import msgspec

from ticketbox.domain.accounts.security_events import RESET_LIFETIME, Notice, NoticeKind
from ticketbox.domain.core.clock import DAY, MINUTE
from ticketbox.domain.events.records import Event, Reason
from ticketbox.domain.events.retry_schedule import LONGEST_MS, compute_next_attempt
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Write

DELAY_MS = 2 * MINUTE
RETENTION_MS = 30 * DAY
MAX_NOTIFICATIONS = 20
NO_MAIL_SERVER = "no mail server was configured for a day"

INSERT_MAIL_FOR_EVENT = """
INSERT INTO mail (user_id, ticket_id, first, state, attempts, due_at, created_at)
SELECT n.user_id, n.ticket_id, n.id, 'pending', 0, :now + :delay, :now
FROM notification n JOIN mailbox b ON b.user_id = n.user_id
WHERE n.event_id = :event AND b.state = 'on'
ON CONFLICT (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending' AND notice IS NULL DO NOTHING
"""
DELETE_CONFIRMATION = """
DELETE FROM mail WHERE user_id = ? AND ticket_id IS NULL AND notice IS NULL AND state = 'pending'
"""
INSERT_CONFIRMATION = (
    "INSERT INTO mail (user_id, first, state, attempts, due_at, created_at) VALUES (?, 0, 'pending', 0, ?, ?)"
)


def queue_notifications(tx: Write, event: int) -> None:
    """Queue an email to everyone who was notified of an event and receives email; later ones are added to it."""
    tx.execute(INSERT_MAIL_FOR_EVENT, {"event": event, "now": tx.now, "delay": DELAY_MS})


def queue_confirmation(tx: Write, user: int) -> None:
    """Queue a confirmation request to a person's address, due now."""
    tx.execute(DELETE_CONFIRMATION, (user,))
    tx.execute(INSERT_CONFIRMATION, (user, tx.now, tx.now))
    tx.wake_jobs()


INSERT_NOTICE = """
INSERT INTO mail (user_id, first, state, attempts, due_at, created_at, notice, address)
VALUES (?, 0, 'pending', 0, ?, ?, ?, ?)
"""


def queue_notice(tx: Write, user: int, address: str, notice: Notice) -> None:
    """Queue an email about a person's account to an address, due now."""
    tx.execute(INSERT_NOTICE, (user, tx.now, tx.now, msgspec.json.encode(notice).decode(), address))
    tx.wake_jobs()


SELECT_DUE = "SELECT id FROM mail WHERE state = 'pending' AND due_at <= ? ORDER BY due_at, id LIMIT ?"
SELECT_NEXT_DUE = "SELECT due_at FROM mail WHERE state = 'pending' ORDER BY due_at LIMIT 1"


def list_due(tx: Read, most: int) -> list[int]:
    """List the keys of mails that are due."""
    return [key for (key,) in tx.fetch_all(SELECT_DUE, (tx.now, most))]


def find_next_due(tx: Read) -> int | None:
    """Find when the next mail is due, in epoch milliseconds."""
    return tx.fetch_value(SELECT_NEXT_DUE)


class MailedNotification(msgspec.Struct, frozen=True):
    """A notification in a mail; `text` is the comment or description that it is about."""

    reason: Reason
    event: Event
    text: str


class MessageToSend(msgspec.Struct, frozen=True):
    """The contents of an email. Without a ticket and a notice, it is a request to confirm the address.

    `more` counts notifications that aren't in `notifications`; `last` is the key of the last one that it covers.
    """

    name: str
    address: str
    key: str
    ticket_id: str | None = None
    ticket_key: str = ""
    title: str = ""
    project: str = ""
    notifications: tuple[MailedNotification, ...] = ()
    more: int = 0
    last: int = 0
    notice: Notice | None = None


SELECT_ADDRESSEE = """
SELECT m.user_id, m.ticket_id, m.first, u.name, b.address, b.mail_key, b.state
FROM mail m JOIN user u ON u.id = m.user_id JOIN mailbox b ON b.user_id = u.id AND b.address = u.email
WHERE m.id = ? AND m.state = 'pending' AND u.disabled_at IS NULL
"""
SELECT_NOTICE = """
SELECT u.name, m.address, m.notice FROM mail m JOIN user u ON u.id = m.user_id
WHERE m.id = ? AND m.state = 'pending' AND m.notice IS NOT NULL
"""
SELECT_TICKET = f"""
{WITH_VISIBLE_PROJECTS}
SELECT t.public_id, p.key || '-' || t.number, t.title, t.description, p.name
FROM ticket t JOIN visible_project v ON v.id = t.project_id JOIN project p ON p.id = t.project_id
WHERE t.id = :ticket
  AND NOT EXISTS (SELECT 1 FROM ticket_mute tm WHERE tm.user_id = :user AND tm.ticket_id = t.id)
  AND NOT EXISTS (SELECT 1 FROM project_mute pm WHERE pm.user_id = :user AND pm.project_id = p.id)
"""
SELECT_UNREAD = """
SELECT n.id, n.reason, n.event_id, e.type, ifnull(c.body, e.data ->> 'question')
FROM notification n JOIN event e ON e.id = n.event_id
LEFT JOIN comment c ON c.public_id = e.data ->> 'comment_id' AND c.ticket_id = n.ticket_id
WHERE n.user_id = :user AND n.id >= :first AND n.read_at IS NULL AND n.ticket_id = :ticket
ORDER BY n.id
"""


class _UnreadRow(NamedTuple):
    """A row of SELECT_UNREAD."""

    key: int
    reason: str
    event: int
    event_type: str
    comment: str | None


def compose_message(tx: Read, key: int) -> MessageToSend | None:
    """Compose a mail from what its person may see now; None if there is nothing to report."""
    about_account = tx.fetch_one(SELECT_NOTICE, (key,))
    if about_account is not None:
        name, address, text = about_account
        notice = msgspec.json.decode(text, type=Notice)
        if notice.kind is NoticeKind.PASSWORD_RESET and tx.now >= notice.at + RESET_LIFETIME:
            return None
        recipient = address if notice.kind is NoticeKind.INVITATION else notice.name or name
        return MessageToSend(recipient, address, "", notice=notice)
    row = tx.fetch_one(SELECT_ADDRESSEE, (key,))
    if row is None:
        return None
    user, ticket, first, name, address, mail_key, state = row
    if ticket is None:
        return MessageToSend(name, address, mail_key) if state == "asked" else None
    viewer = {"user": user, "credential": None, "pinned": None, "restricted": False}
    subject = tx.fetch_one(SELECT_TICKET, {**viewer, "ticket": ticket})
    if subject is None or state != "on":
        return None
    rows = tx.fetch_all(SELECT_UNREAD, {"user": user, "first": first, "ticket": ticket})
    unread = [_UnreadRow._make(row) for row in rows]
    # A comment that was deleted since has no text: nothing to report.
    rows = [row for row in unread if row.comment is not None or not row.event_type.startswith("comment.")]
    if not rows:
        return None
    shown = rows[:MAX_NOTIFICATIONS]
    happened = events.load_events_by_key(tx, [row.event for row in shown])
    public_id, ticket_key, title, description, project = subject
    notifications = tuple(
        MailedNotification(Reason(row.reason), happened[row.event], row.comment or description) for row in shown
    )
    more, last = len(rows) - len(shown), unread[-1].key
    return MessageToSend(name, address, mail_key, public_id, ticket_key, title, project, notifications, more, last)


SELECT_ATTEMPTS = "SELECT attempts, first_at FROM mail WHERE id = ? AND state = 'pending'"
RECORD_ATTEMPT = """
UPDATE mail SET attempts = attempts + 1, due_at = :due, first_at = ifnull(first_at, :now), last_at = :now
WHERE id = :key
"""
DELETE_MAIL = "DELETE FROM mail WHERE id = ? AND state = 'pending'"


def begin_attempt(tx: Write, key: int) -> MessageToSend | None:
    """Start an attempt and return the message to send; None if there is nothing to report, and the mail is deleted.

    The attempt is recorded before it is made, so that a mail whose outcome can't be recorded isn't sent endlessly.
    """
    message = compose_message(tx, key)
    if message is None:
        tx.execute(DELETE_MAIL, (key,))
        return None
    attempts, first_at = tx.fetch_one(SELECT_ATTEMPTS, (key,)) or (0, None)
    begun = tx.now if first_at is None else first_at
    again = compute_next_attempt(attempts + 1, begun, tx.now) or tx.now + LONGEST_MS
    tx.execute(RECORD_ATTEMPT, {"key": key, "now": tx.now, "due": again})
    return message


REQUEUE_FOR_NEWER = """
UPDATE mail SET first = :last + 1, attempts = 0, due_at = :now + :delay, first_at = NULL, last_at = NULL, error = NULL,
  created_at = :now
WHERE id = :key AND state = 'pending' AND EXISTS (
  SELECT 1 FROM notification n
  WHERE n.user_id = mail.user_id AND n.id > :last AND n.read_at IS NULL AND n.ticket_id = mail.ticket_id)
"""


def record_success(tx: Write, key: int, last: int) -> None:
    """Record that a mail was sent that covers notifications up to `last`; newer ones are queued for the next."""
    if not tx.execute(REQUEUE_FOR_NEWER, {"key": key, "last": last, "now": tx.now, "delay": DELAY_MS}):
        tx.execute(DELETE_MAIL, (key,))


RECORD_FAILURE = """
UPDATE mail SET state = iif(:due IS NULL, 'dead', 'pending'), due_at = ifnull(:due, due_at), error = :error
WHERE id = :key
"""


def record_failure(tx: Write, key: int, error: str, *, lasting: bool) -> bool:
    """Record a failed attempt; `lasting` means that retries would fail too. Returns False if it is given up."""
    row = tx.fetch_one(SELECT_ATTEMPTS, (key,))
    if row is None:
        return True
    attempts, first_at = row
    next_at = None if lasting else compute_next_attempt(attempts, first_at, tx.now)
    tx.execute(RECORD_FAILURE, {"key": key, "due": next_at, "error": error})
    return next_at is not None


GIVE_UP_STALE = """
UPDATE mail SET state = 'dead', last_at = ifnull(last_at, :now), error = ifnull(error, :error)
WHERE id IN (SELECT id FROM mail WHERE state = 'pending' AND due_at < :before LIMIT 1000)
"""
DELETE_OLD = "DELETE FROM mail WHERE id IN (SELECT id FROM mail WHERE state = 'dead' AND last_at < ? LIMIT 1000)"


def expire_mail(tx: Write) -> None:
    """Give up mails that weren't sent for a day; delete those given up thirty days ago."""
    tx.execute(GIVE_UP_STALE, {"now": tx.now, "error": NO_MAIL_SERVER, "before": tx.now - DAY})
    tx.execute(DELETE_OLD, (tx.now - RETENTION_MS,))


class EmailBacklog(msgspec.Struct, frozen=True):
    """How many mails are pending, and since when in epoch milliseconds (None: no mail is)."""

    pending: int
    oldest: int | None


SELECT_BACKLOG = "SELECT count(*), min(created_at) FROM mail WHERE state = 'pending'"


def load_backlog(tx: Read) -> EmailBacklog:
    """Load the state of the outbox, for the metrics."""
    pending, oldest = tx.fetch_one(SELECT_BACKLOG) or (0, None)
    return EmailBacklog(pending, oldest)

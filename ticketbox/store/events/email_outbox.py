"""The outbox of e-mail: rows are made with the notifications, so nothing is lost whatever ends the process.

A row only says that a person is to be told of a ticket, from which notification on. What they may know, and whether
there is still something to tell, is asked when the mail goes. A mail that was on its way when the process ended goes
again, with the same Message-ID.
"""

import msgspec

from ticketbox.domain.core.clock import DAY, MINUTE
from ticketbox.domain.events.records import Event, Reason
from ticketbox.domain.events.retry_schedule import LONGEST_MS, next_attempt
from ticketbox.store.core.visibility import VISIBLE
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Write

DELAY_MS = 2 * MINUTE
KEPT_MS = 30 * DAY
MOST_TOLD = 20
NOBODY_TRIED = "no mail server was configured for a day"

QUEUE = """
INSERT INTO mail (user_id, ticket_id, first, state, attempts, due_at, created_at)
SELECT n.user_id, n.ticket_id, n.id, 'pending', 0, :now + :delay, :now
FROM notification n JOIN mailbox b ON b.user_id = n.user_id
WHERE n.event_id = :event AND b.state = 'on'
ON CONFLICT (user_id, ifnull(ticket_id, 0)) WHERE state = 'pending' DO NOTHING
"""
UNASK = "DELETE FROM mail WHERE user_id = ? AND ticket_id IS NULL AND state = 'pending'"
ASK = "INSERT INTO mail (user_id, first, state, attempts, due_at, created_at) VALUES (?, 0, 'pending', 0, ?, ?)"


def queue(tx: Write, event: int) -> None:
    """Mail, in a while, those who were notified of an event and want mail; what comes meanwhile joins it."""
    tx.run(QUEUE, {"event": event, "now": tx.now, "delay": DELAY_MS})


def ask(tx: Write, user: int) -> None:
    """Ask a person's address by mail, now."""
    tx.run(UNASK, (user,))
    tx.run(ASK, (user, tx.now, tx.now))
    tx.wake_jobs()


DUE = "SELECT id FROM mail WHERE state = 'pending' AND due_at <= ? ORDER BY due_at, id LIMIT ?"
NEXT_DUE = "SELECT due_at FROM mail WHERE state = 'pending' ORDER BY due_at LIMIT 1"


def due(tx: Read, most: int) -> list[int]:
    """The keys of mails whose time has come."""
    return [key for (key,) in tx.all(DUE, (tx.now, most))]


def next_due(tx: Read) -> int | None:
    """When the next mail is due, in epoch milliseconds."""
    return tx.value(NEXT_DUE)


class Told(msgspec.Struct, frozen=True):
    """One notification in a mail; `text` is the comment or the description that it is about."""

    reason: Reason
    event: Event
    text: str


class Letter(msgspec.Struct, frozen=True):
    """What a mail says. Without a ticket it asks the address; `more` counts what found no room in `told`.

    `last` is the key of the last notification that it covers.
    """

    name: str
    address: str
    key: str
    ticket_id: str | None = None
    title: str = ""
    project: str = ""
    told: tuple[Told, ...] = ()
    more: int = 0
    last: int = 0


ADDRESSEE = """
SELECT m.user_id, m.ticket_id, m.first, u.name, b.address, b.mail_key, b.state
FROM mail m JOIN user u ON u.id = m.user_id JOIN mailbox b ON b.user_id = u.id AND b.address = u.email
WHERE m.id = ? AND m.state = 'pending' AND u.disabled_at IS NULL
"""
SUBJECT = f"""
{VISIBLE}
SELECT t.public_id, t.title, t.description, p.name
FROM ticket t JOIN visible_project v ON v.id = t.project_id JOIN project p ON p.id = t.project_id
WHERE t.id = :ticket
  AND NOT EXISTS (SELECT 1 FROM ticket_mute tm WHERE tm.user_id = :user AND tm.ticket_id = t.id)
  AND NOT EXISTS (SELECT 1 FROM project_mute pm WHERE pm.user_id = :user AND pm.project_id = p.id)
"""
UNREAD = """
SELECT n.id, n.reason, n.event_id, e.type, c.body
FROM notification n JOIN event e ON e.id = n.event_id
LEFT JOIN comment c ON c.public_id = e.data ->> 'comment_id' AND c.ticket_id = n.ticket_id
WHERE n.user_id = :user AND n.id >= :first AND n.read_at IS NULL AND n.ticket_id = :ticket
ORDER BY n.id
"""


def letter(tx: Read, key: int) -> Letter | None:
    """What a mail has to say at this moment; None when there is nothing that its person may and wants to know."""
    row = tx.one(ADDRESSEE, (key,))
    if row is None:
        return None
    user, ticket, first, name, address, mail_key, state = row
    if ticket is None:
        return Letter(name, address, mail_key) if state == "asked" else None
    viewer = {"user": user, "credential": None, "pinned": None, "restricted": False}
    subject = tx.one(SUBJECT, {**viewer, "ticket": ticket})
    if subject is None or state != "on":
        return None
    unread = tx.all(UNREAD, {"user": user, "first": first, "ticket": ticket})
    # A comment that was deleted since has no text any more, and isn't told of.
    rows = [row for row in unread if row[4] is not None or not row[3].startswith("comment.")]
    if not rows:
        return None
    shown = rows[:MOST_TOLD]
    happened = events.by_key(tx, [row[2] for row in shown])
    public_id, title, description, project = subject
    told = tuple(Told(Reason(row[1]), happened[row[2]], row[4] or description) for row in shown)
    return Letter(name, address, mail_key, public_id, title, project, told, len(rows) - len(shown), unread[-1][0])


TRIED = "SELECT attempts, first_at FROM mail WHERE id = ? AND state = 'pending'"
BEGUN = """
UPDATE mail SET attempts = attempts + 1, due_at = :due, first_at = ifnull(first_at, :now), last_at = :now
WHERE id = :key
"""
DONE = "DELETE FROM mail WHERE id = ? AND state = 'pending'"


def begin(tx: Write, key: int) -> Letter | None:
    """Begin an attempt, and return what to send; None when there is nothing to tell any more, and the mail is gone.

    The attempt is written down before it is made: if its outcome can't be, the mail doesn't go again and again.
    """
    found = letter(tx, key)
    if found is None:
        tx.run(DONE, (key,))
        return None
    attempts, first_at = tx.one(TRIED, (key,)) or (0, None)
    begun = tx.now if first_at is None else first_at
    again = next_attempt(attempts + 1, begun, tx.now) or tx.now + LONGEST_MS
    tx.run(BEGUN, {"key": key, "now": tx.now, "due": again})
    return found


GOES_ON = """
UPDATE mail SET first = :last + 1, attempts = 0, due_at = :now + :delay, first_at = NULL, last_at = NULL, error = NULL,
  created_at = :now
WHERE id = :key AND state = 'pending' AND EXISTS (
  SELECT 1 FROM notification n
  WHERE n.user_id = mail.user_id AND n.id > :last AND n.read_at IS NULL AND n.ticket_id = mail.ticket_id)
"""


def sent(tx: Write, key: int, last: int) -> None:
    """A mail went, and covered the notifications up to a last one; what came since goes with the next."""
    if not tx.run(GOES_ON, {"key": key, "last": last, "now": tx.now, "delay": DELAY_MS}):
        tx.run(DONE, (key,))


FAILED = """
UPDATE mail SET state = iif(:due IS NULL, 'dead', 'pending'), due_at = ifnull(:due, due_at), error = :error
WHERE id = :key
"""


def failed(tx: Write, key: int, error: str, *, lasting: bool) -> bool:
    """The attempt failed, and every other will if that is `lasting`; False when the mail is given up."""
    row = tx.one(TRIED, (key,))
    if row is None:
        return True
    again = None if lasting else next_attempt(row[0], row[1], tx.now)
    tx.run(FAILED, {"key": key, "due": again, "error": error})
    return again is not None


STALE = """
UPDATE mail SET state = 'dead', last_at = ifnull(last_at, :now), error = ifnull(error, :error)
WHERE id IN (SELECT id FROM mail WHERE state = 'pending' AND due_at < :before LIMIT 1000)
"""
FORGET = "DELETE FROM mail WHERE id IN (SELECT id FROM mail WHERE state = 'dead' AND last_at < ? LIMIT 1000)"


def tidy(tx: Write) -> None:
    """Give up what nobody sent for a day, and forget after thirty days what was given up."""
    tx.run(STALE, {"now": tx.now, "error": NOBODY_TRIED, "before": tx.now - DAY})
    tx.run(FORGET, (tx.now - KEPT_MS,))


class Backlog(msgspec.Struct, frozen=True):
    """What still waits, and since when in epoch milliseconds (None: nothing does)."""

    pending: int
    oldest: int | None


BACKLOG = "SELECT count(*), min(created_at) FROM mail WHERE state = 'pending'"


def backlog(tx: Read) -> Backlog:
    """The state of the outbox, for the metrics."""
    pending, oldest = tx.one(BACKLOG) or (0, None)
    return Backlog(pending, oldest)

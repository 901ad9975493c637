"""Mailboxes: who receives email, and whether they confirmed their address (docs/use/notifications.md, "Email")."""

import msgspec

from ticketbox.domain.accounts.records import MailState
from ticketbox.domain.accounts.secrets import generate_mail_key
from ticketbox.domain.core.clock import DAY
from ticketbox.store.events import email_outbox
from ticketbox.store.file.database import Read, Write

MAX_CONFIRMATIONS = 5


class Mailbox(msgspec.Struct, frozen=True):
    """A person's mailbox; `asks` confirmation requests were sent since `asked_at`."""

    user: int
    address: str
    state: MailState
    asks: int
    asked_at: int


SELECT_MAILBOX = "SELECT user_id, address, state, asks, asked_at FROM mailbox WHERE user_id = ?"
SELECT_MAILBOX_BY_MAIL_KEY = """
SELECT b.user_id, b.address, b.state, b.asks, b.asked_at
FROM mailbox b JOIN user u ON u.id = b.user_id AND u.email = b.address
WHERE b.mail_key = ? AND u.disabled_at IS NULL
"""


def find_mailbox(tx: Read, user: int) -> Mailbox | None:
    """Find a person's mailbox."""
    return _find_mailbox(tx, SELECT_MAILBOX, user)


def find_mailbox_by_mail_key(tx: Read, key: str) -> Mailbox | None:
    """Find the mailbox of a mail's key, while the account has its address."""
    return _find_mailbox(tx, SELECT_MAILBOX_BY_MAIL_KEY, key)


def _find_mailbox(tx: Read, sql: str, of: object) -> Mailbox | None:
    row = tx.fetch_one(sql, (of,))
    if row is None:
        return None
    user, address, state, asks, asked_at = row
    return Mailbox(user, address, MailState(state), asks, asked_at)


def compute_retry_after(tx: Read, user: int) -> int:
    """Compute the seconds until another confirmation request may be sent to this person; 0 means now."""
    mailbox = find_mailbox(tx, user)
    if mailbox is None or mailbox.asks < MAX_CONFIRMATIONS:
        return 0
    return max(0, -(-(mailbox.asked_at + DAY - tx.now) // 1000))


UPSERT_MAILBOX = """
INSERT INTO mailbox (user_id, address, state, mail_key, asks, asked_at) VALUES (:user, :address, 'asked', :key, 1, :now)
ON CONFLICT (user_id) DO UPDATE SET address = :address, state = 'asked', mail_key = :key,
  asks = iif(asked_at > :now - :day, asks, 0) + 1, asked_at = iif(asked_at > :now - :day, asked_at, :now)
"""


def request_confirmation(tx: Write, user: int, address: str) -> None:
    """Send a confirmation request to an address; links in earlier mails stop working."""
    tx.execute(
        UPSERT_MAILBOX, {"user": user, "address": address, "key": generate_mail_key(), "now": tx.now, "day": DAY}
    )
    email_outbox.queue_confirmation(tx, user)


def set_mailbox_state(tx: Write, user: int, state: MailState) -> None:
    """Set whether a person gets email."""
    tx.execute("UPDATE mailbox SET state = ? WHERE user_id = ?", (state.value, user))


MOVE_MAILBOX = "UPDATE mailbox SET address = ?, mail_key = ?, state = iif(state = 'on', 'on', 'off') WHERE user_id = ?"


def move_mailbox(tx: Write, user: int, address: str) -> None:
    """Send email to a new address that was confirmed by a link, if the person gets email."""
    tx.execute(MOVE_MAILBOX, (address, generate_mail_key(), user))

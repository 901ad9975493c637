"""Links that an account asked for by email: to confirm a new address, or to choose a new password.

An account has at most one link for each purpose. Its secret is stored as a hash.
"""

from enum import StrEnum

import msgspec

from ticketbox.domain.accounts.secrets import generate_mail_key, hash_secret
from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Write

MAX_REQUESTS = 5


class Purpose(StrEnum):
    """What a link is for."""

    ADDRESS = "address"
    PASSWORD = "password"


class AccountLink(msgspec.Struct, frozen=True):
    """The account that asked, and the address that the link was sent to."""

    user: int
    address: str


SELECT_PENDING = "SELECT address FROM account_link WHERE user_id = ? AND purpose = 'address' AND expires_at > ?"
SELECT_BY_KEY = "SELECT user_id, address FROM account_link WHERE key_hash = ? AND purpose = ? AND expires_at > ?"


def find_pending_address(tx: Read, user: int) -> str | None:
    """Find the address that an account asked for and that isn't confirmed yet."""
    return tx.fetch_value(SELECT_PENDING, (user, tx.now))


def find_account_link(tx: Read, purpose: Purpose, key: str) -> AccountLink | None:
    """Find the link with this secret, while it is valid."""
    row = tx.fetch_one(SELECT_BY_KEY, (hash_secret(key), purpose.value, tx.now))
    return None if row is None else AccountLink(*row)


SELECT_REQUESTS = "SELECT asks, asked_at FROM account_link WHERE user_id = ? AND purpose = ?"


def compute_retry_after(tx: Read, purpose: Purpose, user: int) -> int:
    """Compute the seconds until the account may ask for another link; 0 means now."""
    asks, asked_at = tx.fetch_one(SELECT_REQUESTS, (user, purpose.value)) or (0, 0)
    return 0 if asks < MAX_REQUESTS else max(0, -(-(asked_at + DAY - tx.now) // 1000))


UPSERT_LINK = """
INSERT INTO account_link (user_id, purpose, address, key_hash, asks, asked_at, expires_at)
VALUES (:user, :purpose, :address, :hash, 1, :now, :expires)
ON CONFLICT (user_id, purpose) DO UPDATE SET address = :address, key_hash = :hash, expires_at = :expires,
  asks = iif(asked_at > :now - :day, asks, 0) + 1, asked_at = iif(asked_at > :now - :day, asked_at, :now)
"""


def create_account_link(tx: Write, purpose: Purpose, user: int, address: str, lifetime: int) -> str:
    """Create a link that is valid for some milliseconds; return its secret. The earlier one stops working."""
    key = generate_mail_key()
    values = {"user": user, "purpose": purpose.value, "address": address, "hash": hash_secret(key)}
    tx.execute(UPSERT_LINK, {**values, "now": tx.now, "day": DAY, "expires": tx.now + lifetime})
    return key


def end_account_links(tx: Write, user: int) -> None:
    """Invalidate the links of an account, and keep the counts of requests."""
    tx.execute("UPDATE account_link SET expires_at = 0 WHERE user_id = ?", (user,))

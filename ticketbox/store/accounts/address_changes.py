"""New email addresses that wait for their link to be opened. The link's secret is stored as a hash."""

import msgspec

from ticketbox.domain.accounts.secrets import generate_mail_key, hash_secret
from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Write

MAX_REQUESTS = 5
LIFETIME = DAY


class AddressChange(msgspec.Struct, frozen=True):
    """The address that an account asked for."""

    user: int
    address: str


SELECT_PENDING = "SELECT address FROM address_change WHERE user_id = ? AND expires_at > ?"
SELECT_BY_KEY = "SELECT user_id, address FROM address_change WHERE key_hash = ? AND expires_at > ?"


def find_pending_address(tx: Read, user: int) -> str | None:
    """Find the address that an account asked for and that isn't confirmed yet."""
    return tx.fetch_value(SELECT_PENDING, (user, tx.now))


def find_address_change(tx: Read, key: str) -> AddressChange | None:
    """Find the change that a link confirms, while the link is valid."""
    row = tx.fetch_one(SELECT_BY_KEY, (hash_secret(key), tx.now))
    return None if row is None else AddressChange(*row)


SELECT_REQUESTS = "SELECT asks, asked_at FROM address_change WHERE user_id = ?"


def compute_retry_after(tx: Read, user: int) -> int:
    """Compute the seconds until the account may ask for another address; 0 means now."""
    asks, asked_at = tx.fetch_one(SELECT_REQUESTS, (user,)) or (0, 0)
    return 0 if asks < MAX_REQUESTS else max(0, -(-(asked_at + DAY - tx.now) // 1000))


UPSERT_ADDRESS_CHANGE = """
INSERT INTO address_change (user_id, address, key_hash, asks, asked_at, expires_at)
VALUES (:user, :address, :hash, 1, :now, :expires)
ON CONFLICT (user_id) DO UPDATE SET address = :address, key_hash = :hash, expires_at = :expires,
  asks = iif(asked_at > :now - :day, asks, 0) + 1, asked_at = iif(asked_at > :now - :day, asked_at, :now)
"""


def request_address_change(tx: Write, user: int, address: str) -> str:
    """Store the address that an account asks for; return the key of its link. Earlier links stop working."""
    key = generate_mail_key()
    values = {"user": user, "address": address, "hash": hash_secret(key), "now": tx.now, "day": DAY}
    tx.execute(UPSERT_ADDRESS_CHANGE, {**values, "expires": tx.now + LIFETIME})
    return key


def end_address_change(tx: Write, user: int) -> None:
    """Invalidate the link of an account's new address, and keep the count of requests."""
    tx.execute("UPDATE address_change SET expires_at = 0 WHERE user_id = ?", (user,))

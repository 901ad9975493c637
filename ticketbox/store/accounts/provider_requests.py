"""Sign-ins that wait: for the provider's answer, for a link of an identity, for a code, or for a passkey.

Each is used once. Passkeys that are being created wait here, too.
"""

from typing import TypeVar

import msgspec

from ticketbox.domain.core.clock import MINUTE
from ticketbox.store.file.database import Read, Write

T = TypeVar("T")

LIFETIME = 15 * MINUTE

INSERT_REQUEST = """
INSERT INTO provider_request (secret_hash, browser_hash, user_id, data, expires_at) VALUES (?, ?, ?, ?, ?)
"""


def insert_provider_request(
    tx: Write,
    secret_hash: bytes,
    data: msgspec.Struct,
    *,
    browser_hash: bytes | None = None,
    user: int | None = None,
    lifetime: int = LIFETIME,
) -> None:
    """Insert a request that only this browser can continue, or only this signed-in user, within `lifetime` ms."""
    text = msgspec.json.encode(data).decode()
    tx.execute(INSERT_REQUEST, (secret_hash, browser_hash, user, text, tx.now + lifetime))


_CONDITION = """
WHERE secret_hash = :secret AND expires_at > :now
  AND iif(user_id IS NULL, browser_hash IS :browser, user_id = :user)
"""
SELECT_REQUEST = f"SELECT data FROM provider_request {_CONDITION}"
DELETE_REQUEST = f"DELETE FROM provider_request {_CONDITION} RETURNING data"


def find_provider_request(
    tx: Read, secret_hash: bytes, browser_hash: bytes | None, user: int, kind: type[T]
) -> T | None:
    """Find a request of this browser or user."""
    values = {"secret": secret_hash, "browser": browser_hash, "user": user, "now": tx.now}
    text = tx.fetch_value(SELECT_REQUEST, values)
    return None if text is None else _decode(text, kind)


def take_provider_request(
    tx: Write, secret_hash: bytes, browser_hash: bytes | None, user: int, kind: type[T]
) -> T | None:
    """Delete a request of this browser or user, and return it; None if there is none, or it was used."""
    values = {"secret": secret_hash, "browser": browser_hash, "user": user, "now": tx.now}
    row = tx.fetch_one(DELETE_REQUEST, values)
    return None if row is None else _decode(row[0], kind)


def _decode(text: str, kind: type[T]) -> T | None:
    """Decode a request; None if the secret is that of another kind."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        return None


def delete_expired_provider_requests(tx: Write) -> None:
    """Delete requests that nobody can continue any more."""
    tx.execute("DELETE FROM provider_request WHERE expires_at <= ?", (tx.now,))

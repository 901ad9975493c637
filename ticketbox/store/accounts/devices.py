"""Devices: browsers that an account has signed in from, by the secret in their cookie.

Others' guesses don't slow them down (docs/use/limits.md, "Before authentication").
"""

from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Write

LIFETIME = 365 * DAY

SELECT_DEVICE = "SELECT 1 FROM device WHERE secret_hash = ? AND user_id = ? AND last_used_at > ?"


def is_known_device(tx: Read, secret_hash: bytes | None, user: int) -> bool:
    """Whether the account signed in with this device within a year."""
    return tx.fetch_one(SELECT_DEVICE, (secret_hash, user, tx.now - LIFETIME)) is not None


MOVE_DEVICE = "UPDATE OR REPLACE device SET secret_hash = ? WHERE secret_hash = ?"
UPSERT_DEVICE = """
INSERT INTO device (secret_hash, user_id, last_used_at) VALUES (?, ?, ?)
ON CONFLICT (secret_hash, user_id) DO UPDATE SET last_used_at = excluded.last_used_at
"""
DELETE_LEAST_USED = """
DELETE FROM device WHERE user_id = :user AND secret_hash IN (
  SELECT secret_hash FROM device WHERE user_id = :user ORDER BY last_used_at DESC LIMIT 1000 OFFSET 100)
"""


def insert_device(tx: Write, old_hash: bytes | None, secret_hash: bytes, user: int) -> None:
    """Insert a device after a sign-in. Its secret is new each time, for all accounts that use it."""
    if old_hash is not None:
        tx.execute(MOVE_DEVICE, (secret_hash, old_hash))
    tx.execute(UPSERT_DEVICE, (secret_hash, user, tx.now))
    tx.execute(DELETE_LEAST_USED, {"user": user})


FORGET_DEVICES = "DELETE FROM device WHERE user_id = ? AND secret_hash IS NOT ?"


def forget_devices(tx: Write, user: int, but: bytes | None = None) -> None:
    """Forget an account's devices except one."""
    tx.execute(FORGET_DEVICES, (user, but))


DELETE_OLD_DEVICES = "DELETE FROM device WHERE last_used_at < ?"


def delete_old_devices(tx: Write) -> None:
    """Delete devices that weren't used for a year."""
    tx.execute(DELETE_OLD_DEVICES, (tx.now - LIFETIME,))

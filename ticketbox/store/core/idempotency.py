"""Answers kept for a day under their Idempotency-Key, for each credential."""

import msgspec

from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Write


class Kept(msgspec.Struct, frozen=True):
    """An earlier answer, and the fingerprint of the input that it answered."""

    fingerprint: bytes
    answer: bytes


FIND = "SELECT fingerprint, answer FROM idempotency WHERE credential_id = ? AND key = ? AND created_at > ?"


def find(tx: Read, credential: int, key: str) -> Kept | None:
    """The answer kept under a key in the last 24 hours."""
    row = tx.one(FIND, (credential, key, tx.now - DAY))
    return None if row is None else Kept(*row)


KEEP = """
INSERT OR REPLACE INTO idempotency (credential_id, key, fingerprint, answer, created_at) VALUES (?, ?, ?, ?, ?)
"""


def keep(tx: Write, credential: int, key: str, fingerprint: bytes, answer: bytes) -> None:
    """Keep an answer, in the transaction of the write that it answers."""
    tx.run(KEEP, (credential, key, fingerprint, answer, tx.now))


def forget_old(tx: Write) -> int:
    """Remove answers older than a day; returns how many."""
    return tx.run("DELETE FROM idempotency WHERE created_at <= ?", (tx.now - DAY,))

"""Answers stored for a day under their Idempotency-Key, for each credential."""

import msgspec

from ticketbox.domain.core.clock import DAY
from ticketbox.store.file.database import Read, Write


class StoredAnswer(msgspec.Struct, frozen=True):
    """An earlier answer and the fingerprint of its input."""

    fingerprint: bytes
    answer: bytes


SELECT_ANSWER = "SELECT fingerprint, answer FROM idempotency WHERE credential_id = ? AND key = ? AND created_at > ?"


def find_answer(tx: Read, credential: int, key: str) -> StoredAnswer | None:
    """Find the answer stored under a key in the last 24 hours."""
    row = tx.fetch_one(SELECT_ANSWER, (credential, key, tx.now - DAY))
    return None if row is None else StoredAnswer(*row)


UPSERT_ANSWER = """
INSERT OR REPLACE INTO idempotency (credential_id, key, fingerprint, answer, created_at) VALUES (?, ?, ?, ?, ?)
"""


def save_answer(tx: Write, credential: int, key: str, fingerprint: bytes, answer: bytes) -> None:
    """Store an answer in the transaction of its write."""
    tx.execute(UPSERT_ANSWER, (credential, key, fingerprint, answer, tx.now))


def delete_expired_answers(tx: Write) -> int:
    """Delete answers older than a day; return how many."""
    return tx.execute("DELETE FROM idempotency WHERE created_at <= ?", (tx.now - DAY,))

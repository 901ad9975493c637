"""Deliveries of repositories: stored until their turn comes, and remembered so that each counts once."""

import msgspec

from ticketbox.domain.core.clock import DAY
from ticketbox.domain.git.changes import GitChanges
from ticketbox.store.file.database import Read, Write

RETENTION_MS = 30 * DAY
# Providers don't repeat a refused delivery, so there is room for a burst.
MAX_WAITING = 20_000
PER_STEP = 20

COUNT_WAITING = "SELECT count(*) FROM git_delivery WHERE hook_id = ? AND changes IS NOT NULL"
INSERT_DELIVERY = """
INSERT OR IGNORE INTO git_delivery (hook_id, body_hash, changes, received_at) VALUES (?, ?, ?, ?)
"""
RECORD_DELIVERY = "UPDATE git_hook SET last_delivery_at = ? WHERE id = ?"


def is_full(tx: Read, hook: int) -> bool:
    """Whether as many deliveries of a hook wait as may."""
    return tx.fetch_value(COUNT_WAITING, (hook,)) >= MAX_WAITING


def insert_delivery(tx: Write, hook: int, body_hash: bytes, changes: GitChanges) -> bool:
    """Insert a delivery, which waits if it has changes; return False if the same one came before."""
    tx.execute(RECORD_DELIVERY, (tx.now, hook))
    packed = msgspec.json.encode(changes) if changes else None
    return tx.execute(INSERT_DELIVERY, (hook, body_hash, packed, tx.now)) > 0


class WaitingDelivery(msgspec.Struct, frozen=True):
    """A delivery whose turn has come, with its hook: its keys, its creator, and whether it closes tickets."""

    key: int
    changes: GitChanges
    received_at: int
    hook_id: str
    hook_name: str
    closes_tickets: bool
    project: int
    company: int
    user: int
    user_id: str
    user_name: str


HAS_WAITING = "SELECT 1 FROM git_delivery WHERE changes IS NOT NULL"
# Round robin by hook, so that none waits for another one's burst.
SELECT_WAITING = """
SELECT d.id, d.changes, d.received_at, h.public_id, h.name, h.closes_tickets, p.id, p.company_id,
  u.id, u.public_id, u.name
FROM git_hook h CROSS JOIN json_each((
  SELECT json_group_array(id) FROM (
    SELECT w.id FROM git_delivery w WHERE w.hook_id = h.id AND w.changes IS NOT NULL ORDER BY w.id LIMIT :limit))) x
CROSS JOIN git_delivery d ON d.id = x.value
JOIN project p ON p.id = h.project_id JOIN byline b ON b.id = h.created_by JOIN user u ON u.id = b.user_id
ORDER BY x.key, d.id LIMIT :limit
"""
SELECT_BACKLOG = "SELECT count(*), min(received_at) FROM git_delivery WHERE changes IS NOT NULL"
CLOSE_DELIVERY = "UPDATE git_delivery SET changes = NULL WHERE id = ?"
DELETE_OLD = "DELETE FROM git_delivery WHERE received_at < ? AND changes IS NULL"


def has_waiting(tx: Read) -> bool:
    """Whether deliveries wait."""
    return tx.fetch_one(HAS_WAITING) is not None


def list_waiting(tx: Read) -> list[WaitingDelivery]:
    """List the deliveries whose turn it is."""
    return [
        WaitingDelivery(key, msgspec.json.decode(changes, type=GitChanges), at, hook_id, name, bool(closes), *rest)
        for key, changes, at, hook_id, name, closes, *rest in tx.fetch_all(SELECT_WAITING, {"limit": PER_STEP})
    ]


def close_delivery(tx: Write, key: int) -> None:
    """Forget what a delivery says; its hash stays."""
    tx.execute(CLOSE_DELIVERY, (key,))


def delete_old_deliveries(tx: Write) -> None:
    """Delete the hashes of old deliveries."""
    tx.execute(DELETE_OLD, (tx.now - RETENTION_MS,))


class GitBacklog(msgspec.Struct, frozen=True):
    """How many deliveries wait, and since when the oldest one does."""

    waiting: int
    oldest: int | None


def load_backlog(tx: Read) -> GitBacklog:
    """Count the deliveries that wait."""
    row = tx.fetch_one(SELECT_BACKLOG)
    assert row is not None
    return GitBacklog(*row)

"""Watchers: who is notified of what happens on a ticket."""

from collections.abc import Iterable

import msgspec

from ticketbox.domain.core.records import Person
from ticketbox.store.file.database import Read, Write

MAX_LISTED = 100

INSERT_WATCHER = "INSERT OR IGNORE INTO ticket_watcher (ticket_id, user_id) VALUES (?, ?)"


def add_watchers(tx: Write, ticket: int, users: Iterable[int]) -> None:
    """Let users watch a ticket."""
    tx.execute_many(INSERT_WATCHER, [(ticket, user) for user in sorted(set(users))])


def remove_watcher(tx: Write, ticket: int, user: int) -> None:
    """End a user's watching of a ticket."""
    tx.execute("DELETE FROM ticket_watcher WHERE ticket_id = ? AND user_id = ?", (ticket, user))


MOVE_WATCHERS = """
INSERT OR IGNORE INTO ticket_watcher (ticket_id, user_id) SELECT ?, user_id FROM ticket_watcher WHERE ticket_id = ?
"""


def move_watchers(tx: Write, ticket: int, target: int) -> None:
    """Let the watchers of a ticket watch another one instead."""
    tx.execute(MOVE_WATCHERS, (target, ticket))
    tx.execute("DELETE FROM ticket_watcher WHERE ticket_id = ?", (ticket,))


def list_watching_users(tx: Read, ticket: int) -> set[int]:
    """List the keys of a ticket's watchers, whether they can still see it or not."""
    return {user for (user,) in tx.fetch_all("SELECT user_id FROM ticket_watcher WHERE ticket_id = ?", (ticket,))}


_SELECT_READERS = """
SELECT u.public_id, u.name FROM {users} w JOIN user u ON u.id = w.user_id
JOIN ticket t ON t.id = :ticket JOIN project p ON p.id = t.project_id
JOIN member m ON m.user_id = w.user_id AND m.company_id = p.company_id
WHERE u.disabled_at IS NULL
  AND (m.all_projects OR EXISTS (
    SELECT 1 FROM member_project mp WHERE mp.member_id = m.id AND mp.project_id = p.id))
ORDER BY w.user_id LIMIT :limit
"""
SELECT_WATCHERS = _SELECT_READERS.format(users="(SELECT user_id FROM ticket_watcher WHERE ticket_id = :ticket)")
SELECT_READERS = _SELECT_READERS.format(users="(SELECT value AS user_id FROM json_each(:users))")


def list_watchers(tx: Read, ticket: int) -> list[Person]:
    """List the watchers of a ticket who can see it."""
    rows = tx.fetch_all(SELECT_WATCHERS, {"ticket": ticket, "limit": MAX_LISTED})
    return [Person(public_id, name) for public_id, name in rows]


def list_readers(tx: Read, ticket: int, users: set[int]) -> list[Person]:
    """List those of some users who can see a ticket."""
    if not users:
        return []
    keys = msgspec.json.encode(sorted(users)).decode()
    rows = tx.fetch_all(SELECT_READERS, {"ticket": ticket, "users": keys, "limit": MAX_LISTED})
    return [Person(public_id, name) for public_id, name in rows]

"""Security events of accounts. Refusals are counted and limited in number, so that guessing doesn't fill the file."""

from typing import Any, NamedTuple

import msgspec

from ticketbox.domain.accounts.security_events import Outcome, SecurityAction, SecurityEvent
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.clock import DAY, HOUR, format_rfc3339
from ticketbox.domain.core.ids import Prefix, encode_key
from ticketbox.store.file.database import Read, Write

RETENTION_MS = 365 * DAY
MAX_REFUSALS = 500

INSERT_SECURITY_EVENT = """
INSERT INTO security_event (user_id, action, outcome, via, address, user_agent, data, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_NEWEST_REFUSAL = """
SELECT id, action, address, at FROM security_event WHERE user_id = ? AND outcome = 'failed' ORDER BY id DESC LIMIT 20
"""
COUNT_REFUSAL = "UPDATE security_event SET count = count + 1 WHERE id = ?"
DELETE_OLDEST_REFUSALS = """
DELETE FROM security_event WHERE id IN (
  SELECT id FROM security_event WHERE user_id = ? AND outcome = 'failed' ORDER BY id DESC LIMIT 1000 OFFSET ?)
"""


def insert_security_event(
    tx: Write, user: int, action: SecurityAction, outcome: Outcome, via: Via, data: dict[str, Any]
) -> None:
    """Insert what happened, or count it with the same refusal from the same address in the last hour."""
    if outcome is Outcome.FAILED:
        for key, earlier, address, at in tx.fetch_all(SELECT_NEWEST_REFUSAL, (user,)):
            if (earlier, address) == (action, tx.origin.address) and at > tx.now - HOUR:
                tx.execute(COUNT_REFUSAL, (key,))
                return
    text = msgspec.json.encode(data).decode()
    row = (user, action.value, outcome.value, via.value, tx.origin.address, tx.origin.user_agent, text, tx.now)
    tx.insert(INSERT_SECURITY_EVENT, row)
    if outcome is Outcome.FAILED:
        tx.execute(DELETE_OLDEST_REFUSALS, (user, MAX_REFUSALS))


COUNT_REFUSALS = """
SELECT ifnull(sum(count), 0) FROM security_event WHERE user_id = ? AND outcome = 'failed' AND action = ? AND at > ?
"""


def count_refusals(tx: Read, user: int, action: SecurityAction, milliseconds: int) -> int:
    """Count what was refused to an account in this time."""
    return tx.fetch_value(COUNT_REFUSALS, (user, action.value, tx.now - milliseconds))


# Each outcome contributes one page by its index.
SELECT_SECURITY_EVENTS = """
SELECT id, action, outcome, via, address, user_agent, data, count, at FROM security_event WHERE id IN (
  SELECT id FROM (SELECT id FROM security_event WHERE user_id = :user AND outcome = 'done' AND id < :before
    ORDER BY id DESC LIMIT :limit)
  UNION ALL
  SELECT id FROM (SELECT id FROM security_event WHERE user_id = :user AND outcome = 'failed' AND id < :before
    ORDER BY id DESC LIMIT :limit))
ORDER BY id DESC LIMIT :limit
"""


class _SecurityEventRow(NamedTuple):
    """A row of SELECT_SECURITY_EVENTS."""

    key: int
    action: str
    outcome: str
    via: str
    address: str
    user_agent: str
    data: str
    repeats: int
    at: int


def list_security_events(tx: Read, user: int, before: int, limit: int) -> list[tuple[int, SecurityEvent]]:
    """List an account's security events, newest first, each with its key."""
    rows = tx.fetch_all(SELECT_SECURITY_EVENTS, {"user": user, "before": before, "limit": limit})
    return [
        (
            row.key,
            SecurityEvent(
                id=encode_key(Prefix.SECURITY_EVENT, row.key),
                action=SecurityAction(row.action),
                outcome=Outcome(row.outcome),
                via=Via(row.via),
                address=row.address or None,
                user_agent=row.user_agent or None,
                data=msgspec.json.decode(row.data),
                count=row.repeats,
                at=format_rfc3339(row.at),
            ),
        )
        for row in map(_SecurityEventRow._make, rows)
    ]


class CommandEvent(NamedTuple):
    """What a command on the server's machine did to an account."""

    key: int
    action: SecurityAction
    outcome: Outcome
    user_id: str
    data: dict[str, Any]


SELECT_COMMAND_EVENTS = """
SELECT e.id, e.action, e.outcome, u.public_id, e.data FROM security_event e JOIN user u ON u.id = e.user_id
WHERE e.id > ? AND e.via = 'cli' ORDER BY e.id LIMIT 1000
"""


def list_command_events(tx: Read, after: int) -> list[CommandEvent]:
    """List what commands did after a key, oldest first."""
    return [
        CommandEvent(key, SecurityAction(action), Outcome(outcome), user_id, msgspec.json.decode(data))
        for key, action, outcome, user_id, data in tx.fetch_all(SELECT_COMMAND_EVENTS, (after,))
    ]


def find_newest_key(tx: Read) -> int:
    """Find the key of the newest security event; 0 if there is none."""
    return tx.fetch_value("SELECT ifnull(max(id), 0) FROM security_event")


SELECT_DONE = """
SELECT count(*) FROM (
  SELECT at FROM security_event WHERE user_id = ? AND outcome = 'done' AND action = ? ORDER BY id DESC LIMIT 50)
WHERE at > ?
"""


def count_done(tx: Read, user: int, action: SecurityAction) -> int:
    """Count what an account did in the last day, up to 50."""
    return tx.fetch_value(SELECT_DONE, (user, action.value, tx.now - DAY))


SELECT_NEW_DEVICES = """
SELECT count(*) FROM (
  SELECT at FROM security_event
  WHERE user_id = ? AND outcome = 'done' AND action = 'sign_in' AND data ->> 'new_device' = 1 ORDER BY id DESC LIMIT 50)
WHERE at > ?
"""


def count_new_devices(tx: Read, user: int) -> int:
    """Count how often a new device signed in to an account in the last day, up to 50."""
    return tx.fetch_value(SELECT_NEW_DEVICES, (user, tx.now - DAY))


DELETE_OLD_SECURITY_EVENTS = """
DELETE FROM security_event WHERE id IN (SELECT id FROM security_event WHERE at < ? LIMIT 1000)
"""


def delete_old_security_events(tx: Write) -> None:
    """Delete events that are older than a year."""
    tx.execute(DELETE_OLD_SECURITY_EVENTS, (tx.now - RETENTION_MS,))

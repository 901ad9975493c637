"""The webhook outbox: created from the event table, so a crash loses nothing.

A webhook's position in the event table advances in the transaction that inserts its deliveries. A delivery is done
when its outcome is recorded; one that was being sent when the process stopped is sent again.
"""

from collections.abc import Set
from typing import NamedTuple

import msgspec

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.events.delivery_turns import DeliveryTurns
from ticketbox.domain.events.records import Event, WebhookFormat
from ticketbox.domain.events.retry_schedule import compute_next_attempt
from ticketbox.store.events import events, webhooks
from ticketbox.store.file.database import Read, Write

RETENTION_MS = 30 * DAY
_STATUS_GONE = 410
_EVENTS_PER_STEP = 500

SELECT_WEBHOOKS_BEHIND = """
SELECT w.id, w.company_id, w.seen, w.types FROM webhook w
WHERE w.enabled AND EXISTS (SELECT 1 FROM event e WHERE e.company_id = w.company_id AND e.id > w.seen)
"""
# Events about tokens are only in the audit log.
SELECT_NEW_EVENTS = """
SELECT id, type, ifnull(ticket_id, 0) FROM event
WHERE company_id = ? AND id > ? ORDER BY id LIMIT ?
"""
INSERT_DELIVERY = """
INSERT INTO delivery (public_id, webhook_id, event_id, lane, state, attempts, due_at, created_at)
VALUES (:public_id, :webhook, :event, :lane, 'pending', 0,
  iif(EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = :webhook AND d.lane = :lane AND d.state = 'pending'),
    NULL, :now), :now)
"""
UPDATE_SEEN = "UPDATE webhook SET seen = ? WHERE id = ?"
UPDATE_SEEN_OF_COMPANY = "UPDATE webhook SET seen = ? WHERE company_id = ?"


def has_new_events(tx: Read) -> bool:
    """Whether there are events without deliveries yet."""
    return tx.fetch_one(SELECT_WEBHOOKS_BEHIND) is not None


def create_deliveries(tx: Write) -> None:
    """Create deliveries for new events, for up to 500 events of each webhook."""
    for webhook, company, seen, types in tx.fetch_all(SELECT_WEBHOOKS_BEHIND):
        wanted = None if types is None else msgspec.json.decode(types, type=set[str])
        new_events = tx.fetch_all(SELECT_NEW_EVENTS, (company, seen, _EVENTS_PER_STEP))
        for event, type_, lane in new_events:
            if not type_.startswith("token.") and (wanted is None or type_ in wanted):
                insert_delivery(tx, webhook, event, lane)
        tx.execute(UPDATE_SEEN, (new_events[-1][0], webhook))


def skip_new_events(tx: Write, company: int) -> None:
    """Let no webhook of a company send the events that have no deliveries yet."""
    tx.execute(UPDATE_SEEN_OF_COMPANY, (events.find_newest_key(tx), company))


def insert_delivery(tx: Write, webhook: int, event: int, lane: int) -> int:
    """Insert a delivery, due now if no other in its lane is pending; return its key."""
    public_id = generate_id(Prefix.DELIVERY)
    row = {"public_id": public_id, "webhook": webhook, "event": event, "lane": lane, "now": tx.now}
    return tx.insert(INSERT_DELIVERY, row)


class DueDelivery(msgspec.Struct, frozen=True):
    """A delivery that is due; each secret signs it."""

    key: int
    company: int
    webhook: int
    url: str
    format: WebhookFormat
    secrets: tuple[bytes, ...]
    event: Event
    ticket_key: str | None
    title: str | None
    due_at: int


SELECT_WEBHOOKS_WITH_DUE = """
SELECT w.id, w.company_id FROM webhook w
WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL AND d.due_at <= ?)
"""
SELECT_DUE = """
SELECT d.id, w.company_id, w.id, w.url, w.format, w.secret, d.event_id, p.key || '-' || t.number, t.title,
  iif(w.old_until > ?2, w.old_secret, NULL), d.due_at
FROM delivery d JOIN webhook w ON w.id = d.webhook_id
LEFT JOIN event e ON e.id = d.event_id LEFT JOIN ticket t ON t.id = e.ticket_id
LEFT JOIN project p ON p.id = t.project_id
WHERE d.webhook_id = ?1 AND d.due_at IS NOT NULL AND d.due_at <= ?2 ORDER BY d.due_at, d.id LIMIT ?3
"""
SELECT_NEXT_DUE = """
SELECT min((SELECT min(d.due_at) FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL)) FROM webhook w
"""


class _DueRow(NamedTuple):
    """A row of SELECT_DUE."""

    key: int
    company: int
    webhook: int
    url: str
    format: str
    secret: bytes
    event: int
    ticket_key: str | None
    title: str | None
    old_secret: bytes | None
    due_at: int


def list_due(tx: Read, turns: DeliveryTurns) -> list[DueDelivery]:
    """List the due deliveries whose turn it is."""

    def load(webhook: int, in_flight: Set[int], most: int) -> list[_DueRow]:
        rows = map(_DueRow._make, tx.fetch_all(SELECT_DUE, (webhook, tx.now, most + len(in_flight))))
        return [row for row in rows if row.key not in in_flight][:most]

    due = turns.choose(tx.fetch_all(SELECT_WEBHOOKS_WITH_DUE, (tx.now,)), load)
    events_by_key = events.load_events_by_key(tx, [row.event for row in due])
    return [
        DueDelivery(
            row.key,
            row.company,
            row.webhook,
            row.url,
            WebhookFormat(row.format),
            _list_secrets(row.secret, row.old_secret),
            events_by_key[row.event],
            row.ticket_key,
            row.title,
            row.due_at,
        )
        for row in due
    ]


def _list_secrets(newest: bytes, old: bytes | None) -> tuple[bytes, ...]:
    return (newest,) if old is None else (newest, old)


def find_next_due(tx: Read) -> int | None:
    """Find when the next delivery is due, in epoch milliseconds."""
    return tx.fetch_value(SELECT_NEXT_DUE)


SELECT_PENDING = "SELECT webhook_id, lane, attempts, first_at FROM delivery WHERE id = ? AND state = 'pending'"
INSERT_ATTEMPT = "INSERT INTO attempt (delivery_id, at, status, error, ms) VALUES (:key, :now, :status, :error, :ms)"
MARK_DELIVERED = """
UPDATE delivery SET state = 'delivered', attempts = attempts + 1, due_at = NULL, first_at = ifnull(first_at, :now),
  last_at = :now, status = :status, error = NULL, ms = :ms
WHERE id = :key
"""
MARK_FAILED = """
UPDATE delivery SET state = iif(:due IS NULL, 'dead', 'pending'), attempts = attempts + 1, due_at = :due,
  first_at = ifnull(first_at, :now), last_at = :now, status = :status, error = :error, ms = :ms
WHERE id = :key
"""
ADVANCE_LANE = """
UPDATE delivery SET due_at = :now WHERE id = (
  SELECT min(d.id) FROM delivery d WHERE d.webhook_id = :webhook AND d.lane = :lane AND d.state = 'pending')
"""
MARK_WEBHOOK_WORKING = "UPDATE webhook SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL"
MARK_WEBHOOK_FAILING = (
    "UPDATE webhook SET failing_since = ifnull(failing_since, ?) WHERE id = ? RETURNING failing_since"
)


class AttemptOutcome(msgspec.Struct, frozen=True):
    """The outcome of an attempt: the answer's `status` (None: no answer), the error, and the duration."""

    status: int | None
    error: str | None
    ms: int


def record_outcome(tx: Write, key: int, outcome: AttemptOutcome) -> None:
    """Record an attempt's outcome, and make the next delivery in its lane due once this one is done.

    A webhook is disabled if no delivery succeeded while this one used up its attempts, or if its receiver
    answers 410 Gone.
    """
    row = tx.fetch_one(SELECT_PENDING, (key,))
    if row is None:  # the webhook was disabled meanwhile
        return
    webhook, lane, attempts, first_at = row
    attempt = {"key": key, "now": tx.now, **msgspec.structs.asdict(outcome)}
    tx.execute(INSERT_ATTEMPT, attempt)
    if outcome.error is None:
        tx.execute(MARK_DELIVERED, attempt)
        tx.execute(MARK_WEBHOOK_WORKING, (webhook,))
        tx.execute(ADVANCE_LANE, {"webhook": webhook, "lane": lane, "now": tx.now})
        return
    began_at = tx.now if first_at is None else first_at
    next_at = compute_next_attempt(attempts + 1, began_at, tx.now)
    tx.execute(MARK_FAILED, {**attempt, "due": next_at})
    (failing_since,) = tx.fetch_one(MARK_WEBHOOK_FAILING, (tx.now, webhook)) or (tx.now,)
    if outcome.status == _STATUS_GONE:
        webhooks.disable_webhook(tx, webhook, "its receiver answered 410, which says that it is gone")
    elif next_at is None and failing_since <= began_at:
        webhooks.disable_webhook(
            tx, webhook, f"nothing got through since {format_rfc3339(failing_since)}; last: {outcome.error}"
        )
    elif next_at is None:
        tx.execute(ADVANCE_LANE, {"webhook": webhook, "lane": lane, "now": tx.now})


DELETE_OLD = """
DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE state <> 'pending' AND last_at < ? LIMIT 1000)
"""


def delete_old_deliveries(tx: Write) -> None:
    """Delete finished deliveries after thirty days."""
    tx.execute(DELETE_OLD, (tx.now - RETENTION_MS,))


class WebhookBacklog(msgspec.Struct, frozen=True):
    """Pending deliveries, for the metrics: how many, since when in epoch milliseconds (None: no delivery is pending),
    and how many webhooks are disabled.
    """

    pending: int
    oldest: int | None
    disabled: int


SELECT_BACKLOG = """
SELECT ifnull(sum(x.pending), 0), min(x.oldest), count(x.disabled_reason) FROM (
  SELECT w.disabled_reason,
    (SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending') AS pending,
    (SELECT min(d.created_at) FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending') AS oldest
  FROM webhook w
) x
"""


def load_backlog(tx: Read) -> WebhookBacklog:
    """Load the state of the outbox of all webhooks together."""
    pending, oldest, disabled = tx.fetch_one(SELECT_BACKLOG) or (0, None, 0)
    return WebhookBacklog(pending, oldest, disabled)

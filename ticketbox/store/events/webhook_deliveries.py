"""The deliveries of webhooks as their owners see them: list them with their attempts, and replay one."""

from typing import NamedTuple

import msgspec

from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.events.records import Attempt, Delivery, DeliveryState
from ticketbox.store.events import events, webhook_outbox, webhooks
from ticketbox.store.file.database import Read, Row, Write

_SELECT_DELIVERY = """
SELECT d.id, d.public_id, w.public_id, d.event_id, e.type, t.public_id, d.state, d.attempts, d.status, d.error, d.ms,
  d.created_at, d.last_at, d.due_at
FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN event e ON e.id = d.event_id
LEFT JOIN ticket t ON t.id = e.ticket_id
"""


class _DeliveryRow(NamedTuple):
    """A row of `_SELECT_DELIVERY`."""

    key: int
    id: str
    webhook_id: str
    event: int
    event_type: str
    ticket_id: str | None
    state: str
    attempts: int
    status: int | None
    error: str | None
    ms: int | None
    created_at: int
    last_at: int | None
    due_at: int | None


SELECT_DELIVERIES = f"{_SELECT_DELIVERY} WHERE d.webhook_id = ? AND d.id < ? ORDER BY d.id DESC LIMIT ?"
SELECT_DELIVERY = f"{_SELECT_DELIVERY} WHERE d.id = ?"


def list_deliveries(tx: Read, webhook: int, before: int, limit: int) -> list[tuple[int, Delivery]]:
    """List a webhook's deliveries, newest first, each with its key."""
    return [_build_delivery(row) for row in tx.fetch_all(SELECT_DELIVERIES, (webhook, before, limit))]


def _build_delivery(record: Row) -> tuple[int, Delivery]:
    row = _DeliveryRow._make(record)
    return row.key, Delivery(
        id=row.id,
        webhook_id=row.webhook_id,
        event_id=events.encode_event_id(row.event),
        event_type=row.event_type,
        ticket_id=row.ticket_id,
        state=DeliveryState(row.state),
        attempts=row.attempts,
        status=row.status,
        error=row.error,
        ms=row.ms,
        created=format_rfc3339(row.created_at),
        last_attempt=None if row.last_at is None else format_rfc3339(row.last_at),
        next_attempt=None if row.due_at is None else format_rfc3339(row.due_at),
    )


SELECT_DELIVERY_KEYS = "SELECT d.id, d.webhook_id, d.event_id, d.lane, d.state FROM delivery d WHERE d.public_id = ?"


class DeliveryKeys(msgspec.Struct, frozen=True):
    """A delivery's internal keys and state."""

    key: int
    webhook: int
    event: int
    lane: int
    state: DeliveryState


def find_delivery(tx: Read, public_id: str) -> DeliveryKeys | None:
    """Find a delivery by its public id."""
    row = tx.fetch_one(SELECT_DELIVERY_KEYS, (public_id,))
    if row is None:
        return None
    key, webhook, event, lane, state = row
    return DeliveryKeys(key, webhook, event, lane, DeliveryState(state))


SELECT_ATTEMPTS = "SELECT at, status, error, ms FROM attempt WHERE delivery_id = ? ORDER BY id"


def list_attempts(tx: Read, delivery: DeliveryKeys) -> list[Attempt]:
    """List a delivery's attempts, oldest first; `at` is when an attempt ended."""
    return [Attempt(format_rfc3339(at), *rest) for at, *rest in tx.fetch_all(SELECT_ATTEMPTS, (delivery.key,))]


SELECT_WEBHOOK_KEYS = "SELECT w.id, w.company_id, w.enabled FROM webhook w WHERE w.id = ?"


def load_webhook_keys(tx: Read, delivery: DeliveryKeys) -> webhooks.WebhookKeys:
    """Load the webhook of a delivery."""
    row = tx.fetch_one(SELECT_WEBHOOK_KEYS, (delivery.webhook,))
    assert row is not None
    key, company, enabled = row
    return webhooks.WebhookKeys(key, company, bool(enabled))


def replay_delivery(tx: Write, delivery: DeliveryKeys) -> Delivery:
    """Queue a delivery again, after the others in its lane; its `webhook-id` stays the same."""
    key = webhook_outbox.insert_delivery(tx, delivery.webhook, delivery.event, delivery.lane)
    tx.wake_jobs()
    row = tx.fetch_one(SELECT_DELIVERY, (key,))
    assert row is not None
    return _build_delivery(row)[1]

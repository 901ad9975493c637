"""The webhook outbox: created from the event table, so a crash loses nothing.

A webhook's position in the event table advances in the transaction that inserts its deliveries. A delivery is done
when its outcome is recorded; one that was being sent when the process stopped is sent again.
"""

import msgspec

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.events.records import Event, WebhookFormat
from ticketbox.domain.events.retry_schedule import compute_next_attempt
from ticketbox.store.events import events, webhooks
from ticketbox.store.file.database import Read, Write

RETENTION_MS = 30 * DAY
MAX_PER_WEBHOOK = 4  # deliveries at the same time
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
    """A delivery that is due, and whose it is."""

    company: int
    webhook: int
    key: int
    due_at: int


class Delivery(msgspec.Struct, frozen=True):
    """What is sent to a webhook; each secret signs it."""

    url: str
    format: WebhookFormat
    secrets: tuple[bytes, ...]
    event: Event
    ticket_key: str | None
    title: str | None


SELECT_DUE = """
SELECT w.company_id, w.id, d.id, d.due_at FROM webhook w
CROSS JOIN json_each((
  SELECT json_group_array(id) FROM (
    SELECT x.id FROM delivery x WHERE x.webhook_id = w.id AND x.due_at IS NOT NULL AND x.due_at <= :now
    ORDER BY x.due_at, x.id LIMIT :limit))) j
CROSS JOIN delivery d ON d.id = j.value
"""
SELECT_DELIVERY = """
SELECT w.url, w.format, w.secret, iif(w.old_until > :now, w.old_secret, NULL), d.event_id,
  p.key || '-' || t.number, t.title
FROM delivery d JOIN webhook w ON w.id = d.webhook_id
LEFT JOIN event e ON e.id = d.event_id LEFT JOIN ticket t ON t.id = e.ticket_id
LEFT JOIN project p ON p.id = t.project_id
WHERE d.id = :key AND d.due_at <= :now
"""
SELECT_NEXT_DUE = """
SELECT min((SELECT min(d.due_at) FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL)) FROM webhook w
"""


def list_due(tx: Read) -> list[DueDelivery]:
    """List the due deliveries: of each webhook, as many as are sent at the same time."""
    return [DueDelivery(*row) for row in tx.fetch_all(SELECT_DUE, {"now": tx.now, "limit": MAX_PER_WEBHOOK})]


def load_due(tx: Read, key: int) -> Delivery | None:
    """Load what to send; None if the delivery is no longer due."""
    row = tx.fetch_one(SELECT_DELIVERY, {"now": tx.now, "key": key})
    if row is None:
        return None
    url, format_, secret, old_secret, event, ticket_key, title = row
    secrets = (secret,) if old_secret is None else (secret, old_secret)
    loaded = events.load_events_by_key(tx, [event])[event]
    return Delivery(url, WebhookFormat(format_), secrets, loaded, ticket_key, title)


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

"""The outbox of webhooks: made from the event table, so nothing is lost whatever ends the process.

A webhook's place in the table moves on in the transaction that writes its deliveries. A delivery is done when its
result is written; whatever was on its way when the process ended is sent again.
"""

import msgspec

from ticketbox.domain.core.clock import DAY, rfc3339
from ticketbox.domain.core.ids import Prefix, new_id
from ticketbox.domain.events.records import Attempt, Delivery, DeliveryState, Event, WebhookFormat
from ticketbox.domain.events.retry_schedule import next_attempt
from ticketbox.store.events import events, webhooks
from ticketbox.store.file.database import Read, Row, Write

KEPT_MS = 30 * DAY
_GONE = 410
_AT_ONCE = 500

BEHIND = """
SELECT w.id, w.company_id, w.seen, w.types FROM webhook w
WHERE w.enabled AND EXISTS (SELECT 1 FROM event e WHERE e.company_id = w.company_id AND e.id > w.seen)
"""
# Those about tokens stand in the audit log alone.
UNSEEN = """
SELECT id, type, ifnull(ticket_id, 0) FROM event
WHERE company_id = ? AND id > ? ORDER BY id LIMIT ?
"""
ADD = """
INSERT INTO delivery (public_id, webhook_id, event_id, lane, state, attempts, due_at, created_at)
VALUES (:public_id, :webhook, :event, :lane, 'pending', 0,
  iif(EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = :webhook AND d.lane = :lane AND d.state = 'pending'),
    NULL, :now), :now)
"""
SEEN = "UPDATE webhook SET seen = ? WHERE id = ?"


def behind(tx: Read) -> bool:
    """Whether there are events that a webhook hasn't been asked about."""
    return tx.one(BEHIND) is not None


def derive(tx: Write) -> None:
    """Turn events into deliveries, up to a number of them for each webhook."""
    for webhook, company, seen, types in tx.all(BEHIND):
        wanted = None if types is None else msgspec.json.decode(types, type=set[str])
        found = tx.all(UNSEEN, (company, seen, _AT_ONCE))
        for event, type_, lane in found:
            if not type_.startswith("token.") and (wanted is None or type_ in wanted):
                _add(tx, webhook, event, lane)
        tx.run(SEEN, (found[-1][0], webhook))


def _add(tx: Write, webhook: int, event: int, lane: int) -> tuple[int, str]:
    public_id = new_id(Prefix.DELIVERY)
    row = {"public_id": public_id, "webhook": webhook, "event": event, "lane": lane, "now": tx.now}
    return tx.insert(ADD, row), public_id


class Due(msgspec.Struct, frozen=True):
    """A delivery to make now; every one of the secrets signs it."""

    key: int
    webhook: int
    url: str
    format: WebhookFormat
    secrets: tuple[bytes, ...]
    event: Event
    title: str | None


WITH_DUE = """
SELECT w.id FROM webhook w
WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL AND d.due_at <= ?)
"""
DUE = """
SELECT d.id, w.id, w.url, w.format, w.secret, d.event_id, t.title, iif(w.old_until > ?2, w.old_secret, NULL)
FROM delivery d JOIN webhook w ON w.id = d.webhook_id
LEFT JOIN event e ON e.id = d.event_id LEFT JOIN ticket t ON t.id = e.ticket_id
WHERE d.webhook_id = ?1 AND d.due_at IS NOT NULL AND d.due_at <= ?2 ORDER BY d.due_at, d.id LIMIT ?3
"""
NEXT_DUE = """
SELECT min((SELECT min(d.due_at) FROM delivery d WHERE d.webhook_id = w.id AND d.due_at IS NOT NULL)) FROM webhook w
"""


def due(tx: Read, running: dict[int, set[int]], most: int, most_each: int) -> list[Due]:
    """Deliveries whose time has come, a few of each webhook. `running` holds the ones on their way, by webhook."""
    found: list[Row] = []
    room = most - sum(map(len, running.values()))
    for (webhook,) in tx.all(WITH_DUE, (tx.now,)):
        on_the_way = running.get(webhook, set())
        free = min(most_each - len(on_the_way), room - len(found))
        if free > 0:
            rows = tx.all(DUE, (webhook, tx.now, free + len(on_the_way)))
            found += [row for row in rows if row[0] not in on_the_way][:free]
    told = events.by_key(tx, [row[5] for row in found])
    return [
        Due(row[0], row[1], row[2], WebhookFormat(row[3]), _secrets(row[4], row[7]), told[row[5]], row[6])
        for row in found
    ]


def _secrets(newest: bytes, old: bytes | None) -> tuple[bytes, ...]:
    return (newest,) if old is None else (newest, old)


def next_due(tx: Read) -> int | None:
    """When the next delivery is due, in epoch milliseconds."""
    return tx.value(NEXT_DUE)


PENDING = "SELECT webhook_id, lane, attempts, first_at FROM delivery WHERE id = ? AND state = 'pending'"
ATTEMPTED = "INSERT INTO attempt (delivery_id, at, status, error, ms) VALUES (:key, :now, :status, :error, :ms)"
DELIVERED = """
UPDATE delivery SET state = 'delivered', attempts = attempts + 1, due_at = NULL, first_at = ifnull(first_at, :now),
  last_at = :now, status = :status, error = NULL, ms = :ms
WHERE id = :key
"""
FAILED = """
UPDATE delivery SET state = iif(:due IS NULL, 'dead', 'pending'), attempts = attempts + 1, due_at = :due,
  first_at = ifnull(first_at, :now), last_at = :now, status = :status, error = :error, ms = :ms
WHERE id = :key
"""
ADVANCE = """
UPDATE delivery SET due_at = :now WHERE id = (
  SELECT min(d.id) FROM delivery d WHERE d.webhook_id = :webhook AND d.lane = :lane AND d.state = 'pending')
"""
WELL = "UPDATE webhook SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL"
ILL = "UPDATE webhook SET failing_since = ifnull(failing_since, ?) WHERE id = ? RETURNING failing_since"


class Outcome(msgspec.Struct, frozen=True):
    """What became of an attempt: `status` of the answer (None: there was none), what went wrong, how long it took."""

    status: int | None
    error: str | None
    ms: int


def settle(tx: Write, key: int, outcome: Outcome) -> None:
    """Write an attempt's outcome down, and let the next in its lane go when this one is done.

    A webhook is disabled when nothing at all got through while a delivery was tried to its end, and when its
    receiver says that it is gone.
    """
    row = tx.one(PENDING, (key,))
    if row is None:  # the webhook was disabled meanwhile
        return
    webhook, lane, attempts, first_at = row
    told = {"key": key, "now": tx.now, **msgspec.structs.asdict(outcome)}
    tx.run(ATTEMPTED, told)
    if outcome.error is None:
        tx.run(DELIVERED, told)
        tx.run(WELL, (webhook,))
        tx.run(ADVANCE, {"webhook": webhook, "lane": lane, "now": tx.now})
        return
    begun = tx.now if first_at is None else first_at
    again = next_attempt(attempts + 1, begun, tx.now)
    tx.run(FAILED, {**told, "due": again})
    (failing_since,) = tx.one(ILL, (tx.now, webhook)) or (tx.now,)
    if outcome.status == _GONE:
        webhooks.disable(tx, webhook, "its receiver answered 410, which says that it is gone")
    elif again is None and failing_since <= begun:
        webhooks.disable(tx, webhook, f"nothing got through since {rfc3339(failing_since)}; last: {outcome.error}")
    elif again is None:
        tx.run(ADVANCE, {"webhook": webhook, "lane": lane, "now": tx.now})


_SHOWN = """
SELECT d.id, d.public_id, w.public_id, d.event_id, e.type, t.public_id, d.state, d.attempts, d.status, d.error, d.ms,
  d.created_at, d.last_at, d.due_at
FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN event e ON e.id = d.event_id
LEFT JOIN ticket t ON t.id = e.ticket_id
"""
OF_WEBHOOK = f"{_SHOWN} WHERE d.webhook_id = ? AND d.id < ? ORDER BY d.id DESC LIMIT ?"
GET = f"{_SHOWN} WHERE d.id = ?"


def of_webhook(tx: Read, webhook: int, before: int, limit: int) -> list[tuple[int, Delivery]]:
    """A webhook's deliveries, newest first, each with its key."""
    return [_delivery(row) for row in tx.all(OF_WEBHOOK, (webhook, before, limit))]


def _delivery(row: Row) -> tuple[int, Delivery]:
    times = [None if at is None else rfc3339(at) for at in row[11:14]]
    return row[0], Delivery(
        id=row[1],
        webhook_id=row[2],
        event_id=events.event_id(row[3]),
        event_type=row[4],
        ticket_id=row[5],
        state=DeliveryState(row[6]),
        attempts=row[7],
        status=row[8],
        error=row[9],
        ms=row[10],
        created=times[0] or "",
        last_attempt=times[1],
        next_attempt=times[2],
    )


FIND = "SELECT d.id, d.webhook_id, d.event_id, d.lane, d.state FROM delivery d WHERE d.public_id = ?"


class Kept(msgspec.Struct, frozen=True):
    """A delivery's own keys."""

    key: int
    webhook: int
    event: int
    lane: int
    state: DeliveryState


def find(tx: Read, public_id: str) -> Kept | None:
    """A delivery by its public id."""
    row = tx.one(FIND, (public_id,))
    return None if row is None else Kept(row[0], row[1], row[2], row[3], DeliveryState(row[4]))


OF_DELIVERY = "SELECT at, status, error, ms FROM attempt WHERE delivery_id = ? ORDER BY id"


def attempts(tx: Read, kept: Kept) -> list[Attempt]:
    """What became of each attempt, oldest first; `at` is when it had ended."""
    return [Attempt(rfc3339(row[0]), row[1], row[2], row[3]) for row in tx.all(OF_DELIVERY, (kept.key,))]


WEBHOOK_OF = "SELECT w.id, w.company_id, w.enabled FROM webhook w WHERE w.id = ?"


def webhook_of(tx: Read, kept: Kept) -> webhooks.Held:
    """The webhook of a delivery."""
    row = tx.one(WEBHOOK_OF, (kept.webhook,))
    assert row is not None
    return webhooks.Held(row[0], row[1], bool(row[2]))


def replay(tx: Write, kept: Kept) -> Delivery:
    """Deliver once more, after whatever waits in the same lane; the receiver knows it by the same `webhook-id`."""
    key, _ = _add(tx, kept.webhook, kept.event, kept.lane)
    tx.wake_jobs()
    row = tx.one(GET, (key,))
    assert row is not None
    return _delivery(row)[1]


FORGET = """
DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE state <> 'pending' AND last_at < ? LIMIT 1000)
"""


def forget_old(tx: Write) -> None:
    """Drop what is done from the log after thirty days."""
    tx.run(FORGET, (tx.now - KEPT_MS,))


class Backlog(msgspec.Struct, frozen=True):
    """What still waits, for the metrics: how many deliveries, since when in epoch milliseconds (None: nothing does),
    and how many webhooks are disabled.
    """

    pending: int
    oldest: int | None
    disabled: int


BACKLOG = """
SELECT ifnull(sum(x.pending), 0), min(x.oldest), count(x.disabled_reason) FROM (
  SELECT w.disabled_reason,
    (SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending') AS pending,
    (SELECT min(d.created_at) FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending') AS oldest
  FROM webhook w
) x
"""


def backlog(tx: Read) -> Backlog:
    """The state of the outbox of all webhooks together."""
    pending, oldest, disabled = tx.one(BACKLOG) or (0, None, 0)
    return Backlog(pending, oldest, disabled)

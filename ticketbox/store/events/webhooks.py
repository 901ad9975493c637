"""Webhooks: addresses that receive a company's events. `webhook_outbox` sends them."""

from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.core.clock import DAY, format_rfc3339
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.domain.events.records import Webhook, WebhookFormat
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.events import events
from ticketbox.store.file.database import Read, Row, Write

MAX_WEBHOOKS = 20
SECRET_OVERLAP_MS = DAY


class WebhookKeys(msgspec.Struct, frozen=True):
    """A webhook's internal keys and state."""

    key: int
    company: int
    enabled: bool


SELECT_WEBHOOK_KEYS = "SELECT id, company_id, enabled FROM webhook WHERE public_id = ?"


def find_webhook(tx: Read, public_id: str) -> WebhookKeys | None:
    """Find a webhook by its public id."""
    row = tx.fetch_one(SELECT_WEBHOOK_KEYS, (public_id,))
    if row is None:
        return None
    key, company, enabled = row
    return WebhookKeys(key, company, bool(enabled))


_SELECT_WEBHOOK = """
SELECT w.id, w.public_id, co.public_id, w.name, w.url, w.format, w.types, w.enabled, w.disabled_reason,
  w.failing_since, w.created_by, w.created_at,
  (SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.state = 'pending'), w.old_until
FROM webhook w JOIN company co ON co.id = w.company_id
"""


class _WebhookRow(NamedTuple):
    """A row of `_SELECT_WEBHOOK`."""

    key: int
    id: str
    company_id: str
    name: str
    url: str
    format: str
    types: str | None
    enabled: int
    disabled_reason: str | None
    failing_since: int | None
    created_by: int
    created_at: int
    pending: int
    old_secret_until: int | None


SELECT_WEBHOOKS = f"{_SELECT_WEBHOOK} WHERE w.company_id = ? AND w.id > ? ORDER BY w.id LIMIT ?"
SELECT_WEBHOOK = f"{_SELECT_WEBHOOK} WHERE w.id = ?"


def list_webhooks(tx: Read, company: int, after: int, limit: int) -> list[tuple[int, Webhook]]:
    """List a company's webhooks, oldest first, each with its key."""
    return _build_webhooks(tx, tx.fetch_all(SELECT_WEBHOOKS, (company, after, limit)))


def load_webhook(tx: Read, key: int) -> Webhook:
    """Load a webhook that exists."""
    return _build_webhooks(tx, tx.fetch_all(SELECT_WEBHOOK, (key,)))[0][1]


def _build_webhooks(tx: Read, records: list[Row]) -> list[tuple[int, Webhook]]:
    rows = [_WebhookRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Webhook(
                id=row.id,
                company_id=row.company_id,
                name=row.name,
                url=row.url,
                format=WebhookFormat(row.format),
                types=None if row.types is None else msgspec.json.decode(row.types, type=list[str]),
                enabled=bool(row.enabled),
                disabled_reason=row.disabled_reason,
                failing_since=None if row.failing_since is None else format_rfc3339(row.failing_since),
                pending=row.pending,
                old_secret_until=_format_future(row.old_secret_until, tx.now),
                created=bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


def _format_future(at: int | None, now: int) -> str | None:
    return None if at is None or at <= now else format_rfc3339(at)


def count_webhooks(tx: Read, company: int) -> int:
    """Count a company's webhooks."""
    return tx.fetch_value("SELECT count(*) FROM webhook WHERE company_id = ?", (company,))


class NewWebhookRow(msgspec.Struct, frozen=True):
    """The fields of a new webhook."""

    company: int
    name: str
    url: str
    format: WebhookFormat
    types: list[str] | None
    secret: bytes
    byline: int


INSERT_WEBHOOK = """
INSERT INTO webhook (public_id, company_id, name, url, format, types, secret, enabled, seen, created_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, TRUE, ?, ?, ?)
"""


def insert_webhook(tx: Write, new: NewWebhookRow) -> tuple[int, str]:
    """Insert a webhook, which receives events from now on; return its key and its public id."""
    public_id = generate_id(Prefix.WEBHOOK)
    seen = events.find_newest_key(tx)
    row = (
        public_id, new.company, new.name, new.url, new.format.value, _encode_types(new.types), new.secret, seen,
        new.byline, tx.now,
    )  # fmt: skip
    return tx.insert(INSERT_WEBHOOK, row), public_id


class WebhookChanges(msgspec.Struct, frozen=True):
    """New values of a webhook; UNSET keeps the stored value. `types` None subscribes to all event types."""

    name: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    format: WebhookFormat | UnsetType = UNSET
    types: list[str] | UnsetType | None = UNSET


def update_webhook(tx: Write, key: int, changes: WebhookChanges) -> None:
    """Update the fields that are set."""
    update_columns(
        tx,
        "webhook",
        key,
        name=changes.name,
        url=changes.url,
        format=UNSET if changes.format is UNSET else changes.format.value,
        types=UNSET if changes.types is UNSET else _encode_types(changes.types),
    )


ENABLE_WEBHOOK = (
    "UPDATE webhook SET enabled = TRUE, disabled_reason = NULL, failing_since = NULL, seen = ? WHERE id = ?"
)
DISABLE_WEBHOOK = "UPDATE webhook SET enabled = FALSE, disabled_reason = ?, failing_since = NULL WHERE id = ?"
MARK_PENDING_DEAD = """
UPDATE delivery SET state = 'dead', due_at = NULL, last_at = ifnull(last_at, ?), error = ifnull(error, ?)
WHERE webhook_id = ? AND state = 'pending'
"""


def enable_webhook(tx: Write, key: int) -> None:
    """Enable a webhook for events from now on."""
    tx.execute(ENABLE_WEBHOOK, (events.find_newest_key(tx), key))


def disable_webhook(tx: Write, key: int, reason: str) -> None:
    """Disable a webhook; its pending deliveries become dead and can be replayed."""
    tx.execute(DISABLE_WEBHOOK, (reason, key))
    tx.execute(MARK_PENDING_DEAD, (tx.now, "the webhook was disabled", key))


ROTATE_SECRET = "UPDATE webhook SET old_secret = secret, old_until = :until, secret = :secret WHERE id = :key"
DELETE_OLD_SECRETS = "UPDATE webhook SET old_secret = NULL, old_until = NULL WHERE old_until <= ?"


def rotate_secret(tx: Write, key: int, secret: bytes) -> None:
    """Sign with a new secret, and for a day with the old one too."""
    tx.execute(ROTATE_SECRET, {"key": key, "secret": secret, "until": tx.now + SECRET_OVERLAP_MS})


def delete_old_secrets(tx: Write) -> None:
    """Delete old secrets that no longer sign."""
    tx.execute(DELETE_OLD_SECRETS, (tx.now,))


def delete_webhook(tx: Write, key: int) -> None:
    """Delete a webhook with its deliveries."""
    tx.execute("DELETE FROM webhook WHERE id = ?", (key,))


def _encode_types(types: list[str] | None) -> str | None:
    return None if types is None else msgspec.json.encode(types).decode()

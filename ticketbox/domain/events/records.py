"""Webhooks and their deliveries, as every surface shows them."""

from enum import StrEnum
from typing import Any

import msgspec

from ticketbox.domain.core.records import By, Time


class WebhookFormat(StrEnum):
    """What a webhook's body looks like."""

    STANDARD = "standard"
    SLACK = "slack"
    DISCORD = "discord"


class Webhook(msgspec.Struct, frozen=True):
    """An address that receives a company's events.

    `types` null means all; `pending` counts waiting deliveries; until `old_secret_until` the old secret signs too.
    """

    id: str
    company_id: str
    name: str
    url: str
    format: WebhookFormat
    types: list[str] | None
    enabled: bool
    disabled_reason: str | None
    failing_since: Time | None
    pending: int
    old_secret_until: Time | None
    created: By


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Delivery(msgspec.Struct, frozen=True):
    """The delivery of an event to a webhook; status, error and milliseconds are the last attempt's."""

    id: str
    webhook_id: str
    event_id: str
    event_type: str
    ticket_id: str | None
    state: DeliveryState
    attempts: int
    status: int | None
    error: str | None
    ms: int | None
    created: Time
    last_attempt: Time | None
    next_attempt: Time | None


class Attempt(msgspec.Struct, frozen=True):
    """An attempt at a delivery, and when it ended; `status` is null without an answer."""

    at: Time
    status: int | None
    error: str | None
    ms: int


class Event(msgspec.Struct, frozen=True):
    """Something that happened; ids increase."""

    id: str
    type: str
    company_id: str
    project_id: str | None
    ticket_id: str | None
    by: By
    data: dict[str, Any]
    at: Time


class AuditEvent(Event, frozen=True):
    """An event in the audit log. `ticket_key` is the present key of its ticket."""

    ticket_key: str | None


class Reason(StrEnum):
    """Why somebody is notified of an event."""

    MENTION = "mention"
    ASSIGNMENT = "assignment"
    REPLY = "reply"
    QUESTION = "question"
    APPROVAL = "approval"


class Notification(msgspec.Struct, frozen=True):
    """An event that concerns the caller, and why.

    `excerpt` is up to 300 characters of the comment, the question, or the description that mentions the caller, as
    Markdown on one line; null if there is no text, or the comment was deleted.
    """

    id: str
    reason: Reason
    event_id: str
    event_type: str
    ticket_id: str
    ticket_key: str
    ticket_title: str
    project_id: str
    company_id: str
    excerpt: str | None
    by: By
    read: bool
    snoozed_until: Time | None
    at: Time


class Mutes(msgspec.Struct, frozen=True):
    """What the caller muted: the newest thousand of each."""

    ticket_ids: list[str]
    project_ids: list[str]

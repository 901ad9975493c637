"""The resources as every surface shows them (docs/reference/api.md). Outputs have no defaults."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ticketbox.domain.capture import Environment, Health, Page, Redaction
from ticketbox.domain.fingerprints import Likeness
from ticketbox.domain.policy import Via
from ticketbox.domain.scopes import RoleName

Time = Annotated[
    str,
    Meta(
        description="RFC 3339, UTC, milliseconds.",
        examples=["2026-11-21T09:30:00.000Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


class Priority(StrEnum):
    """How urgent a ticket is."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"


PRIORITIES: tuple[Priority, ...] = tuple(Priority)


class Status(StrEnum):
    """Whether a ticket stands on its board."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class Person(msgspec.Struct, frozen=True):
    """A user, by the name that is shown."""

    id: str
    name: str


class By(msgspec.Struct, frozen=True):
    """Who wrote something: the user, the token (null in a web session), the way, and when."""

    user: Person
    token_id: str | None
    token_label: str | None
    via: Via
    at: Time


class Limits(msgspec.Struct, frozen=True):
    """A company's own limits; null means the default (600 reads, 60 writes a minute)."""

    reads_per_minute: int | None
    writes_per_minute: int | None


class Company(msgspec.Struct, frozen=True):
    """A company, with the caller's role in it."""

    id: str
    name: str
    limits: Limits
    role: RoleName
    created: By


class Bodies(StrEnum):
    """Whether captures may carry request and response bodies."""

    OFF = "off"
    ON = "on"


class CapturePolicy(msgspec.Struct, frozen=True):
    """What the extension may collect in a project's pages, and what is removed besides the usual."""

    bodies: Bodies
    extra_redactions: list[str]


class Project(msgspec.Struct, frozen=True):
    """A project: one board. The extension picks it by `url_patterns`, globs on the page address."""

    id: str
    company_id: str
    name: str
    url_patterns: list[str]
    capture_policy: CapturePolicy
    created: By


class Column(msgspec.Struct, frozen=True):
    """A column of a project's board; `position` counts from 0."""

    id: str
    project_id: str
    name: str
    position: int


class Member(msgspec.Struct, frozen=True):
    """A user's place in a company; `project_ids` null means all projects."""

    id: str
    name: str
    email: str
    role: RoleName
    project_ids: list[str] | None


class StreamCounts(msgspec.Struct, frozen=True):
    """How many entries each stream of a capture holds."""

    console: int
    network: int
    errors: int
    failed_requests: int


class CaptureSummary(msgspec.Struct, frozen=True):
    """What a ticket says of its newest capture."""

    id: str
    captured_at: Time
    counts: StreamCounts
    health_summary: str
    screenshot_id: str | None


class Claim(msgspec.Struct, frozen=True):
    """Who works on a ticket, and until when the claim holds without another start."""

    by: By
    until: Time


class Ticket(msgspec.Struct, frozen=True):
    """A ticket. `position` orders it in its column; figures have gaps and may change."""

    id: str
    company_id: str
    project_id: str
    column_id: str | None
    position: int
    title: str
    description: str
    status: Status
    resolved: bool
    priority: Priority
    labels: list[str]
    assignees: list[Person]
    branch: str | None
    claim: Claim | None
    source_url: str | None
    capture: CaptureSummary | None
    comment_count: int
    version: int
    created: By
    updated: By
    archived: By | None


class Piece(msgspec.Struct, frozen=True):
    """A piece of a text; `match` marks what was looked for. The pieces in a row are the text."""

    text: str
    match: bool


class Excerpt(msgspec.Struct, frozen=True):
    """A passage that holds what was looked for, and the field that it stands in."""

    field: str
    parts: list[Piece]


class Highlights(msgspec.Struct, frozen=True):
    """Where a search found its words: the whole title, empty without a match there, and a passage of another field."""

    title: list[Piece]
    excerpt: Excerpt | None


class Hit(Ticket, frozen=True):
    """A ticket that a search found."""

    highlights: Highlights


class Resemblance(msgspec.Struct, frozen=True):
    """In what a ticket looks like another: the message of the error, or the page, as the found ticket has it."""

    likeness: Likeness
    text: str


class SimilarTicket(Ticket, frozen=True):
    """A ticket that looks like another, and why, strongest reason first."""

    reasons: list[Resemblance]


class Comment(msgspec.Struct, frozen=True):
    """A comment on a ticket."""

    id: str
    ticket_id: str
    body: str
    by: By
    edited_at: Time | None


class AssetKind(StrEnum):
    """What a stored file is."""

    SCREENSHOT = "screenshot"
    ATTACHMENT = "attachment"


class Asset(msgspec.Struct, frozen=True):
    """A stored file: a capture's screenshot, or an attachment of a ticket."""

    id: str
    ticket_id: str
    capture_id: str | None
    kind: AssetKind
    media_type: str
    width: int | None
    height: int | None
    bytes: int
    sha256: str
    name: str
    created: By


class Capture(msgspec.Struct, frozen=True):
    """A capture without its streams."""

    id: str
    ticket_id: str
    captured_at: Time
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    counts: StreamCounts
    assets: list[Asset]


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


class TokenKind(StrEnum):
    """How a token came to be: made in Settings, or granted to an app."""

    API = "api"
    OAUTH = "oauth"


class Token(msgspec.Struct, frozen=True):
    """An API token, without its secret; `prefix` is the start of it."""

    id: str
    label: str
    prefix: str
    kind: TokenKind
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    expires_at: Time | None
    created: Time
    last_used_at: Time | None


class ConnectedApp(msgspec.Struct, frozen=True):
    """What a user granted to an app. `client_host` publishes the app's description; null for one that registered."""

    id: str
    name: str
    client_host: str | None
    redirect_host: str
    scopes: list[str]
    company_id: str | None
    project_ids: list[str] | None
    created: Time
    last_used_at: Time | None
    expires_at: Time


class Session(msgspec.Struct, frozen=True):
    """A signed-in web session."""

    id: str
    current: bool
    address: str | None
    user_agent: str | None
    created: Time
    last_used_at: Time | None
    expires_at: Time


class Invitation(msgspec.Struct, frozen=True):
    """An invitation to a company that nobody accepted yet."""

    id: str
    company_id: str
    email: str | None
    role: RoleName
    project_ids: list[str] | None
    created: By
    expires_at: Time


class User(msgspec.Struct, frozen=True):
    """An account."""

    id: str
    name: str
    email: str


class MailState(StrEnum):
    """Whether a person gets e-mail: `asked` until they open the link that was mailed to them.

    `unavailable`: the server's operator named no mail server.
    """

    UNAVAILABLE = "unavailable"
    OFF = "off"
    ASKED = "asked"
    ON = "on"


class Profile(msgspec.Struct, frozen=True):
    """The caller's own account."""

    id: str
    name: str
    email: str
    mail: MailState


class WebhookFormat(StrEnum):
    """What a webhook's body looks like."""

    STANDARD = "standard"
    SLACK = "slack"
    DISCORD = "discord"


class Webhook(msgspec.Struct, frozen=True):
    """An address that is told of a company's events.

    `types` null: of all; `pending`: how many still wait; until `old_secret_until` the secret before signs as well.
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
    """What became of a delivery so far."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Delivery(msgspec.Struct, frozen=True):
    """One event on its way to a webhook; status, error and milliseconds are the last attempt's."""

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
    """One attempt at a delivery, and when it ended; without an answer `status` is null."""

    at: Time
    status: int | None
    error: str | None
    ms: int


class Reason(StrEnum):
    """Why somebody is told of an event."""

    MENTION = "mention"
    ASSIGNMENT = "assignment"
    REPLY = "reply"


class Notification(msgspec.Struct, frozen=True):
    """An event that concerns the one who asks, and why."""

    id: str
    reason: Reason
    event_id: str
    event_type: str
    ticket_id: str
    ticket_title: str
    project_id: str
    company_id: str
    by: By
    read: bool
    at: Time


class Mutes(msgspec.Struct, frozen=True):
    """What somebody doesn't want to hear of: the newest thousand of each."""

    ticket_ids: list[str]
    project_ids: list[str]

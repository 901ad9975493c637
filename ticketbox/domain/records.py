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

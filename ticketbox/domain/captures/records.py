"""Captures and stored files, as every surface shows them. Outputs have no defaults."""

from enum import StrEnum

import msgspec

from ticketbox.domain.captures.actions import ActionTarget
from ticketbox.domain.captures.capture import Health, Page, Redaction
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.expectations import Aspect, ShownTexts
from ticketbox.domain.core.records import By, Time
from ticketbox.domain.tickets.records import CaptureSummary, Failure, StreamCounts


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


class SourceMapRecord(msgspec.Struct, frozen=True):
    """A source map of a project, without its content: `name` is the path of its script."""

    id: str
    project_id: str
    release: str
    name: str
    debug_id: str | None
    bytes: int
    sha256: str
    created: By


class ListedCapture(CaptureSummary, frozen=True):
    """A capture as the captures of its ticket are listed. `confirmed` says who confirmed an external one."""

    page: Page
    environment: Environment
    created: By
    confirmed: By | None


class DescribedFailure(Failure, frozen=True):
    """A failure in one line."""

    text: str


class CaptureBug(DescribedFailure, frozen=True):
    """The failure that a capture is about: the one that a person chose, or else the last one that a step led to.

    `chosen` says who chose it; it is null if nobody did.
    """

    chosen: By | None


class Expectation(msgspec.Struct, frozen=True):
    """What somebody says is wrong on a captured page, and what would be right; `words` say it in a sentence.

    `is` names what is compared. `at` is when it was seen, in epoch milliseconds, and `by` who said it. `confirmed` says
    which person confirmed it; while it is null, it proves nothing.
    """

    id: str
    capture_id: str
    is_: Aspect = msgspec.field(name="is")
    target: ActionTarget | None
    frame: str | None
    frame_path: list[str]
    name: str | None
    seen: str | None
    right: str | None
    other: ActionTarget | None
    shown: ShownTexts | None
    words: str
    at: float
    by: By
    confirmed: By | None


class Capture(msgspec.Struct, frozen=True):
    """A capture without its streams. `confirmed` says who confirmed an `external` one.

    `bug` is the failure that it is about; it is null if it has none, or all are background. If there are confirmed
    `expectations`, they are the bug, and a failure only if a person chose it as well.
    """

    id: str
    ticket_id: str
    captured_at: Time
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    counts: StreamCounts
    assets: list[Asset]
    external: bool
    confirmed: By | None
    bug: CaptureBug | None
    expectations: list[Expectation]

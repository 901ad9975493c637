"""What a browser sends with a ticket: the streams, their health, the page and its environment.

Times are epoch milliseconds and may be fractional, as `performance.timeOrigin + performance.now()`
returns them. Sizes are bytes. Null means that the browser didn't know.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.fields import (
    Address,
    Body,
    Bytes,
    DocumentIndex,
    FrameAddress,
    Headers,
    Line,
    Position,
    Redirect,
    Tally,
    Text,
    Time,
)
from ticketbox.domain.captures.source_maps.frames import Frame


class Stream(StrEnum):
    """The logs that are recorded while a page is open."""

    CONSOLE = "console"
    NETWORK = "network"
    ERRORS = "errors"
    ACTIONS = "actions"


class Level(StrEnum):
    """A console line's level, lowest first."""

    DEBUG = "debug"
    LOG = "log"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class ErrorKind(StrEnum):
    """How an error was reported."""

    ERROR = "error"
    UNHANDLED_REJECTION = "unhandledrejection"
    RESOURCE = "resource"
    CSP = "csp"


THROWN = (ErrorKind.ERROR, ErrorKind.UNHANDLED_REJECTION)


class OmittedReason(StrEnum):
    """Why a body is missing or cut."""

    POLICY = "policy"
    BINARY = "binary"
    LIMIT = "limit"
    UNAVAILABLE = "unavailable"


class HealthStatus(StrEnum):
    """How complete a stream is."""

    OK = "ok"
    PARTIAL = "partial"
    EMPTY = "empty"
    BLOCKED = "blocked"
    DISABLED = "disabled"


class HealthReason(StrEnum):
    """Why a stream is not complete."""

    CSP = "csp"
    RESTRICTED_PAGE = "restricted_page"
    LATE_START = "late_start"
    POLICY = "policy"
    LIMIT = "limit"
    NAVIGATED = "navigated"
    HIDDEN = "hidden"
    ERROR = "error"
    SLOWDOWN = "slowdown"


class Extent(StrEnum):
    """How much of the page a picture shows."""

    VISIBLE = "visible"
    FULL_PAGE = "full_page"


class ConsoleEntry(Struct, gc=False, forbid_unknown_fields=True):
    """One console call."""

    seq: Position
    ts: Time
    level: Annotated[Level, Meta(description="The console method, by weight.")]
    args: Annotated[
        list[Text],
        Meta(max_length=100, description="The arguments as text.", examples=[["cart total", "12.50"]]),
    ]
    stack: Annotated[Text | None, Meta(description="The call's stack, where one was taken.")] = None
    frames: Annotated[
        list[Frame], Meta(max_length=200, description="The stack taken apart, if it is in the author's files.")
    ] = field(default_factory=list[Frame])
    source: Annotated[
        Address | None,
        Meta(description="File, line and column.", examples=["https://shop.example/app.js:10:4"]),
    ] = None
    repeat: Annotated[int, Meta(ge=1, le=2**53 - 1, description="Equal calls in a row, folded into one.")] = 1
    truncated: Annotated[bool, Meta(description="Whether the text was shortened.")] = False
    frame: FrameAddress = None
    document: DocumentIndex = 0


class NetworkRequest(Struct, gc=False, forbid_unknown_fields=True):
    """What was sent."""

    headers: Headers = field(default_factory=dict[str, str])
    body: Body = None
    bytes: Bytes | None = None
    omitted_reason: Annotated[OmittedReason | None, Meta(description="Why the body is missing or cut.")] = None


class NetworkResponse(Struct, gc=False, forbid_unknown_fields=True):
    """What came back; empty when nothing did."""

    headers: Headers = field(default_factory=dict[str, str])
    body: Body = None
    bytes: Bytes | None = None
    mime: Annotated[Line | None, Meta(description="Media type.", examples=["application/json"])] = None
    omitted_reason: Annotated[OmittedReason | None, Meta(description="Why the body is missing or cut.")] = None


class SocketMessage(Struct, gc=False, forbid_unknown_fields=True):
    """A message of a WebSocket or of an event stream."""

    ts: Time
    sent: Annotated[bool, Meta(description="Whether the page sent it.")] = False
    event: Annotated[
        Annotated[str, Meta(max_length=200)] | UnsetType,
        Meta(description="The type of an event of an event stream, if it isn't `message`."),
    ] = UNSET
    body: Annotated[Body, Meta(description="Text, at most 400 characters; null when omitted.")] = None
    bytes: Bytes | None = None
    omitted_reason: Annotated[OmittedReason | None, Meta(description="Why the text is missing or cut.")] = None


class NetworkEntry(Struct, gc=False, forbid_unknown_fields=True):
    """One request and its response."""

    id: Annotated[str, Meta(min_length=1, max_length=64, description="Unique in the capture.", examples=["r17"])]
    ts: Time
    method: Annotated[str, Meta(min_length=1, max_length=32, examples=["GET"])]
    url: Annotated[Address, Meta(examples=["https://shop.example/api/cart?page=2"])]
    status: Annotated[Annotated[int, Meta(ge=100, le=599)] | None, Meta(description="Null when no response came.")]
    type: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=32,
            description="fetch, xhr, websocket, eventsource, document, script, stylesheet, image, font, media, other.",
            examples=["fetch"],
        ),
    ]
    duration_ms: Annotated[
        Annotated[float, Meta(ge=0, le=1e12)] | None, Meta(description="Null while the request is under way.")
    ]
    request: NetworkRequest = field(default_factory=NetworkRequest)
    response: NetworkResponse = field(default_factory=NetworkResponse)
    status_text: Annotated[Line, Meta(description="Empty under HTTP/2 and later.")] = ""
    initiator: Annotated[Address | None, Meta(description="The script or page that asked for it.")] = None
    error: Annotated[Line | None, Meta(description="Why no response came.", examples=["net::ERR_FAILED"])] = None
    from_cache: bool = False
    redirects: Annotated[
        list[Redirect],
        Meta(max_length=50, description="Where the request was redirected, in order; the rest is of the last answer."),
    ] = field(default_factory=list[Redirect])
    messages: Annotated[
        list[SocketMessage] | UnsetType, Meta(description="The last ones of a WebSocket or event stream, at most 50.")
    ] = UNSET
    frame: FrameAddress = None
    document: DocumentIndex = 0


class ErrorEntry(Struct, gc=False, forbid_unknown_fields=True):
    """One error that the page didn't handle; equal ones are counted."""

    seq: Position
    ts: Time
    kind: Annotated[ErrorKind, Meta(description="How it was reported.")]
    message: Text
    name: Annotated[Line, Meta(description="The error's class.", examples=["TypeError"])] = ""
    stack: Annotated[Text | None, Meta(description="As the browser wrote it.")] = None
    frames: Annotated[list[Frame], Meta(max_length=200, description="The stack taken apart, innermost first.")] = field(
        default_factory=list[Frame]
    )
    source: Annotated[Address | None, Meta(description="File, line and column, or the failed resource.")] = None
    fingerprint: Annotated[str, Meta(max_length=128, description="The same for errors of the same origin.")] = ""
    count: Annotated[int, Meta(ge=1, le=2**53 - 1, description="How often it happened.")] = 1
    frame: FrameAddress = None
    document: DocumentIndex = 0


Entry = ConsoleEntry | NetworkEntry | ErrorEntry | ActionEntry


class StreamHealth(Struct, forbid_unknown_fields=True):
    """How complete one stream is, and why it isn't."""

    status: HealthStatus
    reason: Annotated[HealthReason | None, Meta(description="Null when nothing is missing.")] = None
    captured: Annotated[Tally, Meta(description="Entries that were sent.")] = 0
    dropped: Annotated[Tally, Meta(description="Entries that were left out because of the limits.")] = 0


class ReplayHealth(StreamHealth):
    """How complete the replay is, and how long."""

    length: Annotated[
        Tally | UnsetType,
        Meta(description="Milliseconds from its beginning to its end. The server measures it."),
    ] = UNSET


class ScreenshotHealth(Struct, forbid_unknown_fields=True):
    """What the picture shows of the page."""

    extent: Annotated[Extent, Meta(description="The part that was in view, or the whole page put together.")]
    cut: Annotated[bool, Meta(description="Whether the page goes on where the picture ends.")] = False
    inner: Annotated[Tally, Meta(description="Parts that scroll separately; it shows what was in view.")] = 0


class Health(Struct, forbid_unknown_fields=True):
    """How complete a capture is."""

    console: StreamHealth
    network: StreamHealth
    errors: StreamHealth
    actions: Annotated[StreamHealth | UnsetType, Meta(description="Left out when the client doesn't record them.")] = (
        UNSET
    )
    replay: Annotated[
        ReplayHealth | UnsetType,
        Meta(description="Left out when the client doesn't record it. `captured` counts what is stored."),
    ] = UNSET
    source_maps: Annotated[
        StreamHealth | UnsetType,
        Meta(
            description="The page's own source maps: `captured` counts resolved frames, `dropped` ignored maps. "
            "Left out when the client doesn't read any."
        ),
    ] = UNSET
    screenshot: Annotated[
        ScreenshotHealth | UnsetType | None, Meta(description="Left out when the client doesn't say it.")
    ] = UNSET
    history_started_at: Annotated[Time | None, Meta(description="When collecting began.")] = None
    page_loaded_at: Annotated[Time | None, Meta(description="When the page began to load.")] = None


class Page(Struct, forbid_unknown_fields=True):
    """The page that was captured."""

    url: Annotated[Address, Meta(examples=["https://shop.example/cart"])]
    title: Line = ""
    referrer: Annotated[Address | None, Meta(description="Where the visitor came from.")] = None


class Redaction(Struct, forbid_unknown_fields=True):
    """How many secrets were removed, by where they were."""

    headers: Annotated[Tally, Meta(description="Header values removed or blanked.")] = 0
    query: Annotated[Tally, Meta(description="Secret-looking query parameters, and logins in addresses.")] = 0
    keys: Annotated[Tally, Meta(description="Values of secret-looking keys in bodies and texts.")] = 0
    patterns: Annotated[Tally, Meta(description="Tokens recognised by their form, anywhere.")] = 0
    extra: Annotated[Tally, Meta(description="Hits of the project's own rules.")] = 0

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return self.headers + self.query + self.keys + self.patterns + self.extra

    def add(self, other: "Redaction") -> "Redaction":
        """Return the sum with another count, as when the browser and the server both redacted."""
        return Redaction(
            headers=self.headers + other.headers,
            query=self.query + other.query,
            keys=self.keys + other.keys,
            patterns=self.patterns + other.patterns,
            extra=self.extra + other.extra,
        )

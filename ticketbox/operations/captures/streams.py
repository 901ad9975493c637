"""Reading a capture's streams with filters and pages, one request, one error, or a HAR file."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from ticketbox.domain.captures import filters, streams
from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    Entry,
    ErrorEntry,
    Level,
    NetworkEntry,
    Stream,
    StreamHealth,
)
from ticketbox.domain.captures.health import describe_health, get_stream_health
from ticketbox.domain.captures.steps import Step, build_steps
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.core.lookups import CaptureId, find_readable
from ticketbox.operations.core.paging import Cursor, Limit, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.captures import captures
from ticketbox.store.captures.captures import StoredCapture
from ticketbox.store.file.database import Read

T = TypeVar("T", bound=Entry)

Contains = Annotated[str, Meta(min_length=1, max_length=200, description="Only entries with this text, ignoring case.")]
Around = Annotated[
    float,
    Meta(ge=0, le=4_102_444_800_000, description="Only within 5 s of this time (epoch ms)."),
]


class StreamPage(msgspec.Struct, Generic[T], frozen=True):
    """A page of a stream, oldest first. `total` counts all entries, `matched` those that match the filters.

    `health` reports whether the stream is complete; `health_summary` describes it in words.
    """

    items: list[T]
    next_cursor: str | None
    total: int
    matched: int
    health: StreamHealth
    health_summary: str


class GetConsole(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Returns entries that match all the given filters."""

    capture_id: CaptureId
    level: Annotated[Level, Meta(description="Only entries of this level or above.")] | None = None
    contains: Contains | None = None
    around: Around | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_console",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/console",
    tool=Tool(
        "Read console lines",
        "Use this for console lines that get_ticket omitted. Filter by level, text or time.",
        {"capture_id": "cap_1b4e7h0k3n6q", "level": "warn"},
        tool_set="core",
    ),
)
def get_console(tx: Read, actor: Actor, args: GetConsole) -> StreamPage[ConsoleEntry]:
    """Read a capture's console, oldest first."""
    stored, entries = _load_entries(tx, actor, args.capture_id, Stream.CONSOLE, ConsoleEntry)
    matches = filters.filter_console(entries, level=args.level, contains=args.contains, around=args.around)
    return _build_page(actor, args, stored, Stream.CONSOLE, len(entries), matches)


class GetNetwork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Returns entries that match all the given filters."""

    capture_id: CaptureId
    failures_only: Annotated[bool, Meta(description="Only status 400 or above, or without a response.")] = False
    status: (
        Annotated[
            str,
            Meta(description="A status code, or a class of status codes.", examples=["4xx"]),
            match_whole("[1-5]([0-9]{2}|xx)"),
        ]
        | None
    ) = None
    method: (
        Annotated[
            str,
            Meta(min_length=1, max_length=20, description="An HTTP method."),
            match_whole("[A-Za-z]+"),
        ]
        | None
    ) = None
    host: Annotated[str, Meta(min_length=1, max_length=255, description="The complete host name.")] | None = None
    contains: Contains | None = None
    around: Around | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_network",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/network",
    tool=Tool(
        "Read network requests",
        "Use this for requests that get_ticket omitted. Filter by failure, status, method, host, text or time. "
        "get_network_request returns one completely.",
        {"capture_id": "cap_1b4e7h0k3n6q", "failures_only": True},
        tool_set="core",
    ),
)
def get_network(tx: Read, actor: Actor, args: GetNetwork) -> StreamPage[NetworkEntry]:
    """Read a capture's network requests, oldest first."""
    stored, entries = _load_entries(tx, actor, args.capture_id, Stream.NETWORK, NetworkEntry)
    matches = filters.filter_network(
        entries,
        contains=args.contains,
        failures_only=args.failures_only,
        status=args.status,
        method=args.method,
        host=args.host,
        around=args.around,
    )
    return _build_page(actor, args, stored, Stream.NETWORK, len(entries), matches)


class GetErrors(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Returns entries that match all the given filters."""

    capture_id: CaptureId
    contains: Contains | None = None
    around: Around | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_errors",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/errors",
    tool=Tool(
        "Read errors",
        "Use this for errors that get_ticket omitted. get_error returns one completely.",
        {"capture_id": "cap_1b4e7h0k3n6q", "contains": "TypeError"},
        tool_set="core",
    ),
)
def get_errors(tx: Read, actor: Actor, args: GetErrors) -> StreamPage[ErrorEntry]:
    """Read a capture's errors, oldest first."""
    stored, entries = _load_entries(tx, actor, args.capture_id, Stream.ERRORS, ErrorEntry)
    matches = filters.filter_errors(entries, contains=args.contains, around=args.around)
    return _build_page(actor, args, stored, Stream.ERRORS, len(entries), matches)


class GetActions(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Returns actions that match all the given filters."""

    capture_id: CaptureId
    contains: Contains | None = None
    around: Around | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "get_actions",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/actions",
    tool=Tool(
        "Read the steps",
        "Use this for numbered steps; `detail: full` adds locators.",
        {"capture_id": "cap_1b4e7h0k3n6q", "contains": "Pay"},
    ),
)
def get_actions(tx: Read, actor: Actor, args: GetActions) -> StreamPage[Step]:
    """Read what the person did before a capture, oldest first. Values of fields are never recorded."""
    stored, entries = _load_entries(tx, actor, args.capture_id, Stream.ACTIONS, ActionEntry)
    matches = filters.filter_steps(build_steps(entries), contains=args.contains, around=args.around)
    return _build_page(actor, args, stored, Stream.ACTIONS, len(entries), matches)


class GetNetworkRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`entry` is the request's id in its capture."""

    capture_id: CaptureId
    entry: Annotated[str, Meta(min_length=1, max_length=64, description="The `id` of a network entry.")]


@operation(
    "get_network_request",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/network/{entry}",
    tool=Tool(
        "Read one request",
        "Use this to see one request completely: headers, bodies if collected, and timing.",
        {"capture_id": "cap_1b4e7h0k3n6q", "entry": "17"},
        tool_set="core",
    ),
)
def get_network_request(tx: Read, actor: Actor, args: GetNetworkRequest) -> NetworkEntry:
    """Read one network request of a capture."""
    _, entries = _load_entries(tx, actor, args.capture_id, Stream.NETWORK, NetworkEntry)
    for entry in entries:
        if entry.id == args.entry:
            return entry
    raise NotFound("network request")


class GetError(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`entry` is the error's position in the page's own order."""

    capture_id: CaptureId
    entry: Annotated[int, Meta(ge=0, le=2**53 - 1, description="The `seq` of an error.", examples=[14])]


@operation(
    "get_error",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /captures/{capture_id}/errors/{entry}",
    tool=Tool(
        "Read one error",
        "Use this to see one error completely: message, stack and frames.",
        {"capture_id": "cap_1b4e7h0k3n6q", "entry": 14},
        tool_set="core",
    ),
)
def get_error(tx: Read, actor: Actor, args: GetError) -> ErrorEntry:
    """Read one error of a capture."""
    _, entries = _load_entries(tx, actor, args.capture_id, Stream.ERRORS, ErrorEntry)
    for entry in entries:
        if entry.seq == args.entry:
            return entry
    raise NotFound("error")


def _load_entries(
    tx: Read, actor: Actor, capture_id: str, stream: Stream, kind: type[T]
) -> tuple[StoredCapture, Sequence[T]]:
    stored = captures.load_capture(tx, find_readable(tx, actor, "capture", capture_id).key)
    return stored, captures.load_entries(tx, stored, stream, kind)


def _build_page(
    actor: Actor,
    args: GetConsole | GetNetwork | GetErrors | GetActions,
    stored: StoredCapture,
    stream: Stream,
    total: int,
    matches: list[tuple[int, T]],
) -> StreamPage[T]:
    (after,) = decode_cursor(actor, args) or (-1,)
    page = build_page(actor, args, streams.slice_page(matches, after, args.limit + 1)[0])
    health = stored.capture.health
    return StreamPage(
        page.items,
        page.next_cursor,
        total,
        len(matches),
        get_stream_health(health, stream),
        describe_health(health),
    )

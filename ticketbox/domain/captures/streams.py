"""The stored streams of a capture: limits, failures and pages."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    Entry,
    ErrorEntry,
    Level,
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    OmittedReason,
    SocketMessage,
)

MIB = 1 << 20
MAX_BYTES = 8 * MIB
MAX_ENTRIES = 5_000
MAX_BODY = 16 * 1024
MAX_MESSAGES = 50
MAX_MESSAGE = 400  # so that all messages of a request fit into one answer for an agent
GRAPHQL_ERRORS = "GraphQL errors"  # how the recorder begins the error of an answer with status 200
PROBLEM_LEVELS = frozenset({Level.WARN, Level.ERROR})

E = TypeVar("E", bound=Entry)


def is_failure(entry: Entry) -> bool:
    """Whether an entry reports a failure.

    Every error; a console warning or error; a request without a response or with status 400 and up. What the
    browser hides of a request is no failure.
    """
    match entry:
        case ConsoleEntry():
            return entry.level in PROBLEM_LEVELS
        case NetworkEntry():
            return is_failed_request(entry.status, entry.response.omitted_reason, has_error=entry.error is not None)
        case ErrorEntry():
            return True
        case ActionEntry():
            return False


def is_failed_request(status: int | None, omitted: OmittedReason | None, *, has_error: bool) -> bool:
    """Whether a request failed, as `is_failure` says; `omitted` is why its response has no body."""
    if status is None and not has_error:
        return omitted is not OmittedReason.UNAVAILABLE
    return has_error or status is None or status >= 400


def slice_page(
    entries: Sequence[tuple[int, E]], after: int = -1, limit: int = 50
) -> tuple[list[tuple[int, E]], int | None]:
    """Return the entries after a position, and the position to continue after, or None at the end."""
    start = bisect_right(entries, after, key=lambda item: item[0])
    items = list(entries[start : start + limit])
    more = bool(items) and start + limit < len(entries)
    return items, items[-1][0] if more else None


def list_payloads(entry: NetworkEntry) -> list[NetworkRequest | NetworkResponse | SocketMessage]:
    """List the parts of a request that can have a body: request, response and messages."""
    return [entry.request, entry.response, *(entry.messages or ())]


def shorten_bodies(entry: NetworkEntry) -> None:
    """Cut bodies to the stored length, and mark them as cut; keep the newest messages."""
    for part in (entry.request, entry.response):
        if part.body is not None and len(part.body) > MAX_BODY:
            part.body, part.omitted_reason = part.body[:MAX_BODY], OmittedReason.LIMIT
    entry.messages = entry.messages and entry.messages[-MAX_MESSAGES:]
    for message in entry.messages or ():
        if message.body is not None and len(message.body) > MAX_MESSAGE:
            message.body, message.omitted_reason = message.body[:MAX_MESSAGE], OmittedReason.LIMIT


def remove_bodies(entry: NetworkEntry) -> None:
    """Remove the bodies of a request and its response, as is the default of a project's policy."""
    for part in list_payloads(entry):
        if part.body is not None:
            part.body, part.omitted_reason = None, OmittedReason.POLICY

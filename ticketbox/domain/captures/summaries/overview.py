"""The overview of a capture: its errors in groups and its failed requests, each as one short entry.

Equal failures are one entry with a count, so that a hundred repetitions of one error don't hide another one.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ticketbox.domain.captures.capture import ErrorEntry, ErrorKind, NetworkEntry
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.fingerprints import fingerprint_errors
from ticketbox.domain.captures.streams import is_failure

MAX_MESSAGE = 200  # characters
MAX_URL = 160


class ErrorGroup(msgspec.Struct):
    """Errors with the same fingerprint. `entry` is the `seq` of the first one, for `get_error`."""

    entry: int
    first_ts: float
    last_ts: float
    count: int
    kind: ErrorKind
    message: str
    source: str | None


class FailedRequest(msgspec.Struct):
    """Failed requests with the same method, address and outcome. `id` is the first one's, for `get_network_request`."""

    id: str
    first_ts: float
    last_ts: float
    count: int
    method: str
    url: str
    status: int | None
    error: str | None
    duration_ms: float | None


def group_errors(entries: Iterable[ErrorEntry]) -> list[ErrorGroup]:
    """Group errors by fingerprint, in the order of their first entries."""
    groups: dict[object, ErrorGroup] = {}
    for entry in entries:
        key = _identify_error(entry)
        if (group := groups.get(key)) is None:
            groups[key] = _summarize_error(entry)
        else:
            _count_entry(group, entry.ts, entry.count)
    return list(groups.values())


def group_failed_requests(entries: Iterable[NetworkEntry]) -> list[FailedRequest]:
    """Group the requests that failed by method, address and outcome, in the order of their first entries."""
    groups: dict[object, FailedRequest] = {}
    for entry in entries:
        if is_failure(entry):
            key = (entry.method, entry.url.partition("?")[0], entry.status, entry.error)
            if (group := groups.get(key)) is None:
                groups[key] = _summarize_request(entry)
            else:
                _count_entry(group, entry.ts, 1)
    return list(groups.values())


def _count_entry(group: ErrorGroup | FailedRequest, ts: float, count: int) -> None:
    """Add an entry to its group, which keeps the summary of the first one."""
    group.count += count
    group.last_ts = max(group.last_ts, ts)


def shorten_url(url: str, longest: int = MAX_URL) -> str:
    """Shorten an address: first its query, then the end of its path."""
    if len(url) <= longest:
        return url
    address, mark, _ = url.partition("?")
    if mark and len(address) + 2 <= longest:
        return url[: longest - 1] + "…"
    return address[: longest - 1] + "…"


def find_place(entry: ErrorEntry) -> str | None:
    """Return where an error happened: the innermost frame's place, with the function of a bundle, or the source."""
    if not entry.frames:
        return None if entry.source is None else shorten_file(entry.source)
    frame = entry.frames[0]
    if (original := frame.original) is not UNSET:
        return original.place
    numbers = "".join(f":{number}" for number in (frame.line, frame.column) if number is not None)
    place = shorten_file(frame.url) + numbers
    return f"{place} in {frame.function}" if frame.function else place


def _identify_error(entry: ErrorEntry) -> object:
    if entry.fingerprint:
        return entry.fingerprint
    found = fingerprint_errors([entry])
    return (entry.kind, found[0].value if found else entry.message)


def _summarize_error(entry: ErrorEntry) -> ErrorGroup:
    return ErrorGroup(
        entry=entry.seq,
        first_ts=entry.ts,
        last_ts=entry.ts,
        count=entry.count,
        kind=entry.kind,
        message=clip_line(format_error(entry), MAX_MESSAGE),
        source=find_place(entry),
    )


def _summarize_request(entry: NetworkEntry) -> FailedRequest:
    return FailedRequest(
        id=entry.id,
        first_ts=entry.ts,
        last_ts=entry.ts,
        count=1,
        method=entry.method,
        url=shorten_url(entry.url),
        status=entry.status,
        error=None if entry.error is None else clip_line(entry.error, MAX_MESSAGE),
        duration_ms=entry.duration_ms,
    )


def clip_line(text: str, longest: int) -> str:
    """Return a text as one line of at most `longest` characters."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1] + "…"


def shorten_file(url: str) -> str:
    """Return the end of a script's address: a path without its host and query, at most 100 characters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url[-100:]
    if not parts.netloc:
        return url[-100:]
    query = parts.query
    position = query[query.rindex(":") :] if ":" in query else ""
    path = parts.path + position
    return path if len(path) <= 100 else "…" + path[-99:]

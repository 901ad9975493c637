"""Reading, cutting and paging the streams of a capture."""

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar, overload

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    Entry,
    ErrorEntry,
    Level,
    NetworkEntry,
    OmittedReason,
    Stream,
)
from ticketbox.domain.captures.json_repair import repair_json
from ticketbox.domain.core.problems import FieldError, InvalidField, InvalidRequest, PayloadTooLarge

MIB = 1 << 20
MAX_INFLATED = 32 * MIB
MAX_READ = 50_000
MAX_QUOTES = 1_500_000
MAX_BYTES = 8 * MIB
MAX_ENTRIES = 5_000
MAX_BODY = 16 * 1024
EDGE_ENTRIES = 50

E = TypeVar("E", bound=Entry)

_CHUNK = 256 * 1024
_DECODERS: dict[Stream, msgspec.json.Decoder[Any]] = {
    Stream.CONSOLE: msgspec.json.Decoder(list[ConsoleEntry]),
    Stream.NETWORK: msgspec.json.Decoder(list[NetworkEntry]),
    Stream.ERRORS: msgspec.json.Decoder(list[ErrorEntry]),
    Stream.ACTIONS: msgspec.json.Decoder(list[ActionEntry]),
}
_ENCODER = msgspec.json.Encoder()
_ERROR_PATH = re.compile(r"(?s)(.*) - at `\$(.*)`")


@overload
def decode_stream(
    stream: Literal[Stream.CONSOLE], body: bytes, *, max_bytes: int = ..., max_entries: int = ...
) -> list[ConsoleEntry]: ...
@overload
def decode_stream(
    stream: Literal[Stream.NETWORK], body: bytes, *, max_bytes: int = ..., max_entries: int = ...
) -> list[NetworkEntry]: ...
@overload
def decode_stream(
    stream: Literal[Stream.ERRORS], body: bytes, *, max_bytes: int = ..., max_entries: int = ...
) -> list[ErrorEntry]: ...
@overload
def decode_stream(
    stream: Literal[Stream.ACTIONS], body: bytes, *, max_bytes: int = ..., max_entries: int = ...
) -> list[ActionEntry]: ...
def decode_stream(
    stream: Stream, body: bytes, *, max_bytes: int = MAX_INFLATED, max_entries: int = MAX_READ
) -> list[Any]:
    """Decode a stream: a JSON array, plain or gzip (recognised by its first bytes).

    Accepts more than is stored, so that `cut_stream` can choose. NULs and lone surrogates become U+FFFD. Raises
    PayloadTooLarge above `max_bytes` inflated, `max_entries` or 750,000 strings (they cost more memory than
    their JSON is long), and InvalidRequest for anything else that isn't a valid stream.
    """
    plain = _decompress(stream, body, max_bytes) if body.startswith(b"\x1f\x8b") else body
    # each entry has this key once, and inside a string its quotes are escaped: refuse before building
    # anything; quotes that open a string are never escaped, so no spelling evades the second count
    count, quotes = plain.count(b'"ts"'), plain.count(b'"') - plain.count(b'\\"')
    if len(plain) > max_bytes or count > max_entries or quotes > MAX_QUOTES:
        raise _build_size_error(stream, max_bytes, max_entries)
    try:
        entries = _DECODERS[stream].decode(repair_json(plain))
    except msgspec.ValidationError as error:
        raise _build_shape_error(stream, str(error)) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidField(stream, f"not valid JSON in UTF-8: {reason}") from None
    if len(entries) > max_entries:
        raise _build_size_error(stream, max_bytes, max_entries)
    return entries


def encode_stream(entries: Sequence[Entry]) -> bytes:
    """Encode entries as compact JSON, which `decode_stream` decodes to equal entries."""
    return _ENCODER.encode(entries)


def is_failure(entry: Entry) -> bool:
    """Whether an entry reports a failure.

    Every error; a console warning or error; a request without a response or with status 400 and up. What the
    browser hides of a request is no failure.
    """
    match entry:
        case ConsoleEntry():
            return entry.level in (Level.WARN, Level.ERROR)
        case NetworkEntry():
            if entry.status is None and entry.error is None:
                return entry.response.omitted_reason is not OmittedReason.UNAVAILABLE
            return entry.status is None or entry.status >= 400 or entry.error is not None
        case ErrorEntry():
            return True
        case ActionEntry():
            return False


def cut_stream(
    entries: Sequence[E], *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES
) -> tuple[list[E], int]:
    """Cut a stream to its limits; return the kept entries, in order, and how many were dropped.

    Ordinary entries are dropped first, from the middle outwards, then failures in the same way; the 50 oldest and
    the 50 newest entries last. An entry that exceeds the limit alone is always dropped.
    """
    sizes = [len(_ENCODER.encode(entry)) + 1 for entry in entries]
    count, total = len(entries), sum(sizes) + 1
    if count <= max_entries and total <= max_bytes:
        return list(entries), 0
    middle = range(EDGE_ENTRIES, max(EDGE_ENTRIES, count - EDGE_ENTRIES))
    ordinary = [index for index in middle if not is_failure(entries[index])]
    failures = [index for index in middle if is_failure(entries[index])]
    oversized = [index for index, size in enumerate(sizes) if size > max_bytes]
    edges = [index for index in range(count) if index not in middle]
    edges_ordinary = [index for index in edges if not is_failure(entries[index])]
    edges_failures = [index for index in edges if is_failure(entries[index])]
    dropped: set[int] = set()
    for group in (oversized, ordinary, failures, edges_ordinary, edges_failures):
        for index in _iterate_from_middle(group):
            if count <= max_entries and total <= max_bytes:
                break
            if index in dropped:
                continue
            dropped.add(index)
            count -= 1
            total -= sizes[index]
    return [entry for index, entry in enumerate(entries) if index not in dropped], len(dropped)


def slice_page(
    entries: Sequence[tuple[int, E]], after: int = -1, limit: int = 50
) -> tuple[list[tuple[int, E]], int | None]:
    """Return the entries after a position, and the position to continue after, or None at the end."""
    start = bisect_right(entries, after, key=lambda item: item[0])
    items = list(entries[start : start + limit])
    more = bool(items) and start + limit < len(entries)
    return items, items[-1][0] if more else None


def _decompress(stream: Stream, body: bytes, most: int) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    size = 0
    try:
        for start in range(0, len(body), _CHUNK):
            rest = body[start : start + _CHUNK]
            while rest and not inflater.eof:
                part = inflater.decompress(rest, _CHUNK)
                rest = inflater.unconsumed_tail
                parts.append(part)
                size += len(part)
                if size > most:
                    raise _build_size_error(stream, most, MAX_READ)
            if rest or inflater.unused_data:
                raise InvalidField(stream, "data follows the gzip stream")
        parts.append(inflater.flush())
    except zlib.error:
        raise InvalidField(stream, "the gzip data is damaged") from None
    if not inflater.eof:
        raise InvalidField(stream, "the gzip data is truncated")
    return b"".join(parts)


def _build_size_error(stream: Stream, most_bytes: int, most_entries: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"{stream}: a stream may have {most_bytes // MIB} MiB uncompressed, {most_entries:,} entries "
        f"and {MAX_QUOTES // 2:,} strings"
    )


def _build_shape_error(stream: Stream, message: str) -> InvalidRequest:
    match = _ERROR_PATH.fullmatch(message)
    reason, path = (match[1], match[2]) if match else (message, "")
    field = f"{stream}{path}"
    return InvalidRequest(f"{field}: {reason}", FieldError(field, reason))


def _iterate_from_middle(indexes: Sequence[int]) -> Iterable[int]:
    left = (len(indexes) - 1) // 2
    right = left + 1
    while left >= 0 or right < len(indexes):
        if left >= 0:
            yield indexes[left]
        if right < len(indexes):
            yield indexes[right]
        left, right = left - 1, right + 1


def shorten_bodies(entries: Iterable[NetworkEntry]) -> None:
    """Cut bodies to the stored length, and mark them as cut."""
    for entry in entries:
        for part in (entry.request, entry.response):
            if part.body is not None and len(part.body) > MAX_BODY:
                part.body, part.omitted_reason = part.body[:MAX_BODY], OmittedReason.LIMIT


def remove_bodies(entries: Iterable[NetworkEntry]) -> None:
    """Remove the bodies of requests and responses, as is the default of a project's policy."""
    for entry in entries:
        for part in (entry.request, entry.response):
            if part.body is not None:
                part.body, part.omitted_reason = None, OmittedReason.POLICY

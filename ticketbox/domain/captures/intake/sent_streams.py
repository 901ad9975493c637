"""Reading the streams that clients send: inflated, chosen, redacted and encoded one entry at a time.

So memory holds a stream once and its stored part once, whatever its entries expand to (a long stream is compressed
before its entries are read), and other threads run between two entries. Accepts more than is stored: ordinary entries
are dropped first, from the middle outwards, then failures in the same way; the 50 oldest and the 50 newest entries
last. An entry that exceeds the limit alone is always dropped.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ticketbox.domain.captures.capture import Level, OmittedReason, Stream
from ticketbox.domain.captures.intake.compressed_entries import CompressedEntries
from ticketbox.domain.captures.intake.entry_sequence import (
    DECODERS,
    KINDS,
    EncodedEntry,
    EntrySequence,
    MemoryQuota,
    split_array,
)
from ticketbox.domain.captures.intake.inflation import MAGIC, InflatedTooLarge, InvalidGzip, inflate
from ticketbox.domain.captures.intake.json_repair import repair_json
from ticketbox.domain.captures.streams import MAX_BYTES, MAX_ENTRIES, MIB, PROBLEM_LEVELS, is_failed_request
from ticketbox.domain.core.problems import FieldError, InvalidField, InvalidRequest, PayloadTooLarge
from ticketbox.domain.core.validation_errors import split_error

MAX_INFLATED = 24 * MIB
MAX_READ = 50_000
LONG = 8 * MIB  # of longer streams, entries wait compressed
MAX_QUOTES = 1_500_000
EDGE_ENTRIES = 50
# An entry has at most 100 arguments, 400 headers or 200 frames; without this limit its strings would be built first.
MAX_ENTRY_QUOTES = 10_000

_ENCODER = msgspec.json.Encoder()


def read_stream(
    stream: Stream,
    body: bytes,
    prepare: Callable[[Any], None],
    check_time: Callable[[int], None] = lambda _: None,
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    quota: MemoryQuota | None = None,
) -> tuple[EntrySequence[Any], int]:
    """Read a JSON array, plain or gzip (recognised by its first bytes); return what is stored, and the dropped count.

    `prepare` redacts and shortens an entry; only entries that may be stored are prepared, because that is slow.
    `check_time` is called with the length of each, and raises when it has taken too long. NULs and lone surrogates
    become U+FFFD. Raises PayloadTooLarge above 24 MiB inflated, 50,000 entries or 750,000 strings, and InvalidRequest
    for anything else that isn't a valid stream.
    """
    sent, failures = _split_stream(stream, body)
    entries: EntrySequence[Any] = EntrySequence(KINDS[stream], quota=quota)
    decode = DECODERS[KINDS[stream]].decode
    largest = max(max_bytes, MAX_BYTES)
    kept: dict[int, EncodedEntry[Any]] = {}
    size = 1
    for index in _order_by_worth(failures):
        if len(kept) == max_entries:
            break
        raw = bytes(sent[index])
        check_time(len(raw))
        if len(raw) > largest:
            continue
        if len(raw) > MAX_ENTRY_QUOTES and _count_quotes(raw) > MAX_ENTRY_QUOTES:
            raise InvalidField(f"{stream}[{index}]", "too many strings in one entry")
        try:
            entry = decode(raw)
        except (ValueError, RecursionError) as error:  # a msgspec.ValidationError is a ValueError
            raise _build_decoding_error(stream, f"{stream}[{index}]", error) from None
        prepare(entry)
        encoded = _ENCODER.encode(entry)
        if len(encoded) + 1 > max_bytes:
            continue
        if size + len(encoded) + 1 > max_bytes:
            break
        size += len(encoded) + 1
        kept[index] = entries.hold(encoded, entry)
    entries.extend(kept[index] for index in sorted(kept))
    return entries, len(sent) - len(kept)


def _split_stream(stream: Stream, body: bytes) -> tuple[list[msgspec.Raw] | CompressedEntries, list[bool]]:
    """Split a stream into its entries, still encoded, and say which of them are failures."""
    plain = _decompress(stream, body) if body.startswith(MAGIC) else body
    if len(plain) > MAX_INFLATED or (plain.count(b'"') > MAX_QUOTES and _count_quotes(plain) > MAX_QUOTES):
        raise _build_size_error(stream)
    try:
        plain = repair_json(plain)
        failures = find_failures(stream, plain)
        raws = split_array(plain)
    except (ValueError, RecursionError) as error:
        raise _build_decoding_error(stream, str(stream), error) from None
    return CompressedEntries(raws) if len(plain) > LONG else raws, failures


def _count_quotes(text: bytes | bytearray) -> int:
    """Count the quotes without a backslash: those that open a string never have one, so no spelling evades this."""
    return text.count(b'"') - text.count(b'\\"')


class _TooManyEntries(Exception):
    """A stream has more entries than are read."""


class _Counter(threading.local):
    """How many entries the thread has found in its stream."""

    count = 0


_counter = _Counter()


class _Head(msgspec.Struct, gc=False):
    """What decides whether an entry is a failure. The rest is skipped, so that nothing is built of it."""

    ts: float

    def __post_init__(self) -> None:
        """Count the entry. Raises _TooManyEntries, before the others are found."""
        _counter.count += 1
        if _counter.count > MAX_READ:
            raise _TooManyEntries

    @property
    def is_failure(self) -> bool:
        """Whether the entry reports a failure, as `streams.is_failure` defines it."""
        return True


class _ActionHead(_Head, gc=False):
    @property
    def is_failure(self) -> bool:
        return False


class _ConsoleHead(_Head, gc=False):
    level: Level

    @property
    def is_failure(self) -> bool:
        return self.level in PROBLEM_LEVELS


class _ResponseHead(msgspec.Struct, gc=False):
    omitted_reason: OmittedReason | None = None


class _NetworkHead(_Head, gc=False):
    status: int | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")
    response: _ResponseHead = msgspec.field(default_factory=_ResponseHead)

    @property
    def is_failure(self) -> bool:
        has_error = bytes(self.error) != b"null"
        return is_failed_request(self.status, self.response.omitted_reason, has_error=has_error)


_HEAD_DECODERS: dict[Stream, msgspec.json.Decoder[Any]] = {
    Stream.CONSOLE: msgspec.json.Decoder(list[_ConsoleHead]),
    Stream.NETWORK: msgspec.json.Decoder(list[_NetworkHead]),
    Stream.ERRORS: msgspec.json.Decoder(list[_Head]),
    Stream.ACTIONS: msgspec.json.Decoder(list[_ActionHead]),
}


def find_failures(stream: Stream, plain: bytes | bytearray) -> list[bool]:
    """Count a stream's entries, and say which of them report failures, without building them."""
    _counter.count = 0
    try:
        return [head.is_failure for head in _HEAD_DECODERS[stream].decode(plain)]
    except _TooManyEntries:
        raise _build_size_error(stream) from None


def _order_by_worth(failures: Sequence[bool]) -> list[int]:
    """Order the positions of entries: what is dropped last comes first."""
    count = len(failures)
    middle = range(EDGE_ENTRIES, max(EDGE_ENTRIES, count - EDGE_ENTRIES))
    edges = [index for index in range(count) if index not in middle]
    dropped_first = [
        index
        for part in (middle, edges)
        for failed in (False, True)
        for index in _order_from_middle([index for index in part if failures[index] is failed])
    ]
    return dropped_first[::-1]


def _order_from_middle(indexes: list[int]) -> list[int]:
    """Order indexes alternately from the left and the right of their middle."""
    ordered = indexes[:]
    middle = (len(indexes) + 1) // 2
    ordered[::2] = indexes[:middle][::-1]
    ordered[1::2] = indexes[middle:]
    return ordered


def _decompress(stream: Stream, body: bytes) -> bytearray:
    try:
        return inflate(body, MAX_INFLATED)
    except InflatedTooLarge:
        raise _build_size_error(stream) from None
    except InvalidGzip as error:
        raise InvalidField(stream, str(error)) from None


def _build_size_error(stream: Stream) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"{stream}: a stream may have {MAX_INFLATED // MIB} MiB uncompressed, {MAX_READ:,} entries "
        f"and {MAX_QUOTES // 2:,} strings"
    )


def _build_decoding_error(stream: Stream, place: str, error: Exception) -> InvalidRequest:
    if isinstance(error, msgspec.ValidationError):
        return _build_shape_error(place, error)
    return _build_syntax_error(stream, error)


def _build_syntax_error(stream: Stream, error: Exception) -> InvalidField:
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return InvalidField(stream, f"not valid JSON in UTF-8: {reason}")


def _build_shape_error(place: str, error: msgspec.ValidationError) -> InvalidRequest:
    reason, path, _ = split_error(error)
    field = f"{place}{path}"
    return InvalidRequest(f"{field}: {reason}", FieldError(field, reason))

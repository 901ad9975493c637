"""Streams of any shape: what is read back, what is cut, what is refused."""

import gzip
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.streams import cut_stream, decode_stream, encode_stream
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    ErrorKind,
    Frame,
    Level,
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    OmittedReason,
    Stream,
)
from ticketbox.domain.captures.fields import Redirect
from ticketbox.domain.captures.intake.sent_streams import EDGE_ENTRIES
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.summaries.excerpt import build_excerpt, write_entry
from ticketbox.domain.core.access.tokens import estimate_tokens
from ticketbox.domain.core.problems import Problem

WHOLE = st.integers(0, 2**53 - 1)
MAYBE_WHOLE = st.none() | WHOLE
TIMES = st.floats(0, 253_402_300_799_999) | st.integers(0, 2**40).map(float)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
MAYBE = st.none() | TEXTS
NAMES = st.text("abcXYZ-", min_size=1, max_size=20)
HEADERS = st.dictionaries(NAMES, TEXTS, max_size=3)
REASONS = st.none() | st.sampled_from(list(OmittedReason))
LINES = st.builds(
    ConsoleEntry, seq=WHOLE, ts=TIMES, level=st.sampled_from(list(Level)), args=st.lists(TEXTS, max_size=3),
    stack=MAYBE, source=MAYBE, repeat=st.integers(1, 9), truncated=st.booleans(), frame=MAYBE,
)  # fmt: skip
REQUESTS = st.builds(
    NetworkEntry, id=NAMES, ts=TIMES, method=NAMES, url=TEXTS, type=NAMES, error=MAYBE, initiator=MAYBE,
    status=st.none() | st.integers(100, 599), duration_ms=st.none() | st.floats(0, 1e9),
    from_cache=st.booleans(),
    redirects=st.lists(st.builds(Redirect, status=st.integers(100, 599), url=TEXTS), max_size=2),
    request=st.builds(NetworkRequest, headers=HEADERS, body=MAYBE, bytes=MAYBE_WHOLE, omitted_reason=REASONS),
    response=st.builds(NetworkResponse, headers=HEADERS, body=MAYBE, bytes=MAYBE_WHOLE, mime=MAYBE),
)  # fmt: skip
FAULTS = st.builds(
    ErrorEntry, seq=WHOLE, ts=TIMES, kind=st.sampled_from(list(ErrorKind)), message=TEXTS, name=TEXTS,
    stack=MAYBE, count=st.integers(1, 9),
    frames=st.lists(st.builds(Frame, url=TEXTS, function=MAYBE, line=MAYBE_WHOLE), max_size=2),
)  # fmt: skip


@given(st.lists(LINES, max_size=5), st.lists(REQUESTS, max_size=5), st.lists(FAULTS, max_size=5), st.booleans())
@settings(max_examples=50, deadline=None)
def test_written_stream_reads_back(
    console: list[ConsoleEntry], network: list[NetworkEntry], errors: list[ErrorEntry], zipped: bool
):
    pack = gzip.compress if zipped else bytes
    assert decode_stream(Stream.CONSOLE, pack(encode_stream(console))) == console
    assert decode_stream(Stream.NETWORK, pack(encode_stream(network))) == network
    assert decode_stream(Stream.ERRORS, pack(encode_stream(errors))) == errors


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["seq", "ts", "level", "args", "id", "message", "frames", "request"]) | st.text(),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.sampled_from(list(Stream)),
    st.binary(max_size=200)
    | st.binary(max_size=50).map(lambda tail: b"\x1f\x8b" + tail)
    | JSON.map(lambda value: json.dumps(value).encode())
    | JSON.map(lambda value: gzip.compress(json.dumps([value]).encode(), 1)),
)
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_rejected(stream: Stream, body: bytes):
    outcome: object
    try:
        outcome = decode_stream(stream, body)
    except Problem as problem:
        outcome = problem
    match outcome:
        case Problem():
            assert outcome.status in (400, 413)
            assert str(stream) in outcome.detail
        case _:
            assert isinstance(outcome, list)


def line(seq: int, level: Level, size: int) -> ConsoleEntry:
    return ConsoleEntry(seq=seq, ts=seq, level=level, args=["x" * size])


@given(
    st.integers(0, 400),
    st.lists(st.tuples(st.sampled_from([Level.LOG, Level.WARN]), st.integers(0, 90)), min_size=1, max_size=12),
    st.integers(0, 400),
    st.integers(100, 60_000),
)
@settings(max_examples=200, deadline=None)
def test_cut_keeps_failures_before_ordinary_lines(
    count: int, pattern: list[tuple[Level, int]], max_entries: int, max_bytes: int
):
    entries = [line(seq, *pattern[seq % len(pattern)]) for seq in range(count)]
    kept, dropped = cut_stream(entries, max_entries=max_entries, max_bytes=max_bytes)
    assert len(kept) + dropped == len(entries)
    assert len(kept) <= max_entries
    assert len(encode_stream(kept)) <= max_bytes
    positions = [entry.seq for entry in kept]
    assert positions == sorted(set(positions))

    gone = [entry for entry in entries if entry.seq not in set(positions) and len(encode_stream([entry])) <= max_bytes]
    middle = range(EDGE_ENTRIES, len(entries) - EDGE_ENTRIES)
    if any(is_failure(entry) for entry in gone):
        assert not [entry for entry in kept if entry.seq in middle and not is_failure(entry)]
    if any(entry.seq not in middle for entry in gone):
        assert not [seq for seq in positions if seq in middle]


@given(st.lists(LINES, max_size=30), st.lists(REQUESTS, max_size=30), st.lists(FAULTS, max_size=30),
       st.integers(0, 3_000))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_any_excerpt_is_valid_and_within_its_budget(
    console: list[ConsoleEntry], network: list[NetworkEntry], errors: list[ErrorEntry], budget: int
):
    chosen = build_excerpt(console, network, errors, capture_id="cap_1", budget_tokens=budget)
    parts = (chosen.error_groups, chosen.failed_requests, chosen.errors, chosen.network, chosen.console)
    assert sum(estimate_tokens(write_entry(entry)) for part in parts for entry in part.items) <= budget
    assert decode_stream(Stream.CONSOLE, encode_stream(chosen.console.items)) == chosen.console.items
    assert decode_stream(Stream.NETWORK, encode_stream(chosen.network.items)) == chosen.network.items
    assert decode_stream(Stream.ERRORS, encode_stream(chosen.errors.items)) == chosen.errors.items
    assert chosen.console.total == len(console) == len(chosen.console.items) + chosen.console.omitted

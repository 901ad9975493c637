"""Everything that reads what strangers send, given what is nearly right: it answers, or refuses in the one way it says.

Each target names that way. Memory and the processor's time are bounded for every input, so a parser that goes on for
long, or builds much of little, fails as one that breaks does.
"""

import contextlib
import io
import resource
import time
import zipfile
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.fuzz.mutations import mutate_samples, samples
from tests.support.long_runs import Record, choose_rounds, hypothesis_settings
from tests.support.streams import decode_stream
from ticketbox.domain.accounts import oauth
from ticketbox.domain.captures.capture import NetworkEntry, Page, Stream
from ticketbox.domain.captures.har import encode_har
from ticketbox.domain.companies.records import Actions, Bodies, CapturePolicy, PageSourceMaps, PageStorage
from ticketbox.domain.core import ids
from ticketbox.domain.core.network.outbound_addresses import is_public_address
from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge, UnsupportedMediaType
from ticketbox.domain.tickets import search_query
from ticketbox.domain.tickets.tracker_formats import Tracker, read_tickets
from ticketbox.http.uploads import _decode_capture
from ticketbox.operations.captures.processing.intake import CreateCapture, apply_trace, process_capture
from ticketbox.operations.captures.processing.trace_parts import read_trace_parts
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.dispatch import decode_arguments
from ticketbox.operations.tickets.comments import AddComment
from ticketbox.operations.tickets.tickets import CreateTicket

Refusal = (InvalidRequest, PayloadTooLarge, UnsupportedMediaType)
SECONDS = 5.0  # of the processor's time, for one input of up to 200 kB
MEGABYTES = 64
NOW = 1_795_253_400_000


def envelope(data: bytes, **streams: bytes) -> None:
    """A capture's envelope, all the way to what is stored."""
    given = {"capture": _decode_capture(data), **streams}
    args = decode_arguments(load_registry()["create_capture"], given)
    assert isinstance(args, CreateCapture)
    _process(args)


def _process(args: CreateCapture) -> None:
    ready = process_capture(
        args,
        None,
        CapturePolicy(Bodies.ON, ["customer_ref"], Actions.ON, 30, [], PageSourceMaps.ON, [], PageStorage.SHAPE),
        "http://localhost",
    )
    msgspec.json.encode([ready.capture.page, ready.capture.environment, ready.title])


def stream(name: str) -> Callable[[bytes], None]:
    """A stream, redacted, cut and packed with a sound envelope; the network's also as HAR."""

    def target(data: bytes) -> None:
        envelope(samples("envelope")[0], **{name: data})
        if name == "network":
            entries: list[NetworkEntry] = decode_stream(Stream.NETWORK, data)
            page = Page("https://shop.example/", "")
            encode_har(page, 0.0, entries, "1")

    return target


def trace(data: bytes) -> None:
    """The lines of a trace of Playwright, which are events and requests, all the way to what is stored."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as made:
        made.writestr("trace.trace", data)
        made.writestr("trace.network", data)
    given = {"capture": _decode_capture(samples("envelope")[0]), "trace": zipped.getvalue()}
    args = decode_arguments(load_registry()["create_capture"], given)
    assert isinstance(args, CreateCapture)
    _process(apply_trace(args, read_trace_parts(zipped.getvalue(), {}, SECONDS)))


def tracker(kind: Tracker) -> Callable[[bytes], None]:
    """Another tracker's file; the result keeps to the limits of what people type."""

    def target(data: bytes) -> None:
        for each in read_tickets(kind, data):
            given = {"title": each.title, "description": each.description, "labels": each.labels}
            msgspec.convert({**given, "priority": each.priority, "source_url": each.url}, CreateTicket)
            for body in each.comments:
                msgspec.convert({"ticket_id": "t-12345678", "body": body}, AddComment)

    return target


def address(data: bytes) -> None:
    """An address, for everything that looks at one."""
    text = data.decode("utf-8", "replace")
    is_public_address(text)
    ids.parse_ticket_reference(text)
    oauth.is_metadata_address(text)
    if oauth.find_redirect_problem(text) is None:
        oauth.format_host(text)
        oauth.build_form_source(text)
        oauth.add_response_parameters(text, code="tok_", state=text)
        assert oauth.matches_redirect(text, text)


def parse_query(data: bytes) -> None:
    """What is typed into a search."""
    text = data.decode("utf-8", "replace")
    for typing in (False, True):
        with contextlib.suppress(InvalidRequest):
            search_query.parse_query(text, NOW, typing=typing)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "envelope": envelope,
    **{name: stream(name) for name in ("console", "network", "errors")},
    "trace": trace,
    **{kind.value: tracker(kind) for kind in Tracker},
    "address": address,
    "query": parse_query,
}


def feed(kind: str, inputs: int) -> dict[str, Any]:
    """Feed a target; how many inputs it had, how many it refused, the slowest one, and by how much memory grew."""
    counts: dict[str, Any] = {"inputs": 0, "refused": 0, "slowest ms": 0}
    for data in samples(kind):
        TARGETS[kind](data)  # what is kept is sound, or the inputs made from it would say little
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @hypothesis_settings(inputs)
    @given(mutate_samples(kind))
    def one(data: bytes) -> None:
        started = time.process_time()
        counts["inputs"] += 1
        try:
            TARGETS[kind](data)
        except Refusal:
            counts["refused"] += 1
        spent = time.process_time() - started
        assert spent < SECONDS
        counts["slowest ms"] = max(counts["slowest ms"], round(1000 * spent))

    one()
    counts["grown MB"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    assert counts["grown MB"] <= MEGABYTES
    return counts


@pytest.mark.parametrize("kind", TARGETS)
def test_untrusted_input_is_parsed_or_rejected(kind: str) -> None:
    assert feed(kind, 60)["inputs"] >= 60


@pytest.mark.long
@pytest.mark.parametrize("kind", TARGETS)
def test_much_untrusted_input_is_parsed_or_rejected(kind: str, record_property: Record) -> None:
    for name, figure in feed(kind, choose_rounds(600, 2_000)).items():
        record_property(name, figure)

"""Reading a trace that was sent as a capture: its streams, and what they say about the page.

The worker process imports this, so it imports nothing of the store or the event loop, which take 8 MB.
"""

from collections.abc import Mapping

import msgspec

from ticketbox.domain.captures.capture import Page, Stream, StreamHealth
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.fields import LINE
from ticketbox.domain.captures.images import processing
from ticketbox.domain.captures.imports.recording import ImportProblem, clip_text
from ticketbox.domain.captures.imports.trace import read_trace
from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.intake.sent_streams import read_stream
from ticketbox.domain.core.problems import InvalidField, Problem


class TraceParts(msgspec.Struct, frozen=True):
    """The parts of a capture that a trace has. `captured_at` is in epoch milliseconds, and can be any number."""

    page: Page
    environment: Environment
    captured_at: float
    title: str
    streams: dict[str, bytes]
    health: dict[str, StreamHealth]
    screenshot: bytes | None


def read_trace_parts(trace: bytes, sent: Mapping[Stream, bytes], seconds: float) -> TraceParts:
    """Read a trace, and add the entries that were sent beside it.

    Raises InvalidRequest, and PayloadTooLarge if it takes more than these seconds of processor time.
    """
    limit = ProcessorTime(seconds)
    try:
        recording = read_trace(trace, limit.check)
    except ImportProblem as problem:
        raise InvalidField("trace", str(problem)) from None
    for stream, body in sent.items():
        for entry in read_stream(stream, body, lambda _: None, limit.check)[0]:
            recording.add(entry)
    streams, health = recording.encode_streams()
    return TraceParts(
        page=Page(recording.page_url, clip_text(recording.page_title, LINE)),
        environment=recording.environment,
        captured_at=recording.captured_at,
        title=recording.find_title(),
        streams=streams,
        health=health,
        screenshot=_choose_picture(recording.screenshot),
    )


def _choose_picture(data: bytes | None) -> bytes | None:
    """Return a picture that a capture can have; nobody who sends a trace can do anything about another."""
    try:
        is_picture = data and len(data) <= processing.MAX_SCREENSHOT_BYTES and processing.inspect_image(data)
    except Problem:
        return None
    return data if is_picture else None

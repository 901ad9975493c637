"""A new capture as it is stored."""

from collections.abc import Sequence

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, Health, NetworkEntry, Page, Redaction, Stream
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.expectations import SentExpectation
from ticketbox.domain.captures.records import DescribedFailure
from ticketbox.domain.captures.summaries.excerpt import build_excerpt
from ticketbox.domain.core.packed_content import PackedContent, pack_content


class NewCapture(msgspec.Struct, frozen=True):
    """A capture ready to insert: checked, redacted, cut and packed. `is_bug_chosen`: a person named the `bug`."""

    public_id: str
    client_id: str
    captured_at: int
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    streams: dict[Stream, PackedContent]
    replay: PackedContent | None
    excerpt: PackedContent
    error_words: str
    console_words: str
    bug: DescribedFailure | None
    is_bug_chosen: bool
    expectations: list[SentExpectation]


def pack_excerpt(
    console: Sequence[ConsoleEntry],
    network: Sequence[NetworkEntry],
    errors: Sequence[ErrorEntry],
    actions: Sequence[ActionEntry],
    capture_id: str,
) -> PackedContent:
    """Build the excerpt of a capture to store. Slow: call it on a worker thread."""
    excerpt = build_excerpt(console, network, errors, actions, capture_id=capture_id)
    return pack_content(msgspec.json.encode(excerpt), compress=True)

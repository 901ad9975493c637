"""Streams of a capture, read as the server reads them."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from ticketbox.domain.captures.capture import ConsoleEntry, Entry, NetworkEntry, Stream
from ticketbox.domain.captures.intake.sent_streams import read_stream

E = TypeVar("E", bound=Entry)


def encode_stream(entries: Sequence[Entry]) -> bytes:
    """Entries as a client sends them."""
    return msgspec.json.encode(list(entries))


def decode_stream(stream: Stream, body: bytes) -> list[Any]:
    """The entries that are stored of a stream, without redaction."""
    return list(read_stream(stream, body, lambda _: None)[0])


def cut_stream(entries: Sequence[E], **limits: Any) -> tuple[list[E], int]:
    """What is stored of these entries within limits, and how many are dropped."""
    kinds = {ConsoleEntry: Stream.CONSOLE, NetworkEntry: Stream.NETWORK}
    stream = kinds.get(type(entries[0]), Stream.ERRORS) if entries else Stream.CONSOLE
    kept, dropped = read_stream(stream, encode_stream(entries), lambda _: None, **limits)
    return list(kept), dropped

"""The entries of a stream, encoded: decoded, a stream can need ten times the memory."""

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, NetworkEntry, Stream

# Entries that stay decoded, by an estimate of their memory.
MAX_DECODED = 6 * 1024 * 1024

E = TypeVar("E", bound=Entry)

_QUOTE_COST = 32
DECODERS: dict[Stream, msgspec.json.Decoder[Any]] = {
    Stream.CONSOLE: msgspec.json.Decoder(ConsoleEntry),
    Stream.NETWORK: msgspec.json.Decoder(NetworkEntry),
    Stream.ERRORS: msgspec.json.Decoder(ErrorEntry),
    Stream.ACTIONS: msgspec.json.Decoder(ActionEntry),
}


class EntrySequence(Sequence[E], Generic[E]):
    """Encoded entries, which are decoded when they are read; small ones stay decoded."""

    def __init__(self, stream: Stream) -> None:
        self._decoder = DECODERS[stream]
        self._encoded: list[bytes] = []
        self._decoded: dict[int, E] = {}
        self._room = MAX_DECODED

    def append(self, encoded: bytes) -> None:
        """Append an encoded entry."""
        self._encoded.append(encoded)

    def encode(self) -> bytes:
        """Return all entries as a JSON array."""
        return b"[%s]" % b",".join(self._encoded)

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        """Decode an entry, or some."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if (found := self._decoded.get(index)) is not None:
            return found
        encoded = self._encoded[index]
        entry: E = self._decoder.decode(encoded)
        cost = (len(encoded) + _QUOTE_COST * encoded.count(b'"')) * (1 if encoded.isascii() else 4)
        if cost <= self._room:
            self._room -= cost
            self._decoded[index] = entry
        return entry

    def __iter__(self) -> Iterator[E]:
        """Decode one entry after the other."""
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._encoded)

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
KINDS: dict[Stream, type[Entry]] = {
    Stream.CONSOLE: ConsoleEntry,
    Stream.NETWORK: NetworkEntry,
    Stream.ERRORS: ErrorEntry,
    Stream.ACTIONS: ActionEntry,
}
DECODERS: dict[type, msgspec.json.Decoder[Any]] = {kind: msgspec.json.Decoder(kind) for kind in KINDS.values()}
_SPLITTER = msgspec.json.Decoder(list[msgspec.Raw])


class EntrySequence(Sequence[E], Generic[E]):
    """Encoded entries of a kind, which are decoded one by one when they are read; small ones stay decoded.

    `encoded` is the JSON array to begin with. Other threads run between two entries.
    """

    def __init__(self, kind: type[E], encoded: bytes = b"[]") -> None:
        self._decoder = DECODERS[kind]
        self._encoded = [bytes(raw) for raw in split_array(encoded)]
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


def split_array(encoded: bytes | bytearray) -> list[msgspec.Raw]:
    """Split a JSON array into its items, still encoded. Raises msgspec.DecodeError."""
    return _SPLITTER.decode(encoded)

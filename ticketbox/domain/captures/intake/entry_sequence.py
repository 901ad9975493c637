"""The entries of a stream, encoded: decoded, a stream can need ten times the memory."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, NetworkEntry, Stream

# Entries that stay decoded, by an estimate of their memory.
MAX_DECODED = 9 * 1024 * 1024

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


class EncodedEntry(Generic[E]):
    """An encoded entry, and the entry while there is room for it."""

    __slots__ = ("encoded", "entry")

    def __init__(self, encoded: bytes, entry: E | None = None) -> None:
        self.encoded = encoded
        self.entry = entry


class EntrySequence(Sequence[E], Generic[E]):
    """Encoded entries of a kind, which are decoded one by one when they are read; small ones stay decoded.

    `encoded` is the JSON array to begin with. Other threads run between two entries.
    """

    def __init__(self, kind: type[E], encoded: bytes = b"[]") -> None:
        self._decoder = DECODERS[kind]
        self._entries: list[EncodedEntry[E]] = [EncodedEntry(bytes(raw)) for raw in split_array(encoded)]
        self._room = MAX_DECODED

    def hold(self, encoded: bytes, entry: E) -> EncodedEntry[E]:
        """Return an entry for `extend`, which stays decoded if there is room."""
        cost = (len(encoded) + _QUOTE_COST * encoded.count(b'"')) * (1 if encoded.isascii() else 4)
        if cost > self._room:
            return EncodedEntry(encoded)
        self._room -= cost
        return EncodedEntry(encoded, entry)

    def extend(self, entries: Iterable[EncodedEntry[E]]) -> None:
        """Append entries."""
        self._entries.extend(entries)

    def encode(self) -> bytes:
        """Return all entries as a JSON array."""
        return b"[%s]" % b",".join([each.encoded for each in self._entries])

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        """Decode an entry, or some."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        item = self._entries[index]
        if item.entry is not None:
            return item.entry
        entry: E = self._decoder.decode(item.encoded)
        item.entry = self.hold(item.encoded, entry).entry
        return entry

    def __iter__(self) -> Iterator[E]:
        """Decode one entry after the other."""
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)


def split_array(encoded: bytes | bytearray) -> list[msgspec.Raw]:
    """Split a JSON array into its items, still encoded. Raises msgspec.DecodeError."""
    return _SPLITTER.decode(encoded)

"""The entries of a stream, encoded: decoded, a stream can need ten times the memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.streams import is_failure

# Entries that stay decoded, by an estimate of their memory.
MAX_DECODED = 9 * 1024 * 1024

E = TypeVar("E", bound=Entry)

_QUOTE_COST = 32
_PIECE = 100  # entries
KINDS: dict[Stream, type[Entry]] = {
    Stream.CONSOLE: ConsoleEntry,
    Stream.NETWORK: NetworkEntry,
    Stream.ERRORS: ErrorEntry,
    Stream.ACTIONS: ActionEntry,
}
DECODERS: dict[type, msgspec.json.Decoder[Any]] = {kind: msgspec.json.Decoder(kind) for kind in KINDS.values()}
_SPLITTER = msgspec.json.Decoder(list[msgspec.Raw])
_ENCODER = msgspec.json.Encoder()

Occurrence = tuple[float, bool]  # the time of an entry, and whether it is a failure


class EncodedEntry(msgspec.Struct, Generic[E], gc=False):
    """An encoded entry, the entry while there is room for it, and its time and failure once it was decoded."""

    encoded: bytes
    entry: E | None = None
    occurrence: Occurrence | None = None


class MemoryQuota:
    """The memory for decoded entries of one or more sequences, in bytes, by an estimate."""

    __slots__ = ("left",)

    def __init__(self, size: int = MAX_DECODED) -> None:
        self.left = size


class EntrySequence(Sequence[E], Generic[E]):
    """Encoded entries of a kind, which are decoded one by one when they are read; small ones stay decoded.

    `encoded` is the JSON array to begin with. Sequences may share a `quota`.
    Other threads run between two entries.
    """

    def __init__(self, kind: type[E], encoded: bytes = b"[]", quota: MemoryQuota | None = None) -> None:
        self._decoder = DECODERS[kind]
        self._entries: list[EncodedEntry[E]] = [EncodedEntry(bytes(raw)) for raw in split_array(encoded)]
        self._quota = quota or MemoryQuota()

    def hold(self, encoded: bytes, entry: E) -> EncodedEntry[E]:
        """Return an entry for `extend`. Failures stay decoded if there is room, because they are read again."""
        failed = is_failure(entry)
        return EncodedEntry(encoded, entry if failed and self._reserve(encoded) else None, (entry.ts, failed))

    def _reserve(self, encoded: bytes) -> bool:
        """Reserve memory for an entry, if there is any left."""
        left = self._quota.left
        if len(encoded) > left:
            return False
        cost = (len(encoded) + _QUOTE_COST * encoded.count(b'"')) * (1 if encoded.isascii() else 4)
        if cost > left:
            return False
        self._quota.left = left - cost
        return True

    def extend(self, entries: Iterable[EncodedEntry[E]]) -> None:
        """Append entries."""
        self._entries.extend(entries)

    def encode(self) -> bytes:
        """Return all entries as a JSON array."""
        return b"".join(self.encode_pieces())

    def encode_pieces(self) -> Iterator[bytes]:
        """Return all entries as the pieces of a JSON array, for one that is too large to hold twice."""
        yield b"["
        for start in range(0, len(self), _PIECE):
            piece = b",".join([each.encoded for each in self._entries[start : start + _PIECE]])
            yield b",%s" % piece if start else piece
        yield b"]"

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
        if self._reserve(item.encoded):
            item.entry = entry
        return entry

    def change(self, change: Callable[[E], None]) -> None:
        """Change each entry, but not its time and whether it is a failure."""
        for index, item in enumerate(self._entries):
            entry = self[index]
            change(entry)
            item.encoded = _ENCODER.encode(entry)

    def list_occurrences(self) -> list[Occurrence]:
        """List the time of each entry and whether it is a failure. Each entry is decoded at most once for it."""
        for index, item in enumerate(self._entries):
            if item.occurrence is None:
                entry = self[index]
                item.occurrence = entry.ts, is_failure(entry)
        return [item.occurrence for item in self._entries if item.occurrence is not None]

    def iterate_failures(self) -> Iterator[E]:
        """Decode one failure after the other."""
        return (self[index] for index, (_, failed) in enumerate(self.list_occurrences()) if failed)

    def __iter__(self) -> Iterator[E]:
        """Decode one entry after the other."""
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)


def split_array(encoded: bytes | bytearray) -> list[msgspec.Raw]:
    """Split a JSON array into its items, still encoded. Raises msgspec.DecodeError."""
    return _SPLITTER.decode(encoded)

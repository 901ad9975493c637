"""The entries of a long stream while they are chosen and processed: compressed, because they repeat each other."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache, partial

import msgspec

from ticketbox.domain.captures.intake.entry_sequence import split_array
from ticketbox.domain.core.packed_content import PackedContent, pack_content, unpack_content

_BLOCK = 256 * 1024  # bytes of entries
_OPEN_BLOCKS = 2  # entries are read from both ends of a stream inwards


class CompressedEntries:
    """Encoded entries in compressed blocks. A block is decompressed when one of its entries is read.

    The entries, and so the stream that they are views of, are removed from the list.
    """

    def __init__(self, entries: list[msgspec.Raw]) -> None:
        self._blocks: list[PackedContent] = []
        self._starts: list[int] = []
        self._count = 0
        for block in _split_into_blocks(entries):
            self._blocks.append(pack_content(b"[%s]" % b",".join(block), compress=True))
            self._starts.append(self._count)
            self._count += len(block)
        entries.clear()
        self._open = lru_cache(_OPEN_BLOCKS)(partial(_unpack_block, self._blocks))

    def __getitem__(self, index: int) -> msgspec.Raw:
        """Return an entry."""
        block = bisect_right(self._starts, index) - 1
        return self._open(block)[index - self._starts[block]]

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._count


def _unpack_block(blocks: list[PackedContent], number: int) -> list[msgspec.Raw]:
    return split_array(unpack_content(blocks[number].encoding, blocks[number].data))


def _split_into_blocks(entries: list[msgspec.Raw]) -> Iterator[list[msgspec.Raw]]:
    start = size = 0
    for end, entry in enumerate(entries, 1):
        size += memoryview(entry).nbytes
        if size >= _BLOCK or end == len(entries):
            yield entries[start:end]
            start, size = end, 0

"""Decoding the mappings of a source map (ECMA-426, "Mappings structure").

Most segments of a map are equal to others, so each text is decoded once, and the map is a sequence of their numbers.
Positions are sums of differences; those of whole blocks are computed first, the rest when a position is looked up.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ticketbox.domain.captures.intake.processor_time import ProcessorTime

MAX_SEGMENTS = 2_000_000
MAX_LINES = 1_000_000
MAX_SEGMENT = 60  # characters

_CHUNK = 1 << 18
_MAX_KNOWN = 200_000
_MAX_FAST = 100_000
_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/,"
_DIGITS = bytes(max(_SIGNS.find(sign), 0) for sign in range(256))
_COMMA = bytes([_SIGNS.index(b",")])
_MORE = 32  # the bit of a digit that another digit of the same number follows
_NUMBERS = [-(value >> 1) if value & 1 else value >> 1 for value in range(_MORE)]  # of one digit

_BLOCK = 2_048  # segments

Deltas = tuple[int, int, int, int, int]


class InvalidSourceMap(Exception):
    """A file isn't a source map that can be used. The text says why."""


class Mapping(NamedTuple):
    """A place in the author's files: the index of the source; line and column from 0."""

    source: int
    line: int
    column: int


class _Segments(dict[bytes, int]):
    """The numbers of the different segments of a map by their digits; most maps have few. Raises InvalidSourceMap."""

    def __init__(self) -> None:
        super().__init__()
        self._values = array("i")  # the differences of each, and the number of its fields
        self._next = 0

    def __missing__(self, digits: bytes) -> int:
        number = self._next
        try:
            self._values.extend(_decode_segment(digits))
        except OverflowError:
            raise InvalidSourceMap("a mapping has a number that is too large") from None
        self._next = number + 1
        if number < _MAX_KNOWN:
            self[digits] = number
        return number

    def list_fields(self) -> list[Sequence[int]]:
        """List the columns of the table: four differences, and the number of fields. Short ones are lists: faster."""
        columns = (self._values[field::5] for field in range(5))
        return [column.tolist() if len(column) <= _MAX_FAST else column for column in columns]


class Mappings:
    """The decoded mappings of a map. Raises InvalidSourceMap."""

    def __init__(self, text: bytes, limit: ProcessorTime) -> None:
        segments = _Segments()
        self._numbers = array("I")  # of the segments, in their order
        self._starts = array("I", [0])  # of each line of the bundle
        for start, end, ends_line in _list_parts(text):
            limit.check(end - start + 1)
            if end > start:
                self._numbers.extend(map(segments.__getitem__, text[start:end].translate(_DIGITS).split(_COMMA)))
            if len(self._numbers) > MAX_SEGMENTS:
                raise InvalidSourceMap(f"it has more than {MAX_SEGMENTS:,} mappings")
            if ends_line:
                self._starts.append(len(self._numbers))
                if len(self._starts) > MAX_LINES:
                    raise InvalidSourceMap(f"it has more than {MAX_LINES:,} lines")
        *self._fields, self._counts = segments.list_fields()
        self._sums = [(0, 0, 0)]  # before each block
        for start in range(0, len(self._numbers), _BLOCK):
            self._sums.append(self._add(self._sums[-1], start, start + _BLOCK))
        self._columns: tuple[int, list[int]] = (-1, [])  # of the line that was looked at last

    def find(self, line: int, column: int) -> Mapping | None:
        """Find the mapping of a position in the bundle, both from 0; None without one."""
        if not 0 <= line < len(self._starts) - 1:
            return None
        start, end = self._starts[line], self._starts[line + 1]
        if self._columns[0] != line:
            self._columns = line, list(accumulate(map(self._fields[0].__getitem__, self._numbers[start:end])))
        index = start + bisect_right(self._columns[1], column) - 1
        if index < start or self._counts[self._numbers[index]] < 4:
            return None
        block = index // _BLOCK
        return Mapping(*self._add(self._sums[block], block * _BLOCK, index + 1))

    def _add(self, sums: tuple[int, int, int], start: int, end: int) -> tuple[int, int, int]:
        """Add the differences of some segments to what was summed up before them."""
        part = self._numbers[start:end]
        source, line, column = (
            sum(map(field.__getitem__, part), before) for field, before in zip(self._fields[1:], sums, strict=True)
        )
        return source, line, column


def _list_parts(text: bytes) -> Iterator[tuple[int, int, bool]]:
    """List the parts of the lines, each with whether it ends its line: a line of any length needs little memory."""
    start, line_end = 0, -1
    while start <= len(text):
        if line_end < start:
            semicolon = text.find(b";", start)
            line_end = len(text) if semicolon < 0 else semicolon
        comma = text.find(b",", start + _CHUNK, line_end)
        end = line_end if comma < 0 else comma
        yield start, end, comma < 0
        start = end + 1


def _decode_segment(digits: bytes) -> Deltas:
    """Decode a segment into four differences and the number of its fields. Raises InvalidSourceMap."""
    if len(digits) > MAX_SEGMENT:
        raise InvalidSourceMap("a mapping is too long")
    values: list[int] = []
    value = shift = 0
    for digit in digits:
        if digit >= _MORE:
            value |= (digit - _MORE) << shift
            shift += 5
        elif shift:
            value |= digit << shift
            values.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
        else:
            values.append(_NUMBERS[digit])
    count = len(values)
    if shift or count not in {0, 1, 4, 5}:
        raise InvalidSourceMap("a mapping is cut")
    column, source, line, source_column = (*values, 0, 0, 0, 0)[:4]
    return column, source, line, source_column, count

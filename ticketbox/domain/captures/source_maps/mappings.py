"""Decoding the mappings of a source map (ECMA-426, "Mappings structure").

Most segments of a map are equal to others, so each text is decoded once. Positions are sums of differences; those of
whole blocks are computed first, the rest when a position is looked up.
"""

from bisect import bisect_right
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from ticketbox.domain.captures.intake.processor_time import ProcessorTime

MAX_SEGMENTS = 2_000_000
MAX_SEGMENT = 60  # characters

_CHUNK = 1 << 18
_MAX_KNOWN = 200_000
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_DIGITS = {sign: value for value, sign in enumerate(_SIGNS)}

_BLOCK = 2_048  # segments
_GETTERS = [itemgetter(field) for field in range(1, 5)]

Deltas = tuple[int, int, int, int, int, int]


class InvalidSourceMap(Exception):
    """A file isn't a source map that can be used. The text says why."""


class Mapping(NamedTuple):
    """A place in the author's files: indexes of the source and of the name (-1 for none); line and column from 0."""

    source: int
    line: int
    column: int
    name: int


class _KnownSegments(dict[str, Deltas]):
    """The decoded segments by their texts."""

    def __missing__(self, text: str) -> Deltas:
        deltas = _decode_segment(text)
        if len(self) < _MAX_KNOWN:
            self[text] = deltas
        return deltas


class Mappings:
    """The decoded mappings of a map. Raises InvalidSourceMap."""

    def __init__(self, text: str, limit: ProcessorTime) -> None:
        known = _KnownSegments()
        self._deltas: list[Deltas] = []
        self._starts = [0]  # of each line of the bundle
        for line in text.split(";"):
            for start, end in _list_chunks(line):
                limit.check(end - start)
                self._deltas += map(known.__getitem__, line[start:end].split(","))
                if len(self._deltas) > MAX_SEGMENTS:
                    raise InvalidSourceMap(f"it has more than {MAX_SEGMENTS:,} mappings")
            self._starts.append(len(self._deltas))
        self._sums = [(0, 0, 0, 0)]  # before each block
        for start in range(0, len(self._deltas), _BLOCK):
            self._sums.append(self._add(self._sums[-1], start, start + _BLOCK))
        self._columns: dict[int, list[int]] = {}  # of the lines that were looked at

    def find(self, line: int, column: int) -> Mapping | None:
        """Find the mapping of a position in the bundle, both from 0; None without one."""
        if not 0 <= line < len(self._starts) - 1:
            return None
        start, end = self._starts[line], self._starts[line + 1]
        columns = self._columns.get(line)
        if columns is None:
            columns = self._columns[line] = list(accumulate(map(itemgetter(0), self._deltas[start:end])))
        index = start + bisect_right(columns, column) - 1
        if index < start or self._deltas[index][5] < 4:
            return None
        block = index // _BLOCK
        source, source_line, source_column, name = self._add(self._sums[block], block * _BLOCK, index + 1)
        return Mapping(source, source_line, source_column, name if self._deltas[index][5] == 5 else -1)

    def _add(self, sums: tuple[int, int, int, int], start: int, end: int) -> tuple[int, int, int, int]:
        """Add the differences of some segments to what was summed up before them."""
        part = self._deltas[start:end]
        source, line, column, name = (sum(map(get, part), before) for get, before in zip(_GETTERS, sums, strict=True))
        return source, line, column, name


def _list_chunks(line: str) -> list[tuple[int, int]]:
    """Divide the segments of a line into parts, so that a line of any length needs little memory at a time."""
    chunks: list[tuple[int, int]] = []
    start = 0
    while start < len(line):
        comma = line.find(",", start + _CHUNK)
        end = len(line) if comma < 0 else comma
        chunks.append((start, end))
        start = end + 1
    return chunks


def _decode_segment(text: str) -> Deltas:
    """Decode a segment into five differences and the number of its fields. Raises InvalidSourceMap."""
    if len(text) > MAX_SEGMENT:
        raise InvalidSourceMap("a mapping is too long")
    values: list[int] = []
    value = shift = 0
    for sign in text:
        digit = _DIGITS.get(sign, -1)
        if digit < 0:
            raise InvalidSourceMap("its mappings have a character that isn't base 64")
        if digit >= 32:
            value |= (digit - 32) << shift
            shift += 5
        else:
            value |= digit << shift
            values.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if not shift:
        match values:
            case [column, source, line, source_column]:
                return column, source, line, source_column, 0, 4
            case [column, source, line, source_column, name]:
                return column, source, line, source_column, name, 5
            case [column]:
                return column, 0, 0, 0, 0, 1
            case []:
                return 0, 0, 0, 0, 0, 0
            case _:
                pass
    raise InvalidSourceMap("a mapping is cut")

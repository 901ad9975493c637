"""Source maps for tests."""

import json
from collections.abc import Sequence
from typing import Any

_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

SOURCE = """export function loadCart(id) {
  return parse(id);
}

const parse = (id) => {
  throw new TypeError(`no cart ${id}`);
};
"""
# Columns of the bundle's only line (from 0), and their places in SOURCE: line and column from 0.
POINTS = [(0, 0, 7), (20, 1, 9), (40, 5, 8)]


def encode_number(value: int) -> str:
    """A number as base 64 VLQ."""
    rest = (-value << 1) | 1 if value < 0 else value << 1
    text = ""
    while True:
        rest, digit = rest >> 5, rest & 31
        text += _SIGNS[digit | 32 if rest else digit]
        if not rest:
            return text


def encode_mappings(points: Sequence[Sequence[int]] = POINTS) -> str:
    """The mappings of a bundle with one line and one source."""
    segments, before = [], (0, 0, 0)
    for point in points:
        column, line, source_column = (now - then for now, then in zip(point, before, strict=True))
        segments.append("".join(map(encode_number, (column, 0, line, source_column))))
        before = tuple(point)
    return ",".join(segments)


def build_source_map(**fields: Any) -> bytes:
    """A map of a bundle with one line; fields that are None are left out."""
    whole = {
        "version": 3,
        "sources": ["webpack://shop/./src/cart.js?1a2b"],
        "sourcesContent": [SOURCE],
        "names": [],
        "mappings": encode_mappings(),
        **fields,
    }
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()

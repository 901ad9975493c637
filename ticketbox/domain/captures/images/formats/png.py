"""Parse PNG files, and check that their pixels can be inflated (PNG specification, third edition)."""

import struct
import zlib
from collections.abc import Iterator
from itertools import chain

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.formats.exif import read_orientation
from ticketbox.domain.captures.images.formats.raster import (
    MAX_PARTS,
    Raster,
    build_animation_error,
    build_corrupt_error,
    build_rotation_error,
    check_size,
)

_INFLATE_STEP = 1 << 18
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def parse_png(data: bytes) -> Raster:
    """Parse a PNG file."""
    width, height, depth, color, compression, filtering, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    if data[12:16] != b"IHDR" or depth not in _DEPTHS.get(color, ()):
        raise build_corrupt_error()
    if compression or filtering or interlace > 1:
        raise build_corrupt_error()
    check_size(width, height)
    chunks: list[memoryview] = [memoryview(_SIGNATURE)]
    pixels: list[memoryview] = []
    has_palette, last = False, b""
    for kind, body, whole in _split_chunks(memoryview(data)):
        if kind in (b"acTL", b"fdAT"):
            raise build_animation_error()
        if kind == b"eXIf" and read_orientation(bytes(body)) != 1:
            raise build_rotation_error()
        if kind == b"IDAT":
            if pixels and last != b"IDAT":
                raise build_corrupt_error()
            pixels += [body[at : at + _INFLATE_STEP] for at in range(0, len(body), _INFLATE_STEP)]
        elif kind == b"PLTE" and not pixels:
            has_palette = 3 <= len(body) <= 768 and len(body) % 3 == 0
        if kind in (b"IHDR", b"IDAT", b"IEND") or (kind in (b"PLTE", b"tRNS") and not pixels):
            chunks.append(whole)
        last = kind
    if color == 3 and not has_palette:
        raise build_corrupt_error()
    bits = depth * _CHANNELS[color]
    _check_pixels(pixels, _compute_passes(width, height, bits, interlace == 1))
    return Raster(media_types.PNG, width, height, 1, True, b"".join(chunks))


def _split_chunks(data: memoryview) -> Iterator[tuple[bytes, memoryview, memoryview]]:
    """Yield each chunk up to IEND: its type, its body, and the whole chunk."""
    at = len(_SIGNATURE)
    for number in range(MAX_PARTS):
        (length,) = struct.unpack_from(">I", data, at)
        whole = data[at : at + length + 12]
        kind, body = bytes(whole[4:8]), whole[8:-4]
        if len(whole) != length + 12 or zlib.crc32(whole[4:-4]) != struct.unpack(">I", whole[-4:])[0]:
            raise build_corrupt_error()
        if (kind == b"IHDR") != (number == 0) or (kind == b"IHDR" and length != 13):
            raise build_corrupt_error()
        yield kind, body, whole
        if kind == b"IEND":
            return
        at += len(whole)
    raise build_corrupt_error()


def _compute_passes(width: int, height: int, bits: int, interlaced: bool) -> Iterator[tuple[int, int]]:
    """Yield, for each pass, the bytes of a row with its filter byte, and the number of rows."""
    for left, top, right_step, down_step in _ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns, rows = -((left - width) // right_step), -((top - height) // down_step)
        if columns > 0 and rows > 0:
            yield 1 + (columns * bits + 7) // 8, rows


def _check_pixels(parts: list[memoryview], passes: Iterator[tuple[int, int]]) -> None:
    """Inflate the pixels in steps, to check that all rows are there and have valid filters.

    Decoding instead would allocate memory for the whole image, even if the file is truncated.
    """
    inflater = zlib.decompressobj()
    waiting = iter(parts)

    def inflate(most: int) -> bytes:
        for part in chain([inflater.unconsumed_tail], waiting):
            out = inflater.decompress(part, most)
            if out or inflater.eof:
                return out
        return b""

    for row, rows in passes:
        done, size = 0, row * rows
        while done < size:
            out = inflate(min(_INFLATE_STEP, size - done))
            if not out or max(out[-done % row :: row], default=0) > 4:
                raise build_corrupt_error()
            done += len(out)

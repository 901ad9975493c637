"""Parse WebP files (RFC 9649)."""

import struct
from collections.abc import Iterator

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.formats.exif import read_orientation
from ticketbox.domain.captures.images.formats.raster import (
    MAX_PARTS,
    MAX_WEBP_PIXELS,
    Raster,
    build_animation_error,
    build_corrupt_error,
    build_rotation_error,
    check_size,
)

_HAS_ALPHA = 0x10


def parse_webp(data: bytes) -> Raster:
    """Parse a WebP file."""
    canvas: tuple[int, int] | None = None
    size: tuple[int, int] | None = None
    chunks: list[tuple[bytes, bytes]] = []
    lossless = False
    for kind, body in _split_chunks(data):
        if kind in (b"ANIM", b"ANMF"):
            raise build_animation_error()
        if kind == b"EXIF" and read_orientation(body.removeprefix(b"Exif\0\0")) != 1:
            raise build_rotation_error()
        if kind == b"VP8X":
            canvas = 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
            check_size(*canvas, most=MAX_WEBP_PIXELS)
            chunks.append((kind, bytes([body[0] & _HAS_ALPHA]) + body[1:10]))
        elif kind == b"ALPH":
            chunks.append((kind, body))
        elif kind in (b"VP8 ", b"VP8L"):
            if size:
                raise build_corrupt_error()
            lossless = kind == b"VP8L"
            size = _read_vp8l_size(body) if lossless else _read_vp8_size(body)
            check_size(*size, most=MAX_WEBP_PIXELS)
            chunks.append((kind, body))
    if not size or (canvas and canvas != size):
        raise build_corrupt_error()
    content = b"".join(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2) for kind, body in chunks)
    essence = b"RIFF" + struct.pack("<I", 4 + len(content)) + b"WEBP" + content
    return Raster(media_types.WEBP, *size, 1, lossless, essence)


def _split_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    (length,) = struct.unpack_from("<I", data, 4)
    at, end = 12, 8 + length
    if end > len(data):
        raise build_corrupt_error()
    for _ in range(MAX_PARTS):
        if at >= end:
            return
        kind, size = struct.unpack_from("<4sI", data, at)
        at += 8
        if at + size > end:
            raise build_corrupt_error()
        yield kind, data[at : at + size]
        at += size + size % 2
    raise build_corrupt_error()


def _read_vp8_size(body: bytes) -> tuple[int, int]:
    if body[0] & 1 or body[3:6] != b"\x9d\x01\x2a":
        raise build_corrupt_error()
    width, height = struct.unpack_from("<HH", body, 6)
    return width & 0x3FFF, height & 0x3FFF


def _read_vp8l_size(body: bytes) -> tuple[int, int]:
    (bits,) = struct.unpack_from("<I", body, 1)
    if body[0] != 0x2F:
        raise build_corrupt_error()
    return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)

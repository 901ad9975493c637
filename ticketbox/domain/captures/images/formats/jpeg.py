"""Parse JPEG files (ITU-T T.81, Annex B)."""

import re
import struct
from collections.abc import Iterator

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.formats.exif import read_orientation
from ticketbox.domain.captures.images.formats.raster import MAX_PARTS, Raster, build_corrupt_error, check_size
from ticketbox.domain.core.problems import InvalidRequest

_MAX_SCANS = 32  # progressive encoders write about ten; each one is a pass over all pixels
_FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended and progressive, Huffman-coded
_TABLES = (0xC4, 0xDB, 0xDD, 0xEE)  # DHT, DQT, DRI, and Adobe's, which names the colour space
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not a stuffed byte, a fill byte, or a restart marker


def parse_jpeg(data: bytes) -> Raster:
    """Parse a JPEG file."""
    segments: list[bytes] = [b"\xff\xd8"]
    size: tuple[int, int] | None = None
    orientation, scans = 1, 0
    for marker, body, whole in _split_segments(data):
        if marker in _FRAMES:
            depth, height, width, components = struct.unpack_from(">BHHB", body)
            if size or depth != 8 or components not in (1, 3, 4):
                raise build_corrupt_error()
            check_size(width, height)
            size = width, height
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            raise InvalidRequest("this kind of JPEG isn't supported; save it as baseline or progressive")
        elif marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = read_orientation(body[6:])
        scans += marker == 0xDA
        if marker in (*_FRAMES, *_TABLES, 0xDA) or (marker == 0xE0 and body.startswith(b"JFIF\0")):
            segments.append(whole)
    if not size or not 1 <= scans <= _MAX_SCANS:
        raise build_corrupt_error()
    segments.append(b"\xff\xd9")
    return Raster(media_types.JPEG, *size, orientation, False, b"".join(segments))


def _split_segments(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield each segment up to the end marker: its marker, its body, and the whole segment.

    A whole scan includes the entropy-coded data that follows it.
    """
    at = 2
    for _ in range(MAX_PARTS):
        match = _MARKER.search(data, at)
        if not match or data[at : match.start()].strip(b"\xff"):
            raise build_corrupt_error()
        marker, start = match[0][1], match.end()
        if marker == 0xD9:
            return
        (length,) = struct.unpack_from(">H", data, start)
        end = start + length
        body = data[start + 2 : end]
        if length < 2 or len(body) != length - 2:
            raise build_corrupt_error()
        if marker == 0xDA:
            following = _MARKER.search(data, end)
            if not following:
                raise build_corrupt_error()
            end = following.start()
        yield marker, body, data[start - 2 : end]
        at = end
    raise build_corrupt_error()

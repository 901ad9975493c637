"""Remove the metadata of pictures, such as where a photo was taken. Pixels, colours and rotation stay as they are.

Nothing is decoded, and what follows a damaged part is kept: such a file has no preview, but can be downloaded.
"""

import re
import struct
from collections.abc import Iterator

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.formats.exif import read_orientation

_EXIF = b"Exif\0\0"
# Chunks that define pixels, colours, size in print, and animation
_PNG_CHUNKS = frozenset(
    (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT", b"bKGD",
     b"pHYs", b"acTL", b"fcTL", b"fdAT")
)  # fmt: skip
_WEBP_CHUNKS = frozenset((b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ICCP", b"ANIM", b"ANMF"))
_WEBP_METADATA = 0b1100  # flags of EXIF and XMP
_JPEG_SCAN, _JPEG_END = 0xDA, 0xD9
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")  # neither a stuffed byte nor a restart marker


def remove_metadata(data: bytes, media_type: str) -> bytes:
    """Return a picture without metadata; a file of another type as it is."""
    remove = {media_types.JPEG: _clean_jpeg, media_types.PNG: _clean_png, media_types.WEBP: _clean_webp}.get(media_type)
    return data if remove is None else remove(data)


def _clean_jpeg(data: bytes) -> bytes:
    parts = [data[:2]]
    for marker, body, whole in _split_jpeg(data):
        if marker == 0xE1 and body.startswith(_EXIF):
            orientation = read_orientation(body[len(_EXIF) :])
            if orientation != 1:
                parts.append(_build_exif_segment(orientation))
        elif not _is_jpeg_metadata(marker, body):
            parts.append(whole)
    return b"".join(parts)


def _is_jpeg_metadata(marker: int, body: bytes) -> bool:
    """APP0 is JFIF, APP2 a colour profile, APP14 Adobe's colour space; all others and comments are metadata."""
    if marker == 0xE2:
        return not body.startswith(b"ICC_PROFILE\0")
    return marker == 0xFE or (0xE1 <= marker <= 0xEF and marker != 0xEE)


def _split_jpeg(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the marker, body and bytes of each segment up to the end marker, or to a damaged part and with it."""
    at = 2
    while (found := _JPEG_MARKER.match(data, at)) is not None:
        marker, start = found[1][0], found.end()
        if marker == _JPEG_END:
            yield marker, b"", data[at:start]
            return
        length = int.from_bytes(data[start : start + 2], "big")
        end = start + max(2, length)
        if marker == _JPEG_SCAN:  # its pixels follow
            following = _JPEG_MARKER.search(data, end)
            end = len(data) if following is None else following.start()
        yield marker, data[start + 2 : end], data[at:end]
        at = end
    yield 0, b"", data[at:]


def _build_exif_segment(orientation: int) -> bytes:
    """Build an EXIF segment with one entry: how to rotate the picture (CIPA DC-008)."""
    exif = _EXIF + struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    return b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif


def _clean_png(data: bytes) -> bytes:
    parts, at = [data[:8]], 8
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, whole = data[at + 4 : at + 8], data[at : at + length + 12]
        if kind in _PNG_CHUNKS:
            parts.append(whole)
        at += length + 12
        if kind == b"IEND":
            break
    return b"".join(parts)


def _clean_webp(data: bytes) -> bytes:
    parts, at = list[bytes](), 12
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<4sI", data, at)
        whole = data[at : at + 8 + size + size % 2]
        if kind == b"VP8X" and len(whole) > 8:
            whole = whole[:8] + bytes([whole[8] & ~_WEBP_METADATA]) + whole[9:]
        if kind in _WEBP_CHUNKS:
            parts.append(whole)
        at += len(whole)
    content = b"".join(parts)
    return b"RIFF" + struct.pack("<I", 4 + len(content)) + b"WEBP" + content

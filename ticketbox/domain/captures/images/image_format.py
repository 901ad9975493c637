"""Parse and check PNG, JPEG and WebP files without decoding them.

Files that are too large, animated, incomplete or corrupt are refused here, in memory that doesn't depend on the
image's dimensions. The rest is reduced to the parts that define pixels, and only those reach an image library: no
metadata, profiles, thumbnails, second images or data after the end.

Sources: the PNG specification (third edition), ITU-T T.81 Annex B, RFC 9649 (WebP).
"""

import re
import struct
import zlib
from collections.abc import Iterator
from itertools import chain

import msgspec

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge, UnsupportedMediaType

MAX_PIXELS = 50_000_000
# Pillow needs several copies of a decoded WebP: 50 megapixels would take 840 MB.
MAX_WEBP_PIXELS = 16_000_000
MAX_SIDE = 65_500  # the limit of libjpeg, and close to that of a browser's canvas
ACCEPTED = [media_types.PNG, media_types.JPEG, media_types.WEBP]

_MAX_PARTS = 65_536
_MAX_SCANS = 32  # progressive encoders write about ten; each one is a pass over all pixels
_INFLATE_STEP = 1 << 18


class Raster(msgspec.Struct, frozen=True):
    """An image file that is complete and has a single frame.

    `width` and `height` are as stored; `orientation` (1 to 8, EXIF) is how to rotate and flip it for display.
    `essence` is a file of the same type that has only what defines the pixels.
    """

    media_type: str
    width: int
    height: int
    orientation: int
    lossless: bool
    essence: bytes


def parse_image(data: bytes) -> Raster:
    """Parse an image file.

    Raises UnsupportedMediaType for anything but PNG, JPEG and WebP, PayloadTooLarge for too many
    pixels, and InvalidRequest for animations and for truncated or corrupt files.
    """
    media_type = media_types.sniff(data[:4096])
    parse = {media_types.PNG: _parse_png, media_types.JPEG: _parse_jpeg, media_types.WEBP: _parse_webp}.get(media_type)
    if parse is None:
        kind = media_type.partition(";")[0]
        raise UnsupportedMediaType(f"an image must be PNG, JPEG or WebP; this is {kind}", valid=ACCEPTED)
    try:
        return parse(data)
    except (IndexError, struct.error, zlib.error):
        raise build_corrupt_error() from None


def build_corrupt_error() -> InvalidRequest:
    """Build the error for an image that can't be read to its end."""
    return InvalidRequest("the image is truncated or corrupt")


def _check_size(width: int, height: int, most: int = MAX_PIXELS) -> None:
    if not (width and height):
        raise build_corrupt_error()
    if width * height > most or max(width, height) > MAX_SIDE:
        raise PayloadTooLarge(
            f"the image has {width} × {height} pixels; at most {most // 1_000_000} megapixels and "
            f"{MAX_SIDE} pixels per side are accepted"
        )


def _build_animation_error() -> InvalidRequest:
    return InvalidRequest("the image is animated; only still images are accepted")


def _build_rotation_error() -> InvalidRequest:
    # Browsers display these differently, so the place of a rectangle on the image would be ambiguous.
    return InvalidRequest("the image is rotated by metadata, which only JPEG supports; save it without rotation")


# --- PNG -------------------------------------------------------------------------------------------

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def _parse_png(data: bytes) -> Raster:
    width, height, depth, color, compression, filtering, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    if data[12:16] != b"IHDR" or depth not in _PNG_DEPTHS.get(color, ()):
        raise build_corrupt_error()
    if compression or filtering or interlace > 1:
        raise build_corrupt_error()
    _check_size(width, height)
    kept: list[memoryview] = [memoryview(_PNG_SIGNATURE)]
    pixels: list[memoryview] = []
    has_palette, last = False, b""
    for kind, body, whole in _split_png_chunks(memoryview(data)):
        if kind in (b"acTL", b"fdAT"):
            raise _build_animation_error()
        if kind == b"eXIf" and _read_orientation(bytes(body)) != 1:
            raise _build_rotation_error()
        if kind == b"IDAT":
            if pixels and last != b"IDAT":
                raise build_corrupt_error()
            pixels += [body[at : at + _INFLATE_STEP] for at in range(0, len(body), _INFLATE_STEP)]
        elif kind == b"PLTE" and not pixels:
            has_palette = 3 <= len(body) <= 768 and len(body) % 3 == 0
        if kind in (b"IHDR", b"IDAT", b"IEND") or (kind in (b"PLTE", b"tRNS") and not pixels):
            kept.append(whole)
        last = kind
    if color == 3 and not has_palette:
        raise build_corrupt_error()
    bits = depth * _PNG_CHANNELS[color]
    _check_inflates(pixels, _compute_png_passes(width, height, bits, interlace == 1))
    return Raster(media_types.PNG, width, height, 1, True, b"".join(kept))


def _split_png_chunks(data: memoryview) -> Iterator[tuple[bytes, memoryview, memoryview]]:
    """Yield each chunk up to IEND: its type, its body, and the whole chunk."""
    at = len(_PNG_SIGNATURE)
    for number in range(_MAX_PARTS):
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


def _compute_png_passes(width: int, height: int, bits: int, interlaced: bool) -> Iterator[tuple[int, int]]:
    """Yield, for each pass, the bytes of a row with its filter byte, and the number of rows."""
    for left, top, right_step, down_step in _ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns, rows = -((left - width) // right_step), -((top - height) // down_step)
        if columns > 0 and rows > 0:
            yield 1 + (columns * bits + 7) // 8, rows


def _check_inflates(parts: list[memoryview], passes: Iterator[tuple[int, int]]) -> None:
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


# --- JPEG ------------------------------------------------------------------------------------------

_JPEG_FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended and progressive, Huffman-coded
_JPEG_TABLES = (0xC4, 0xDB, 0xDD, 0xEE)  # DHT, DQT, DRI, and Adobe's, which names the colour space
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not a stuffed byte, a fill byte, or a restart marker


def _parse_jpeg(data: bytes) -> Raster:
    kept: list[bytes] = [b"\xff\xd8"]
    size: tuple[int, int] | None = None
    orientation, scans = 1, 0
    for marker, body, whole in _split_jpeg_segments(data):
        if marker in _JPEG_FRAMES:
            depth, height, width, components = struct.unpack_from(">BHHB", body)
            if size or depth != 8 or components not in (1, 3, 4):
                raise build_corrupt_error()
            _check_size(width, height)
            size = width, height
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            raise InvalidRequest("this kind of JPEG isn't supported; save it as baseline or progressive")
        elif marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = _read_orientation(body[6:])
        scans += marker == 0xDA
        if marker in (*_JPEG_FRAMES, *_JPEG_TABLES, 0xDA) or (marker == 0xE0 and body.startswith(b"JFIF\0")):
            kept.append(whole)
    if not size or not 1 <= scans <= _MAX_SCANS:
        raise build_corrupt_error()
    kept.append(b"\xff\xd9")
    return Raster(media_types.JPEG, *size, orientation, False, b"".join(kept))


def _split_jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield each segment up to the end marker: its marker, its body, and the whole segment.

    A whole scan includes the entropy-coded data that follows it.
    """
    at = 2
    for _ in range(_MAX_PARTS):
        found = _MARKER.search(data, at)
        if not found or data[at : found.start()].strip(b"\xff"):
            raise build_corrupt_error()
        marker, start = found[0][1], found.end()
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


# --- WebP ------------------------------------------------------------------------------------------

_WEBP_HAS_ALPHA = 0x10


def _parse_webp(data: bytes) -> Raster:
    canvas: tuple[int, int] | None = None
    size: tuple[int, int] | None = None
    kept: list[tuple[bytes, bytes]] = []
    lossless = False
    for kind, body in _split_webp_chunks(data):
        if kind in (b"ANIM", b"ANMF"):
            raise _build_animation_error()
        if kind == b"EXIF" and _read_orientation(body.removeprefix(b"Exif\0\0")) != 1:
            raise _build_rotation_error()
        if kind == b"VP8X":
            canvas = 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
            _check_size(*canvas, most=MAX_WEBP_PIXELS)
            kept.append((kind, bytes([body[0] & _WEBP_HAS_ALPHA]) + body[1:10]))
        elif kind == b"ALPH":
            kept.append((kind, body))
        elif kind in (b"VP8 ", b"VP8L"):
            if size:
                raise build_corrupt_error()
            lossless = kind == b"VP8L"
            size = _read_vp8l_size(body) if lossless else _read_vp8_size(body)
            _check_size(*size, most=MAX_WEBP_PIXELS)
            kept.append((kind, body))
    if not size or (canvas and canvas != size):
        raise build_corrupt_error()
    chunks = b"".join(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2) for kind, body in kept)
    essence = b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks
    return Raster(media_types.WEBP, *size, 1, lossless, essence)


def _split_webp_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    (length,) = struct.unpack_from("<I", data, 4)
    at, end = 12, 8 + length
    if end > len(data):
        raise build_corrupt_error()
    for _ in range(_MAX_PARTS):
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


# --- EXIF ------------------------------------------------------------------------------------------


def _read_orientation(exif: bytes) -> int:
    """Return the EXIF orientation; 1 (upright) if there is none."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(exif[:4])
    if not order:
        return 1
    try:
        (at,) = struct.unpack_from(order + "I", exif, 4)
        (count,) = struct.unpack_from(order + "H", exif, at)
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(order + "HHIH", exif, entry)
            if tag == 0x0112 and kind == 3:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1

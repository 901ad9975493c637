"""Pictures for tests and the demo: sound ones, and hostile ones that no encoder would write."""

import struct
import zlib
from io import BytesIO

from PIL import Image

RED = (229, 72, 77)
BLUE = (0, 84, 255)

_PNG = b"\x89PNG\r\n\x1a\n"


def image(width: int = 64, height: int = 48, color: tuple[int, ...] = RED, mode: str = "RGB") -> Image.Image:
    """One colour with a stripe of another in the middle, so that rotations are visible."""
    image = Image.new(mode, (width, height), color)
    image.paste(BLUE[: len(image.getbands())], (width // 2, 0, width // 2 + max(1, width // 8), height))
    return image


def encode(picture: Image.Image, form: str, **options: object) -> bytes:
    out = BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def png(width: int = 64, height: int = 48, color: tuple[int, ...] = RED) -> bytes:
    return encode(image(width, height, color), "PNG")


def jpeg(width: int = 64, height: int = 48, color: tuple[int, ...] = RED, **options: object) -> bytes:
    return encode(image(width, height, color), "JPEG", **options)


def webp(width: int = 64, height: int = 48, color: tuple[int, ...] = RED, **options: object) -> bytes:
    return encode(image(width, height, color), "WEBP", **options)


def gif(width: int = 64, height: int = 48) -> bytes:
    return encode(image(width, height), "GIF")


def noise(width: int, height: int) -> Image.Image:
    """Grey that no encoder can make small."""
    return Image.effect_noise((width, height), 120).convert("RGB")


def webp_animation(frames: int = 3) -> bytes:
    return encode(image(), "WEBP", save_all=True, append_images=_others(frames))


def apng(frames: int = 3) -> bytes:
    return encode(image(), "PNG", save_all=True, append_images=_others(frames))


def _others(frames: int) -> list[Image.Image]:
    return [image(color=(n * 9, 200, 90)) for n in range(1, frames)]


def chunk(kind: bytes, body: bytes) -> bytes:
    """A PNG chunk with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of(width: int, height: int, pixels: bytes, depth: int = 8, color: int = 2, extra: bytes = b"") -> bytes:
    """A PNG with this header and these inflated pixels, whether or not they belong together."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return _PNG + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def bomb_png(width: int = 60_000, height: int = 60_000) -> bytes:
    """A few bytes that claim to be gigapixels."""
    return png_of(width, height, b"\0" * 100)


def short_png(width: int = 7000, height: int = 7000) -> bytes:
    """All but the last row of a picture within the limits: sound chunks, 147 MB when decoded."""
    return png_of(width, height, b"\0" * ((1 + 3 * width) * (height - 1)))


def truncate(data: bytes, share: float = 0.6) -> bytes:
    return data[: int(len(data) * share)]


def jpeg_sized(width: int, height: int, form: int = 0xC0) -> bytes:
    """A JPEG that claims another size than it has."""
    data = jpeg(16, 16)
    at = data.index(b"\xff\xc0")
    return data[: at + 1] + bytes([form]) + data[at + 2 : at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def webp_sized(width: int, height: int) -> bytes:
    """A WebP whose canvas claims this size."""
    body = b"\x10\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunks = b"VP8X" + struct.pack("<I", 10) + body + webp()[12:]
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def with_exif(form: str, orientation: int, secret: bytes = b"") -> bytes:
    """A picture whose EXIF turns it, and holds words in its description."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    if secret:
        exif[0x010E] = secret.decode()
    return encode(image(), form, exif=exif)

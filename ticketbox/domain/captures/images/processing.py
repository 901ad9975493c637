"""Pictures: inspected, scaled for a model's eyes, drawn on, and redacted for good.

Pillow sees only what `raster.read` let through: a whole still picture of known size, reduced to the
parts that make pixels. All functions are synchronous and meant for a worker thread. Decoding takes
4 bytes for each pixel, and 16 for a WebP: at most two pictures are decoded at once, of them one
large one, and the rest wait.
"""

import math
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from typing import TYPE_CHECKING, Any

import msgspec

from ticketbox.domain.captures.images import drawing, image_format, media_types
from ticketbox.domain.captures.images.annotations import Annotation, AnnotationInput, BoxGeometry, bounds
from ticketbox.domain.captures.images.image_format import Raster
from ticketbox.domain.core.problems import InvalidField, Problem, Unavailable

if TYPE_CHECKING:
    from PIL import Image

MAX_SCREENSHOT_BYTES = 10_000_000
MAX_PIXELS = image_format.MAX_PIXELS
MODEL_SIDE = 1568
MODEL_BYTES = 900_000

_FORMATS = {media_types.PNG: "PNG", media_types.JPEG: "JPEG", media_types.WEBP: "WEBP"}
_QUALITIES = (90, 80, 65, 50, 35)
_REDUCED_ROWS = 512
_LOSSY_BLOCK = 16
_LEAST_BYTES = 1024
_LARGE = 12_000_000

_turns = threading.BoundedSemaphore(2)
_large_turn = threading.Lock()


class ImageInfo(msgspec.Struct, frozen=True):
    """What a picture is. Width and height are in pixels, as a browser shows it."""

    media_type: str
    width: int
    height: int


class Picture(msgspec.Struct, frozen=True):
    """A picture file with its type and its size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


def inspect(data: bytes) -> ImageInfo:
    """Prove that a file is one whole picture that this house accepts.

    Raises UnsupportedMediaType unless it is PNG, JPEG or WebP by its bytes, PayloadTooLarge for too
    many pixels, and InvalidRequest for animations and for truncated or garbled files. The number of
    bytes is the caller's to check.
    """
    source = image_format.read(data)
    with _decoding(source):
        image = _open(source)
        if source.media_type == media_types.JPEG:
            # This reads all of the file, and keeps a 64th of the pixels.
            image.draft(image.mode, (max(1, image.width // 8), max(1, image.height // 8)))
        if source.media_type != media_types.PNG:  # a PNG has been inflated already
            image.load()
    return ImageInfo(source.media_type, *_shown_size(source))


def scale(data: bytes, max_side: int = MODEL_SIDE, max_bytes: int = MODEL_BYTES) -> Picture:
    """Make a picture small enough for its reader: no side over `max_side`, fewer than `max_bytes`.

    One that fits is returned as it is. Otherwise the answer is a PNG, where the source was lossless
    and it fits, or else a JPEG of the best quality that does, on white.
    """
    if max_side < 1 or max_bytes < _LEAST_BYTES:
        raise ValueError(f"no picture fits {max_side} pixels and {max_bytes} bytes")
    source = image_format.read(data)
    width, height = _shown_size(source)
    if max(width, height) <= max_side and len(data) < max_bytes and source.orientation == 1:
        return Picture(data, source.media_type, width, height)
    with _decoding(source):
        image = _turned(_shrunk(source, max_side), source.orientation)
        shrinkage = image.width * image.height / (width * height)
        # Soft edges that scaling makes cost a PNG at least twice the bytes, so most attempts can be spared.
        if source.lossless and 2 * len(data) * shrinkage < max_bytes:
            encoded = _save(image, "PNG", compress_level=6)
            if len(encoded) < max_bytes:
                return Picture(encoded, media_types.PNG, *image.size)
        return _as_jpeg(drawing.flat(image), max_bytes)


def draw(data: bytes, annotations: Sequence[AnnotationInput | Annotation]) -> Picture:
    """Draw annotations onto a picture, at its full size and in its own format."""
    source = image_format.read(data)
    with _decoding(source):
        image = drawing.flat(_full(source))
        drawing.draw(image, annotations)
        return _encoded(image, source, compress_level=1)


def burn(data: bytes, rectangles: Sequence[BoxGeometry]) -> Picture:
    """Destroy the pixels of rectangles, and whatever else of the old file could show them.

    The answer is encoded anew in the same format (JPEG at quality 92) without any metadata. Rectangles
    grow to whole pixels; in a lossy source to whole blocks of 16, because a block's ripples outside a
    rectangle tell of what was inside. Raises InvalidRequest for one that hits no pixel.
    """
    source = image_format.read(data)
    boxes = [_pixel_box(number, box, source) for number, box in enumerate(rectangles)]
    with _decoding(source):
        image = _full(source)
        black = {"L": 0, "RGB": (0, 0, 0), "RGBA": (0, 0, 0, 255)}[image.mode]
        for box in boxes:
            image.paste(black, box)
        return _encoded(image, source, compress_level=6)


@contextmanager
def _decoding(source: Raster) -> Generator[None]:
    """Wait for a turn; turn whatever the image library raises into a Problem."""
    large = source.width * source.height > _LARGE
    with _large_turn if large else nullcontext(), _turns:
        try:
            yield
        except Problem:
            raise
        except MemoryError:
            raise Unavailable("there isn't enough memory for this picture now; try again later") from None
        except Exception as error:
            raise image_format.garbled() from error


def _open(source: Raster) -> "Image.Image":
    from PIL import Image

    image = Image.open(BytesIO(source.essence), formats=[_FORMATS[source.media_type]])
    if image.size != (source.width, source.height) or getattr(image, "n_frames", 1) != 1:
        raise image_format.garbled()
    return image


def _shown_size(source: Raster) -> tuple[int, int]:
    if source.orientation < 5:
        return source.width, source.height
    return source.height, source.width


def _plain(image: "Image.Image") -> "Image.Image":
    """Convert to the nearest of L, RGB and RGBA, and forget all but the pixels."""
    if image.mode.startswith("I"):  # 16 bits
        image = image.point(lambda value: value * (1 / 256)).convert("L")  # pyright: ignore[reportUnknownMemberType]
    elif image.mode in ("LA", "RGBA") or image.has_transparency_data:
        image = _converted(image, "RGBA")
    else:
        image = _converted(image, "L" if image.mode in ("1", "L") else "RGB")
    image.load()
    image.info.clear()
    return image


def _converted(image: "Image.Image", mode: str) -> "Image.Image":
    return image if image.mode == mode else image.convert(mode)  # Pillow would copy


def _full(source: Raster) -> "Image.Image":
    return _turned(_plain(_open(source)), source.orientation)


def _turned(image: "Image.Image", orientation: int) -> "Image.Image":
    from PIL.Image import Transpose

    turn = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }.get(orientation)
    return image if turn is None else image.transpose(turn)


def _shrunk(source: Raster, max_side: int) -> "Image.Image":
    """Decode to at most `max_side`, without a second copy of a large picture."""

    image = _open(source)
    ratio = min(1, max_side / max(image.size))
    size = max(1, round(image.width * ratio)), max(1, round(image.height * ratio))
    image.draft(image.mode, (2 * size[0], 2 * size[1]))  # a JPEG can be decoded to a half, 4th or 8th
    factor = int(max(image.size) / max(size) / 1.5)
    image = _reduced(image, factor) if factor > 1 else _plain(image)
    if image.mode == "RGBA" and image.getchannel("A").getextrema() == (255, 255):
        image = image.convert("RGB")
    return _resized(image, size)


def _reduced(image: "Image.Image", factor: int) -> "Image.Image":
    """Average squares of pixels, in strips, because Pillow would convert a copy of the whole first."""
    from PIL import Image

    strips: list[Image.Image] = []
    for top in range(0, image.height, factor * _REDUCED_ROWS):
        bottom = min(image.height, top + factor * _REDUCED_ROWS)
        strips.append(_plain(image.crop((0, top, image.width, bottom))).reduce(factor))
    reduced = Image.new(strips[0].mode, (strips[0].width, sum(strip.height for strip in strips)))
    for number, strip in enumerate(strips):
        reduced.paste(strip, (0, number * _REDUCED_ROWS))
    return reduced


def _resized(image: "Image.Image", size: tuple[int, int]) -> "Image.Image":
    from PIL.Image import Resampling

    if image.size == size:
        return image
    return image.resize(size, Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]


def _as_jpeg(image: "Image.Image", max_bytes: int) -> Picture:
    share, smaller = 1.0, image
    while True:
        for quality in _QUALITIES:
            # Full chroma, because coloured letters on a coloured ground are lost with half of it. Without
            # `optimize`, which fails where noise takes more than a byte for each pixel.
            encoded = _save(smaller, "JPEG", quality=quality, subsampling=0)
            if len(encoded) < max_bytes:
                return Picture(encoded, media_types.JPEG, *smaller.size)
        share *= 0.75
        smaller = _resized(image, (max(1, round(image.width * share)), max(1, round(image.height * share))))


def _encoded(image: "Image.Image", source: Raster, compress_level: int) -> Picture:
    options: dict[str, dict[str, Any]] = {
        media_types.PNG: {"compress_level": compress_level},
        media_types.JPEG: {"quality": 92, "subsampling": 0},
        media_types.WEBP: {"lossless": True, "quality": 50} if source.lossless else {"quality": 92},
    }
    encoded = _save(image, _FORMATS[source.media_type], **options[source.media_type])
    return Picture(encoded, source.media_type, *image.size)


def _save(image: "Image.Image", form: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def _pixel_box(number: int, box: BoxGeometry, source: Raster) -> tuple[int, int, int, int]:
    width, height = _shown_size(source)
    block = 1 if source.lossless else _LOSSY_BLOCK
    left, top, right, bottom = bounds(box)
    if not (left < right and top < bottom and right > 0 and bottom > 0 and left < width and top < height):
        raise InvalidField(f"rectangles[{number}]", "hits no pixel of the picture")
    return (
        max(0, math.floor(left / block) * block),
        max(0, math.floor(top / block) * block),
        min(width, math.ceil(right / block) * block),
        min(height, math.ceil(bottom / block) * block),
    )

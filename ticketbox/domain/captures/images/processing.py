"""Inspect, scale, draw on and redact images.

Pillow gets only the output of `image_format.parse_image`: a complete still image of known size, reduced to the parts
that define pixels. All functions are synchronous and meant for a worker thread. Decoding takes 4 bytes per pixel, and
16 for a WebP. At most two images are decoded at the same time, and only one of them may be large; the rest wait.
"""

import math
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from typing import TYPE_CHECKING, Any

import msgspec

from ticketbox.domain.captures.images import drawing, image_format, media_types, thumbnail
from ticketbox.domain.captures.images.annotations import Annotation, AnnotationInput, RedactAnnotation
from ticketbox.domain.captures.images.formats.raster import Raster, build_corrupt_error
from ticketbox.domain.captures.images.geometry import BoxGeometry, compute_bounds
from ticketbox.domain.core.problems import InvalidField, Problem, Unavailable

if TYPE_CHECKING:
    from PIL import Image

MAX_SCREENSHOT_BYTES = 10_000_000
MODEL_SIDE = 1568
MODEL_BYTES = 900_000
MODEL_PIXELS = 1_260_000  # a larger image is scaled down by the model's provider

_FORMATS = {media_types.PNG: "PNG", media_types.JPEG: "JPEG", media_types.WEBP: "WEBP"}
_QUALITIES = (90, 80, 65, 50, 35)
_STRIP_ROWS = 512
_LOSSY_BLOCK = 16
_MIN_BYTES = 1024
_LARGE_PIXELS = 12_000_000

_slots = threading.BoundedSemaphore(2)
_large_slot = threading.Lock()


class ImageInfo(msgspec.Struct, frozen=True):
    """An image's media type, and its size in pixels as a browser displays it."""

    media_type: str
    width: int
    height: int


class Picture(msgspec.Struct, frozen=True):
    """An image file, its media type and its size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


def compute_model_side(width: int, height: int) -> int:
    """Return the longest side in pixels at which a model sees all details of an image of this shape."""
    longer, shorter = max(width, height), max(1, min(width, height))
    return min(MODEL_SIDE, math.isqrt(MODEL_PIXELS * longer // shorter))


def inspect_image(data: bytes) -> ImageInfo:
    """Check that a file is a complete image of an accepted format, by decoding it.

    Raises UnsupportedMediaType unless its bytes are PNG, JPEG or WebP, PayloadTooLarge for too many
    pixels, and InvalidRequest for animations and for truncated or corrupt files. The caller checks the
    number of bytes.
    """
    source = image_format.parse_image(data)
    with _reserve_decoding_slot(source):
        image = _open(source)
        if source.media_type == media_types.JPEG:
            # This reads the whole file, but decodes only a 64th of the pixels.
            image.draft(image.mode, (max(1, image.width // 8), max(1, image.height // 8)))
        if source.media_type != media_types.PNG:  # a PNG was already inflated
            image.load()
    return ImageInfo(source.media_type, *_get_display_size(source))


def scale_image(data: bytes, max_side: int = MODEL_SIDE, max_bytes: int = MODEL_BYTES) -> Picture:
    """Scale an image down to sides of at most `max_side` pixels and fewer than `max_bytes` bytes.

    An image that is small enough is returned unchanged. Otherwise the result is a PNG if the source is lossless and
    the PNG is small enough, or a JPEG of the best quality that is, with transparency replaced by white.
    """
    if max_side < 1 or max_bytes < _MIN_BYTES:
        raise ValueError(f"no image fits into {max_side} pixels and {max_bytes} bytes")
    source = image_format.parse_image(data)
    width, height = _get_display_size(source)
    if max(width, height) <= max_side and len(data) < max_bytes and source.orientation == 1:
        return Picture(data, source.media_type, width, height)
    with _reserve_decoding_slot(source):
        image = _apply_orientation(_decode_scaled(source, max_side), source.orientation)
        shrinkage = image.width * image.height / (width * height)
        # Scaling blurs edges, which costs a PNG at least twice the bytes, so most attempts can be skipped.
        if source.lossless and 2 * len(data) * shrinkage < max_bytes:
            encoded = _encode(image, "PNG", compress_level=6)
            if len(encoded) < max_bytes:
                return Picture(encoded, media_types.PNG, *image.size)
        return _encode_jpeg(drawing.flatten_transparency(image), max_bytes)


def draw_annotations(data: bytes, annotations: Sequence[AnnotationInput | Annotation]) -> Picture:
    """Draw annotations onto an image, at full size and in the same format."""
    source = image_format.parse_image(data)
    with _reserve_decoding_slot(source):
        image = drawing.flatten_transparency(_decode(source))
        drawing.draw_annotations(image, annotations)
        return _encode_like(image, source, compress_level=1)


def draw_thumbnail(data: bytes, annotations: Sequence[Annotation]) -> Picture:
    """Draw annotations onto an image, and cut out what a card shows of it: never where something was removed."""
    source = image_format.parse_image(data)
    with _reserve_decoding_slot(source):
        image = drawing.flatten_transparency(_decode(source))
        drawing.draw_annotations(image, annotations)
        marks = [mark.geometry for mark in annotations if not isinstance(mark, RedactAnnotation)]
        crop = image.crop(thumbnail.compute_crop(*image.size, marks))
        if crop.width > thumbnail.WIDTH:
            crop = _resize(crop, (thumbnail.WIDTH, max(1, round(crop.height * thumbnail.WIDTH / crop.width))))
        return Picture(_encode(crop, "WEBP", quality=82), media_types.WEBP, *crop.size)


def redact_boxes(data: bytes, rectangles: Sequence[BoxGeometry]) -> Picture:
    """Replace the pixels of rectangles by black, and remove everything else that could show them.

    The result is a new file in the same format (JPEG at quality 92) without metadata. Rectangles are extended to whole
    pixels; in a lossy source to whole blocks of 16, because compression artifacts of a block outside a rectangle
    reveal what was inside. Raises InvalidRequest for a rectangle that contains no pixel.
    """
    source = image_format.parse_image(data)
    boxes = [_align_box(number, box, source) for number, box in enumerate(rectangles)]
    with _reserve_decoding_slot(source):
        image = _decode(source)
        black = {"L": 0, "RGB": (0, 0, 0), "RGBA": (0, 0, 0, 255)}[image.mode]
        for box in boxes:
            image.paste(black, box)
        return _encode_like(image, source, compress_level=6)


@contextmanager
def _reserve_decoding_slot(source: Raster) -> Generator[None]:
    """Wait for a free slot, and raise errors of the image library as Problems."""
    large = source.width * source.height > _LARGE_PIXELS
    with _large_slot if large else nullcontext(), _slots:
        try:
            yield
        except Problem:
            raise
        except MemoryError:
            raise Unavailable("there isn't enough memory for this image now; try again later") from None
        except Exception as error:
            raise build_corrupt_error() from error


def _open(source: Raster) -> "Image.Image":
    from PIL import Image

    image = Image.open(BytesIO(source.essence), formats=[_FORMATS[source.media_type]])
    if image.size != (source.width, source.height) or getattr(image, "n_frames", 1) != 1:
        raise build_corrupt_error()
    return image


def _get_display_size(source: Raster) -> tuple[int, int]:
    if source.orientation < 5:
        return source.width, source.height
    return source.height, source.width


def _normalize_mode(image: "Image.Image") -> "Image.Image":
    """Convert to L, RGB or RGBA, and drop everything but the pixels."""
    if image.mode.startswith("I"):  # 16 bits
        image = image.point(lambda value: value * (1 / 256)).convert("L")  # pyright: ignore[reportUnknownMemberType]
    elif image.mode in ("LA", "RGBA") or image.has_transparency_data:
        image = _convert_mode(image, "RGBA")
    else:
        image = _convert_mode(image, "L" if image.mode in ("1", "L") else "RGB")
    image.load()
    image.info.clear()
    return image


def _convert_mode(image: "Image.Image", mode: str) -> "Image.Image":
    return image if image.mode == mode else image.convert(mode)  # Pillow always copies


def _decode(source: Raster) -> "Image.Image":
    return _apply_orientation(_normalize_mode(_open(source)), source.orientation)


def _apply_orientation(image: "Image.Image", orientation: int) -> "Image.Image":
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


def _decode_scaled(source: Raster, max_side: int) -> "Image.Image":
    """Decode an image to at most `max_side` pixels per side, without a second copy of a large one."""

    image = _open(source)
    ratio = min(1, max_side / max(image.size))
    size = max(1, round(image.width * ratio)), max(1, round(image.height * ratio))
    image.draft(image.mode, (2 * size[0], 2 * size[1]))  # a JPEG can be decoded to a half, 4th or 8th
    factor = int(max(image.size) / max(size) / 1.5)
    image = _average_strips(image, factor) if factor > 1 else _normalize_mode(image)
    if image.mode == "RGBA" and image.getchannel("A").getextrema() == (255, 255):
        image = image.convert("RGB")
    return _resize(image, size)


def _average_strips(image: "Image.Image", factor: int) -> "Image.Image":
    """Average squares of pixels, in strips, because Pillow would first convert a copy of the whole image."""
    from PIL import Image

    strips: list[Image.Image] = []
    for top in range(0, image.height, factor * _STRIP_ROWS):
        bottom = min(image.height, top + factor * _STRIP_ROWS)
        strips.append(_normalize_mode(image.crop((0, top, image.width, bottom))).reduce(factor))
    reduced = Image.new(strips[0].mode, (strips[0].width, sum(strip.height for strip in strips)))
    for number, strip in enumerate(strips):
        reduced.paste(strip, (0, number * _STRIP_ROWS))
    return reduced


def _resize(image: "Image.Image", size: tuple[int, int]) -> "Image.Image":
    from PIL.Image import Resampling

    if image.size == size:
        return image
    return image.resize(size, Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]


def _encode_jpeg(image: "Image.Image", max_bytes: int) -> Picture:
    share, smaller = 1.0, image
    while True:
        for quality in _QUALITIES:
            # Full chroma, because colored letters on a colored background become unreadable with half of it.
            # No `optimize`, which fails for noise that takes more than a byte per pixel.
            encoded = _encode(smaller, "JPEG", quality=quality, subsampling=0)
            if len(encoded) < max_bytes:
                return Picture(encoded, media_types.JPEG, *smaller.size)
        share *= 0.75
        smaller = _resize(image, (max(1, round(image.width * share)), max(1, round(image.height * share))))


def _encode_like(image: "Image.Image", source: Raster, compress_level: int) -> Picture:
    options: dict[str, dict[str, Any]] = {
        media_types.PNG: {"compress_level": compress_level},
        media_types.JPEG: {"quality": 92, "subsampling": 0},
        media_types.WEBP: {"lossless": True, "quality": 50} if source.lossless else {"quality": 92},
    }
    encoded = _encode(image, _FORMATS[source.media_type], **options[source.media_type])
    return Picture(encoded, source.media_type, *image.size)


def _encode(image: "Image.Image", format_: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, format_, **options)
    return out.getvalue()


def _align_box(number: int, box: BoxGeometry, source: Raster) -> tuple[int, int, int, int]:
    width, height = _get_display_size(source)
    block = 1 if source.lossless else _LOSSY_BLOCK
    left, top, right, bottom = compute_bounds(box)
    if not (left < right and top < bottom and right > 0 and bottom > 0 and left < width and top < height):
        raise InvalidField(f"rectangles[{number}]", "must contain a pixel of the image")
    return (
        max(0, math.floor(left / block) * block),
        max(0, math.floor(top / block) * block),
        min(width, math.ceil(right / block) * block),
        min(height, math.ceil(bottom / block) * block),
    )

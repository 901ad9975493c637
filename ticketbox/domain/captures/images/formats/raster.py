"""Rasters: what every image format is parsed into, and the limits and errors that they share."""

import msgspec

from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge

MAX_PIXELS = 50_000_000
# Pillow needs several copies of a decoded WebP: 50 megapixels would take 840 MB.
MAX_WEBP_PIXELS = 16_000_000
MAX_SIDE = 65_500  # the limit of libjpeg, and close to that of a browser's canvas
MAX_PARTS = 65_536  # chunks or segments of a file


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


def check_size(width: int, height: int, most: int = MAX_PIXELS) -> None:
    """Refuse an image without pixels, or with too many."""
    if not (width and height):
        raise build_corrupt_error()
    if width * height > most or max(width, height) > MAX_SIDE:
        raise PayloadTooLarge(
            f"the image has {width} × {height} pixels; at most {most // 1_000_000} megapixels and "
            f"{MAX_SIDE} pixels per side are accepted"
        )


def build_corrupt_error() -> InvalidRequest:
    """Build the error for an image that can't be read to its end."""
    return InvalidRequest("the image is truncated or corrupt")


def build_animation_error() -> InvalidRequest:
    """Build the error for an animation."""
    return InvalidRequest("the image is animated; only still images are accepted")


def build_rotation_error() -> InvalidRequest:
    """Build the error for a PNG or WebP that its metadata rotates."""
    # Browsers display these differently, so the place of a rectangle on the image would be ambiguous.
    return InvalidRequest("the image is rotated by metadata, which only JPEG supports; save it without rotation")

"""Parse and check PNG, JPEG and WebP files without decoding them.

Files that are too large, animated, incomplete or corrupt are refused here, in memory that doesn't depend on the
image's dimensions. The rest is reduced to the parts that define pixels, and only those reach an image library: no
metadata, profiles, thumbnails, second images or data after the end.
"""

import struct
import zlib

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.images.formats.jpeg import parse_jpeg
from ticketbox.domain.captures.images.formats.png import parse_png
from ticketbox.domain.captures.images.formats.raster import Raster, build_corrupt_error
from ticketbox.domain.captures.images.formats.webp import parse_webp
from ticketbox.domain.core.problems import UnsupportedMediaType

_PARSERS = {media_types.PNG: parse_png, media_types.JPEG: parse_jpeg, media_types.WEBP: parse_webp}


def parse_image(data: bytes) -> Raster:
    """Parse an image file.

    Raises UnsupportedMediaType for anything but PNG, JPEG and WebP, PayloadTooLarge for too many
    pixels, and InvalidRequest for animations and for truncated or corrupt files.
    """
    media_type = media_types.detect_media_type(data[:4096])
    parse = _PARSERS.get(media_type)
    if parse is None:
        kind = media_type.partition(";")[0]
        raise UnsupportedMediaType(f"an image must be PNG, JPEG or WebP; this is {kind}", valid=list(_PARSERS))
    try:
        return parse(data)
    except (IndexError, struct.error, zlib.error):
        raise build_corrupt_error() from None

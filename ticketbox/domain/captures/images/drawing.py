"""Annotations drawn onto decoded pixels, as the web app's overlay shows them."""

import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ticketbox.domain.captures.images.annotations import (
    Annotation,
    AnnotationInput,
    ArrowGeometry,
    BoxGeometry,
    Kind,
    PenGeometry,
    TextGeometry,
    bounds,
    label_size,
    stroke,
)

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageDraw import ImageDraw

_HIGHLIGHT_ALPHA = 90
_NARROWEST = 0.2  # of a letter's height, the width of an "i"
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


def flat(image: "Image.Image") -> "Image.Image":
    """Give the picture without transparency, on white."""
    from PIL import Image

    if image.mode == "RGB":
        return image
    if image.mode != "RGBA":
        return image.convert("RGB")
    ground = Image.new("RGB", image.size, _WHITE)
    ground.paste(image, mask=image)
    return ground


def draw(image: "Image.Image", annotations: Sequence[AnnotationInput | Annotation]) -> None:
    """Draw annotations, in their order, onto an RGB picture. Redacted boxes are black and opaque."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(image, "RGBA")
    width, letters = stroke(*image.size), label_size(*image.size)
    for mark in annotations:
        color = _rgb(mark.color)
        match mark.geometry:
            case ArrowGeometry() as arrow:
                _arrow(pen, arrow, color, width)
                _label(pen, mark.text, (arrow.x1, arrow.y1), color, letters)
            case PenGeometry(points):
                pen.line(points, fill=color, width=width, joint="curve")
                _label(pen, mark.text, points[0], color, letters)
            case TextGeometry(x, y, size):
                _text(pen, mark.text, (x, y), size, color)
            case BoxGeometry() as box:
                _box(pen, mark.kind, box, color, width)
                _label(pen, mark.text, (box.x, box.y), color, letters)


def _box(pen: "ImageDraw", kind: Kind, box: BoxGeometry, color: tuple[int, int, int], width: int) -> None:
    left, top, right, bottom = bounds(box)
    # Pillow counts the far edges in.
    corners = math.floor(left), math.floor(top), math.ceil(right) - 1, math.ceil(bottom) - 1
    match kind:
        case Kind.RECTANGLE:
            pen.rectangle(corners, outline=color, width=width)
        case Kind.ELLIPSE:
            pen.ellipse(corners, outline=color, width=width)
        case Kind.HIGHLIGHT:
            pen.rectangle(corners, fill=(*color, _HIGHLIGHT_ALPHA))
        case _:
            pen.rectangle(corners, fill=_BLACK)


def _arrow(pen: "ImageDraw", arrow: ArrowGeometry, color: tuple[int, int, int], width: int) -> None:
    dx, dy = arrow.x2 - arrow.x1, arrow.y2 - arrow.y1
    length = math.hypot(dx, dy) or 1
    along, across = (dx / length, dy / length), (-dy / length, dx / length)
    head = min(5 * width, length)
    neck = arrow.x2 - along[0] * head, arrow.y2 - along[1] * head
    pen.line((arrow.x1, arrow.y1, *neck), fill=color, width=width)
    sides = [(neck[0] + across[0] * s * head / 2, neck[1] + across[1] * s * head / 2) for s in (1, -1)]
    pen.polygon([(arrow.x2, arrow.y2), *sides], fill=color)


def _label(pen: "ImageDraw", text: str, corner: tuple[float, float], color: tuple[int, int, int], size: int) -> None:
    """Write a mark's label above its corner, or just below the picture's top edge."""
    _text(pen, text, (max(0, corner[0]), max(0, corner[1] - 1.4 * size)), size, color)


def _text(pen: "ImageDraw", text: str, at: tuple[float, float], size: float, color: tuple[int, int, int]) -> None:
    from PIL import ImageFont

    room = pen.im.size[0] - at[0], pen.im.size[1] - at[1]
    if not text.strip() or min(room) <= 0:
        return
    # Pillow draws all of a text before it cuts it off at the picture's edge.
    lines = _typeable(text.expandtabs(4)).split("\n")[: math.ceil(room[1] / size)]
    words = "\n".join(line[: math.ceil(room[0] / (size * _NARROWEST))] for line in lines)
    red, green, blue = color
    halo = _WHITE if 299 * red + 587 * green + 114 * blue < 150_000 else _BLACK
    font = ImageFont.load_default(size)
    pen.multiline_text(at, words, fill=color, font=font, stroke_width=max(1, size / 14), stroke_fill=halo)


def _typeable(text: str) -> str:
    """Leave what the one font that is always there can show: ASCII, so "ö" becomes "o", and "✓" a "?"."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c if c.isascii() else "?" for c in apart if not unicodedata.combining(c))


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)

"""Draw annotations onto decoded images, as the web app's overlay shows them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ticketbox.domain.captures.images import fonts
from ticketbox.domain.captures.images.annotations import Annotation, AnnotationInput, AnnotationKind
from ticketbox.domain.captures.images.geometry import (
    ArrowGeometry,
    BoxGeometry,
    PenGeometry,
    TextGeometry,
    compute_bounds,
    compute_letter_height,
    compute_line_width,
)

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageDraw import ImageDraw

VERSION = 2  # increase it when `draw_annotations` draws anything differently, so that stored previews are drawn again

_HIGHLIGHT_ALPHA = 90
_MIN_LETTER_WIDTH = 0.2  # the width of an "i", relative to the letter height
_LINE_HEIGHT = 1.2
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


def flatten_transparency(image: "Image.Image") -> "Image.Image":
    """Return the image as RGB, with transparency replaced by white."""
    from PIL import Image

    if image.mode == "RGB":
        return image
    if image.mode != "RGBA":
        return image.convert("RGB")
    background = Image.new("RGB", image.size, _WHITE)
    background.paste(image, mask=image)
    return background


def draw_annotations(image: "Image.Image", annotations: Sequence[AnnotationInput | Annotation]) -> None:
    """Draw annotations, in their order, onto an RGB image. Redacted boxes are black and opaque."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(image, "RGBA")
    width, letters = compute_line_width(*image.size), compute_letter_height(*image.size)
    for mark in annotations:
        color = _parse_color(mark.color)
        match mark.geometry:
            case ArrowGeometry() as arrow:
                _draw_arrow(pen, arrow, color, width)
                _draw_label(pen, mark.text, (arrow.x1, arrow.y1), color, letters)
            case PenGeometry(points):
                pen.line(points, fill=color, width=width, joint="curve")
                _draw_label(pen, mark.text, points[0], color, letters)
            case TextGeometry(x, y, size):
                _draw_text(pen, mark.text, (x, y), size, color)
            case BoxGeometry() as box:
                _draw_box(pen, mark.kind, box, color, width)
                _draw_label(pen, mark.text, (box.x, box.y), color, letters)


def _draw_box(
    pen: "ImageDraw", kind: AnnotationKind, box: BoxGeometry, color: tuple[int, int, int], width: int
) -> None:
    left, top, right, bottom = compute_bounds(box)
    # Pillow includes the right and bottom edge in a box.
    corners = math.floor(left), math.floor(top), math.ceil(right) - 1, math.ceil(bottom) - 1
    match kind:
        case AnnotationKind.RECTANGLE:
            pen.rectangle(corners, outline=color, width=width)
        case AnnotationKind.ELLIPSE:
            pen.ellipse(corners, outline=color, width=width)
        case AnnotationKind.HIGHLIGHT:
            pen.rectangle(corners, fill=(*color, _HIGHLIGHT_ALPHA))
        case _:
            pen.rectangle(corners, fill=_BLACK)


def _draw_arrow(pen: "ImageDraw", arrow: ArrowGeometry, color: tuple[int, int, int], width: int) -> None:
    dx, dy = arrow.x2 - arrow.x1, arrow.y2 - arrow.y1
    length = math.hypot(dx, dy) or 1
    along, across = (dx / length, dy / length), (-dy / length, dx / length)
    head = min(5 * width, length)
    neck = arrow.x2 - along[0] * head, arrow.y2 - along[1] * head
    pen.line((arrow.x1, arrow.y1, *neck), fill=color, width=width)
    sides = [(neck[0] + across[0] * s * head / 2, neck[1] + across[1] * s * head / 2) for s in (1, -1)]
    pen.polygon([(arrow.x2, arrow.y2), *sides], fill=color)


def _draw_label(
    pen: "ImageDraw", text: str, corner: tuple[float, float], color: tuple[int, int, int], size: int
) -> None:
    """Draw a mark's label above its corner, or just below the image's top edge."""
    _draw_text(pen, text, (max(0, corner[0]), max(0, corner[1] - 1.4 * size)), size, color)


def _draw_text(pen: "ImageDraw", text: str, at: tuple[float, float], size: float, color: tuple[int, int, int]) -> None:
    width, height = pen.im.size[0] - at[0], pen.im.size[1] - at[1]
    if not text.strip() or min(width, height) <= 0:
        return
    red, green, blue = color
    halo = _WHITE if 299 * red + 587 * green + 114 * blue < 150_000 else _BLACK
    outline = max(1, size / 14)
    baseline = at[1] + fonts.load_font(fonts.find_bundled_font(), size).getmetrics()[0]
    # Pillow draws a whole text before it crops it to the image, so text outside is dropped first.
    for line in fonts.remove_unprintable(text).split("\n")[: math.ceil(height / size)]:
        left = at[0]
        for run, path in fonts.split_by_font(line[: math.ceil(width / (size * _MIN_LETTER_WIDTH))]):
            font = fonts.load_font(path, size)
            pen.text((left, baseline), run, fill=color, font=font, anchor="ls", stroke_width=outline, stroke_fill=halo)
            left += font.getlength(run)
        baseline += _LINE_HEIGHT * size


def _parse_color(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)

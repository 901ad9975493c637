"""The geometry of marks, in pixels of the image from its top left corner, and the sizes of lines and letters."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

_MAX_COORDINATE = 100_000


def _describe_coordinate(what: str) -> Any:
    return Meta(ge=-_MAX_COORDINATE, le=_MAX_COORDINATE, description=f"{what}, in pixels of the image.")


_Across = Annotated[float, _describe_coordinate("Distance from the left edge")]
_Down = Annotated[float, _describe_coordinate("Distance from the top edge")]
_Extent = Annotated[float, Meta(ge=1, le=_MAX_COORDINATE, description="Extent in pixels of the image.")]
_Point = Annotated[tuple[_Across, _Down], Meta(description="A point: distances from the left and the top edge.")]


class ArrowGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An arrow from (x1, y1) to its head at (x2, y2)."""

    x1: _Across
    y1: _Down
    x2: _Across
    y2: _Down


class BoxGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A box whose top left corner is at (x, y)."""

    x: _Across
    y: _Down
    width: _Extent
    height: _Extent


class PenGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A freehand line."""

    points: Annotated[
        tuple[_Point, ...],
        Meta(min_length=2, max_length=2000, description="The points that the line goes through, in order."),
    ]


class TextGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Text whose top left corner is at (x, y)."""

    x: _Across
    y: _Down
    size: Annotated[float, Meta(ge=4, le=500, description="Height of a line in pixels of the image.")]


Geometry = ArrowGeometry | BoxGeometry | PenGeometry | TextGeometry


def compute_bounds(geometry: Geometry) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom edge of a mark; of a text, the smallest area that it covers."""
    match geometry:
        case BoxGeometry(x, y, width, height):
            return x, y, x + width, y + height
        case TextGeometry(x, y, size):
            return x, y, x + size, y + size
        case ArrowGeometry(x1, y1, x2, y2):
            return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
        case PenGeometry(points):
            across, down = [x for x, _ in points], [y for _, y in points]
            return min(across), min(down), max(across), max(down)


def compute_line_width(width: int, height: int) -> int:
    """Return the thickness of lines on an image of this size, in its pixels."""
    return max(2, round(max(width, height) / 480))


def compute_letter_height(width: int, height: int) -> int:
    """Return the height of label letters on an image of this size, in its pixels."""
    return max(14, 5 * compute_line_width(width, height))

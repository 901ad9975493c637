"""Annotations: the marks that people leave on a screenshot (docs/reference/api.md).

A mark's geometry depends on its kind, so input and record are unions of Structs that their `kind`
tells apart. Geometry is in the image's own pixels, from its top left corner.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ticketbox.domain.core.ids import ALPHABET
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.records import By

MAX_ANNOTATIONS = 500
MAX_POINTS = 50_000
MAX_COVERS = 10
DEFAULT_COLOR = "#e5484d"

_FARTHEST = 100_000


class Kind(StrEnum):
    """What a mark is."""

    ARROW = "arrow"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"
    PEN = "pen"
    HIGHLIGHT = "highlight"
    TEXT = "text"
    REDACT = "redact"


def _coordinate(what: str) -> Any:
    return Meta(ge=-_FARTHEST, le=_FARTHEST, description=f"{what}, in pixels of the image.")


_Across = Annotated[float, _coordinate("Distance from the left edge")]
_Down = Annotated[float, _coordinate("Distance from the top edge")]
_Extent = Annotated[float, Meta(ge=1, le=_FARTHEST, description="Extent in pixels of the image.")]
_Point = Annotated[tuple[_Across, _Down], Meta(description="A point: distances from the left and the top edge.")]


class ArrowGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An arrow from (x1, y1) to its head at (x2, y2)."""

    x1: _Across
    y1: _Down
    x2: _Across
    y2: _Down


class BoxGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An upright box with its top left corner at (x, y)."""

    x: _Across
    y: _Down
    width: _Extent
    height: _Extent


class PenGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line drawn by hand."""

    points: Annotated[
        tuple[_Point, ...],
        Meta(min_length=2, max_length=2000, description="The points that the line goes through, in order."),
    ]


class TextGeometry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text with its top left corner at (x, y)."""

    x: _Across
    y: _Down
    size: Annotated[float, Meta(ge=4, le=500, description="Height of a line in pixels of the image.")]


Geometry = ArrowGeometry | BoxGeometry | PenGeometry | TextGeometry

Color = Annotated[
    str,
    Meta(
        max_length=7,
        description="Red, green and blue as #rrggbb.",
        examples=[DEFAULT_COLOR],
    ),
    match_whole("#[0-9a-fA-F]{6}"),
]
Text = Annotated[
    str,
    Meta(max_length=500, description="The words of a text, or the label of another mark; may be empty."),
]


class _Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    id: (
        Annotated[
            str,
            Meta(
                max_length=16,
                description="The annotation that this replaces; without it, a new one is made.",
            ),
            match_whole(f"ann_[{ALPHABET}]{{12}}"),
        ]
        | None
    ) = None
    color: Color = DEFAULT_COLOR
    text: Text = ""

    @property
    def kind(self) -> Kind:
        """What the mark is."""
        return Kind(self.__struct_config__.tag)


class ArrowInput(_Input, frozen=True, tag="arrow"):
    """An arrow that points at something."""

    geometry: ArrowGeometry


class RectangleInput(_Input, frozen=True, tag="rectangle"):
    """The outline of a box."""

    geometry: BoxGeometry


class EllipseInput(_Input, frozen=True, tag="ellipse"):
    """The outline of the ellipse that fits the box."""

    geometry: BoxGeometry


class PenInput(_Input, frozen=True, tag="pen"):
    """A line drawn by hand."""

    geometry: PenGeometry


class HighlightInput(_Input, frozen=True, tag="highlight"):
    """A box that is tinted, so that what is below it stays readable."""

    geometry: BoxGeometry


class TextInput(_Input, frozen=True, tag="text"):
    """A text on the image."""

    geometry: TextGeometry


class RedactInput(_Input, frozen=True, tag="redact"):
    """A box whose pixels are destroyed in the stored image, for good."""

    geometry: BoxGeometry


AnnotationInput = ArrowInput | RectangleInput | EllipseInput | PenInput | HighlightInput | TextInput | RedactInput


class _Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    id: Annotated[str, Meta(description="The annotation's id.")]
    asset_id: Annotated[str, Meta(description="The image that it is on.")]
    color: Color
    text: Text
    by: Annotated[By, Meta(description="Who saved it, and when.")]

    @property
    def kind(self) -> Kind:
        """What the mark is."""
        return Kind(self.__struct_config__.tag)


class ArrowAnnotation(_Record, frozen=True, tag="arrow"):
    """An arrow that points at something."""

    geometry: ArrowGeometry


class RectangleAnnotation(_Record, frozen=True, tag="rectangle"):
    """The outline of a box."""

    geometry: BoxGeometry


class EllipseAnnotation(_Record, frozen=True, tag="ellipse"):
    """The outline of the ellipse that fits the box."""

    geometry: BoxGeometry


class PenAnnotation(_Record, frozen=True, tag="pen"):
    """A line drawn by hand."""

    geometry: PenGeometry


class HighlightAnnotation(_Record, frozen=True, tag="highlight"):
    """A tinted box."""

    geometry: BoxGeometry


class TextAnnotation(_Record, frozen=True, tag="text"):
    """A text on the image."""

    geometry: TextGeometry


class RedactAnnotation(_Record, frozen=True, tag="redact"):
    """A box whose pixels were destroyed."""

    geometry: BoxGeometry


Annotation = (
    ArrowAnnotation
    | RectangleAnnotation
    | EllipseAnnotation
    | PenAnnotation
    | HighlightAnnotation
    | TextAnnotation
    | RedactAnnotation
)


def record(kind: str, geometry: bytes, **fields: str | By) -> Annotation:
    """Make the record of a stored row from its kind, its geometry as JSON, and the other fields."""
    row = {**fields, "kind": str(kind), "geometry": msgspec.json.decode(geometry)}
    return msgspec.convert(row, type=Annotation)


def bounds(geometry: Geometry) -> tuple[float, float, float, float]:
    """The outermost left, top, right and bottom; for a text, the least room that it takes."""
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


def stroke(width: int, height: int) -> int:
    """How thick lines are on an image of this size, in its pixels."""
    return max(2, round(max(width, height) / 480))


def label_size(width: int, height: int) -> int:
    """How high the letters of a mark's label are on an image of this size, in its pixels."""
    return max(14, 5 * stroke(width, height))


def check_within(annotations: Sequence[AnnotationInput], width: int, height: int) -> None:
    """Check what a schema can't say of an image's annotations, together and against its size.

    Raises InvalidRequest, pointing at the field: too many, an id twice, figures that aren't finite, a
    mark wholly outside the image or without extent, a text without words, or more ink and points than
    drawing them may cost.
    """
    if len(annotations) > MAX_ANNOTATIONS:
        raise InvalidField("annotations", f"at most {MAX_ANNOTATIONS} annotations on an image")
    seen: set[str] = set()
    points, ink = 0, 0.0
    for number, mark in enumerate(annotations):
        path = f"annotations[{number}]"
        if mark.id in seen:
            raise InvalidField(f"{path}.id", "the same annotation twice")
        if mark.id:
            seen.add(mark.id)
        if isinstance(mark, TextInput) and not mark.text.strip():
            raise InvalidField(f"{path}.text", "a text needs words")
        _check_geometry(f"{path}.geometry", mark.geometry, width, height)
        points += len(mark.geometry.points) if isinstance(mark.geometry, PenGeometry) else 0
        ink += _ink(mark, width, height)
    if points > MAX_POINTS:
        raise InvalidField("annotations", f"at most {MAX_POINTS} points in all pen lines together")
    if ink > MAX_COVERS * max(width * height, 1_000_000):
        raise InvalidField("annotations", f"together they would cover the image more than {MAX_COVERS} times")


def _check_geometry(path: str, geometry: Geometry, width: int, height: int) -> None:
    left, top, right, bottom = bounds(geometry)
    if not all(map(math.isfinite, (left, top, right, bottom))):
        raise InvalidField(path, "figures must be finite")
    if isinstance(geometry, BoxGeometry):
        for name in ("width", "height"):
            if getattr(geometry, name) < 1:
                raise InvalidField(f"{path}.{name}", "must be at least 1 pixel")
    elif left == right and top == bottom:
        raise InvalidField(path, "a mark needs an extent")
    match geometry:
        case ArrowGeometry():
            across, down = "x1", "y1"
        case PenGeometry():
            across = down = "points"
        case _:
            across, down = "x", "y"
    solid = isinstance(geometry, BoxGeometry)  # a line has ink on both sides of its edge
    if right < 0 or (right == 0 and solid) or left >= width:
        raise InvalidField(f"{path}.{across}", f"lies outside the image, which is {width} pixels wide")
    if bottom < 0 or (bottom == 0 and solid) or top >= height:
        raise InvalidField(f"{path}.{down}", f"lies outside the image, which is {height} pixels high")


def _ink(mark: AnnotationInput, width: int, height: int) -> float:
    """About how many pixels it takes to draw a mark."""
    geometry, thickness = mark.geometry, stroke(width, height)
    if isinstance(geometry, TextGeometry):
        return geometry.size**2 * len(mark.text)
    label = label_size(width, height) ** 2 * len(mark.text)
    match geometry:
        case BoxGeometry():
            left, top, right, bottom = bounds(geometry)
            return label + (min(right, width) - max(left, 0)) * (min(bottom, height) - max(top, 0))
        case PenGeometry(points):
            return label + thickness * sum(math.dist(a, b) for a, b in pairwise(points))
        case ArrowGeometry(x1, y1, x2, y2):
            return label + thickness * math.dist((x1, y1), (x2, y2))

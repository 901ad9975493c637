"""Annotations: the marks that people draw on a screenshot (docs/use/captures.md, "Annotations").

A mark's geometry depends on its kind, so inputs and records are unions of Structs that are tagged by `kind`.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.images.geometry import (
    ArrowGeometry,
    BoxGeometry,
    Geometry,
    PenGeometry,
    TextGeometry,
    compute_bounds,
    compute_letter_height,
    compute_line_width,
)
from ticketbox.domain.core.ids import ALPHABET
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.records import By

MAX_ANNOTATIONS = 500
MAX_POINTS = 50_000
MAX_COVERS = 10
DEFAULT_COLOR = "#e5484d"


class AnnotationKind(StrEnum):
    """The kind of a mark."""

    ARROW = "arrow"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"
    PEN = "pen"
    HIGHLIGHT = "highlight"
    TEXT = "text"
    REDACT = "redact"


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
    Meta(max_length=500, description="The text, or the label of another mark. A label can be empty."),
]


class _Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    id: (
        Annotated[
            str,
            Meta(
                max_length=16,
                description="The annotation to replace. Without it, a new one is created.",
            ),
            match_whole(f"ann_[{ALPHABET}]{{12}}"),
        ]
        | None
    ) = None
    color: Color = DEFAULT_COLOR
    text: Text = ""

    @property
    def kind(self) -> AnnotationKind:
        """The kind of the mark."""
        return AnnotationKind(self.__struct_config__.tag)


class ArrowInput(_Input, frozen=True, tag="arrow"):
    """An arrow that points at something."""

    geometry: ArrowGeometry


class RectangleInput(_Input, frozen=True, tag="rectangle"):
    """The outline of a box."""

    geometry: BoxGeometry


class EllipseInput(_Input, frozen=True, tag="ellipse"):
    """The outline of the ellipse inside the box."""

    geometry: BoxGeometry


class PenInput(_Input, frozen=True, tag="pen"):
    """A freehand line."""

    geometry: PenGeometry


class HighlightInput(_Input, frozen=True, tag="highlight"):
    """A tinted box. What is below it stays readable."""

    geometry: BoxGeometry


class TextInput(_Input, frozen=True, tag="text"):
    """Text on the image."""

    geometry: TextGeometry


class RedactInput(_Input, frozen=True, tag="redact"):
    """A box whose pixels are permanently destroyed in the stored image."""

    geometry: BoxGeometry


AnnotationInput = ArrowInput | RectangleInput | EllipseInput | PenInput | HighlightInput | TextInput | RedactInput


class _Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    id: Annotated[str, Meta(description="The annotation's id.")]
    asset_id: Annotated[str, Meta(description="The image that it is on.")]
    color: Color
    text: Text
    by: Annotated[By, Meta(description="Who saved it, and when.")]

    @property
    def kind(self) -> AnnotationKind:
        """The kind of the mark."""
        return AnnotationKind(self.__struct_config__.tag)


class ArrowAnnotation(_Record, frozen=True, tag="arrow"):
    """An arrow that points at something."""

    geometry: ArrowGeometry


class RectangleAnnotation(_Record, frozen=True, tag="rectangle"):
    """The outline of a box."""

    geometry: BoxGeometry


class EllipseAnnotation(_Record, frozen=True, tag="ellipse"):
    """The outline of the ellipse inside the box."""

    geometry: BoxGeometry


class PenAnnotation(_Record, frozen=True, tag="pen"):
    """A freehand line."""

    geometry: PenGeometry


class HighlightAnnotation(_Record, frozen=True, tag="highlight"):
    """A tinted box."""

    geometry: BoxGeometry


class TextAnnotation(_Record, frozen=True, tag="text"):
    """Text on the image."""

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


def build_annotation(kind: str, geometry: bytes, **fields: str | By) -> Annotation:
    """Build the record of a stored row from its kind, its geometry as JSON, and the other fields."""
    row = {**fields, "kind": str(kind), "geometry": msgspec.json.decode(geometry)}
    return msgspec.convert(row, type=Annotation)


def check_annotations(annotations: Sequence[AnnotationInput], width: int, height: int) -> None:
    """Check an image's annotations beyond their schema: together, and against the image's size.

    Raises InvalidRequest that names the field: too many annotations, a duplicate id, numbers that aren't finite, a mark
    that is completely outside the image or has no extent, an empty text, or too many points or pixels to draw.
    """
    if len(annotations) > MAX_ANNOTATIONS:
        raise InvalidField("annotations", f"an image can have at most {MAX_ANNOTATIONS} annotations")
    seen: set[str] = set()
    points, ink = 0, 0.0
    for number, mark in enumerate(annotations):
        path = f"annotations[{number}]"
        if mark.id in seen:
            raise InvalidField(f"{path}.id", "duplicate annotation")
        if mark.id:
            seen.add(mark.id)
        if isinstance(mark, TextInput) and not mark.text.strip():
            raise InvalidField(f"{path}.text", "a text must not be empty")
        _check_geometry(f"{path}.geometry", mark.geometry, width, height)
        points += len(mark.geometry.points) if isinstance(mark.geometry, PenGeometry) else 0
        ink += _estimate_ink(mark, width, height)
    if points > MAX_POINTS:
        raise InvalidField("annotations", f"all pen lines together can have at most {MAX_POINTS} points")
    if ink > MAX_COVERS * max(width * height, 1_000_000):
        raise InvalidField("annotations", f"together, the annotations cover the image more than {MAX_COVERS} times")


def _check_geometry(path: str, geometry: Geometry, width: int, height: int) -> None:
    left, top, right, bottom = compute_bounds(geometry)
    if not all(map(math.isfinite, (left, top, right, bottom))):
        raise InvalidField(path, "numbers must be finite")
    if isinstance(geometry, BoxGeometry):
        for name in ("width", "height"):
            if getattr(geometry, name) < 1:
                raise InvalidField(f"{path}.{name}", "must be at least 1 pixel")
    elif left == right and top == bottom:
        raise InvalidField(path, "a mark must have an extent")
    match geometry:
        case ArrowGeometry():
            across, down = "x1", "y1"
        case PenGeometry():
            across = down = "points"
        case _:
            across, down = "x", "y"
    solid = isinstance(geometry, BoxGeometry)  # a line has ink on both sides of its edge
    if right < 0 or (right == 0 and solid) or left >= width:
        raise InvalidField(f"{path}.{across}", f"must be inside the image, which is {width} pixels wide")
    if bottom < 0 or (bottom == 0 and solid) or top >= height:
        raise InvalidField(f"{path}.{down}", f"must be inside the image, which is {height} pixels high")


def _estimate_ink(mark: AnnotationInput, width: int, height: int) -> float:
    """Estimate how many pixels drawing a mark changes."""
    geometry, thickness = mark.geometry, compute_line_width(width, height)
    if isinstance(geometry, TextGeometry):
        return geometry.size**2 * len(mark.text)
    label = compute_letter_height(width, height) ** 2 * len(mark.text)
    match geometry:
        case BoxGeometry():
            left, top, right, bottom = compute_bounds(geometry)
            return label + (min(right, width) - max(left, 0)) * (min(bottom, height) - max(top, 0))
        case PenGeometry(points):
            return label + thickness * sum(math.dist(a, b) for a, b in pairwise(points))
        case ArrowGeometry(x1, y1, x2, y2):
            return label + thickness * math.dist((x1, y1), (x2, y2))

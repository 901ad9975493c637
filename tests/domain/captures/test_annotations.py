import math
from collections.abc import Sequence
from typing import Any

import jsonschema
import msgspec
import pytest

from ticketbox.domain.captures.images.annotations import (
    AnnotationInput,
    AnnotationKind,
    ArrowInput,
    PenInput,
    RedactInput,
    TextInput,
    build_annotation,
    check_annotations,
)
from ticketbox.domain.captures.images.geometry import ArrowGeometry, BoxGeometry, PenGeometry, TextGeometry
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import InvalidRequest
from ticketbox.domain.core.records import By, Person

BOX = {"x": 1, "y": 2.5, "width": 30, "height": 40}
GEOMETRIES: dict[str, dict[str, Any]] = {
    "arrow": {"x1": 0, "y1": 1, "x2": 20, "y2": 30},
    "rectangle": BOX,
    "ellipse": BOX,
    "pen": {"points": [[1, 2], [3.5, 4]]},
    "highlight": BOX,
    "text": {"x": 5, "y": 6, "size": 14},
    "redact": BOX,
}
BY = By(Person("usr_000000000000", "Ann"), None, None, Via.WEB, "2026-11-21T09:30:00.000Z")


def read(**fields: Any) -> AnnotationInput:
    return msgspec.convert(fields, type=AnnotationInput)


def redact(x: float = 0, y: float = 0, width: float = 10, height: float = 10, **fields: Any) -> RedactInput:
    return RedactInput(geometry=BoxGeometry(x, y, width, height), **fields)


def field_of(marks: Sequence[AnnotationInput], width: int = 100, height: int = 80) -> str:
    with pytest.raises(InvalidRequest) as refused:
        check_annotations(marks, width, height)
    return refused.value.extra["errors"][0].field


def test_every_kind_has_a_sample_geometry() -> None:
    assert set(GEOMETRIES) == set(AnnotationKind)


@pytest.mark.parametrize("kind", AnnotationKind)
def test_every_kind_is_parsed_and_recorded(kind: AnnotationKind) -> None:
    mark = read(kind=kind.value, geometry=GEOMETRIES[kind], text="words")
    assert (mark.kind, mark.color, mark.id) == (kind, "#e5484d", None)
    check_annotations([mark], 100, 80)
    stored = build_annotation(
        kind,
        msgspec.json.encode(mark.geometry),
        id="ann_000000000000",
        asset_id="asset_000000000000",
        color=mark.color,
        text=mark.text,
        by=BY,
    )
    assert (stored.kind, stored.geometry, stored.by) == (kind, mark.geometry, BY)
    shown = msgspec.to_builtins(stored)
    assert shown.keys() == {"id", "asset_id", "kind", "geometry", "color", "text", "by"}
    assert shown["kind"] == kind


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "circle", "geometry": BOX},
        {"geometry": BOX},
        {"kind": "arrow", "geometry": BOX},
        {"kind": "redact", "geometry": {**BOX, "z": 1}},
        {"kind": "redact", "geometry": BOX, "by": "me"},
        {"kind": "redact", "geometry": {**BOX, "width": 0}},
        {"kind": "redact", "geometry": {**BOX, "width": -4}},
        {"kind": "redact", "geometry": {**BOX, "x": math.nan}},
        {"kind": "redact", "geometry": {**BOX, "x": math.inf}},
        {"kind": "redact", "geometry": {**BOX, "x": 2**63}},
        {"kind": "redact", "geometry": {**BOX, "x": "1"}},
        {"kind": "redact", "geometry": BOX, "color": "red"},
        {"kind": "redact", "geometry": BOX, "color": "#e5484d\n"},
        {"kind": "redact", "geometry": BOX, "id": "cmt_000000000000"},
        {"kind": "redact", "geometry": BOX, "id": "ann_000000000000\n"},
        {"kind": "text", "geometry": {"x": 1, "y": 1, "size": 9}, "text": "x" * 501},
        {"kind": "pen", "geometry": {"points": [[1, 1]]}},
        {"kind": "pen", "geometry": {"points": [[1, 1, 1], [2, 2, 2]]}},
        {"kind": "pen", "geometry": {"points": [[1, 1]] * 2001}},
    ],
)
def test_invalid_input_is_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(**fields)


def test_schema_matches_the_parser() -> None:
    schema = msgspec.json.schema(list[AnnotationInput])
    validator = jsonschema.Draft202012Validator(schema)
    for kind, geometry in GEOMETRIES.items():
        validator.validate([{"kind": kind, "geometry": geometry}])
        assert not validator.is_valid([{"kind": kind, "geometry": {**geometry, "more": 1}}])
    assert not validator.is_valid([{"kind": "arrow", "geometry": BOX}])
    for definition in schema["$defs"].values():
        assert definition["description"]
        for name, field in definition["properties"].items():
            assert name in ("kind", "geometry") or "description" in str(field), name


def test_annotation_may_be_partly_outside() -> None:
    check_annotations([redact(-5, -5), redact(95, 75)], 100, 80)


@pytest.mark.parametrize(
    ("mark", "field"),
    [
        (redact(-10, 0), "x"),
        (redact(100, 0), "x"),
        (redact(0, -10), "y"),
        (redact(0, 80), "y"),
        (redact(0, 0, 0.5, 10), "width"),
        (redact(0, 0, 10, 0), "height"),
        (ArrowInput(geometry=ArrowGeometry(200, 1, 300, 1)), "x1"),
        (ArrowInput(geometry=ArrowGeometry(1, 90, 1, 95)), "y1"),
        (PenInput(geometry=PenGeometry(((-5, 1), (-1, 2)))), "points"),
        (TextInput(geometry=TextGeometry(100, 1, 14), text="x"), "x"),
    ],
)
def test_annotation_outside_or_without_extent_is_rejected(mark: AnnotationInput, field: str) -> None:
    assert field_of([redact(), redact(), mark]) == f"annotations[2].geometry.{field}"


def test_constraints_that_the_schema_cannot_express() -> None:
    assert field_of([redact(math.nan)]) == "annotations[0].geometry"
    assert field_of([ArrowInput(geometry=ArrowGeometry(1, 1, 1, 1))]) == "annotations[0].geometry"
    assert field_of([TextInput(geometry=TextGeometry(1, 1, 14), text=" \n")]) == "annotations[0].text"
    twice = [redact(id="ann_000000000000"), redact(id="ann_000000000000")]
    assert field_of(twice) == "annotations[1].id"


def test_cost_of_drawing_is_bounded() -> None:
    wide = redact(-100_000, -100_000, 200_000, 200_000)
    check_annotations([wide] * 10, 2560, 1440)
    assert field_of([wide] * 11, 2560, 1440) == "annotations"
    scribble = PenInput(geometry=PenGeometry(((0.0, 0.0), (0.1, 0.1)) * 1000))
    check_annotations([scribble] * 25, 2560, 1440)
    assert field_of([scribble] * 26, 2560, 1440) == "annotations"
    far = PenInput(geometry=PenGeometry(((0.0, 0.0), (100_000.0, 0.0)) * 100))
    assert field_of([far], 2560, 1440) == "annotations"
    labelled = redact(width=1, height=1, text="x" * 500)
    check_annotations([labelled] * 100, 2560, 1440)
    assert field_of([labelled] * 130, 2560, 1440) == "annotations"
    assert field_of([redact(width=1, height=1)] * 501) == "annotations"

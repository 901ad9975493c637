"""Who put which annotation on a picture, and when."""

from typing import Any

from tests.support.mcp_client import create_capture
from tests.support.server import World, expect_error, ok

BOX = {"x": 1, "y": 1, "width": 5, "height": 5}


def screenshot(world: World) -> str:
    """A new picture's id."""
    ticket = create_capture(world)["ticket_id"]
    return ok(world.api.get(f"/tickets/{ticket}?include=capture"))["capture"]["screenshot"]["id"]


def build_mark(mark: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A mark as a client sends it back."""
    return {name: mark[name] for name in ("id", "kind", "geometry", "color", "text")} | changes


def test_an_unchanged_annotation_keeps_its_author_and_time(world: World) -> None:
    path = f"/assets/{screenshot(world)}/annotations"
    marks = [{"kind": kind, "geometry": BOX, "text": kind} for kind in ("rectangle", "ellipse")]
    one, two = ok(world.api.put(path, json={"annotations": marks}))["items"]
    again = [build_mark(two, text="changed"), build_mark(one), {"kind": "highlight", "geometry": BOX}]
    changed, kept, new = ok(world.owner.web.put(path, json={"annotations": again}))["items"]
    assert kept == one
    assert (changed["id"], new["id"] in {one["id"], two["id"]}) == (two["id"], False)
    assert one["by"]["via"] == "rest"
    assert changed["by"]["via"] == new["by"]["via"] == "web"


def test_the_same_annotation_twice_is_refused(world: World) -> None:
    path = f"/assets/{screenshot(world)}/annotations"
    (mark,) = ok(world.api.put(path, json={"annotations": [{"kind": "rectangle", "geometry": BOX}]}))["items"]
    problem = expect_error(world.api.put(path, json={"annotations": [build_mark(mark)] * 2}), 400, "invalid_request")
    assert [error["field"] for error in problem["errors"]] == ["annotations[1].id"]

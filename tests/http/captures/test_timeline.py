"""The timeline of a capture over REST and as agents read it."""

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import make_capture
from tests.support.server import World, expect_error, ok

TS = 1_795_253_399_000.5


def test_timeline_merges_the_streams(world: World) -> None:
    capture = make_capture(world)["capture_id"]
    path = f"/captures/{capture}/timeline"
    found = ok(world.api.get(path))
    assert [(each["kind"], each["entry"], each["text"], each["outcome"]) for each in found["items"]] == [
        ("actions", "1", "Clicked button “Pay”", None),
        ("console", "1", "cart is empty", "warn"),
        ("network", "r1", "GET /api/cart", "500"),
        ("errors", "2", "no cart", None),
    ]
    assert (found["start"], found["failure"], found["captured_at"]) == (TS, TS, 1_795_253_400_000)
    assert (found["total"], found["matched"], found["omitted"]) == (4, 4, 0)
    some = ok(world.api.get(path, params={"kinds": "errors,actions"}))
    assert [each["kind"] for each in some["items"]] == ["actions", "errors"]
    assert (some["total"], some["matched"]) == (4, 2)
    assert ok(world.api.get(path, params={"around": TS + 4_999}))["matched"] == 4
    assert ok(world.api.get(path, params={"around": TS + 5_001}))["items"] == []
    expect_error(world.api.get(path, params={"kinds": "clicks"}), 400, "invalid_request")


def test_agents_read_a_timeline_as_lines(world: World) -> None:
    capture = make_capture(world)["capture_id"]
    answer = call_tool(world, world.owner.token("read"), "get_timeline", {"capture_id": capture})["structuredContent"]
    assert answer["items"][1:3] == [
        "1795253399000 +0.0s console 1 warn cart is empty",
        "1795253399000 +0.0s network r1 GET /api/cart 500",
    ]
    assert "next" not in answer

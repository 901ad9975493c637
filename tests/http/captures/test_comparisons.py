"""Two captures compared, over REST and as agents read it."""

import json
from typing import Any

import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok
from tests.support.tokens import count_result_tokens

TS = 1_795_253_399_000.5
Json = dict[str, Any]


def fail(seq: int, message: str, file: str = "app.js", count: int = 1) -> Json:
    frame = {"url": f"https://shop.example/{file}", "function": "pay", "line": seq, "column": 1}
    return {"seq": seq, "ts": TS, "kind": "error", "name": "TypeError", "message": message, "frames": [frame],
            "count": count}  # fmt: skip


def ask(number: int, path: str, status: int | None, host: str = "shop.example", **more: Any) -> Json:
    return {"id": f"r{number}", "ts": TS, "method": "GET", "url": f"https://{host}{path}", "status": status,
            "type": "fetch", "duration_ms": 5, **more}  # fmt: skip


def send(world: World, errors: list[Json], network: list[Json], **envelope: Any) -> Json:
    parts = capture_arguments(world.project, **envelope)
    parts |= {"errors": json.dumps(errors).encode(), "network": json.dumps(network).encode()}
    return ok(world.api.post("/captures", files=build_parts(parts)))


def send_pair(world: World) -> tuple[Json, Json]:
    """A capture of a staging host, and one of the same ticket, of another build in production."""
    first = send(
        world,
        [fail(1, "cart 17 is gone", "app-5f0c1e3a.js"), fail(2, "old fault")],
        [
            ask(1, "/api/orders/17", 200, "staging.example"),
            ask(2, "/api/user", 200, "staging.example"),
            ask(3, "/api/pay", 500, "staging.example"),
            ask(4, "/logo.png", 200, "staging.example"),
            ask(5, "/only-then", 200, "staging.example"),
        ],
        page={"url": "https://staging.example/cart"},
        environment={"browser": "Firefox 140", "viewport": {"width": 800, "height": 600}, "language": "en"},
    )
    second = send(
        world,
        [fail(4, "cart 18 is gone", "app-77c44a51.js", count=3), fail(5, "new fault")],
        [
            ask(1, "/api/orders/18?x=1", 404),
            ask(2, "/api/orders/19", 200),
            ask(3, "/api/user", 304),
            ask(4, "/api/pay", 500),
            ask(5, "/api/new", None, error="net::ERR_FAILED"),
            ask(6, "/logo.png", 200),
        ],
        page={"url": "https://shop.example/cart"},
        environment={"browser": "Chrome 142", "viewport": {"width": 800, "height": 600}, "language": "en"},
        project_id=None,
        ticket_id=first["ticket_id"],
    )
    return first, second


def test_comparison_lists_what_differs(world: World) -> None:
    first, second = send_pair(world)
    found = ok(world.api.get(f"/captures/{second['capture_id']}/comparison"))
    assert (found["capture"]["id"], found["other"]["id"]) == (second["capture_id"], first["capture_id"])
    assert found["capture"]["screenshot_id"] != found["other"]["screenshot_id"]
    assert found["environment"] == [
        {"name": "url", "capture": "https://shop.example/cart", "other": "https://staging.example/cart"},
        {"name": "browser", "capture": "Chrome 142", "other": "Firefox 140"},
    ]
    errors = [(each["message"], each["entry"], each["other_entry"], each["count"]) for each in found["errors"]]
    assert errors == [
        ("TypeError: new fault", 5, None, 1),
        ("TypeError: old fault", None, 2, 0),
        ("TypeError: cart 18 is gone", 4, 1, 3),
    ]
    requests = [(each["url"].partition("example")[2], each["outcomes"], each["other_outcomes"], each["entry"],
                 each["other_entry"]) for each in found["requests"]]  # fmt: skip
    assert requests == [
        ("/api/orders/18?x=1", ["404", "200"], ["200"], "r1", "r1"),
        ("/api/new", ["net::ERR_FAILED"], [], "r5", None),
        ("/api/pay", ["500"], ["500"], "r4", "r3"),
        ("/only-then", [], ["200"], None, "r5"),
    ]
    assert (found["same_requests"], found["omitted_errors"], found["omitted_requests"]) == (2, 0, 0)
    turned = ok(world.api.get(f"/captures/{first['capture_id']}/comparison", params={"other": second["capture_id"]}))
    assert turned["environment"][1] == {"name": "browser", "capture": "Firefox 140", "other": "Chrome 142"}


def test_comparison_requires_another_capture(world: World) -> None:
    first, second = send_pair(world)
    path = f"/captures/{first['capture_id']}/comparison"
    assert "earlier" in expect_error(world.api.get(path), 400, "invalid_request")["detail"]
    expect_error(world.api.get(path, params={"other": first["capture_id"]}), 400, "invalid_request")
    expect_error(world.api.get(path, params={"other": "cap_000000000000"}), 404, "not_found")
    mine = world.new_project("Elsewhere")
    elsewhere = ok(world.api.post("/captures", files=build_parts(capture_arguments(mine))))
    path = f"/captures/{elsewhere['capture_id']}/comparison"
    assert ok(world.api.get(path, params={"other": second["capture_id"]}))["errors"]
    refused = world.owner.client("read", project_ids=[mine]).get(path, params={"other": second["capture_id"]})
    expect_error(refused, 404, "not_found")


def test_agents_read_a_comparison_as_lines(world: World) -> None:
    _, second = send_pair(world)
    arguments = {"capture_id": second["capture_id"]}
    answer = call_tool(world, world.owner.token("read"), "compare_captures", arguments)["structuredContent"]
    assert answer["environment"][1] == "browser: Chrome 142 | Firefox 140"
    assert answer["errors"][0] == "capture 5/- TypeError: new fault (/app.js:5:1 in pay)"
    assert answer["errors"][2] == "both 4/1 TypeError: cart 18 is gone (/app-77c44a51.js:4:1 in pay) ×3/1"
    assert answer["requests"][0] == "both r1/r1 GET 404,200 | 200 https://shop.example/api/orders/18?x=1 ×2/1"
    assert "next" not in answer


@pytest.mark.long
def test_comparison_of_many_failures_fits_a_budget(world: World) -> None:
    first, _ = send_pair(world)
    words = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(600)]
    many = send(
        world,
        [fail(n, f"fault {word} {word * 20}") for n, word in enumerate(words)],
        [ask(n, f"/api/{word}/{word * 9}", 500) for n, word in enumerate(words)],
        project_id=None,
        ticket_id=first["ticket_id"],
    )
    arguments = {"capture_id": many["capture_id"]}
    token = world.owner.token("read")
    result = call_tool(world, token, "compare_captures", arguments)
    assert count_result_tokens(result) <= 4_000
    answer = result["structuredContent"]
    assert answer["omitted_errors"] + len(answer["errors"]) == 602
    assert answer["omitted_requests"] > 0
    assert answer["next"].startswith("compare_captures(")
    full = call_tool(world, token, "compare_captures", {**arguments, "detail": "full"})
    assert count_result_tokens(full) <= 12_000
    assert len(full["structuredContent"]["errors"]) > 2 * len(answer["errors"])

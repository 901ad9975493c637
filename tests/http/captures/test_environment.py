"""What a capture reports about the page's environment: stored, redacted, bounded, and short in tools and lists."""

import copy
import json
from typing import Any

import pytest

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok

KEY = "AKIAIOSFODNN7EXAMPLQ"
FRAME = {
    "ts": 1_795_253_399_000,
    "duration_ms": 312,
    "blocking_ms": 240,
    "scripts": [
        {"duration_ms": 290, "url": f"https://shop.example/app.js?key={KEY}", "function": "renderTotals",
         "invoker": "BUTTON#pay.onclick"},
    ],
}  # fmt: skip
ENVIRONMENT: dict[str, Any] = {
    "browser": "Chrome 142.0",
    "release": "shop@1.4.2",
    "extension": "1.4.0",
    "vitals": {"lcp_ms": 1_240, "inp_ms": 340, "cls": 0.12, "fcp_ms": 800, "ttfb_ms": 120},
    "long_frames": [FRAME],
    "declared": {"__flags.new_checkout": "true", "__flags.api_token": "8f3a99b1c2d4", "build": "77"},
    "storage": {"local": ["cart", f"user:{KEY}"], "session": ["draft"], "cookies": ["theme"], "omitted": 2},
}


def send(world: World, environment: dict[str, Any]) -> Any:
    arguments = capture_arguments(world.project)
    arguments["capture"]["environment"] = environment
    return world.api.post("/captures", files=build_parts(arguments))


def test_environment_is_stored_and_redacted(world: World) -> None:
    made = ok(send(world, ENVIRONMENT))
    found = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    expected = copy.deepcopy(ENVIRONMENT)
    expected["long_frames"][0]["scripts"][0]["url"] = "https://shop.example/app.js?key=[redacted]"
    expected["declared"]["__flags.api_token"] = "[redacted]"
    expected["storage"]["local"] = ["cart", "user:[redacted]"]
    assert {name: found["environment"][name] for name in expected} == expected
    assert found["redaction"]["keys"] == 1


def test_lists_have_the_main_facts_only(world: World) -> None:
    made = ok(send(world, ENVIRONMENT))
    (listed,) = ok(world.api.get(f"/tickets/{made['ticket_id']}/captures"))["items"]
    assert listed["environment"]["vitals"] == ENVIRONMENT["vitals"]
    assert listed["environment"].keys().isdisjoint({"long_frames", "declared", "storage"})


def test_agents_read_a_short_environment(world: World) -> None:
    frames = [{**FRAME, "ts": 1_795_253_390_000 + number, "duration_ms": 60 + number} for number in range(10)]
    largest = {
        **ENVIRONMENT,
        "long_frames": frames,
        "declared": {f"__flags.{number:03}{'n' * 180}": "v" * 200 for number in range(50)},
        "storage": {kind: [f"{number:03}{'k' * 180}" for number in range(50)] for kind in ("local", "cookies")},
    }
    made = ok(send(world, largest))
    token = world.owner.token("read")
    answer = call_tool(world, token, "get_ticket", {"ticket_id": made["ticket_id"], "include": []})
    found = json.loads(answer["content"][0]["text"])["capture"]["environment"]
    assert found["long_frames"][0].startswith("69 ms (1795253390009): renderTotals in https://shop.example/app.js")
    assert (len(found["long_frames"]), found["long_frames_total"]) == (3, 10)
    assert len(found["declared"]) + found["declared_omitted"] == 50
    assert sum(map(len, found["storage"].values())) + found["storage_omitted"] == 100
    assert len(json.dumps(found)) < 4_000


def test_environment_of_an_older_client_is_accepted_as_it_is(world: World) -> None:
    made = ok(send(world, {"browser": "Firefox 146.0"}))
    found = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]["environment"]
    assert found["browser"] == "Firefox 146.0"
    assert found.keys().isdisjoint({"vitals", "long_frames", "declared", "storage", "extension"})


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"vitals": {"lcp_ms": -1}}, "lcp_ms"),
        ({"vitals": {"fid_ms": 1}}, "fid_ms"),
        ({"long_frames": [FRAME] * 11}, "long_frames"),
        ({"long_frames": [{**FRAME, "scripts": [{"duration_ms": 1}] * 4}]}, "scripts"),
        ({"declared": {str(number): "" for number in range(51)}}, "declared"),
        ({"declared": {"n" * 201: "on"}}, "environment.declared: each name must have at most 200 characters"),
        ({"declared": {"flags": {"a": True}}}, "declared"),
        ({"storage": {"local": ["k" * 201]}}, "local"),
        ({"storage": {"local": {"cart": "[1, 2]"}}}, "local"),
    ],
)
def test_invalid_environment_is_refused_by_name(world: World, part: dict[str, Any], words: str) -> None:
    problem = expect_error(send(world, part), 400, "invalid_request")
    assert words in problem["detail"]

"""The time of a capture: epoch milliseconds or RFC 3339."""

from typing import Any

import pytest

from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok


def send(world: World, captured_at: Any) -> Any:
    arguments = capture_arguments(world.project)
    arguments["capture"]["captured_at"] = captured_at
    return world.api.post("/captures", files=build_parts(arguments))


@pytest.mark.parametrize("given", [1_795_253_400_000, "2026-11-21T11:30:00+02:00", "2026-11-21T09:30:00.000Z"])
def test_time_is_accepted_as_milliseconds_and_as_rfc_3339(world: World, given: Any) -> None:
    made = ok(send(world, given))
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert capture["captured_at"] == "2026-11-21T09:30:00.000Z"


@pytest.mark.parametrize(
    "given", ["2026-11-21T09:30:00", "yesterday", "", "0001-01-01T00:00:00+14:00", "2101-01-01T00:00:00Z", None, -1]
)
def test_invalid_time_is_rejected(world: World, given: Any) -> None:
    problem = expect_error(send(world, given), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "capture.captured_at"

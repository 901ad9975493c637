"""The number of attachments of a ticket and of a capture, however they arrive."""

import httpx

from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok


def test_captures_cannot_exceed_the_attachments_of_a_ticket(world: World) -> None:
    ticket = world.ticket()["id"]

    def attach(count: int) -> list[tuple[str, tuple[str, bytes]]]:
        parts = build_parts(capture_arguments("", project_id=None, ticket_id=ticket))
        return [*parts, *(("attachments", (f"{number}.txt", b"text")) for number in range(count))]

    for _ in range(4):
        ok(world.api.post("/captures", files=attach(20)))
    ok(world.api.post("/captures", files=attach(19)))
    before = len(ok(world.api.get(f"/tickets/{ticket}/captures"))["items"])
    refused = expect_error(world.api.post("/captures", files=attach(2)), 409, "conflict")
    assert "100 attachments" in refused["detail"]
    assert len(ok(world.api.get(f"/tickets/{ticket}/captures"))["items"]) == before
    ok(world.api.post("/captures", files=attach(1)))
    expect_error(world.api.post(f"/tickets/{ticket}/attachments", files={"file": ("x.txt", b"x")}), 409, "conflict")
    ok(world.api.post("/captures", files=attach(0)))


def test_capture_has_at_most_20_attachments(world: World) -> None:
    def send(count: int) -> httpx.Response:
        files = [("attachments", (f"{number}.txt", b"text")) for number in range(count)]
        return world.api.post("/captures", files=[*build_parts(capture_arguments(world.project)), *files])

    ok(send(20))
    assert expect_error(send(21), 400, "invalid_request")["errors"][0]["field"] == "attachments"

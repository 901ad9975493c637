"""Results of tools over plain HTTP: what is beside the object, and what an unexpected error says."""

import contextlib
import json
import sqlite3

import pytest

from tests.support.mcp_client import NEWEST, call_tool, create_capture, modern, post
from tests.support.server import World, ok
from ticketbox.mcp.handlers import BROKEN


def test_wait_that_found_nothing_says_so_in_both_parts(world: World) -> None:
    given = {"project_id": world.project, "wait_seconds": 0}
    result = call_tool(world, world.owner.token("tickets:write"), "claim_next_ticket", given)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert (result["structuredContent"]["claimed"], result["structuredContent"]["waited_seconds"]) == (False, 0)


def test_annotation_texts_beside_the_picture(world: World) -> None:
    ticket = create_capture(world)["ticket_id"]
    asset = ok(world.api.get(f"/tickets/{ticket}?include=capture"))["capture"]["screenshot"]["id"]
    box = {"x": 1, "y": 1, "width": 5, "height": 5}
    marks = [
        {"kind": "text", "geometry": {"x": 2, "y": 2, "size": 9}, "text": "日本語"},
        {"kind": "rectangle", "geometry": box, "text": "Größe"},
        {"kind": "ellipse", "geometry": box, "text": ""},
    ]
    ok(world.api.put(f"/assets/{asset}/annotations", json={"annotations": marks}))
    token = world.owner.token("read")
    for _ in range(2):  # drawn, and from the stored preview
        for name, arguments in (
            ("get_screenshot", {"annotated": True, "max_side": 1568}),
            ("get_screenshot", {"annotated": True}),
            ("get_ticket", {"include": ["capture"]}),
        ):
            result = call_tool(world, token, name, {"ticket_id": ticket, **arguments})
            content = result["content"]
            assert "structuredContent" not in result
            assert [part["type"] for part in content] == ["text", "image"]
            assert json.loads(content[0]["text"])["annotation_texts"] == ["日本語", "Größe"]
    content = call_tool(world, token, "get_screenshot", {"ticket_id": ticket})["content"]
    assert [part["type"] for part in content] == ["text", "image"]


@pytest.mark.parametrize("version", [NEWEST, "2025-11-25"])
def test_an_unexpected_error_keeps_its_text_in_the_log(world: World, version: str) -> None:
    capture = create_capture(world)["capture_id"]
    console = "SELECT console FROM capture WHERE public_id = ?"
    call = {"name": "get_console", "arguments": {"capture_id": capture}}
    headers = {"Authorization": f"Bearer {world.owner.token('read')}"}
    with contextlib.closing(sqlite3.connect(world.box.db)) as connection:
        (blob, data) = connection.execute(f"SELECT id, data FROM blob WHERE id = ({console})", (capture,)).fetchone()
        with connection:
            connection.execute("UPDATE blob SET data = x'00' WHERE id = ?", (blob,))
        if version == NEWEST:
            answer = modern(world, "tools/call", call, **headers)
        else:
            answer = post(world, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, **headers)
        with connection:  # captures with the same content share the blob
            connection.execute("UPDATE blob SET data = ? WHERE id = ?", (data, blob))
    error = answer.json()["error"]
    assert (error["code"], error["message"]) == (-32603, BROKEN)
    assert not error.get("data")

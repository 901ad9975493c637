"""Attachments as agents read them."""

import base64
import random
from io import BytesIO
from typing import Any

from PIL import Image

from tests.support.mcp_client import attach, call_tool, modern
from tests.support.pictures import encode, png
from tests.support.server import World, ok
from tests.support.tokens import count_result_tokens


def read(world: World, name: str, **given: Any) -> dict[str, Any]:
    """The result of a call."""
    return call_tool(world, world.owner.token("read"), name, given)


def test_ticket_lists_its_attachments(world: World) -> None:
    ticket = world.ticket()["id"]
    file = attach(world, ticket, "server.log", b"a line")
    expected = {"id": file, "kind": "attachment", "name": "server.log", "bytes": 6}
    (listed,) = read(world, "get_ticket", ticket_id=ticket, include=[])["structuredContent"]["attachments"]
    assert {key: listed[key] for key in expected} == expected


def test_many_attachments_leave_room_and_are_counted(world: World) -> None:
    ticket = world.ticket()["id"]
    for number in range(30):
        attach(world, ticket, f"{number} {'name ' * 30}.log", b"a line")
    found = read(world, "get_ticket", ticket_id=ticket)["structuredContent"]
    assert found["attachments_omitted"] == 30 - len(found["attachments"]) > 0
    assert found["attachments_next"] == f'get_ticket(ticket_id="{ticket}", detail="full")'


def test_text_is_returned_as_text_within_a_budget(world: World) -> None:
    ticket = world.ticket()["id"]
    short = read(world, "get_attachment", asset_id=attach(world, ticket, "a.log", b"one\ntwo"))
    assert short["structuredContent"]["text"] == "one\ntwo"
    long = read(world, "get_attachment", asset_id=attach(world, ticket, "b.log", b"GET /api/cart 500\n" * 50_000))
    assert "more characters]" in long["structuredContent"]["text"]
    assert count_result_tokens(long) <= 8_000


def test_image_is_returned_as_an_image_that_a_model_can_see(world: World) -> None:
    ticket = world.ticket()["id"]
    noise = Image.frombytes("RGB", (1800, 900), random.Random(3).randbytes(3 * 1800 * 900))
    for data, size in ((png(300, 200), (300, 200)), (encode(noise, "PNG"), (1568, 784))):
        result = read(world, "get_attachment", asset_id=attach(world, ticket, "shot.png", data))
        (picture,) = [base64.b64decode(part["data"]) for part in result["content"] if part["type"] == "image"]
        assert len(picture) < 900_000
        assert Image.open(BytesIO(picture)).size == size
        assert "structuredContent" not in result


def test_other_file_is_described(world: World) -> None:
    file = attach(world, world.ticket()["id"], "dump.zip", b"PK\x03\x04\xff\xfe")
    found = read(world, "get_attachment", asset_id=file)["structuredContent"]
    assert (found["bytes"], found["media_type"], "text" in found) == (6, "application/zip", False)


def test_foreign_attachment_is_not_found(world: World, other: World) -> None:
    file = attach(other, other.ticket()["id"], "secret.txt", b"secret")
    assert read(world, "get_attachment", asset_id=file)["structuredContent"]["code"] == "not_found"


def add(world: World, ticket: str, **given: Any) -> dict[str, Any]:
    """The structured result of attaching a file with a tool."""
    token = world.owner.token("tickets:write")
    return call_tool(world, token, "add_attachment", {"ticket_id": ticket, **given})["structuredContent"]


def test_agent_attaches_a_file_of_5_mb(world: World) -> None:
    ticket = world.ticket()["id"]
    data = random.Random(7).randbytes(5 * 1024 * 1024)
    added = add(world, ticket, file={"name": "core.dump", "data": base64.b64encode(data).decode()})
    assert (added["name"], added["bytes"]) == ("core.dump", len(data))
    assert world.api.get(f"/assets/{added['id']}/content").content == data
    short = add(world, ticket, file_name="a.log", content=base64.b64encode(b"one").decode())
    assert (short["name"], short["bytes"]) == ("a.log", 3)
    assert len(ok(world.api.get(f"/tickets/{ticket}"))["attachments"]) == 2


def test_invalid_file_is_refused(world: World) -> None:
    ticket = world.ticket()["id"]
    assert add(world, ticket, file={"name": "a", "data": "not base64!"})["errors"][0]["field"] == "file.data"
    assert add(world, ticket, file={"name": "a", "data": ""})["code"] == "invalid_request"
    assert add(world, ticket)["errors"][0]["field"] == "file"
    archived = world.ticket()["id"]
    ok(world.api.post(f"/tickets/{archived}/archive"))
    assert add(world, archived, file={"name": "a", "data": "YQ=="})["code"] == "ticket_archived"
    assert ok(world.api.get(f"/tickets/{ticket}"))["attachments"] == []


def test_large_message_is_read_only_for_a_caller_who_may_attach_files(world: World) -> None:
    large = {"ticket_id": world.ticket()["id"], "file": {"name": "a", "data": "A" * 2_000_000}}
    params = {"name": "add_attachment", "arguments": large}
    for token, status in (("tok_" + "a" * 43, 401), (world.owner.token("read"), 403)):
        answer = modern(world, "tools/call", params, Authorization=f"Bearer {token}")
        assert answer.status_code == status, answer.text
        assert "jsonrpc" in answer.json()
    too_large = {**params, "arguments": {**large, "file": {"name": "a", "data": "A" * 8_000_000}}}
    write = f"Bearer {world.owner.token('tickets:write')}"
    assert modern(world, "tools/call", too_large, Authorization=write).status_code == 413
    other_tool = {"name": "add_comment", "arguments": {"ticket_id": large["ticket_id"], "body": "x" * 2_000_000}}
    assert modern(world, "tools/call", other_tool, Authorization=write).status_code == 413

"""What an agent does that was given an address and a token, and nothing else."""

import base64
import json
from io import BytesIO
from typing import Any

import pytest
from mcp.client import Client
from PIL import Image

from tests.support.mcp_client import GENERATIONS, create_capture, talk
from tests.support.pictures import RED
from tests.support.server import World, ok

BYTES_A_TOKEN = 4
PIXELS_A_TOKEN = 750
CALLS, TOKENS = 8, 30_000


def busy_capture(world: World) -> dict[str, Any]:
    """A ticket whose capture is far larger than any context: one failed request among many, and much console."""
    said = [
        {"seq": number, "ts": 1_795_253_000_000.0 + number, "level": "log", "args": [f"step {number} " + "x" * 400],
         "repeat": 1, "truncated": False}
        for number in range(2_000)
    ]  # fmt: skip
    asked = [
        {"id": f"r{number}", "ts": 1_795_253_000_000.0 + number, "method": "GET",
         "status": 500 if number == 700 else 200,
         "url": f"https://shop.example/api/cart/{number}", "status_text": "", "type": "fetch", "duration_ms": 3.5,
         "from_cache": False, "request": {"headers": {"accept": "*/*"}}, "response": {"headers": {"server": "x" * 99}}}
        for number in range(1_000)
    ]  # fmt: skip
    return create_capture(world, console=said, network=asked)


class Count:
    """Carries an agent's calls and counts what comes back: every byte of it, and a picture by its pixels."""

    def __init__(self, client: Client) -> None:
        self.client, self.calls, self.tokens = client, 0, 0

    async def tools(self) -> None:
        listed = await self.client.list_tools()
        self.tokens += len(listed.model_dump_json(by_alias=True, exclude_none=True)) // BYTES_A_TOKEN

    async def call(self, name: str, /, **arguments: Any) -> tuple[dict[str, Any], list[Any]]:
        answer = await self.client.call_tool(name, arguments)
        assert not answer.is_error, answer.content
        pictures = [each for each in answer.content if each.type == "image"]
        for each in pictures:
            width, height = Image.open(BytesIO(base64.b64decode(each.data))).size
            self.tokens += width * height // PIXELS_A_TOKEN
        texts = [each.text for each in answer.content if each.type == "text"]
        text = json.dumps(texts, ensure_ascii=False)
        repeated = json.dumps(answer.structured_content, ensure_ascii=False) if answer.structured_content else ""
        self.calls += 1
        self.tokens += len((text + repeated).encode()) // BYTES_A_TOKEN
        return json.loads(texts[0]), pictures


@pytest.mark.parametrize("mode", GENERATIONS)
def test_agent_completes_a_ticket_in_eight_calls_and_thirty_thousand_tokens(world: World, mode: str) -> None:
    receipt = busy_capture(world)

    async def work(client: Client) -> Count:
        agent = Count(client)
        await agent.tools()
        hits, _ = await agent.call("search_tickets", q="cart")
        (hit,) = hits["items"]
        ticket, pictures = await agent.call("get_ticket", ticket_id=hit["id"])
        (picture,) = pictures
        seen = Image.open(BytesIO(base64.b64decode(picture.data))).convert("RGB")
        assert (seen.size, seen.getpixel((3, 3))) == ((1568, 784), RED)
        (failed,) = [each for each in ticket["capture"]["network"]["items"] if each["status"] == 500]
        capture = ticket["capture"]["id"]
        request, _ = await agent.call("get_network_request", capture_id=capture, entry=failed["id"])
        assert request["url"] == "https://shop.example/api/cart/700"
        claimed, _ = await agent.call("start_work_on_ticket", ticket_id=ticket["id"])
        assert claimed["branch"].startswith(ticket["id"])
        await agent.call("add_comment", ticket_id=ticket["id"], body=f"{request['url']} answers 500; fixed.")
        columns, _ = await agent.call("list_columns", project_id=ticket["project_id"])
        (done,) = [each["id"] for each in columns["items"] if each["name"] == "Done"]
        await agent.call("move_ticket", ticket_id=ticket["id"], column_id=done)
        await agent.call("stop_work_on_ticket", ticket_id=ticket["id"], lease=claimed["lease"])
        return agent

    agent = talk(world, mode, work)
    assert agent.calls <= CALLS
    assert 15_000 < agent.tokens <= TOKENS
    ticket = ok(world.api.get(f"/tickets/{receipt['ticket_id']}", params={"include": "comments"}))
    assert (ticket["column_id"], ticket["claim"]) == (world.columns[2], None)
    assert [each["by"]["via"] for each in ticket["comments"]] == ["mcp"]

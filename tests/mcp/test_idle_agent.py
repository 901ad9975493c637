"""How often an agent that waits calls the server, through the real local server, if it sets no time to wait."""

import asyncio
import math
import re
import time
from pathlib import Path

import httpx
import pytest
from mcp.client import Client

from tests.support.mcp_client import NEWEST, talk_over_stdio
from tests.support.server import Box, World, eventually, ok, run_server
from ticketbox.mcp.tools import get_tool_cards
from ticketbox.operations.catalogue import load_registry

CALLS_IN_TEN_MINUTES = 24  # at most
TEN_MINUTES = 600.0
GATEWAY_SECONDS = 30  # after which many gateways end a request
MARGIN_SECONDS = 5
TOOLS = ("wait_for_events", "claim_next_ticket", "wait_for_answer")


def count_requests(box: Box) -> int:
    """How many MCP messages the server has received, by its metrics."""
    text = httpx.get(f"{box.url}/metrics", timeout=60).text
    found = re.findall(r'^ticketbox_http_requests_total\{.*surface="mcp".*\} (\d+)', text, re.MULTILINE)
    return sum(map(int, found))


def test_tools_wait_long_enough_by_default_and_less_than_gateways_do() -> None:
    """Waiting for work is the exception: most agents only want to know whether there is any."""
    cards = [card for card in get_tool_cards(load_registry()).values() if card.operation.waits]
    assert {card.name for card in cards} == set(TOOLS)
    for card in cards:
        seconds = card.input_schema["properties"]["wait_seconds"].get("default", 0)
        shortest = 0 if card.name == "claim_next_ticket" else TEN_MINUTES / CALLS_IN_TEN_MINUTES
        assert shortest <= seconds <= GATEWAY_SECONDS - MARGIN_SECONDS
        assert (seconds == 0) == (card.name == "claim_next_ticket")


@pytest.mark.long
def test_idle_agent_makes_at_most_24_calls_in_ten_minutes(tmp_path: Path) -> None:
    """Each tool waits once for as long as it does by default; the rest of the ten minutes repeats that."""
    with run_server(tmp_path, "--trusted-proxy", "127.0.0.1/32") as box:
        world = World(box)
        ticket = world.ticket()["id"]
        lease = ok(world.api.post(f"/tickets/{ticket}/work", json={}))["lease"]
        ok(world.api.post(f"/tickets/{ticket}/work/questions", json={"lease": lease, "question": "Which?"}))
        given = {
            "wait_for_events": {},
            "claim_next_ticket": {"project_id": world.project, "wait_seconds": 25},
            "wait_for_answer": {"ticket_id": ticket, "lease": lease},
        }
        token = world.api.headers["Authorization"].removeprefix("Bearer ")

        async def work(client: Client) -> tuple[list[float], int]:
            await client.list_tools()
            await asyncio.to_thread(eventually, lambda: count_requests(box) == 1)

            async def wait(name: str) -> float:
                started = time.monotonic()
                result = await client.call_tool(name, given[name])
                assert not result.is_error, result.content
                return time.monotonic() - started

            lengths = await asyncio.gather(*map(wait, TOOLS))
            await asyncio.to_thread(eventually, lambda: count_requests(box) > len(TOOLS))
            return lengths, count_requests(box) - 1

        lengths, requests = talk_over_stdio(
            NEWEST,
            {"TICKETBOX_URL": box.url, "SERVICE_API_TOKEN": token, "TICKETBOX_TOOLS": "all"},
            tmp_path / "log",
            work,
        )
    assert requests == len(TOOLS)  # a call is one request, however long it waits, and nothing is sent beside it
    assert math.ceil(TEN_MINUTES / min(lengths)) <= CALLS_IN_TEN_MINUTES

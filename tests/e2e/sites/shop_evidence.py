"""What the ticket of the sample shop's bug shows a person and an agent, whichever browser captured it."""

import json
import re
from typing import Any

from playwright.async_api import Page, expect

from tests.demo import Demo
from tests.e2e.sites.sample_shop import STEPS
from tests.support.mcp_client import ACCEPT
from tests.support.server import ok
from tests.support.tokens import count_result_tokens

MOST_TOKENS = 8_000


async def expect_evidence(page: Page, demo: Demo, ticket: dict[str, Any]) -> None:
    """Open the ticket, and wait for the steps, the timeline with the stack, and the replay."""
    await page.context.add_cookies([{"name": demo.cookie, "value": demo.sign_in(), "url": demo.url}])
    await page.goto(ticket["url"])
    await expect(page.get_by_role("heading", level=1)).to_have_text(ticket["title"])
    await expect(page.get_by_role("listitem").filter(has_text="Clicked button “Apply gift card”")).to_be_visible()
    viewer = page.get_by_role("tabpanel", name="Timeline")
    await expect(viewer.get_by_text("readAmount")).to_be_visible()
    await expect(viewer.get_by_text(re.compile(r"cart\.js:19:\d+$")).first).to_be_visible()
    replay = viewer.frame_locator("iframe[title='Recorded page']").frame_locator("iframe")
    await expect(replay.get_by_role("heading", name="Your cart")).to_have_css("font-family", re.compile("serif"))
    await expect(replay.get_by_role("button", name="Please wait")).to_be_visible()


def check_agent_reads(demo: Demo, ticket: dict[str, Any], code: str) -> None:
    """Read the ticket with one call: the steps, the stack, and the request with the gift card's code."""
    result = call_demo_tool(demo, "get_ticket", ticket_id=ticket["key"])
    found = json.loads(result["content"][0]["text"])["capture"]
    steps = [each.partition(" ")[2].partition(" (")[0] for each in found["actions"]["items"]]
    assert [each for each in steps if each != "Scrolled the page"] == STEPS
    (error,) = found["errors"]["items"]
    assert "readAmount" in error["stack"]
    (sent,) = (each for each in found["network"]["items"] if each["url"].endswith("/api/cart/gift-card"))
    assert (sent["method"], sent["request"]["body"]) == ("POST", f'{{"code":"{code}"}}')
    assert found["screenshot"]
    assert count_result_tokens(result) <= MOST_TOKENS


def call_demo_tool(demo: Demo, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool of the demo's server with its token; return the result."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return ok(demo.client(demo.token, **ACCEPT).post(f"{demo.url}/mcp", json=message))["result"]

"""The waterfall of a capture's requests: marks on its axis, and the way from a request to the timeline."""

import re

from playwright.async_api import Page, expect

from tests.e2e.support.app import use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import action, capture_on, line, request
from tests.support.server import World

PAY = {"role": "button", "name": "Pay", "selectors": ['role=button[name="Pay"s]', "#pay"]}


def test_axis_marks_actions_and_the_capture_and_a_request_leads_to_its_moment(chromium: Chromium, world: World) -> None:
    ticket = capture_on(
        world,
        network=[
            request(1, "https://shop.example/cart", type="document"),
            request(300, "https://shop.example/quote", 422, method="POST"),
        ],
        actions=[action(290, "click", target=PAY), action(310, "scroll")],
        console=[line(number, "log", f"line {number}") for number in range(2, 90)],
    )

    async def look(page: Page) -> None:
        table = page.get_by_role("grid", name="Requests")
        await expect(table.locator(".axis")).to_contain_text("59.9 s")  # the capture, after the first request
        await expect(table.locator(".axis .action")).to_have_count(1)  # scrolling is none
        ground = "background-image"
        await expect(table.locator(".row .ts").last).to_have_css(ground, re.compile(r"(.*linear-gradient){3}"))
        await table.get_by_role("row", name="/quote").click()
        await page.get_by_role("button", name="Around this request").click()
        await expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
        moment = page.get_by_role("option", selected=True)
        await expect(moment).to_contain_text("POST /quote")
        await expect(moment).to_be_in_viewport()

    use(chromium, world.owner, f"/tickets/{ticket['id']}/network", look)

"""Two captures of a ticket beside each other, in a real browser."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import EVERY, LOOKS, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, failure, request
from tests.support.server import World

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def build_ticket(world: World) -> str:
    """A ticket with three captures: in Firefox, then in Chrome, then of another page."""
    pay = "https://shop.example/api/pay"
    first = capture_on(
        world,
        title="Pay fails",
        page={"url": "https://shop.example/cart", "title": "Cart"},
        environment={"browser": FIREFOX, "language": "en"},
        errors=[failure(1, "old fault"), failure(2, "shared fault")],
        network=[request(1, pay, 500, method="POST"), request(2, "https://shop.example/logo.png")],
    )
    capture_on(
        world,
        page={"url": "https://shop.example/cart", "title": "Cart"},
        environment={"browser": CHROME, "language": "en"},
        errors=[failure(1, "shared fault"), failure(2, "new fault", count=3)],
        network=[request(1, pay, method="POST"), request(2, "https://shop.example/logo.png")],
        ticket_id=first["id"],
    )
    capture_on(
        world,
        page={"url": "https://shop.example/help", "title": "Help"},
        environment={"browser": CHROME},
        ticket_id=first["id"],
    )
    return first["id"]


@pytest.mark.long
@EVERY
def test_captures_of_a_ticket_are_compared(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = build_ticket(world)

    async def compare(page: Page) -> None:
        tab = page.get_by_role("tab", name="Compare")
        await expect(tab).to_have_text(re.compile(r"Compare\s*3$"))
        await tab.click()
        await expect(page).to_have_url(re.compile("/compare$"))
        first, second = page.get_by_label("First capture"), page.get_by_label("Second capture")
        await expect(page.get_by_role("row", name="URL")).to_contain_text("/help")  # the two newest
        await first.select_option(index=2)
        await second.select_option(index=1)
        await expect(page.get_by_role("row", name="Browser")).to_have_text(re.compile("Firefox 140.*Chrome 142"))
        await expect(page.get_by_role("row", name="Language")).to_have_count(0)
        cells = page.get_by_role("row", name="new fault").get_by_role("cell")
        await expect(cells).to_have_text(["Doesn’t occur", "3 times"])
        cells = page.get_by_role("row", name="old fault").get_by_role("cell")
        await expect(cells).to_have_text(["1 time", "Doesn’t occur"])
        cells = page.get_by_role("row", name="POST /api/pay").get_by_role("cell")
        await expect(cells).to_have_text(["500", "200"])
        await expect(page).to_have_url(re.compile(r"/compare\?first=cap_\w+&second=cap_\w+$"))
        await page.reload()
        await expect(cells).to_have_text(["500", "200"])
        await expect(page.get_by_text("1 address succeeded in both captures.")).to_be_visible()
        for picture in await page.get_by_alt_text(re.compile("^Screenshot of the")).all():
            await expect(picture).to_have_js_property("naturalWidth", 800)
        await assert_accessible(page)
        await assert_fits(page)
        await first.select_option(index=1)
        await expect(page.get_by_text("Select two different captures.")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket}", compare, looks)


@pytest.mark.long
def test_one_capture_has_nothing_to_compare(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, title="Alone")["id"]

    async def look(page: Page) -> None:
        await expect(page.get_by_role("tab", name="Environment")).to_be_visible()
        await expect(page.get_by_role("tab", name="Compare")).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket}", look, LOOKS["desk"])

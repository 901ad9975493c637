"""Saying what is wrong on a ticket's page: on the page that the replay shows, or at a mark of the screenshot."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.captures.test_replay import begin, element, find_page
from tests.e2e.support.app import LOOKS, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import HEIGHT, START, WIDTH, action, capture_on
from tests.e2e.support.webapp import expect_message
from tests.support.server import World, ok

pytestmark = pytest.mark.long


def write(key: int, text: str) -> dict[str, Any]:
    return {"type": 3, "id": key, "textContent": text}


ROWS = element(
    6,
    "table",
    element(10, "tr", element(11, "td", write(12, "Lamp")), element(13, "td", write(14, "40.00 €"))),
    element(
        15,
        "tr",
        element(16, "td", write(17, "Total")),
        element(18, "td", write(19, "40.00 €"), **{"data-testid": "total"}),
    ),
)
COUPON = element(20, "input", type="text", id="coupon", value="******")
SCROLL = {"type": 3, "timestamp": START + 60_000, "data": {"source": 3, "id": 1, "x": 0, "y": 0}}
TOTAL = "“Total” should be “80.00 €”; it was “40.00 €”"
LAMP = "“Lamp” should be “39.00 €”; it was “40.00 €”"


def capture_cart(world: World) -> dict[str, str]:
    """A ticket whose replay ends with a cart, on which no step led to a failure."""
    steps = [action(50, "click", target={"role": "button", "name": "Add", "selectors": []})]
    size, page = begin(ROWS, COUPON)
    size["data"]["height"] = 625  # in the proportions of the screenshot
    return capture_on(world, replay=[size, page, SCROLL], actions=steps)


def read_capture(world: World, ticket: dict[str, str]) -> dict[str, Any]:
    return ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]


async def click_recorded(page: Page, selector: str) -> None:
    """Click where an element of the recorded page is: the mode of pointing is over it."""
    box = await find_page(page).locator(selector).bounding_box()
    assert box
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("looks", [LOOKS["desk"], LOOKS["desk-dark"], LOOKS["phone"]], ids=["desk", "dark", "phone"])
def test_member_points_in_the_replay(chromium: Chromium, world: World, looks: Looks) -> None:
    ticket = capture_cart(world)

    async def visit(page: Page) -> None:
        start = page.get_by_role("button", name="What is wrong?", exact=True)
        await start.click()
        await page.locator("ticketbox-pointer .bar").wait_for()
        await click_recorded(page, "[data-testid=total]")
        card = page.get_by_role("dialog", name="cell “40.00 €”")
        await expect(card.get_by_label("The text should be")).to_have_value("40.00 €")
        await assert_fits(page)
        await page.keyboard.type("80.00 €")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("list", name="What is wrong").get_by_role("listitem")).to_contain_text([TOTAL])
        await expect(start).to_be_focused()
        await expect_message(page, "Added to what is wrong")
        await assert_accessible(page)

        # by keys: the first cell of the first row has a neighbour
        await page.mouse.move(0, 0)  # off the recorded page
        await start.press("Enter")
        await page.locator("ticketbox-pointer .bar").wait_for()
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
            await page.keyboard.press(key)
        await page.keyboard.type("39.00 €")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("list", name="What is wrong").get_by_role("listitem")).to_contain_text(
            [TOTAL, LAMP]
        )

    use(chromium, world.owner, f"/tickets/{ticket['id']}/replay", visit, looks)
    total, _ = read_capture(world, ticket)["expectations"]
    assert (total["words"], total["is"], total["target"]["test_id"]) == (TOTAL, "text", "total")
    assert total["confirmed"]
    assert "frame" not in total or total["frame"] is None
    assert START <= total["at"] <= START + 60_000


def test_masked_values_are_not_corrected(chromium: Chromium, world: World) -> None:
    """The replay has stars instead of what was typed."""
    ticket = capture_cart(world)

    async def visit(page: Page) -> None:
        await page.get_by_role("button", name="What is wrong?", exact=True).click()
        await page.locator("ticketbox-pointer .bar").wait_for()
        await click_recorded(page, "#coupon")
        await expect(page.get_by_role("button", name="Should be disabled")).to_be_visible()
        await expect(page.locator("ticketbox-pointer #text")).to_have_count(0)
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 5)  # outside the recorded page there is nothing to point at
        await expect(page.locator("ticketbox-pointer .card")).to_have_count(0)
        await page.keyboard.press("Escape")
        await expect(page.locator("ticketbox-pointer")).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}/replay", visit)
    assert read_capture(world, ticket)["expectations"] == []


def test_mark_of_the_screenshot_leads_to_its_place(chromium: Chromium, world: World) -> None:
    ticket = capture_cart(world)
    # the picture is 800 × 500 of a page of 1,000 × 625: the end of the arrow is at the total
    box = {"x": 0.0, "y": 0.0}

    async def measure(page: Page) -> None:
        place = find_page(page).locator("[data-testid=total]")
        await place.wait_for()
        box.update(await place.evaluate("(each) => { const {x, y} = each.getBoundingClientRect(); return {x, y}; }"))

    use(chromium, world.owner, f"/tickets/{ticket['id']}/replay", measure)
    x, y = (box["x"] + 5) * WIDTH / 1000, (box["y"] + 5) * HEIGHT / 625
    arrow = {"kind": "arrow", "geometry": {"x1": 300, "y1": 300, "x2": x, "y2": y}, "color": "#e5484d", "text": ""}
    asset = read_capture(world, ticket)["screenshot"]["id"]
    ok(world.api.put(f"/assets/{asset}/annotations", json={"annotations": [arrow]}))

    async def visit(page: Page) -> None:
        mark = page.get_by_role("button", name="What is wrong here? Arrow")
        await mark.press("Space")
        field = page.get_by_role("dialog", name="cell “40.00 €”").get_by_label("The text should be")
        marks = page.get_by_role("region", name="Replay").locator(f"svg[viewBox='0 0 {WIDTH} {HEIGHT}']")
        await expect(marks).to_be_visible()  # over the moment of the screenshot
        await field.fill("80.00 €")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("list", name="What is wrong").get_by_role("listitem")).to_contain_text([TOTAL])

        await page.get_by_role("tab", name="Screenshot").click()
        await mark.click()
        await expect(field).to_have_value("40.00 €")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await page.get_by_role("tab", name="Screenshot").click()
        await page.get_by_role("tab", name="Replay").click()
        await expect(page.get_by_role("button", name="What is wrong?", exact=True)).to_be_enabled()
        await page.get_by_role("slider", name="Replay position").press("Home")
        await expect(marks).to_have_count(0)
        await expect(page.locator("ticketbox-pointer")).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}/screenshot", visit)


def test_archived_ticket_offers_no_pointing(chromium: Chromium, world: World) -> None:
    ticket = capture_cart(world)
    ok(world.api.post(f"/tickets/{ticket['id']}/archive", json={}))

    async def visit(page: Page) -> None:
        await expect(page.get_by_role("button", name="Play replay")).to_be_enabled()
        await expect(page.get_by_role("button", name="What is wrong?")).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}/replay", visit)

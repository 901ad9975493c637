"""A capture on a phone: the evidence comes first, and every tab fits."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from tests.e2e.captures.test_replay import CART, find_page
from tests.e2e.support.app import LOOKS, assert_accessible, assert_fits, expect_value, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, failure, line, request
from tests.support.server import World

pytestmark = pytest.mark.long
TARGET = 44  # the least height of what a finger presses
LONG_LINE = "sum(" + "line.price.amount, " * 20 + ")"

STACK = "\n".join(["TypeError: no total", *(f"    at f{n} (https://shop.example/app.js:{n}:1)" for n in range(20))])
LOW_TARGETS = f"""() => [...document.querySelectorAll('.viewer :is(a, button, input[type=search], summary)')]
    .filter(({{ offsetHeight }}) => offsetHeight && offsetHeight < {TARGET - 2})
    .map(each => each.ariaLabel || each.innerText)"""


def on_a_phone(chromium: Chromium, world: World, path: str, visit: Callable[[Page], Awaitable[None]]) -> None:
    use(chromium, world.owner, path, visit, LOOKS["phone"], has_touch=True, is_mobile=True)


def test_picture_is_above_the_description_and_the_replay_plays_in_its_place(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, description="No sum", replay=CART, errors=[failure(65, "no total")])

    async def look(page: Page) -> None:
        picture = page.get_by_role("button", name="Open screenshot")
        place, summary, text = [
            await find_still_box(each)
            for each in (picture, page.get_by_role("list", name="Summary of the capture"), page.get_by_text("No sum"))
        ]
        assert place["y"] < summary["y"] < text["y"]
        await assert_accessible(page)
        await page.get_by_role("button", name="Play replay · 0:06", exact=True).tap()
        await expect(page.get_by_role("button", name="Pause replay")).to_be_focused()
        await page.get_by_role("option", name="TypeError: no total").tap()
        await expect(find_page(page).get_by_role("heading")).to_have_text("Total: NaN")
        await expect(page.get_by_role("button", name="Play replay")).to_be_visible()
        stage = await find_still_box(page.locator(".stage"))
        assert stage["width"] / stage["height"] == pytest.approx(1000 / 600, rel=0.01)
        await assert_fits(page)

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}", look)


def test_picture_opens_the_screenshot_in_full_screen(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)

    async def look(page: Page) -> None:
        await page.get_by_role("button", name="Open screenshot").tap()
        viewer = page.get_by_role("dialog", name="Capture")
        await expect(viewer.get_by_role("img", name="Screenshot")).to_be_visible()
        await expect(viewer.get_by_role("link", name="Download screenshot")).to_have_attribute(
            "download", "screenshot.png"
        )
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await expect(viewer).to_have_count(0)

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}/console", look)


def test_requests_have_two_lines_and_open_on_a_tap(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, network=[request(1, "https://shop.example/cart", 422, method="POST")])

    async def look(page: Page) -> None:
        row = page.get_by_role("row", name="422")
        await expect(row.locator(".ts")).to_be_hidden()
        path, kind = [await find_still_box(row.get_by_text(each)) for each in ("/cart", "Fetch")]
        assert path["y"] + path["height"] <= kind["y"] + 1, "the type is below the path"
        assert (await find_still_box(row))["height"] >= TARGET
        await row.tap()
        details = page.get_by_role("region", name="Request details")
        await expect(details).to_contain_text("POST https://shop.example/cart")
        await assert_accessible(page)
        close = details.get_by_role("button", name="Close request")
        assert (await find_still_box(close))["height"] >= TARGET
        await close.tap()
        await expect(details).to_have_count(0)
        await assert_fits(page)

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}/network", look)


def test_tab_begins_at_its_top_below_the_end_of_another(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, description="Long\n\n" * 40, errors=[failure(1, "no total", stack=STACK)])

    async def look(page: Page) -> None:
        await page.get_by_role("button", name="Open errors").evaluate("button => button.scrollIntoView()")
        await page.get_by_role("tab", name="Errors").tap()
        tabs = page.get_by_role("tablist", name="Capture")

        async def is_below_the_tabs() -> bool:
            box, heading = (
                await find_still_box(tabs),
                await find_still_box(page.get_by_role("heading", name="no total")),
            )
            return heading["y"] >= box["y"] + box["height"]

        await expect_value(is_below_the_tabs, True)

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}", look)


def test_every_target_in_a_capture_is_large_enough_for_a_finger(chromium: Chromium, world: World) -> None:
    original = {"file": "src/totals.ts", "line": 1, "column": 1, "context": [LONG_LINE]}
    frames = [{"url": "https://shop.example/app.js", "function": "a", "line": 1, "column": 1, "original": original}]
    errors = [failure(1, "no total", stack="TypeError: no total", frames=frames, count=2)]
    ticket = capture_on(
        world, console=[line(1, "log", "started")], network=[request(1, "https://shop.example/cart")], errors=errors
    )

    async def look(page: Page) -> None:
        for name in ("Screenshot", "Console", "Network", "Errors", "Timeline"):
            await page.get_by_role("tab", name=name).tap()
            await expect(page.get_by_role("status", name="Loading…")).to_have_count(0)
            await expect_value(lambda: page.evaluate(LOW_TARGETS), [])
            await assert_fits(page)
        await page.get_by_role("tab", name="Errors").tap()
        await expect(page.get_by_text("2 times")).to_be_in_viewport(ratio=1)

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}", look)

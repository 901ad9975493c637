"""Touch in the web app: a tap opens, a swipe scrolls, a long press drags."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import LOOKS, PHONE, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.touch import Touch
from tests.e2e.tickets.test_board import expect_titles, seed, titles
from tests.support.server import World, ok

MANY = 20


def on_a_phone(chromium: Chromium, world: World, path: str, visit: Callable[[Page], Awaitable[None]]) -> None:
    use(chromium, world.owner, path, visit, LOOKS["phone"], has_touch=True, is_mobile=True)


@pytest.mark.long
def test_long_press_drags_a_card(windowed: Chromium, world: World) -> None:
    seed(world)
    world.ticket("There", column_id=world.columns[1])

    async def drag(page: Page) -> None:
        there = page.locator("[data-ticket]", has_text="There")
        async with Touch(page) as touch:
            await touch.long_press(page.locator("[data-ticket]", has_text="Two"))
            await touch.move(PHONE["width"] - 4, 300)  # the edge scrolls to the next column
            await page.wait_for_function(
                "card => card.getBoundingClientRect().x < 200", arg=await there.element_handle()
            )
            await touch.move(PHONE["width"] / 2, 300)
            box = await find_still_box(there)
            await touch.move(PHONE["width"] / 2, box["y"] + box["height"] - 3)
            await touch.up()
            await expect(page.get_by_role("region", name="In progress").locator("[data-ticket]")).to_have_count(2)
        await expect_titles(page, "In progress", ["There", "Two"])
        assert page.url.endswith(world.project), "the ticket wasn't opened"

    on_a_phone(windowed, world, f"/projects/{world.project}", drag)
    assert titles(world, 1) == ["There", "Two"]


@pytest.mark.long
def test_swipe_scrolls_and_moves_no_card(windowed: Chromium, world: World) -> None:
    before = [f"Number {number}" for number in range(MANY)]
    for title in reversed(before):
        world.ticket(title)

    async def swipe(page: Page) -> None:
        lane = page.get_by_role("region", name="To do").locator(".scroll")
        async with Touch(page) as touch:
            await touch.down(page.locator("[data-ticket]", has_text="Number 5"))
            await touch.move(120, 150)
            assert not touch.is_dragging
            await touch.up()
            await page.wait_for_function("lane => lane.scrollTop > 100", arg=await lane.element_handle())
        assert page.url.endswith(world.project)

    on_a_phone(windowed, world, f"/projects/{world.project}", swipe)
    assert titles(world, 0) == before


@pytest.mark.long
def test_tap_opens_a_card(windowed: Chromium, world: World) -> None:
    seed(world)

    async def tap(page: Page) -> None:
        async with Touch(page) as touch:
            await touch.down(page.locator("[data-ticket]", has_text="Two"))
            await touch.up()
            await expect(page.get_by_role("heading", name="Two")).to_be_visible()

    on_a_phone(windowed, world, f"/projects/{world.project}", tap)


@pytest.mark.long
def test_column_is_reordered_by_touch(windowed: Chromium, world: World) -> None:
    async def drag(page: Page) -> None:
        grips = page.get_by_title("Drag to reorder")
        await grips.nth(2).wait_for()
        await grips.nth(2).scroll_into_view_if_needed()
        first = await find_still_box(grips.nth(0))
        async with Touch(page) as touch:
            await touch.long_press(grips.nth(2))
            await touch.move(first["x"] + 8, first["y"] + 2)
            await touch.up()
            await page.get_by_text("Done moved to position 1 of 3").wait_for(state="attached")

    on_a_phone(windowed, world, f"/companies/{world.company}/projects?project={world.project}", drag)
    names = [each["name"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]
    assert names == ["Done", "To do", "In progress"]

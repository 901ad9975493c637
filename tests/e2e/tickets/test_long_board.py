"""A column longer than the screen: only what is in sight is in the document, and nothing is out of reach."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import drag_card, find_still_box, use, wait_for_frames
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok

MANY = 45
EDGES = """([x, y]) => {
  const { top, bottom } = document.elementFromPoint(x, y).closest('li').getBoundingClientRect();
  return [top, bottom];
}"""


@pytest.fixture
def long_board(world: World) -> World:
    """A first column of many, of different heights."""
    for number in reversed(range(MANY)):  # a new ticket goes to the top of its column
        world.ticket(f"Number {number:02}" + " and more words" * (number % 4), labels=["ui"] * (number % 2))
    return world


def card(page: Page, number: int) -> Locator:
    return page.locator("[data-ticket]", has_text=f"Number {number:02}")


async def to_the_end(page: Page) -> None:
    """Scroll the column down with the wheel, until its last card is there."""
    await card(page, 0).hover()
    for _ in range(100):
        await page.mouse.wheel(0, 400)
        await wait_for_frames(page)
        if await card(page, MANY - 1).count():
            return await card(page, MANY - 1).scroll_into_view_if_needed()
    raise AssertionError("the last card never came")


@pytest.mark.long
def test_lane_says_how_many_tickets_it_has_before_all_are_loaded(chromium: Chromium, world: World) -> None:
    clients = [world.owner.client("tickets:write") for _ in range(3)]  # each token has its own budget of writes
    for number in range(103):
        given = {"column_id": world.columns[0], "title": f"Number {number:02}", "labels": ["ui"] * (number % 2)}
        ok(clients[number % 3].post("/tickets", json=given))

    async def visit(page: Page) -> None:
        count = page.get_by_role("region", name="To do").locator(".count")
        await expect(count).to_have_text("103")
        await expect(page.get_by_role("listitem").filter(has=page.locator("[data-ticket]")).first).to_have_attribute(
            "aria-setsize", "-1"
        )
        world.ticket("One more")
        await expect(count).to_have_text("104")
        await page.goto(f"{page.url.partition('?')[0]}?label=ui")
        await expect(count).to_have_text("51")

    use(chromium, world.owner, f"/projects/{world.project}", visit)


def test_only_visible_cards_are_rendered(chromium: Chromium, long_board: World) -> None:
    async def scroll(page: Page) -> None:
        await expect(card(page, 0)).to_be_visible()
        await expect(page.get_by_role("region", name="To do").locator(".count")).to_have_text(str(MANY))
        await expect(card(page, MANY - 1)).to_have_count(0)
        await to_the_end(page)
        await expect(card(page, MANY - 1)).to_be_in_viewport()
        await expect(card(page, 0)).to_have_count(0)
        assert await page.locator("[data-ticket]").count() < 30
        item = page.get_by_role("listitem").filter(has=card(page, MANY - 1))
        await expect(item).to_have_attribute("aria-posinset", str(MANY))
        await expect(item).to_have_attribute("aria-setsize", str(MANY))

    use(chromium, long_board.owner, f"/projects/{long_board.project}", scroll)


@pytest.mark.long
def test_focus_stays_on_a_card_that_is_scrolled_away(chromium: Chromium, long_board: World) -> None:
    async def walk(page: Page) -> None:
        await card(page, 1).focus()
        await to_the_end(page)
        await expect(card(page, 1)).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(card(page, 2)).to_be_focused()
        await expect(card(page, 2)).to_be_in_viewport()
        for number in range(3, 30):
            await page.keyboard.press("ArrowDown")
            await expect(card(page, number)).to_be_focused()
        await expect(card(page, 29)).to_be_in_viewport()

    use(chromium, long_board.owner, f"/projects/{long_board.project}", walk)


@pytest.mark.long
def test_column_scrolls_while_a_card_is_dragged_near_its_edges(chromium: Chromium, long_board: World) -> None:
    async def drag(page: Page) -> None:
        column = page.get_by_role("region", name="To do").locator(".scroll")
        box = await find_still_box(column)
        x, middle = box["x"] + 100, box["y"] + box["height"] / 2

        async def drag_to(y: float) -> None:
            await page.mouse.move(x, y, steps=3)
            await wait_for_frames(page)

        await card(page, 0).hover()
        await expect(page.locator("li[draggable=true]").first).to_be_attached()
        await page.mouse.down()
        await drag_to(middle)
        for _ in range(30):  # in more frames than it takes to scroll somewhere
            await wait_for_frames(page)
        assert await column.evaluate("each => each.scrollTop") == 0
        await drag_to(box["y"] + box["height"] - 20)
        await card(page, MANY - 1).wait_for()
        await drag_to(box["y"] + 20)
        await page.wait_for_function("each => each.scrollTop === 0", arg=await column.element_handle())
        for y in (middle - 5, middle):
            await drag_to(y)
        mark = await find_still_box(page.locator(".mark"))
        top, bottom = await page.evaluate(EDGES, [x, middle])
        assert min(abs(mark["y"] - edge) for edge in (top, bottom)) <= 2
        await page.mouse.up()
        await expect(page.locator(".mark")).to_have_count(0)

    use(chromium, long_board.owner, f"/projects/{long_board.project}", drag)


@pytest.mark.long
def test_card_far_down_is_moved_by_mouse_and_keyboard(chromium: Chromium, long_board: World) -> None:
    async def move(page: Page) -> None:
        await expect(card(page, 0)).to_be_visible()
        await to_the_end(page)
        await drag_card(card(page, MANY - 1), page.get_by_role("region", name="In progress").locator(".scroll"))
        await expect(page.get_by_role("region", name="In progress").locator("[data-ticket]")).to_have_count(1)
        await card(page, MANY - 2).focus()
        for key in ("m", "ArrowRight", "ArrowRight", " "):
            await page.keyboard.press(key)
            await wait_for_frames(page)  # the moved card gets the focus back
        await expect(page.get_by_role("region", name="Done").locator("[data-ticket]")).to_have_count(1)

    use(chromium, long_board.owner, f"/projects/{long_board.project}", move)
    for number, column in ((MANY - 1, 1), (MANY - 2, 2)):
        (moved,) = ok(long_board.api.get("/tickets", params={"column_id": long_board.columns[column]}))["items"]
        assert moved["title"].startswith(f"Number {number}")

"""Touch in the web app: a tap opens, a swipe scrolls, a long press drags."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import (
    DESK,
    LOOKS,
    PHONE,
    Looks,
    Scheme,
    assert_accessible,
    assert_fits,
    expect_value,
    find_still_box,
    use,
)
from tests.e2e.support.browser import Chromium
from tests.e2e.support.touch import Touch
from tests.e2e.tickets.test_board import expect_titles, seed, titles
from tests.e2e.work.test_agents_at_work import CHOICES, Agent
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
            box = await find_still_box(there)
            while not 0 <= box["x"] < 200:  # the edge scrolls to the next column; a slow machine scrolls past it
                await touch.move(4 if box["x"] < 0 else PHONE["width"] - 4, 300)
                await page.wait_for_function(
                    "(card, { x } = card.getBoundingClientRect()) => x >= 0 && x < 200",
                    arg=await there.element_handle(),
                )
                await touch.move(PHONE["width"] / 2, 300)
                box = await find_still_box(there)
            await touch.move(PHONE["width"] / 2, box["y"] + box["height"] - 3)
            progress = page.get_by_role("region", name="In progress")
            await expect(progress.locator(".mark")).to_have_css("opacity", "1")
            await touch.up()
            await expect(progress.locator("[data-ticket]")).to_have_count(2)
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

    on_a_phone(windowed, world, f"/companies/{world.company}/projects?project={world.project}&tab=columns", drag)
    names = [each["name"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]]
    assert names == ["Done", "To do", "In progress"]


KEYBOARD = 300  # pixels


@pytest.mark.long
def test_lane_that_a_filter_empties_says_so(chromium: Chromium, world: World) -> None:
    seed(world)
    world.ticket("There", column_id=world.columns[1], priority="urgent")

    async def look(page: Page) -> None:
        lane = page.get_by_role("region", name="To do")
        await expect(lane.get_by_role("heading", name="No tickets match these filters")).to_be_visible()
        await expect(page.get_by_role("region", name="In progress").locator("[data-ticket]")).to_have_count(1)
        await assert_accessible(page)
        await lane.get_by_role("button", name="Clear filters").tap()
        await expect_titles(page, "To do", ["One", "Two", "Three"])
        await expect(page.get_by_role("region", name="Done")).to_contain_text("No tickets in this column")

    on_a_phone(chromium, world, f"/projects/{world.project}?priority=urgent", look)


# A phone's keyboard that covers the page, as in Safari. No test browser has one.
COVER = """
const view = window.visualViewport;
const height = Object.getOwnPropertyDescriptor(VisualViewport.prototype, 'height').get;
let covered = 0;
Object.defineProperty(view, 'height', { get: () => height.call(view) - covered });
window.showKeyboard = (pixels) => { covered = pixels; view.dispatchEvent(new Event('resize')); };
"""


async def read_box(locator: Locator) -> tuple[float, float]:
    """The top and the bottom of an element."""
    box = await find_still_box(locator)
    return box["y"], box["y"] + box["height"]


async def measure_end(locator: Locator) -> float:
    """The bottom of an element."""
    return (await read_box(locator))[1]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_comment_field_is_at_the_end_and_above_the_keyboard(windowed: Chromium, world: World, scheme: Scheme) -> None:
    agent = Agent(world)
    ok(world.api.patch(agent.page, json={"description": "A long story.\n\n" * 40}))
    agent.ask(*CHOICES)

    async def look(page: Page) -> None:
        await page.add_init_script(COVER)
        await page.reload()
        composer = page.locator(".composer")
        field = page.get_by_label("New comment", exact=True)
        await expect(field).to_be_in_viewport(ratio=1)
        assert (await read_box(composer))[1] == PHONE["height"]
        top, bottom = await read_box(field)
        assert bottom - top >= 44
        attach = await find_still_box(page.locator(".composer").get_by_role("button", name="Attach file"))
        assert min(attach["width"], attach["height"]) >= 44
        # what a question asks can be answered beside it
        choice = page.get_by_role("button", name=CHOICES[1])
        await choice.scroll_into_view_if_needed()
        assert (await read_box(choice))[1] <= (await read_box(composer))[0]
        await assert_accessible(page)
        await assert_fits(page)
        # the end of the page is above it
        await page.locator("main").evaluate("(main) => main.scrollTo(0, main.scrollHeight)")
        activity = page.get_by_role("region", name="Activity")
        assert (await read_box(activity))[1] <= (await read_box(composer))[0]
        # with the keyboard as well, wherever the page is
        await field.tap()
        send = page.get_by_role("button", name="Add comment")
        await expect(send).to_be_visible()
        await page.evaluate("(pixels) => showKeyboard(pixels)", KEYBOARD)
        await expect_value(lambda: measure_end(composer), PHONE["height"] - KEYBOARD)
        await page.locator("main").evaluate("(main) => main.scrollTo(0, main.scrollHeight)")
        assert (await read_box(activity))[1] <= (await read_box(composer))[0]
        await field.fill("Same here")
        assert (await find_still_box(send))["height"] >= 44
        await page.locator("main").evaluate("(main) => main.scrollTo(0, 0)")
        await expect_value(lambda: measure_end(composer), PHONE["height"] - KEYBOARD)
        await send.tap()
        await expect(page.get_by_role("article", name="Comment by Ann")).to_be_attached()
        await page.evaluate("() => showKeyboard(0)")
        await expect_value(lambda: measure_end(composer), PHONE["height"])

    looks = Looks(PHONE, scheme)
    use(windowed, world.owner, agent.page, look, looks, has_touch=True, is_mobile=True)


INSET = 34  # pixels, the bar at the end of a phone's screen


def test_ticket_has_its_comment_field_where_other_pages_have_tabs(chromium: Chromium, world: World) -> None:
    world.ticket("The cart is empty")

    async def look(page: Page) -> None:
        tabs, composer = page.get_by_role("navigation", name="Tabs"), page.locator(".composer")
        heading = page.get_by_role("heading", name="The cart is empty", level=1)
        field, messages = page.get_by_label("New comment", exact=True), page.get_by_role("region", name="Messages")
        # what opened it is gone then
        await tabs.get_by_role("button", name="Search").tap()
        await page.get_by_role("combobox").fill("cart")
        await page.get_by_role("option", name="The cart is empty").tap()
        await expect(heading).to_be_focused()
        await expect(tabs).to_have_count(0)
        assert (await read_box(composer))[1] == PHONE["height"]
        # above the bar of the phone, and messages are above it
        end = await measure_end(field)
        session = await page.context.new_cdp_session(page)
        await session.send("Emulation.setSafeAreaInsetsOverride", {"insets": {"bottom": INSET}})
        await expect_value(lambda: measure_end(field), end - INSET)
        await page.get_by_role("button", name="Mark as done").tap()
        await expect(messages).to_contain_text("marked as done")
        assert (await read_box(composer))[0] - (await read_box(messages))[1] == 16
        await assert_accessible(page)
        back = page.get_by_role("link", name="First project")
        assert (await find_still_box(back.locator(".back")))["width"] >= 44
        await back.tap()
        await expect(tabs).to_be_in_viewport(ratio=1)
        assert (await read_box(tabs))[0] - (await read_box(messages))[1] == 16
        await page.go_back()
        await expect(heading).to_be_focused()
        await expect(tabs).to_have_count(0)
        await page.go_back()
        await expect(tabs).to_be_in_viewport(ratio=1)

    on_a_phone(chromium, world, f"/projects/{world.project}", look)


def test_buttons_of_the_header_look_the_same_and_are_icons_on_phones(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("The cart is empty")

    async def look(page: Page) -> None:
        for name in ("Unfollow", "Mark as done"):
            button = page.get_by_role("button", name=name)
            box = await find_still_box(button)
            assert (box["width"], box["height"]) == (44, 44)
            await expect(button).to_have_text(name)
            await expect(button.get_by_text(name)).to_be_hidden()
            for style in ("border-top-color", "background-color"):
                await expect(button).to_have_css(style, "rgba(0, 0, 0, 0)")
        await page.set_viewport_size(DESK)
        for name in ("Unfollow", "Mark as done"):
            await expect(page.get_by_role("button", name=name).get_by_text(name)).to_be_visible()

    on_a_phone(chromium, world, f"/tickets/{ticket['id']}", look)


def test_filters_and_properties_fit_a_phone(chromium: Chromium, world: World) -> None:
    blocked, other = world.ticket("The cart is empty", labels=["a label with a long name"]), world.ticket("Before that")
    ok(world.api.post(f"/tickets/{other['id']}/links", json={"kind": "blocks", "other": blocked["id"]}))

    async def look(page: Page) -> None:
        await expect(page.get_by_role("link", name="The cart is empty")).to_be_visible()
        remove = await find_still_box(page.get_by_role("button", name="Remove filter: Label is a label"))
        assert remove["x"] + remove["width"] <= PHONE["width"]
        title = await find_still_box(page.get_by_role("heading", name="First project"))
        assert title["y"] + title["height"] < remove["y"]
        await assert_fits(page)
        await assert_accessible(page)
        await page.get_by_role("link", name="The cart is empty").click()
        properties = page.get_by_role("region", name="Properties")
        await expect(properties.get_by_text("Blocked by")).to_be_attached()
        assert (await find_still_box(properties))["height"] <= 56

    on_a_phone(chromium, world, f"/projects/{world.project}?label=a+label+with+a+long+name", look)

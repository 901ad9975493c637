"""The board in swimlanes: what each has, and what keys, the mouse and a saved view do with them."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import (
    EVERY,
    LOOKS,
    PHONE,
    Looks,
    assert_accessible,
    assert_fits,
    drag_card,
    expect_stored,
    find_still_box,
    use,
)
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok

pytestmark = pytest.mark.long

# Press keys faster than the browser draws.
PRESS = """async (keys) => {
  for (const key of keys) {
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await new Promise((done) => setTimeout(done));
  }
}"""


def card(page: Page, title: str) -> Locator:
    return page.locator("[data-ticket]").filter(has=page.get_by_text(title, exact=True))


def cell(page: Page, name: str) -> Locator:
    """The part of a column in a swimlane."""
    return page.get_by_role("group", name=name, exact=True)


async def expect_cell(page: Page, name: str, titles: list[str]) -> None:
    await expect(cell(page, name).locator("[data-ticket] .title")).to_have_text(titles)


def find(world: World, title: str) -> dict[str, Any]:
    return next(each for each in ok(world.api.get("/tickets"))["items"] if each["title"] == title)


def read_place(world: World, title: str) -> tuple[str, str]:
    """The priority and column of a ticket."""
    found = find(world, title)
    return found["priority"], found["column_id"]


def seed(world: World) -> None:
    """Tickets of three priorities, of which the highest is in two columns."""
    world.ticket("Low", priority="low")
    world.ticket("Urgent below", priority="urgent")
    world.ticket("Urgent above", priority="urgent")
    world.ticket("Urgent done", priority="urgent", column_id=world.columns[2])


@EVERY
def test_board_is_grouped_into_swimlanes_and_empty_ones_are_hidden(
    chromium: Chromium, world: World, looks: Looks
) -> None:
    seed(world)

    async def look(page: Page) -> None:
        is_phone = looks.size == PHONE
        await expect(page.locator("[data-swimlane]")).to_have_count(6 if is_phone else 2)
        await expect(page.get_by_role("region", name="Urgent, To do" if is_phone else "Urgent")).to_be_visible()
        await expect_cell(page, "Urgent, To do", ["Urgent above", "Urgent below"])
        await expect_cell(page, "Urgent, Done", ["Urgent done"])
        await expect_cell(page, "Low, To do", ["Low"])
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", look, looks)


def test_swimlanes_are_chosen_collapsed_and_saved_in_a_view(chromium: Chromium, world: World) -> None:
    seed(world)

    async def work(page: Page) -> None:
        await page.get_by_role("button", name="Display").click()
        await page.get_by_role("menuitemcheckbox", name="Priority").first.click()
        await page.keyboard.press("Escape")
        await expect(page).to_have_url(re.compile(r"\?group=priority$"))
        head = page.get_by_role("button", name="Urgent 3")
        await head.click()
        await expect(head).to_have_attribute("aria-expanded", "false")
        await expect(card(page, "Urgent done")).to_have_count(0)
        await page.reload()
        await expect(card(page, "Low")).to_be_visible()
        await expect(head).to_have_attribute("aria-expanded", "false")
        await page.get_by_role("button", name="Save view").click()
        dialog = page.get_by_role("dialog", name="Save view")
        await dialog.get_by_label("Name").fill("By priority")
        await dialog.get_by_role("button", name="Save view").click()
        await expect(page).to_have_url(re.compile(r"group=priority&view=view_"))
        await page.get_by_role("link", name="First project").click()
        await expect(page.get_by_role("region", name="To do")).to_be_visible()
        await page.get_by_role("list", name="Saved views").get_by_role("link", name="By priority").click()
        await expect(page.get_by_role("region", name="Urgent")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", work)
    (view,) = ok(world.api.get("/views"))["items"]
    assert (view["layout"], view["group"]) == ("board", "priority")


def test_drag_to_another_swimlane_changes_the_field_and_is_undone(chromium: Chromium, world: World) -> None:
    seed(world)

    async def drag(page: Page) -> None:
        await drag_card(card(page, "Low"), cell(page, "Urgent, In progress"))
        await expect_cell(page, "Urgent, In progress", ["Low"])
        await expect(page.get_by_role("region", name="Low")).to_have_count(0)
        await expect(page.get_by_text("moved to Urgent, In progress").last).to_be_visible()
        await expect_stored(lambda: read_place(world, "Low"), ("urgent", world.columns[1]))
        await page.get_by_role("button", name="Undo").click()
        await expect_cell(page, "Low, To do", ["Low"])
        await expect_stored(lambda: read_place(world, "Low"), ("low", world.columns[0]))

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", drag)


def test_refused_field_moves_the_card_back(chromium: Chromium, world: World) -> None:
    seed(world)

    async def drag(page: Page) -> None:
        await expect(card(page, "Low")).to_be_visible()
        await page.route(
            "**/tickets/t-*",
            lambda route: (
                route.fulfill(
                    status=403, content_type="application/problem+json", body='{"status": 403, "detail": "Not today."}'
                )
                if route.request.method == "PATCH"
                else route.continue_()
            ),
        )
        await drag_card(card(page, "Low"), cell(page, "Urgent, To do"))
        await expect(page.get_by_text("Not today.").last).to_be_visible()
        await expect_cell(page, "Low, To do", ["Low"])

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", drag)


def test_people_and_labels_are_exchanged_by_a_move_between_swimlanes(chromium: Chromium, world: World) -> None:
    bea = world.join("Bea")
    shared = world.ticket("Shared", labels=["bug", "ui"])
    ok(world.api.put(f"/tickets/{shared['id']}/assignees/{bea.id}"))
    world.ticket("Free")

    async def drag(page: Page) -> None:
        await drag_card(card(page, "Free"), cell(page, "Bea, To do"))
        await expect(cell(page, "Bea, To do").locator("[data-ticket]")).to_have_count(2)
        await expect_stored(lambda: [each["id"] for each in find(world, "Free")["assignees"]], [bea.id])
        await page.goto(page.url.replace("assignee", "label"))
        await expect_cell(page, "ui, To do", ["Shared"])
        await drag_card(cell(page, "ui, To do").locator("[data-ticket]"), cell(page, "No label, To do"))
        await expect(page.locator("[data-swimlane]")).to_have_count(1)
        await expect_stored(lambda: find(world, "Shared")["labels"], [])
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator("[data-swimlane]")).to_have_count(3)
        await expect_stored(lambda: find(world, "Shared")["labels"], ["bug", "ui"])

    use(chromium, world.owner, f"/projects/{world.project}?group=assignee", drag)


def test_keys_walk_and_move_cards_across_swimlanes(chromium: Chromium, world: World) -> None:
    seed(world)

    async def walk(page: Page) -> None:
        await expect(card(page, "Urgent above")).to_be_visible()
        await page.keyboard.press("j")
        await expect(card(page, "Urgent above")).to_be_focused()
        await page.keyboard.press("ArrowRight")
        await expect(card(page, "Urgent done")).to_be_focused()
        await page.evaluate(PRESS, ["ArrowLeft", "ArrowDown"])
        await expect(card(page, "Urgent below")).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(card(page, "Low")).to_be_focused()
        await page.keyboard.press("ArrowUp")
        await expect(card(page, "Urgent below")).to_be_focused()
        await page.keyboard.press("m")
        await page.keyboard.press("ArrowDown")
        live = page.locator("[aria-live=assertive]").first
        await expect(live).to_have_text("Low, To do, 1 of 2")
        await page.keyboard.press("Escape")
        await expect_cell(page, "Urgent, To do", ["Urgent above", "Urgent below"])
        await expect(card(page, "Urgent below")).to_be_focused()
        await page.keyboard.press("m")
        await page.keyboard.press("ArrowDown")
        await expect(live).to_have_text("Low, To do, 1 of 2")
        await page.evaluate(PRESS, ["ArrowRight", " "])
        await expect(live).to_have_text("Dropped in Low, In progress.")
        await expect_cell(page, "Low, In progress", ["Urgent below"])
        await expect_stored(lambda: read_place(world, "Urgent below"), ("low", world.columns[1]))

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", walk)


def test_long_swimlanes_render_what_is_seen(chromium: Chromium, world: World) -> None:
    for number in reversed(range(50)):  # more than the first page
        world.ticket(f"Number {number:02}", priority="high" if number % 2 else "low")

    async def scroll(page: Page) -> None:
        await expect(page.get_by_role("button", name="High 25")).to_be_visible()
        await expect(card(page, "Number 01")).to_be_visible()
        await expect(page.get_by_role("button", name="Low 25")).to_be_attached()
        assert await page.locator("[data-ticket]").count() < 40
        await card(page, "Number 01").hover()
        async with asyncio.timeout(60):
            while not await card(page, "Number 48").count():
                await page.mouse.wheel(0, 400)
                await page.wait_for_timeout(30)
        await card(page, "Number 48").scroll_into_view_if_needed()
        await expect(card(page, "Number 48")).to_be_in_viewport()
        await expect(card(page, "Number 01")).to_have_count(0)
        assert await page.locator("[data-ticket]").count() < 40

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", scroll)


def test_swimlanes_on_a_phone_are_as_tall_as_the_cards_of_the_shown_column(chromium: Chromium, world: World) -> None:
    for number in range(8):
        world.ticket(f"Number {number}", priority="urgent")
    world.ticket("Urgent done", priority="urgent", column_id=world.columns[2])
    world.ticket("Low done", priority="low", column_id=world.columns[2])

    async def look(page: Page) -> None:
        await page.get_by_role("group", name="Columns").get_by_role("button", name="Done").click()
        await expect(card(page, "Urgent done")).to_be_in_viewport(ratio=1)
        above, below = await find_still_box(card(page, "Urgent done")), await find_still_box(card(page, "Low done"))
        assert below["y"] - above["y"] < 300
        await page.keyboard.press("j")
        await expect(card(page, "Number 7")).to_be_focused()
        await page.keyboard.press("ArrowRight")
        await expect(card(page, "Urgent done")).to_be_focused()
        await page.keyboard.press("m")
        await page.evaluate(PRESS, ["ArrowDown", " "])
        await expect_cell(page, "Urgent, Done", [])
        await expect_stored(lambda: find(world, "Urgent done")["priority"], "low")
        await drag_card(
            card(page, "Low done"), page.get_by_role("button", name="Urgent 0").locator("visible=true").last
        )
        await expect_cell(page, "Urgent, Done", ["Low done"])
        await expect_stored(lambda: find(world, "Low done")["priority"], "urgent")

    use(chromium, world.owner, f"/projects/{world.project}?group=priority", look, LOOKS["phone"])

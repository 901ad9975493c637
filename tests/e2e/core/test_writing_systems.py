"""Input methods, layouts without Latin letters, texts from right to left, and answers that are lost."""

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.app import LOOKS, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok

pytestmark = pytest.mark.long
HEBREW = "תשלום נכשל (checkout) !"
# where the first letter of a text is, and where the line of its element ends
RIGHT_GAP = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return element.getBoundingClientRect().right - range.getBoundingClientRect().right;
}"""


def test_enter_of_an_input_method_saves_no_title(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Old title")

    async def browse(page: Page) -> None:
        await page.get_by_role("heading", name="Old title").wait_for()
        await page.keyboard.press("t")
        field = page.get_by_label("Title", exact=True)
        await field.fill("題名")
        for more in ({"isComposing": True}, {"keyCode": 229}):
            await field.dispatch_event("keydown", {"key": "Enter", **more})
            await field.dispatch_event("keydown", {"key": "Escape", **more})
        await expect(field).to_have_value("題名")
        await field.press("Enter")
        await page.get_by_role("heading", name="題名").wait_for()

    use(chromium, world.owner, f"/tickets/{ticket['id']}", browse, LOOKS["desk"])


def test_shortcuts_work_in_a_layout_without_latin_letters(chromium: Chromium, world: World) -> None:
    async def browse(page: Page) -> None:
        body = page.locator("body")
        await page.get_by_role("region", name="To do").wait_for()
        await body.dispatch_event("keydown", {"key": "л", "code": "KeyK", "ctrlKey": True})
        await page.get_by_role("dialog").wait_for()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await body.dispatch_event("keydown", {"key": "с", "code": "KeyC"})
        await page.get_by_role("dialog", name="New ticket").wait_for()

    use(chromium, world.owner, f"/projects/{world.project}", browse, LOOKS["desk"])


def test_texts_from_right_to_left_begin_at_the_right(chromium: Chromium, world: World) -> None:
    ticket = world.ticket(HEBREW, description=f"{HEBREW}\n\n- {HEBREW}\n\nIn English.")

    async def browse(page: Page) -> None:
        main = page.get_by_role("main")
        for each in ("h1", "p", "li"):
            assert await main.locator(each, has_text=HEBREW).first.evaluate(RIGHT_GAP) < 10
        assert await main.get_by_text("In English.").evaluate(RIGHT_GAP) > 100
        assert await main.locator("ul", has_text=HEBREW).evaluate("(each) => getComputedStyle(each).direction") == "rtl"
        await page.keyboard.press("t")
        field = page.get_by_label("Title", exact=True)
        assert await field.evaluate("(each) => getComputedStyle(each).unicodeBidi") == "plaintext"

    use(chromium, world.owner, f"/tickets/{ticket['id']}", browse, LOOKS["desk"])


def test_what_is_sent_again_after_its_answer_was_lost_is_there_once(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Cart")

    async def lose_answer(route: Route) -> None:
        await route.fetch()
        await route.abort()

    async def comment(page: Page) -> None:
        await page.route("**/comments", lose_answer, times=1)
        field = page.get_by_role("textbox", name="Comment")
        await field.fill("Once")
        await field.press("Control+Enter")
        await page.get_by_text("The server can’t be reached").first.wait_for()
        await field.press("Control+Enter")
        await expect(field).to_have_value("")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", comment, LOOKS["desk"])
    assert len(ok(world.api.get(f"/tickets/{ticket['id']}/comments"))["items"]) == 1

    async def create(page: Page) -> None:
        await page.get_by_role("button", name="Create ticket in To do").click()
        await page.route("**/api/v1/tickets", lose_answer, times=1)
        field = page.get_by_label("Title of the new ticket")
        await field.fill("A1\tB1")
        await field.press("Enter")
        await page.get_by_text("The server can’t be reached").first.wait_for()
        await field.press("Enter")
        await expect(field).to_have_value("")

    use(chromium, world.owner, f"/projects/{world.project}", create, LOOKS["desk"])
    titles = [each["title"] for each in ok(world.api.get("/tickets"))["items"]]
    assert sorted(titles) == ["A1 B1", "Cart"]

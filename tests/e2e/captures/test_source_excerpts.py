"""The lines of the author's files around the places of an error."""

from playwright.async_api import Page, expect

from tests.e2e.support.app import assert_accessible, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, failure
from tests.support.server import World

LINE = "    sum + line.price.amount * line.quantity, 0);"
ADDRESS = "https://shop.example/app.js"
THROWN = {"file": "src/totals.ts", "line": 3, "column": 22, "context": ["", "", LINE, "}"]}
CALLER = {"file": "src/cart.ts", "line": 1, "column": 3, "context": ["  showTotal();", "}"]}


def test_line_of_the_error_is_tinted_and_its_callers_are_shown_on_request(chromium: Chromium, world: World) -> None:
    frames = [
        {"url": ADDRESS, "function": name, "line": 1, "column": number, "original": original}
        for number, (name, original) in enumerate([("a", THROWN), ("b", CALLER)], start=1)
    ]
    ticket = capture_on(world, errors=[failure(1, "no price", stack="TypeError: no price", frames=frames)])

    async def look(page: Page) -> None:
        details = page.get_by_role("region", name="Details")
        thrown = details.get_by_role("group", name="Lines around src/totals.ts:3:22")
        await expect(thrown.locator("u")).to_have_text("amount")
        tint = "element => getComputedStyle(element).backgroundColor"
        line = thrown.get_by_text(LINE.strip())
        error = await line.evaluate(tint)
        assert error != await thrown.evaluate(tint)
        caller = details.get_by_role("group", name="Lines around src/cart.ts:1:3")
        await expect(caller).to_have_count(0)
        await details.get_by_role("button", name="Show 1 more").click()
        await details.get_by_role("button", name="src/cart.ts:1:3").click()
        await expect(caller.locator("u")).to_have_text("showTotal")
        assert await caller.locator("div", has_text="showTotal").last.evaluate(tint) != error
        await assert_accessible(page)
        await details.get_by_role("button", name="src/totals.ts:3:22").click()
        await expect(thrown).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look)

"""People see on a ticket's page who else has it open, in two real browser contexts."""

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.support.app import EVERY, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.server import Person, World

pytestmark = pytest.mark.long


async def open_context(page: Page, person: Person) -> BrowserContext:
    """Open a second browser context, in which somebody else is signed in."""
    browser = page.context.browser
    assert browser is not None
    context = await browser.new_context()
    cookies = [{"name": each.name, "value": each.value, "url": person.box.url} for each in person.web.cookies.jar]
    await context.add_cookies(cookies)  # type: ignore[arg-type]
    return context


@EVERY
def test_two_people_see_each_other_until_one_leaves(chromium: Chromium, world: World, looks: Looks) -> None:
    bob, eve = world.join("Bob Sample"), world.join("Eve")
    second = world.new_project("Second")
    outside = world.join("Olga", "member", [second])
    ticket = world.ticket("Cart total shows NaN when a gift card is in the cart")["id"]
    url = f"{world.box.url}/tickets/{ticket}"

    async def visit(page: Page) -> None:
        await expect(page.get_by_role("heading", name="Cart total")).to_be_visible()
        await expect(page.get_by_role("img", name="Also here")).to_have_count(0)
        theirs, hers = await open_context(page, bob), await open_context(page, eve)
        excluded = await open_context(page, outside)
        try:
            denied = await excluded.new_page()
            await denied.goto(url)
            await expect(denied.get_by_role("heading", name="Not found")).to_be_visible()
            bobs = await theirs.new_page()
            await bobs.goto(url)
            await expect(page.get_by_role("img", name="Also here: Bob Sample", exact=True)).to_be_visible()
            await expect(bobs.get_by_role("img", name="Also here: Ann", exact=True)).to_be_visible()
            await expect(denied.get_by_role("img", name="Also here")).to_have_count(0)
            eves = await hers.new_page()
            await eves.goto(url)
            await expect(page.get_by_role("img", name="Also here: Bob Sample and Eve", exact=True)).to_be_visible()
            await assert_accessible(page)
            await assert_fits(page)
            await eves.close()
            await expect(page.get_by_role("img", name="Also here: Bob Sample", exact=True)).to_be_visible()
            await bobs.goto(f"{world.box.url}/inbox")
            await expect(page.get_by_role("img", name="Also here")).to_have_count(0)
        finally:
            for context in (theirs, hers, excluded):
                await context.close()

    use(chromium, world.owner, f"/tickets/{ticket}", visit, looks)

"""The activity of a ticket: changes and comments, or comments alone."""

import re

from playwright.async_api import Page, expect

from tests.e2e.support.app import assert_accessible, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


def test_activity_shows_comments_alone(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Gift card fails")["id"]
    ok(world.owner.web.patch(f"/tickets/{ticket}", json={"priority": "high"}))

    async def look(page: Page) -> None:
        activity = page.get_by_role("region", name="Activity")
        change = activity.get_by_text("priority")

        async def choose(name: str) -> None:
            await activity.get_by_role("button", name=re.compile("^(All activity|Comments)$")).click()
            await page.get_by_role("menuitemcheckbox", name=name, exact=True).click()
            await expect(page.get_by_role("menu")).to_have_count(0)

        await expect(change).to_be_visible()
        await choose("Comments")
        await expect(activity.get_by_text("No comments")).to_be_visible()
        await expect(change).to_have_count(0)
        await activity.get_by_role("textbox", name="New comment").fill("Same here")
        await activity.get_by_role("button", name="Add comment").click()
        await expect(activity.get_by_role("listitem")).to_contain_text(["Same here"])
        await expect(activity.get_by_text("No comments")).to_have_count(0)
        await assert_accessible(page)
        await choose("All activity")
        await expect(change).to_be_visible()
        await expect(activity.get_by_text("Same here")).to_be_visible()

    use(chromium, world.owner, f"/tickets/{ticket}", look)

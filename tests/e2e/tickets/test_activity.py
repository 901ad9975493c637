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


def test_words_of_agents_show_inline_code(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Gift card fails")["id"]
    agent = world.owner.client("tickets:write", label="Claude Code")
    lease = ok(agent.post(f"/tickets/{ticket}/work", json={}))["lease"]
    plan = [{"text": "Run `pytest -k cart` and <b>", "state": "active"}]
    report = {"lease": lease, "note": "Running `pytest` in ` src", "plan": plan}
    ok(agent.post(f"/tickets/{ticket}/work/progress", json=report))
    ok(agent.post(f"/tickets/{ticket}/work/questions", json={"lease": lease, "question": "Keep `total()`?"}))

    async def look(page: Page) -> None:
        lines = page.get_by_role("region", name="Activity").get_by_role("listitem")
        report = lines.filter(has_text="reported: Running pytest in ` src")
        await expect(report.locator("code")).to_have_text("pytest")
        await expect(lines.filter(has_text="asked: Keep total()?").locator("code")).to_have_text("total()")
        panel = page.get_by_role("region", name="Claude Code")
        step = panel.get_by_role("list", name="Plan").get_by_role("listitem")
        await expect(step).to_contain_text("Run pytest -k cart and <b>")
        await expect(step.locator("code")).to_have_text("pytest -k cart")
        await expect(panel.get_by_role("group", name="Keep total()?").locator("code")).to_have_text("total()")
        await assert_accessible(page)

    use(chromium, world.owner, f"/tickets/{ticket}", look)

"""Saved views, display options and the preview of a card in a real browser."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import EVERY, PHONE, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


@pytest.mark.long
def test_view_is_saved_opened_changed_and_deleted(chromium: Chromium, world: World) -> None:
    world.ticket("A bug", labels=["bug"])
    world.ticket("An idea", labels=["idea"])

    async def work(page: Page) -> None:
        await page.get_by_role("button", name="Save view").click()
        dialog = page.get_by_role("dialog", name="Save view")
        await dialog.get_by_label("Name").fill("Bugs")
        await dialog.get_by_label("Share with everybody in the project").check()
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Save view").click()
        await expect(page.get_by_role("heading", name="Bugs", level=1)).to_be_visible()
        await expect(page).to_have_url(re.compile(r"label=bug&view=view_"))
        link = page.get_by_role("list", name="Saved views").get_by_role("link", name="Bugs")
        await expect(link).to_have_attribute("aria-current", "page")
        await assert_accessible(page)
        await page.get_by_role("link", name="First project").click()
        await expect(page.get_by_role("link", name="An idea")).to_be_visible()
        await link.click()
        await expect(page.get_by_role("link", name="An idea")).to_have_count(0)
        await expect(page.get_by_role("link", name="A bug")).to_be_visible()
        save = page.get_by_role("button", name="Save changes")
        await expect(save).to_have_count(0)
        await page.get_by_role("button", name="Display").click()
        await page.get_by_role("menuitemcheckbox", name="Compact").click()
        await page.keyboard.press("Escape")
        await save.click()
        await expect(page.get_by_text("Bugs saved").last).to_be_visible()
        await expect(save).to_have_count(0)
        await page.get_by_role("button", name="View Bugs").click()
        await page.get_by_role("menuitem", name="Delete view").click()
        await expect(link).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(link).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}?label=bug", work)
    (view,) = ok(world.api.get("/views"))["items"]
    assert (view["name"], view["shared"], view["density"]) == ("Bugs", True, "compact")
    assert view["filters"]["label"] == ["bug"]


@pytest.mark.long
def test_shared_view_appears_while_the_sidebar_is_open(chromium: Chromium, world: World) -> None:
    member = world.join("Bea")

    async def wait(page: Page) -> None:
        await expect(page.get_by_role("heading", name="First project")).to_be_visible()
        view = ok(world.api.post(f"/projects/{world.project}/views", json={"name": "Ours", "shared": True}))
        link = page.get_by_role("list", name="Saved views").get_by_role("link", name="Ours")
        await expect(link).to_be_visible()
        await link.click()
        await expect(page.get_by_role("heading", name="Ours", level=1)).to_be_visible()
        await expect(page.get_by_role("button", name="View Ours")).to_have_count(0)
        ok(world.api.patch(f"/views/{view['id']}", json={"shared": False}))
        await expect(link).to_have_count(0)

    use(chromium, member, f"/projects/{world.project}", wait)


@EVERY
@pytest.mark.long
def test_table_is_grouped_and_sorted(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("Soon", priority="high", due_on="2026-12-01")
    world.ticket("Later", priority="high", due_on="2026-12-24", column_id=world.columns[1])
    world.ticket("Whenever", priority="low")
    titles = ".what a"

    async def work(page: Page) -> None:
        await expect(page.locator(titles)).to_have_text(["Soon", "Later", "Whenever"])
        await assert_accessible(page)
        await assert_fits(page)
        if looks.size == PHONE:
            await page.get_by_role("button", name="View and display").click()
        else:
            head = page.get_by_role("columnheader", name="Due")
            await expect(head).to_have_attribute("aria-sort", "ascending")
            await head.get_by_role("button").click()
            await expect(head).to_have_attribute("aria-sort", "descending")
            await expect(page.locator(titles)).to_have_text(["Whenever", "Later", "Soon"])
            head = page.get_by_role("columnheader", name="Title")
            await head.get_by_role("button").click()
            await expect(head).to_have_attribute("aria-sort", "ascending")
            await expect(page.locator(titles)).to_have_text(["Later", "Soon", "Whenever"])
            await head.get_by_role("button").click()
            await expect(page.locator(titles)).to_have_text(["Whenever", "Soon", "Later"])
            await page.get_by_role("columnheader", name="Due").get_by_role("button").click()
            await expect(page.locator(titles)).to_have_text(["Soon", "Later", "Whenever"])
            await page.get_by_role("button", name="Display").click()
            async with page.expect_download() as downloading:
                await page.get_by_role("menuitem", name="Download CSV").click()
            path = await (await downloading.value).path()
            lines = path.read_text().splitlines()
            assert [line.split(",")[1] for line in lines] == ["title", "Soon", "Later", "Whenever"]
            await page.get_by_role("button", name="Display").click()
        await page.get_by_role("menuitemcheckbox", name="Priority").first.click()
        await page.keyboard.press("Escape")
        await expect(page.locator("th[scope=rowgroup]")).to_have_text([re.compile("High 2"), re.compile("Low 1")])
        await expect(page.locator(titles)).to_have_text(["Soon", "Later", "Whenever"])
        await assert_accessible(page)
        await page.get_by_label("Select all").check()
        await expect(page.get_by_text("3 selected")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}/table?sort=due", work, looks)


@EVERY
@pytest.mark.long
def test_preview_follows_the_focused_card(chromium: Chromium, world: World, looks: Looks) -> None:
    world.ticket("Second", description="What **happens**")
    world.ticket("First", labels=["bug"], priority="urgent", due_on="2026-12-24")

    async def work(page: Page) -> None:
        first = page.get_by_role("link", name="First", exact=True)
        await first.focus()
        await page.keyboard.press("Space")
        preview = page.get_by_role("complementary", name=re.compile("Preview of "))
        await expect(preview.get_by_role("heading", name="First")).to_be_visible()
        await expect(preview).to_contain_text("Urgent")
        await expect(page.locator("[aria-live=assertive]")).to_contain_text("Preview of ")
        await expect(first).to_be_focused()
        await assert_accessible(page)
        await page.keyboard.press("j")
        await expect(preview.get_by_role("heading", name="Second")).to_be_visible()
        await expect(preview.locator("strong")).to_have_text("happens")
        await assert_fits(page)
        await page.keyboard.press("Space")
        await expect(preview).to_have_count(0)
        await page.keyboard.press("Space")
        await expect(preview).to_be_visible()
        await preview.get_by_role("button", name="Close preview").click()
        await expect(preview).to_have_count(0)
        await expect(page.get_by_role("link", name="Second", exact=True)).to_be_focused()
        await page.keyboard.press("Space")
        await expect(preview).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(preview).to_have_count(0)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Second", level=1)).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", work, looks)

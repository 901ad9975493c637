"""The dialog for a new ticket: commands in its text, agents, and a comment on a similar ticket instead."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import EVERY, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


async def open_dialog(page: Page) -> Locator:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("c")
    return page.get_by_role("dialog", name="New ticket")


@pytest.mark.long
def test_slash_inserts_markdown_in_the_description(chromium: Chromium, world: World) -> None:
    async def write(page: Page) -> None:
        dialog = await open_dialog(page)
        description = dialog.get_by_label("Description")
        await description.fill("and/or\n")
        await description.press("/")
        await expect(page.get_by_role("option")).to_have_count(7)
        await assert_accessible(page)
        await page.keyboard.type("task")
        await page.keyboard.press("Enter")
        await page.keyboard.type("Pay\n/code")
        await page.keyboard.press("Enter")
        await page.keyboard.type("1 + 1")
        await expect(description).to_have_value("and/or\n- [ ] Pay\n```\n1 + 1\n```\n")
        await description.press("Control+End")
        await page.keyboard.type("/")
        await expect(page.get_by_role("option", name="Heading")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("option")).to_have_count(0)
        await expect(dialog).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", write)


@pytest.mark.long
def test_new_ticket_is_sent_to_agents(chromium: Chromium, world: World) -> None:
    world.ticket("Earlier")

    async def write(page: Page) -> None:
        dialog = await open_dialog(page)
        await dialog.get_by_label("Title").fill("Fix the cart")
        await dialog.get_by_role("button", name="Status: To do").click()
        await page.get_by_role("option", name="In progress").click()
        send = dialog.get_by_role("button", name="Send to agent")
        await send.click()
        await expect(send).to_have_attribute("aria-pressed", "true")
        await expect(dialog.get_by_role("button", name="Status: To do")).to_be_visible()
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Create ticket").click()
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_role("region", name="To do").locator("[data-ticket]").first).to_contain_text(
            "Fix the cart"
        )

    use(chromium, world.owner, f"/projects/{world.project}", write)
    created = ok(world.api.get("/tickets", params={"label": "agent"}))["items"]
    assert [(each["title"], each["column"]) for each in created] == [("Fix the cart", "To do")]


@EVERY
@pytest.mark.long
def test_text_of_a_new_ticket_becomes_a_comment_on_a_similar_one(
    chromium: Chromium, world: World, looks: Looks
) -> None:
    earlier = world.ticket("Cart stays empty on phones")

    async def write(page: Page) -> None:
        await page.evaluate(f"sessionStorage.setItem('draft:comment:{earlier['id']}', 'Begun earlier')")
        dialog = await open_dialog(page)
        await dialog.get_by_label("Title").fill("The cart stays empty")
        await dialog.get_by_label("Description").fill("On my phone.")
        file = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"see"}
        await dialog.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
        comment = dialog.get_by_role("button", name=f"Add comment there ({earlier['key']})")
        await expect(comment).to_be_visible()
        await assert_accessible(page)
        await assert_fits(page)
        await comment.click()
        field = page.get_by_label("New comment")
        await expect(field).to_be_focused()
        await expect(field).to_have_value(
            re.compile(
                r"^Begun earlier\n\nThe cart stays empty\n\nOn my phone\.\n\n\[note\.txt\]\(/api/v1/assets/\S+\)$"
            )
        )
        await field.press("Control+Enter")
        await expect(page.get_by_text("The cart stays empty", exact=True)).to_be_visible()
        await page.goto(f"{world.box.url}/projects/{world.project}")
        await expect((await open_dialog(page)).get_by_label("Title")).to_have_value("")

    use(chromium, world.owner, f"/projects/{world.project}", write, looks)
    detail = ok(world.api.get(f"/tickets/{earlier['id']}"))
    assert [each["name"] for each in detail["attachments"]] == ["note.txt"]
    assert len(ok(world.api.get("/tickets"))["items"]) == 1

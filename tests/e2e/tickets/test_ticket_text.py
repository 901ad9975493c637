"""Texts on the ticket page in a real browser: drafts, mentions, links, and what a person has read."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.app import assert_accessible, expect_stored, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok


@pytest.mark.long
def test_escape_keeps_the_changes_of_a_description_as_a_draft(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="first")

    async def write(page: Page) -> None:
        region = page.get_by_role("region", name="Description")
        field = region.get_by_role("textbox", name="Description")
        draft = region.get_by_role("status").filter(has_text="unsaved draft")
        await region.get_by_text("first").click()
        await field.press("Escape")  # nothing changed
        await expect(field).to_have_count(0)
        await expect(draft).to_have_count(0)
        await page.keyboard.press("e")
        await field.fill("half a thought")
        await field.press("Escape")
        await expect(region).to_contain_text("first")
        await expect(draft).to_be_visible()
        await page.reload()
        await expect(draft).to_be_visible()
        await assert_accessible(page)
        await draft.get_by_role("button", name="Discard draft").click()
        await expect(draft).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await draft.get_by_role("button", name="Continue editing").click()
        await expect(field).to_have_value("half a thought")
        # what others saved meanwhile isn't overwritten without a question
        ok(world.api.patch(f"/tickets/{ticket['id']}", json={"description": "theirs"}))
        await page.get_by_text("edited the description").wait_for()
        await field.press("Control+Enter")
        await expect(page.get_by_role("alert").locator("pre")).to_have_text(["theirs", "half a thought"])
        await page.get_by_role("alert").get_by_role("button", name="Keep your version").click()
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(region.get_by_text("half a thought")).to_be_visible()
        await expect_stored(lambda: ok(world.api.get(f"/tickets/{ticket['id']}"))["description"], "half a thought")
        await page.reload()
        await expect(region.get_by_text("half a thought")).to_be_visible()
        await expect(draft).to_have_count(0)

    use(chromium, world.owner, f"/tickets/{ticket['id']}", write)
    assert ok(world.api.get(f"/tickets/{ticket['id']}"))["description"] == "half a thought"


def test_people_and_tickets_are_suggested_highlighted_and_linked(chromium: Chromium, world: World) -> None:
    jonas, other = world.join("Jonas Weber"), world.ticket("Prices are null")
    ticket = world.ticket("A ticket")

    async def write(page: Page) -> None:
        field = page.get_by_role("textbox", name="New comment")
        options = page.get_by_role("listbox", name="Suggestions").get_by_role("option")
        await field.click()
        await page.keyboard.type("Ask @we")
        await expect(options).to_have_text([re.compile("Jonas Weber")])
        await assert_accessible(page)
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("Ask @Jonas Weber ")
        await page.keyboard.type("about #prices nu")
        await expect(options).to_have_text([re.compile("Prices are null")])
        await page.keyboard.press("Tab")
        await expect(field).to_have_value(f"Ask @Jonas Weber about {other['key']} ")
        await page.keyboard.type("@jo")
        await expect(options).to_have_count(1)
        await page.keyboard.press("Escape")
        await expect(options).to_have_count(0)
        await expect(field).to_be_focused()
        await page.keyboard.press("Control+Enter")
        said = page.get_by_role("article", name="Comment by Ann")
        await expect(said.locator(".mention")).to_have_text("@Jonas Weber")
        await expect(said.get_by_role("link", name=other["key"])).to_have_attribute("href", f"/t/{other['key']}")
        await expect(field).to_have_value("")
        await field.fill("And @jonas again")
        await field.press("Control+Enter")
        await expect(said.last.locator(".mention")).to_have_text("@jonas")

    use(chromium, world.owner, f"/tickets/{ticket['id']}", write)
    assert [each["reason"] for each in ok(jonas.web.get("/notifications"))["items"]] == ["mention", "mention"]


def test_opening_a_ticket_reads_its_notifications(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    ticket, other = world.ticket("A ticket"), world.ticket("Another ticket")
    for each in (ticket, other):
        ok(world.owner.web.put(f"/tickets/{each['id']}/assignees/{bob.id}"))
    assert ok(bob.web.get("/notifications/unread"))["unread"] == 2

    async def look(page: Page) -> None:
        inbox = page.get_by_role("link", name=re.compile("Inbox"))
        await expect(page.get_by_role("heading", level=1)).to_have_text("A ticket")
        await expect(inbox).to_have_text(re.compile(r"Inbox\s*1\s*unread"))
        ok(world.owner.web.post(f"/tickets/{ticket['id']}/comments", json={"body": "Bob reads this now."}))
        await page.get_by_text("Bob reads this now.").wait_for()
        async with asyncio.timeout(30):
            while [each["ticket_id"] for each in unread()] != [other["id"]]:
                await asyncio.sleep(0.1)

    def unread() -> list[dict[str, str]]:
        return ok(bob.web.get("/notifications", params={"unread": "true"}))["items"]

    use(chromium, bob, f"/tickets/{ticket['id']}", look)


@pytest.mark.long
def test_markdown_is_never_shown_raw(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("A ticket", description="It **stays** empty.")
    may_load = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_load.wait()
        await route.continue_()

    async def look(page: Page) -> None:
        await page.route("**/assets/markdown*.js", hold)
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_have_text("A ticket")
        before = await find_still_box(page.get_by_role("heading", name="Activity"))
        await expect(page.get_by_text("**stays**")).to_be_hidden()
        may_load.set()
        await expect(page.locator(".markdown strong")).to_have_text("stays")
        after = await find_still_box(page.get_by_role("heading", name="Activity"))
        assert before["y"] == after["y"], "the page jumped"
        # times are written as in the person's locale
        when = page.get_by_role("complementary", name="Properties").locator("time").first
        await expect(when).to_have_attribute("title", re.compile(r"^\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2}:\d{2}$"))

    use(chromium, world.owner, f"/tickets/{ticket['id']}", look, service_workers="block", locale="de-DE")


@pytest.mark.long
def test_keys_go_to_the_neighbours_in_the_column(chromium: Chromium, world: World) -> None:
    third, second, first = (
        world.ticket(title, priority="none" if title == "Second" else "high") for title in ("Third", "Second", "First")
    )

    async def press(page: Page) -> None:
        await page.get_by_role("main").get_by_role("link", name="Second").click()
        place = page.get_by_role("group", name="Tickets in this list")
        heading = page.get_by_role("heading", level=1)
        await expect(place).to_contain_text("2 of 3")
        await page.keyboard.press("j")
        await expect(heading).to_have_text("Third")
        await expect(place).to_contain_text("3 of 3")
        await expect(place.get_by_role("button", name="Next ticket")).to_be_disabled()
        # a ticket that is done now keeps its place in the list
        await page.get_by_role("button", name="Mark as done").click()
        await expect(page.get_by_role("button", name="Reopen")).to_be_visible()
        await page.keyboard.press("k")
        await expect(heading).to_have_text("Second")
        await expect(place).to_contain_text("2 of 3")
        await page.keyboard.press("k")
        await expect(heading).to_have_text("First")
        await expect(page).to_have_url(re.compile(re.escape(first["id"]) + "$"))
        await page.go_back()
        await expect(page.get_by_role("region", name="To do")).to_be_visible()
        # a filtered list is followed as it is
        await page.goto(f"{world.box.url}/projects/{world.project}/table?priority=high")
        await page.get_by_role("main").get_by_role("link", name="First").click()
        await expect(place).to_contain_text("of 2")
        await place.get_by_role("button", disabled=False).click()
        await expect(heading).to_have_text("Third")

    assert third["column_id"] == second["column_id"]
    use(chromium, world.owner, f"/projects/{world.project}", press)

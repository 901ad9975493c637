"""The people in the board's header: who has tickets on it, and only theirs after a click."""

import re

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.e2e.support.app import PHONE, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.server import Person, World, ok

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 1024, "height": 768}


def assign(world: World, title: str, *people: Person) -> None:
    ticket = world.ticket(title)["id"]
    for person in people:
        ok(world.api.put(f"/tickets/{ticket}/assignees/{person.id}"))


def test_click_on_a_person_shows_only_their_tickets(chromium: Chromium, world: World) -> None:
    bea = world.join("Bea Berg")
    assign(world, "One", bea)
    assign(world, "Two", bea, world.owner)
    world.ticket("Three")

    async def filter_board(page: Page) -> None:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await page.reload()
        people = page.get_by_role("group", name="Filter by assignee")
        buttons = people.get_by_role("button")
        cards = page.locator("[data-ticket] .title")
        await expect(cards).to_have_text(["Three", "Two", "One"])
        await expect(buttons).to_have_count(2)
        assert [await each.get_attribute("aria-label") for each in await buttons.all()] == [bea.name, world.owner.name]
        assert not [url for url in requests if "/members" in url]
        await assert_accessible(page)

        first = people.get_by_role("button", name=bea.name)
        await first.click()
        await expect(cards).to_have_text(["Two", "One"])
        await expect(first).to_have_attribute("aria-pressed", "true")
        await expect(page.get_by_role("button", name=f"Remove filter: Assignee is {bea.name}")).to_be_visible()
        await expect(buttons).to_have_count(2)
        await assert_accessible(page)
        await first.click()
        await expect(cards).to_have_text(["Three", "Two", "One"])
        await expect(page.get_by_role("button", name=re.compile("Remove filter"))).to_have_count(0)

        await people.get_by_role("button", name=world.owner.name).click()
        await expect(cards).to_have_text(["Two"])
        await expect(page).to_have_url(re.compile(r"assignee=me$"))

    use(chromium, world.owner, f"/projects/{world.project}", filter_board, Looks(WIDE, "light"))


@pytest.mark.long
def test_header_shows_five_people_and_how_many_more(chromium: Chromium, world: World) -> None:
    people = [world.join(f"Person {letter}") for letter in "ABCDEFG"]
    assign(world, "All of them", *people)

    async def look(page: Page) -> None:
        shown = page.get_by_role("group", name="Filter by assignee")
        await expect(shown.get_by_role("button")).to_have_count(5)
        await expect(shown).to_contain_text("+2")
        await expect(shown.get_by_title("Person F and Person G")).to_be_visible()
        await page.set_viewport_size(NARROW)
        await expect(page.get_by_role("link", name="All of them")).to_be_visible()
        await assert_fits(page)
        await page.set_viewport_size(PHONE)
        await expect(shown).to_have_count(0)

    use(chromium, world.owner, f"/projects/{world.project}", look, Looks(WIDE, "light"))

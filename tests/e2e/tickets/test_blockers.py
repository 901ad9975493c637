"""What blocks a ticket is seen wherever the ticket is listed, and disappears when it is resolved."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.support.app import find_still_box
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import open_as
from tests.support.server import World, ok

pytestmark = pytest.mark.long


def block(world: World) -> tuple[dict[str, str], dict[str, str]]:
    """A ticket and the ticket that blocks it."""
    blocker, blocked = world.ticket("Blocker"), world.ticket("Blocked")
    ok(world.api.post(f"/tickets/{blocker['id']}/links", json={"kind": "blocks", "other": blocked["id"]}))
    return blocker, blocked


def resolve(world: World, ticket: dict[str, str]) -> None:
    ok(world.api.patch(f"/tickets/{ticket['id']}", json={"resolved": True}))


@pytest.mark.parametrize("path", ["/", "/tickets/{id}"])
def test_blockers_are_shown_until_they_are_resolved(chromium: Chromium, world: World, path: str) -> None:
    blocker, blocked = block(world)

    def find_chip(page: Page) -> Locator:
        return page.locator(".chip", has_text=f"Blocked by {blocker['key']}")

    async def look(page: Page) -> None:
        await open_as(page, world.owner, path.format(id=blocked["id"]))
        await expect(find_chip(page)).to_have_count(1)
        resolve(world, blocker)
        await expect(find_chip(page)).to_have_count(0)

    chromium.visit(look)


def test_table_shows_blockers_as_they_were_until_it_is_updated(chromium: Chromium, world: World) -> None:
    blocker, _ = block(world)

    async def look(page: Page) -> None:
        await open_as(page, world.owner, f"/projects/{world.project}/table")
        chip = page.locator(".chip", has_text=f"Blocked by {blocker['key']}")
        await expect(chip).to_have_count(1)
        resolve(world, blocker)
        await page.get_by_role("button", name="Refresh list").click()
        await expect(chip).to_have_count(0)

    chromium.visit(look)


def test_cell_of_the_table_opens_its_ticket_and_its_chip_the_blocker(chromium: Chromium, world: World) -> None:
    blocker, blocked = block(world)

    async def click(page: Page) -> None:
        await open_as(page, world.owner, f"/projects/{world.project}/table")
        cell = page.get_by_role("row").filter(has_text="Blocked by").locator(".what")
        await cell.get_by_role("link", name=blocker["key"]).click()
        await expect(page.get_by_role("heading", name="Blocker")).to_be_visible()
        await page.go_back()
        await expect(cell).to_be_visible()
        box = await find_still_box(cell)
        await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 3)
        await expect(page.get_by_role("heading", name=blocked["title"], exact=True)).to_be_visible()

    chromium.visit(click)


def test_blocker_opens_from_the_blocked_ticket(chromium: Chromium, world: World) -> None:
    blocker, blocked = block(world)

    async def follow(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{blocked['id']}")
        await page.get_by_role("main").get_by_role("link", name=blocker["key"]).first.click()
        await expect(page.get_by_role("heading", name="Blocker")).to_be_visible()

    chromium.visit(follow)

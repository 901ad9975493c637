"""The sidebar says how many open tickets are assigned to the person, and in each saved view."""

import asyncio
import itertools
from typing import Any

import pytest
from playwright.async_api import Page, Request, expect

from tests.e2e.support.app import EVERY, PHONE, Looks, assert_accessible, assert_fits, find_still_box, use
from tests.e2e.support.browser import Chromium
from tests.support.server import Person, World, ok

HIDE = """(hidden) => {
  Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def create_view(world: World, name: str, **more: Any) -> None:
    ok(world.api.post(f"/projects/{world.project}/views", json={"name": name, "shared": True, **more}))


async def resolve(person: Person, ticket: str) -> None:
    patch = {"json": {"resolved": True}, "headers": {"If-Match": "*"}}
    ok(await asyncio.to_thread(lambda: person.web.patch(f"/tickets/{ticket}", **patch)))


@pytest.mark.long
@EVERY
def test_count_appears_and_follows_what_others_do(chromium: Chromium, world: World, looks: Looks) -> None:
    bea = world.join("Bea")
    first, second = (world.ticket(title, labels=["bug"])["id"] for title in ("First", "Second"))
    for ticket in (first, second):
        ok(world.api.put(f"/tickets/{ticket}/assignees/{world.owner.id}"))
    create_view(world, "A view with a name that is too long for the sidebar", filters={"label": ["bug"]})
    create_view(world, "Ideas", filters={"label": ["idea"]})

    async def work(page: Page) -> None:
        if looks.size == PHONE:
            await page.get_by_role("button", name="Menu").click()
        views = page.get_by_role("list", name="Saved views")
        name = views.get_by_text("A view with a name")
        await expect(page.get_by_role("link", name="Assigned to me 2 open", exact=True)).to_be_visible()
        await expect(views.get_by_role("link", name="2 open")).to_be_visible()
        await expect(views.get_by_role("link", name="Ideas", exact=True)).to_be_visible()
        await assert_accessible(page)
        await assert_fits(page)
        before = await find_still_box(name)
        await resolve(bea, first)
        await expect(page.get_by_role("link", name="Assigned to me 1 open", exact=True)).to_be_visible()
        await expect(views.get_by_role("link", name="1 open")).to_be_visible()
        await resolve(bea, second)
        await expect(page.get_by_role("link", name="Assigned to me", exact=True)).to_be_visible()
        await expect(views.get_by_role("link", name="open", exact=False)).to_have_count(0)
        assert await find_still_box(name) == before

    use(chromium, world.owner, f"/projects/{world.project}", work, looks)


@pytest.mark.long
def test_many_changes_cause_few_requests_and_a_hidden_tab_causes_none(chromium: Chromium, world: World) -> None:
    create_view(world, "All")

    async def work(page: Page) -> None:
        times: list[float] = []

        def note(request: Request) -> None:
            if "/ticket-counts" in request.url:
                times.append(asyncio.get_running_loop().time())

        async def create(count: int) -> None:
            for number in range(count):
                await asyncio.to_thread(world.ticket, f"Ticket {number}")

        page.on("request", note)
        await create(25)
        await expect(page.get_by_role("link", name="All 25 open", exact=True)).to_be_visible()
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert all(gap > 4 for gap in gaps), gaps
        await page.evaluate(HIDE, True)
        before = len(times)
        await create(5)
        # The board has them: the events arrived, also in the hidden tab.
        await expect(page.get_by_role("region", name="To do").locator(".count")).to_have_text("30")
        await asyncio.sleep(6)  # longer than the pause between two requests
        assert len(times) == before
        await page.evaluate(HIDE, False)
        await expect(page.get_by_role("link", name="All 30 open", exact=True)).to_be_visible()
        assert len(times) == before + 1

    use(chromium, world.owner, f"/projects/{world.project}", work)


@pytest.mark.long
def test_more_than_99_open_tickets_are_99_and_more(chromium: Chromium, world: World) -> None:
    body = {"project_id": world.project, "title": "One of many"}
    for _ in range(100):
        ok(world.owner.web.post("/tickets", json=body))
    create_view(world, "All")

    async def work(page: Page) -> None:
        await expect(page.get_by_role("link", name="All 99+ open", exact=True)).to_be_visible()

    use(chromium, world.owner, "/inbox", work)

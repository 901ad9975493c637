"""Every page of the settings, in both schemes and at both sizes: accessible, and no larger than the window."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import (
    DESK,
    PHONE,
    Looks,
    assert_accessible,
    assert_fits,
    find_still_box,
    use,
)
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults, open_as
from tests.support.oauth_app import connect_app
from tests.support.operation_cases import create_invitation
from tests.support.server import World, ok


async def each(page: Page, base: str, *sections: str) -> dict[str, Any]:
    """The faults of these pages, by their addresses."""
    result: dict[str, Any] = {}
    for section in sections:
        await page.goto(f"{base}/{section}")
        await page.get_by_role("main").get_by_role("heading").first.wait_for()
        result[section] = await faults(page, "dark")
    return result


async def person(page: Page, world: World) -> dict[str, Any]:
    """Visit the pages of the person's own account."""
    return await each(page, f"{world.box.url}/settings", "profile", "sign-in", "appearance", "new-company")


async def programs(page: Page, world: World) -> dict[str, Any]:
    """Visit the pages of API tokens, connected apps and the extension, which act for the person."""
    return await each(page, f"{world.box.url}/settings", "tokens", "tokens?new", "apps", "extension")


async def people(page: Page, world: World) -> dict[str, Any]:
    """Visit the pages of the company and its members."""
    base = f"{world.box.url}/companies/{world.company}"
    return await each(page, base, "general", "members", "invitations", "limits", "webhooks", "audit")


async def projects(page: Page, world: World) -> dict[str, Any]:
    """Visit the pages of the company's projects, and addresses of pages that don't exist."""
    base, one = f"{world.box.url}/companies", world.company
    settings = [f"{one}/projects?project={world.project}&tab={tab}" for tab in ("general", "capture", "agents", "git")]
    return await each(
        page, base, f"{one}/projects", f"{one}/projects?new", *settings, f"{one}/nowhere", "co_000000000000"
    )


async def open_dialog(page: Page, world: World) -> dict[str, Any]:
    """Open menus, dialogs and alerts, and what is shown only once: a new link and a new token."""
    result: dict[str, Any] = {}
    base = f"{world.box.url}/companies/{world.company}"
    await page.goto(f"{base}/invitations?new")
    await page.get_by_role("radio", name="Selected projects").check()
    result["invite"] = await faults(page, "dark")
    await page.get_by_role("radio", name="All projects").check()
    await page.get_by_role("button", name="Create link").click()
    await page.get_by_label("Link", exact=True).wait_for()
    result["link"] = await faults(page, "dark")
    await page.goto(f"{base}/members")
    await page.get_by_role("button", name=f"Actions for {world.owner.name}").click()
    await page.get_by_role("menuitem", name="Leave company").click()
    await page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    await page.get_by_role("alert").wait_for()
    result["refused"] = await faults(page, "dark")
    await page.goto(f"{world.box.url}/settings/tokens?new")
    await page.get_by_label("Label", exact=True).fill("agent")
    await page.get_by_role("button", name="Create token").click()
    await page.get_by_role("tab", name="VS Code").click()
    result["token"] = await faults(page, "dark")
    return result


async def public(page: Page, world: World) -> dict[str, Any]:
    """Visit an invitation: signed in, signed out, and with a link that isn't valid."""
    path = create_invitation(world, email="eve@example.org")["path"]
    result: dict[str, Any] = {}
    await page.goto(world.box.url + path)
    await page.get_by_role("heading", level=1).wait_for()
    result["signed in"] = await faults(page, "dark")
    await page.goto("about:blank")  # or the app would notice, and leave for the sign-in page
    await page.context.clear_cookies()
    await page.goto(world.box.url + path)
    await page.get_by_label("Name").wait_for()
    result["new here"] = await faults(page, "dark")
    await page.goto(f"{world.box.url}/invitations/nonsense")
    await page.get_by_role("heading", level=1).wait_for()
    result["gone"] = await faults(page, "dark")
    return result


@pytest.mark.long
def test_list_of_settings_is_a_page_on_phones(chromium: Chromium, world: World) -> None:
    async def browse(page: Page) -> None:
        main = page.get_by_role("main")
        navigation = main.get_by_role("navigation", name="Settings")
        await expect(main.get_by_role("heading", name="Settings", level=1)).to_be_visible()
        await assert_accessible(page)
        await assert_fits(page)
        await navigation.get_by_role("link", name="Labels").click()
        await expect(main.get_by_role("heading", name="Labels", level=1)).to_be_visible()
        await expect(navigation).to_have_count(0)
        await assert_accessible(page)
        await assert_fits(page)
        await main.get_by_role("link", name="Settings", exact=True).click()
        await navigation.get_by_role("link", name="Appearance").click()
        await expect(main.get_by_role("heading", name="Appearance", level=1)).to_be_visible()
        await page.go_back()
        await expect(navigation).to_be_visible()
        await page.set_viewport_size(DESK)
        await expect(main.get_by_role("heading", name="Profile", level=1)).to_be_visible()
        current = main.get_by_role("navigation").get_by_role("link", name="Profile")
        await expect(current).to_have_attribute("aria-current", "page")

    use(chromium, world.owner, "/settings", browse, Looks(PHONE, "light"))


COUNT_GAPS = """() => {
  window.gaps = 0;
  const look = () => {
    if (!document.querySelector("main nav")) window.gaps++;
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.long
def test_navigation_of_settings_keeps_its_place_and_pages_begin_at_their_top(chromium: Chromium, world: World) -> None:
    async def browse(page: Page) -> None:
        main = page.get_by_role("main")
        links = main.get_by_role("navigation").get_by_role("link")
        await expect(links.filter(has_text="Audit log")).to_be_visible()
        await page.wait_for_load_state("networkidle")
        await page.evaluate(COUNT_GAPS)
        await expect(links).to_have_count(16)
        for link in await links.all():
            await link.scroll_into_view_if_needed()
            await main.evaluate("(element) => element.scrollTo(0, 10_000)")
            before = await find_still_box(link)
            await link.click()
            await expect(link).to_have_attribute("aria-current", "page")
            await expect(main.get_by_role("heading", level=1)).to_be_visible()
            assert await find_still_box(link) == before
            assert await main.evaluate("(element) => element.scrollTop") == 0
        assert await page.evaluate("window.gaps") == 0

    use(chromium, world.owner, "/settings/appearance", browse, Looks({"width": 1440, "height": 560}, "light"))


OTHERS = [programs, people, projects, open_dialog, public]


@pytest.mark.long
@pytest.mark.parametrize("look", [person, *(pytest.param(look, marks=pytest.mark.long) for look in OTHERS)])
def test_settings_pages_are_accessible(
    chromium: Chromium, world: World, look: Callable[[Page, World], Awaitable[dict[str, Any]]]
) -> None:
    connect_app(world)
    world.owner.token("read", "tickets:assign", label="W" * 100)
    world.join("Bob", "viewer", [world.new_project("Website with a rather long name, as projects sometimes have")])
    create_invitation(world, email=f"{'very-long-' * 8}@example.org")
    ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "C" * 100}))

    async def visit(page: Page) -> dict[str, Any]:
        watch = await open_as(page, world.owner, "/settings/profile")
        result = await look(page, world)
        watch.assert_clean(world.box)
        return result

    result = chromium.visit(visit, has_touch=True)
    assert {name: faulty for name, faulty in result.items() if faulty} == {}
    assert len(result) >= 3

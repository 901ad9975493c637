"""Git: hooks in a project's settings, and the links that they make on the ticket page (docs/use/git.md)."""

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import expect_message, faults, open_as
from tests.http.git.test_git_hooks import Repository
from tests.support.git_payloads import build_check_suite, build_commit, build_pull_request, build_push
from tests.support.server import World


@pytest.mark.long
def test_git_hook_is_created_edited_rotated_and_deleted(chromium: Chromium, world: World) -> None:
    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/companies/{world.company}/projects?project={world.project}&tab=git")
        hooks = page.get_by_role("region", name="Git")
        await hooks.get_by_role("button", name="Add git hook").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name", exact=True).fill("shop/web")
        await dialog.get_by_role("button", name="Create git hook").click()
        url = await dialog.get_by_label("URL", exact=True).input_value()
        secret = await dialog.get_by_label("Secret", exact=True).input_value()
        assert url.startswith(f"{world.box.url}/hooks/git/githook_")
        assert secret.startswith("gitkey_")
        assert await faults(page) == {}
        await dialog.get_by_role("button", name="Done").click()
        row = hooks.get_by_role("listitem")
        await expect(row).to_contain_text("Links and closes tickets · no delivery yet")
        await row.get_by_role("button", name="Edit shop/web").click()
        await dialog.get_by_role("switch", name="Close tickets").click()
        await dialog.get_by_role("button", name="Save git hook").click()
        await expect(row).to_contain_text("Links tickets")
        await row.get_by_role("button", name="Actions for shop/web").click()
        await page.get_by_role("menuitem", name="Rotate secret").click()
        await dialog.get_by_role("button", name="Rotate secret").click()
        await expect(dialog.get_by_role("heading", name="New secret of shop/web")).to_be_visible()
        await expect(dialog.get_by_label("Secret", exact=True)).not_to_have_value(secret)
        await dialog.get_by_role("button", name="Done").click()
        await expect(row).to_contain_text("The old secret expires")
        await row.get_by_role("button", name="Actions for shop/web").click()
        await page.get_by_role("menuitem", name="Delete git hook").click()
        await dialog.get_by_role("button", name="Delete git hook").click()
        await expect_message(page, "Deleted shop/web")
        await expect(row).to_have_count(0)
        watch.assert_clean(world.box)

    chromium.visit(visit)


@pytest.mark.long
def test_ticket_page_shows_links_with_their_states_as_they_change(chromium: Chromium, world: World) -> None:
    repository, ticket = Repository(world), world.ticket()
    repository.queue(build_push(f"{ticket['key']}-cart", build_commit(f"{ticket['key']}: keep the cart")))
    repository.queue(build_pull_request("Keep the cart", f"Fixes {ticket['key']}"))
    repository.queue(build_check_suite("failure"))

    async def visit(page: Page) -> None:
        watch = await open_as(page, world.owner, f"/tickets/{ticket['id']}")
        request = page.get_by_role("link", name="#7 Keep the cart")
        await expect(request).to_have_attribute("href", "https://github.example/shop/web/pull/7")
        await expect(request).to_contain_text("pull request, open, checks fail")
        await expect(page.get_by_role("link", name=f"{ticket['key']}-cart")).to_contain_text("branch, checks fail")
        await expect(page.get_by_role("link", name="6dcb09b5b5")).to_contain_text("commit")
        await expect(page.get_by_text("linked pull request #7")).to_be_visible()
        assert await faults(page) == {}
        merged = build_pull_request("Keep the cart", f"Fixes {ticket['key']}", state="closed", merged=True)
        await asyncio.to_thread(repository.queue, merged)
        await expect(request).to_contain_text("pull request, merged, checks fail")
        await expect(page.get_by_text("reported pull request #7 as merged")).to_be_visible()
        watch.assert_clean(world.box)

    chromium.visit(visit)

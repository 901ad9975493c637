"""From an empty file to an agent and a colleague, as somebody does who reads no docs: by what the screen offers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.e2e.core.test_pages import Watch, fill, submit
from tests.e2e.support.browser import Chromium
from tests.support.server import PASSWORD, Box, ok, run_server


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Box]:
    """A server on a file that nobody set up yet."""
    with run_server(tmp_path, init=False) as box:
        yield box


def test_set_up_board_token_and_colleague(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()

    async def owner(page: Page) -> tuple[str, str]:
        watch = Watch(page)
        await page.goto(address)
        await fill(page, name="Ann", company="Acme", project="Shop")
        await submit(page)
        await page.wait_for_url("**/projects/proj_*")
        await page.get_by_role("button", name="Ann", exact=True).click()
        await page.get_by_role("menuitem", name="Connect agent").click()
        await expect(page.get_by_role("heading", name="Connect an agent", level=1)).to_be_visible()
        await page.get_by_role("link", name="Create token").click()
        await page.get_by_label("Label", exact=True).fill("my agent")
        await page.get_by_role("button", name="Create token").click()
        secret = await page.get_by_role("textbox", name="Token", exact=True).input_value()
        await expect(page.locator("pre")).to_contain_text(secret, use_inner_text=True)
        await page.get_by_role("button", name="Acme").click()
        await page.get_by_role("menuitem", name="Invite people").click()
        await page.get_by_role("button", name="Create link").click()
        link = await page.get_by_label("Link", exact=True).input_value()
        watch.assert_clean(fresh)
        return secret, link

    async def colleague(page: Page) -> None:
        watch = Watch(page)
        await page.goto(link)
        await page.get_by_label("Name").fill("Bob")
        await page.get_by_label("Email address").fill("bob@example.org")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create account and join").click()
        await page.wait_for_url("**/projects/proj_*")
        await page.get_by_role("heading", name="Shop").first.wait_for()
        watch.assert_clean(fresh)

    secret, link = chromium.visit(owner)
    chromium.visit(colleague)
    agent = fresh.client(secret)
    (project,) = ok(agent.get("/projects"))["items"]
    ticket = ok(agent.post("/tickets", json={"project_id": project["id"], "title": "First"}))
    assert (ticket["created"]["token_label"], ticket["created"]["user"]["name"]) == ("my agent", "Ann")


def test_first_bug_is_reported_before_anything_is_installed(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()

    async def report(shop: Page) -> None:
        await shop.get_by_role("button", name="Add Arc floor lamp").click()
        await shop.get_by_role("link", name="Cart 1").click()
        await shop.get_by_role("textbox", name="Gift card").fill("SPRING50")
        async with shop.expect_event("pageerror"):
            await shop.get_by_role("button", name="Apply gift card").click()
        await shop.get_by_role("button", name="Report a problem").click()
        await shop.get_by_label("What is wrong?").fill("Gift cards throw")
        await shop.get_by_role("button", name="Send report").click()
        await expect(shop.get_by_text("Report sent")).to_be_visible()

    async def owner(page: Page) -> None:
        watch = Watch(page)
        await page.goto(address)
        await fill(page, name="Ann", company="Acme", project="Shop")
        await submit(page)
        steps = page.get_by_role("list", name="First steps")
        await expect(steps.get_by_text("Waiting for your first capture")).to_be_visible()
        async with page.expect_popup() as opened:
            await page.get_by_role("button", name="Open sample shop").click()
        await report(await opened.value)
        await expect(steps.get_by_role("link", name="Gift cards throw")).to_be_visible()
        await page.get_by_role("button", name="Open ticket").click()
        await expect(page.get_by_role("heading", name="Gift cards throw")).to_be_visible()
        await expect(page.get_by_text("reading 'amount'").first).to_be_visible()
        await expect(page.get_by_text("1 of 3")).to_be_visible()
        await page.get_by_role("button", name="Dismiss first steps").click()
        await expect(steps).to_have_count(0)
        assert "ended" in await page.evaluate("() => Object.values(localStorage)")
        watch.assert_clean(fresh)

    chromium.visit(owner)

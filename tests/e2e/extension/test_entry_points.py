"""The context menu and the shortcut in Chromium, and a right-to-left page.

The DevTools protocol can't press Chromium's shortcuts or open its menus. So the test dispatches the click on the menu
item to the extension, and reads the shortcut from the browser. In Firefox, the test clicks the menu
(test_firefox_entry_points.py).
"""

from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import Page

from tests.e2e.extension.test_full_page import READ_STATE, wait_until_restored
from tests.e2e.sites.tall_site import TallSite, check_right_to_left
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World

CLICK_MENU_ITEM = """async (url) => {
  const [tab] = await chrome.tabs.query({ url });
  chrome.contextMenus.onClicked.dispatch({ menuItemId: "capture", pageUrl: url, editable: false }, tab);
}"""


async def create_ticket(browser: ExtensionBrowser, page: Page, popup: Page) -> str:
    """Create the ticket, and close all pages. Returns the ticket's URL."""
    key = await browser.file_ticket(popup)
    await page.close()
    return key


@pytest.mark.long
def test_context_menu_item_captures_the_page(connected_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> tuple[str, str]:
        page = await connected_browser.context.new_page()
        await page.goto(f"{tall.url}/inner")
        await page.bring_to_front()
        (background,) = [each for each in connected_browser.context.service_workers if connected_browser.id in each.url]
        # the item exists: the browser rejects another one with its id
        refusal = await background.evaluate(
            "() => new Promise((done) => chrome.contextMenus.create({ id: 'capture', title: 'again' },"
            " () => done(chrome.runtime.lastError?.message ?? '')))"
        )
        await background.evaluate(CLICK_MENU_ITEM, page.url)
        return refusal, await create_ticket(connected_browser, page, await connected_browser.find_popup())

    with TallSite() as tall:
        refusal, key = connected_browser.run(work())
        assert "duplicate id capture" in refusal
        assert ReportedTicket(reporter, key).capture["page"]["url"] == f"{tall.url}/inner"


@pytest.mark.long
def test_shortcut_triggers_the_extension_button(connected_browser: ExtensionBrowser) -> None:
    async def work() -> list[dict[str, str]]:
        options = await connected_browser.open_options()
        commands = await options.evaluate("() => chrome.commands.getAll()")
        await options.close()
        return commands

    (command,) = connected_browser.run(work())
    assert (command["name"], command["shortcut"]) == ("_execute_action", "Alt+Shift+K")


@pytest.mark.long
def test_full_page_screenshot_of_a_right_to_left_page(connected_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await connected_browser.context.new_page()
        await page.goto(f"{tall.url}/right-to-left")
        await page.evaluate("scrollTo({ top: 700, left: -100, behavior: 'instant' })")
        before = await page.evaluate(READ_STATE)
        popup = await connected_browser.open_popup(page)
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_role("button", name="Use visible part").wait_for(timeout=120_000)
        await wait_until_restored(page, before)
        return await create_ticket(connected_browser, page, popup)

    with TallSite() as tall:
        ticket = ReportedTicket(reporter, connected_browser.run(work()))
    check_right_to_left(Image.open(BytesIO(ticket.screenshot.content)).convert("RGB"))

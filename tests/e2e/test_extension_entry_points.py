"""The other ways to a capture in Chromium, and a page from right to left.

Chromium takes neither the shortcut's keys nor its own menu from the debugging protocol. The entry of the menu is what
the extension registered, and the click on it is given to the real listener; that the shortcut is the button's own, and
which keys it has, is asked of the browser. In Firefox the menu is clicked (test_extension_firefox_by_hand.py).
"""

from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import Page

from tests.box import World
from tests.e2e.extension_browser import ExtensionBrowser
from tests.e2e.reported_ticket import ReportedTicket
from tests.e2e.tall_site import TallSite, check_leftward

CHOOSE = """async (url) => {
  const [tab] = await chrome.tabs.query({ url });
  chrome.contextMenus.onClicked.dispatch({ menuItemId: "capture", pageUrl: url, editable: false }, tab);
}"""


@pytest.fixture(scope="module")
def connected(launch_extension: Callable[..., ExtensionBrowser], reporter: World) -> ExtensionBrowser:
    """A browser whose owner connected by a token."""
    browser = launch_extension()
    browser.run(browser.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write")))
    return browser


async def sent(browser: ExtensionBrowser, page: Page, popup: Page) -> str:
    """Press Send; gives the ticket's address, and closes what is open."""
    ticket = await browser.create_ticket(popup)
    address = ticket.url
    await ticket.close()
    await page.close()
    return address


def test_the_entry_in_the_pages_menu_captures_it(connected: ExtensionBrowser, reporter: World) -> None:
    async def work() -> tuple[str, str]:
        page = await connected.context.new_page()
        await page.goto(f"{tall.url}/inner")
        await page.bring_to_front()
        (background,) = [each for each in connected.context.service_workers if connected.id in each.url]
        # the entry is there already: the browser refuses a second of its name
        refusal = await background.evaluate(
            "() => new Promise((done) => chrome.contextMenus.create({ id: 'capture', title: 'again' },"
            " () => done(chrome.runtime.lastError?.message ?? '')))"
        )
        await background.evaluate(CHOOSE, page.url)
        return refusal, await sent(connected, page, await connected.find_popup())

    with TallSite() as tall:
        refusal, address = connected.run(work())
        assert "duplicate id capture" in refusal
        assert ReportedTicket(reporter, address).capture["page"]["url"] == f"{tall.url}/inner"


def test_the_shortcut_is_the_buttons_own(connected: ExtensionBrowser) -> None:
    async def work() -> list[dict[str, str]]:
        options = await connected.open_options()
        found = await options.evaluate("() => chrome.commands.getAll()")
        await options.close()
        return found

    (command,) = connected.run(work())
    assert (command["name"], command["shortcut"]) == ("_execute_action", "Alt+Shift+K")


@pytest.mark.long
def test_a_page_from_right_to_left_goes_on_to_its_left(connected: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await connected.context.new_page()
        await page.goto(f"{tall.url}/leftward")
        await page.evaluate("scrollTo({ top: 700, left: -100, behavior: 'instant' })")
        look = "() => [scrollX, scrollY, document.documentElement.outerHTML]"
        before = await page.evaluate(look)
        popup = await connected.open_popup(page)
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_role("button", name="Use visible part").wait_for(timeout=50_000)
        assert await page.evaluate(look) == before
        return await sent(connected, page, popup)

    with TallSite() as tall:
        ticket = ReportedTicket(reporter, connected.run(work()))
    check_leftward(Image.open(BytesIO(ticket.screenshot.content)).convert("RGB"))

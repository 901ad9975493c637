"""Full-page screenshots: composed without a seam, and the page is restored afterwards."""

import contextlib
import re
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Error, Page, expect

from tests.e2e.sites.tall_site import BAR, BLUE, CELL_HEIGHT, CELL_WIDTH, COLUMNS, RED, ROWS, TallSite, colour
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World

pytestmark = pytest.mark.long

READ_STATE = "() => [scrollX, scrollY, document.documentElement.outerHTML]"
SCROLLED = 700


@pytest.fixture(scope="module")
def tall() -> Iterator[TallSite]:
    """A site with pages taller than the window."""
    with TallSite() as running:
        yield running


async def visit(browser: ExtensionBrowser, address: str, scrolled: int = SCROLLED) -> tuple[Page, list[Any]]:
    """Open and scroll a page. Returns it with its state before the capture."""
    page = await browser.context.new_page()
    await page.goto(address)
    await page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", scrolled)
    return page, await page.evaluate(READ_STATE)


async def wait_until_restored(page: Page, before: list[Any]) -> None:
    """Wait until a page has its previous state."""
    with contextlib.suppress(Error):
        await page.wait_for_function(f"(before) => String(({READ_STATE})()) === String(before)", arg=before)
    assert await page.evaluate(READ_STATE) == before


async def report_full_page(browser: ExtensionBrowser, page: Page) -> str:
    """Capture the full page, and create the ticket. Returns its key."""
    popup = await browser.open_popup(page)
    await popup.get_by_role("button", name="Capture full page").click()
    await popup.get_by_role("button", name="Use visible part").wait_for(timeout=120_000)
    return await browser.file_ticket(popup)


@contextlib.asynccontextmanager
async def enlarge_window(browser: ExtensionBrowser, page: Page) -> AsyncIterator[None]:
    """Show a page in a window that is three times as high."""
    devtools = await browser.context.new_cdp_session(page)
    window = await devtools.send("Browser.getWindowForTarget")
    given, height = {"windowId": window["windowId"]}, window["bounds"]["height"]
    try:
        await devtools.send("Browser.setWindowBounds", {**given, "bounds": {"height": 3 * height}})
        await page.wait_for_function("(height) => innerHeight > height", arg=2 * height)
        yield
    finally:
        await devtools.send("Browser.setWindowBounds", {**given, "bounds": {"height": height}})


async def zoom(browser: ExtensionBrowser, site: TallSite, times: float) -> None:
    """Zoom the grid's tab."""
    options = await browser.open_options()
    await options.evaluate(
        """async ([url, times]) => {
          const [tab] = await chrome.tabs.query({ url: `${url}/grid` });
          await chrome.tabs.setZoom(tab.id, times);
        }""",
        [site.url, times],
    )
    await options.close()


def open_screenshot(ticket: ReportedTicket) -> Image.Image:
    """The ticket's screenshot."""
    return Image.open(BytesIO(ticket.screenshot.content)).convert("RGB")


def test_full_page_screenshot_has_no_seam(connected_browser: ExtensionBrowser, reporter: World, tall: TallSite) -> None:
    async def work() -> tuple[str, bytes]:
        page, before = await visit(connected_browser, f"{tall.url}/grid")
        key = await report_full_page(connected_browser, page)
        await wait_until_restored(page, before)
        await page.evaluate("scrollTo({ top: 0, behavior: 'instant' }); document.querySelector('footer').remove()")
        drawn = await page.screenshot(full_page=True)
        await page.close()
        return key, drawn

    key, drawn = connected_browser.run(work())
    ticket = ReportedTicket(reporter, key)
    screenshot, expected = open_screenshot(ticket), Image.open(BytesIO(drawn)).convert("RGB")
    assert screenshot.height == expected.height == BAR + ROWS * CELL_HEIGHT
    for row in range(ROWS):
        for column in range(COLUMNS):
            left, top = column * CELL_WIDTH, BAR + row * CELL_HEIGHT
            piece = (left, top, left + CELL_WIDTH, min(top + CELL_HEIGHT, screenshot.height - BAR))
            assert screenshot.getpixel((piece[2] - 2, piece[3] - 2)) == colour(row, column), (row, column)
            assert ImageChops.difference(screenshot.crop(piece), expected.crop(piece)).getbbox() is None, (row, column)
    colours = [screenshot.getpixel((screenshot.width - 20, y)) for y in range(screenshot.height)]
    assert [y for y, each in enumerate(colours) if each == RED] == list(range(BAR)), (
        "the sticky header is shown once, at the top"
    )
    assert [y for y, each in enumerate(colours) if each == BLUE] == list(
        range(screenshot.height - BAR, screenshot.height)
    )
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 0}
    assert "The picture shows the page from top to bottom" in ticket.capture["health_summary"]


def test_full_page_screenshot_of_a_zoomed_page_has_every_device_pixel(
    connected_browser: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> str:
        page, _ = await visit(connected_browser, f"{tall.url}/grid", 0)
        await zoom(connected_browser, tall, 1.5)
        await page.wait_for_function("devicePixelRatio === 1.5")
        key = await report_full_page(connected_browser, page)
        await zoom(connected_browser, tall, 1)  # the browser applies the zoom to the whole site
        await page.close()
        return key

    screenshot = open_screenshot(ReportedTicket(reporter, connected_browser.run(work())))
    assert screenshot.height == (BAR + ROWS * CELL_HEIGHT) * 1.5
    for row in range(ROWS - 1):
        for column in range(COLUMNS):
            at = (round((column + 0.9) * CELL_WIDTH * 1.5), round((BAR + (row + 0.5) * CELL_HEIGHT) * 1.5))
            assert screenshot.getpixel(at) == colour(row, column), (row, column)


def test_scrollable_areas_are_counted(connected_browser: ExtensionBrowser, reporter: World, tall: TallSite) -> None:
    async def work() -> str:
        page, _ = await visit(connected_browser, f"{tall.url}/inner")
        popup = await connected_browser.open_popup(page)
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_role("button", name="Use visible part").wait_for(timeout=120_000)
        await popup.close()
        # the screenshot took long, so it must survive closing the popup
        popup = await connected_browser.open_popup(page)
        await expect(popup.get_by_alt_text("The full page")).to_be_visible()
        key = await connected_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, connected_browser.run(work()))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 2}
    assert "2 parts scroll separately" in ticket.capture["health_summary"]


def test_page_beyond_the_limits_is_cut_and_marked(
    connected_browser: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> str:
        page, _ = await visit(connected_browser, f"{tall.url}/endless")
        # the browser takes two pictures a second, so they are large
        async with enlarge_window(connected_browser, page):
            key = await report_full_page(connected_browser, page)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, connected_browser.run(work()))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": True, "inner": 0}
    assert "The page goes on where the picture ends." in ticket.capture["health_summary"]
    assert open_screenshot(ticket).height == 32_767


def test_full_page_screenshot_goes_on_when_the_popup_closes(
    connected_browser: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> str:
        page, before = await visit(connected_browser, f"{tall.url}/grid")
        popup = await connected_browser.open_popup(page)
        await popup.get_by_label("Title").fill("Closed meanwhile")
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_text(re.compile(r"Part ([2-9]|\d\d) of")).wait_for()
        await popup.close()
        popup = await connected_browser.open_popup(page)
        await expect(popup.get_by_alt_text("The full page")).to_be_visible(timeout=120_000)
        await expect(popup.get_by_role("button", name="Capture full page")).to_have_count(0)
        await wait_until_restored(page, before)
        key = await connected_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, connected_browser.run(work()))
    assert ticket.record["title"] == "Closed meanwhile"
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 0}
    assert open_screenshot(ticket).height == BAR + ROWS * CELL_HEIGHT


@pytest.mark.parametrize("end", ["cancel", "leave"])
def test_interrupted_full_page_screenshot_restores_the_page(
    connected_browser: ExtensionBrowser, tall: TallSite, end: str
) -> None:
    async def work() -> None:
        page, _ = await visit(connected_browser, f"{tall.url}/grid")
        await page.evaluate("() => { document.querySelector('main').style.paddingBottom = '20000px'; }")  # takes longer
        before = await page.evaluate(READ_STATE)
        popup = await connected_browser.open_popup(page)
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_text(re.compile(r"Part ([3-9]|\d\d) of")).wait_for()
        assert await page.evaluate(READ_STATE) != before
        if end == "cancel":
            await popup.get_by_role("button", name="Cancel").click()
            await popup.get_by_role("button", name="Capture full page").wait_for()
            await expect(popup.get_by_role("alert")).to_have_count(0)
        else:
            await page.goto(f"{tall.url}/inner")
            await popup.get_by_text("The full page couldn’t be captured.").wait_for()
            await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
            await page.close()
            return
        await wait_until_restored(page, before)
        await page.close()

    connected_browser.run(work())

"""The picture of a whole page: put together without a seam, and the page afterwards as if nothing had been."""

import contextlib
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Error, Page, expect

from tests.box import World
from tests.e2e.extension_browser import ExtensionBrowser
from tests.e2e.reported_ticket import ReportedTicket
from tests.e2e.tall_site import BAR, BLUE, CELL, COLUMNS, RED, ROWS, WIDE, TallSite, colour

pytestmark = pytest.mark.long

LOOK = "() => [scrollX, scrollY, document.documentElement.outerHTML]"
SCROLLED = 700


@pytest.fixture(scope="module")
def tall() -> Iterator[TallSite]:
    """A page that no window holds."""
    with TallSite() as running:
        yield running


@pytest.fixture(scope="module")
def connected(launch_extension: Callable[..., ExtensionBrowser], reporter: World) -> ExtensionBrowser:
    """A browser whose owner connected by a token."""
    browser = launch_extension()
    browser.run(browser.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write")))
    return browser


async def visit(browser: ExtensionBrowser, address: str, scrolled: int = SCROLLED) -> tuple[Page, list[Any]]:
    """Open a page and scroll; gives how it looks before anything is taken of it."""
    page = await browser.context.new_page()
    await page.goto(address)
    await page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", scrolled)
    return page, await page.evaluate(LOOK)


async def back(page: Page, before: list[Any]) -> None:
    """Wait until a page looks as before."""
    with contextlib.suppress(Error):
        await page.wait_for_function(f"(before) => String(({LOOK})()) === String(before)", arg=before)
    assert await page.evaluate(LOOK) == before


async def take(browser: ExtensionBrowser, page: Page) -> str:
    """Click, take the whole page, send; gives the ticket's address."""
    popup = await browser.open_popup(page)
    await popup.get_by_role("button", name="Capture full page").click()
    await popup.get_by_role("button", name="Use visible part").wait_for(timeout=120_000)
    ticket = await browser.create_ticket(popup)
    address = ticket.url
    await ticket.close()
    return address


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


def picture(ticket: ReportedTicket) -> Image.Image:
    """The ticket's picture as it was sent."""
    return Image.open(BytesIO(ticket.screenshot.content)).convert("RGB")


def test_a_tall_page_is_put_together_without_a_seam(
    connected: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> tuple[str, bytes]:
        page, before = await visit(connected, f"{tall.url}/grid")
        address = await take(connected, page)
        await back(page, before)
        await page.evaluate("scrollTo({ top: 0, behavior: 'instant' }); document.querySelector('footer').remove()")
        drawn = await page.screenshot(full_page=True)
        await page.close()
        return address, drawn

    address, drawn = connected.run(work())
    ticket = ReportedTicket(reporter, address)
    taken, truth = picture(ticket), Image.open(BytesIO(drawn)).convert("RGB")
    assert taken.height == truth.height == BAR + ROWS * CELL
    for row in range(ROWS):
        for column in range(COLUMNS):
            left, top = column * WIDE, BAR + row * CELL
            piece = (left, top, left + WIDE, min(top + CELL, taken.height - BAR))
            assert taken.getpixel((piece[2] - 2, piece[3] - 2)) == colour(row, column), (row, column)
            assert ImageChops.difference(taken.crop(piece), truth.crop(piece)).getbbox() is None, (row, column)
    colours = [taken.getpixel((taken.width - 20, y)) for y in range(taken.height)]
    assert [y for y, each in enumerate(colours) if each == RED] == list(range(BAR)), "what sticks stands once, on top"
    assert [y for y, each in enumerate(colours) if each == BLUE] == list(range(taken.height - BAR, taken.height))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 0}
    assert "The picture shows the page from top to bottom" in ticket.capture["health_summary"]


def test_a_zoomed_page_has_all_of_the_screens_pixels(
    connected: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> str:
        page, _ = await visit(connected, f"{tall.url}/grid", 0)
        await zoom(connected, tall, 1.5)
        await page.wait_for_function("devicePixelRatio === 1.5")
        address = await take(connected, page)
        await zoom(connected, tall, 1)  # the browser remembers it for all pages of the site
        await page.close()
        return address

    taken = picture(ReportedTicket(reporter, connected.run(work())))
    assert taken.height == (BAR + ROWS * CELL) * 1.5
    for row in range(ROWS - 1):
        for column in range(COLUMNS):
            at = (round((column + 0.9) * WIDE * 1.5), round((BAR + (row + 0.5) * CELL) * 1.5))
            assert taken.getpixel(at) == colour(row, column), (row, column)


def test_what_scrolls_inside_the_page_is_told(connected: ExtensionBrowser, reporter: World, tall: TallSite) -> None:
    async def work() -> str:
        page, _ = await visit(connected, f"{tall.url}/inner")
        address = await take(connected, page)
        await page.close()
        return address

    ticket = ReportedTicket(reporter, connected.run(work()))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 2}
    assert "2 parts scroll by themselves" in ticket.capture["health_summary"]


def test_a_page_beyond_every_limit_is_cut_and_says_so(
    connected: ExtensionBrowser, reporter: World, tall: TallSite
) -> None:
    async def work() -> str:
        page, _ = await visit(connected, f"{tall.url}/endless")
        address = await take(connected, page)
        await page.close()
        return address

    ticket = ReportedTicket(reporter, connected.run(work()))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": True, "inner": 0}
    assert "The page goes on where the picture ends." in ticket.capture["health_summary"]
    assert picture(ticket).height == 32_767


@pytest.mark.parametrize("end", ["cancel", "close", "leave"])
def test_a_picture_that_ends_half_way_leaves_the_page_as_it_was(
    connected: ExtensionBrowser, tall: TallSite, end: str
) -> None:
    async def work() -> None:
        page, before = await visit(connected, f"{tall.url}/grid")
        popup = await connected.open_popup(page)
        await popup.get_by_role("button", name="Capture full page").click()
        await popup.get_by_text("Part 3 of").wait_for()
        assert await page.evaluate(LOOK) != before
        if end == "cancel":
            await popup.get_by_role("button", name="Cancel").click()
            await popup.get_by_role("button", name="Capture full page").wait_for()
            await expect(popup.get_by_role("alert")).to_have_count(0)
        elif end == "close":
            await popup.close()
        else:
            await page.goto(f"{tall.url}/inner")
            await popup.get_by_text("The full page couldn’t be captured.").wait_for()
            await expect(popup.get_by_role("button", name="Create ticket")).to_be_enabled()
            await page.close()
            return
        await back(page, before)
        await page.close()

    connected.run(work())

"""The extension in Firefox: sign-in, the shortcut, the context menu and full-page screenshots.

The right click and the menu are real. The keys of the shortcut can't be pressed, so the test triggers the browser's
command for Alt+Shift+K. The manifest grants the permission for a site (tests/e2e/support/extension_browser.py).
"""

import json
from collections.abc import Iterator
from io import BytesIO

import pytest
from PIL import Image

from tests.e2e.sites.tall_site import (
    BAR,
    BLUE,
    CELL_HEIGHT,
    CELL_WIDTH,
    COLUMNS,
    RED,
    ROWS,
    TallSite,
    check_right_to_left,
    colour,
)
from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import POPUP, create_ticket, open_ticket, require_firefox
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket
from tests.support.server import PASSWORD, World, eventually, ok
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

FILL_FIELD = """((selector, text) => {
  const field = document.querySelector(selector);
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
})"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Firefox with the extension, not connected."""
    archive = (EXTENSION / "firefox.zip").read_bytes()
    with Firefox(require_firefox(), archive, tmp_path_factory.mktemp("firefox")) as running:
        yield running


@pytest.fixture(scope="module")
def connected(firefox: Firefox, reporter: World) -> str:
    """The options page of the extension, which is connected by OAuth and records all sites."""
    options = firefox.open_options()
    firefox.wait_until(options, "document.querySelector('[autocomplete=url]')")
    firefox.evaluate(options, f"{FILL_FIELD}('[autocomplete=url]', {json.dumps(reporter.box.url)})")
    firefox.click_button(options, "Connect")
    consent = eventually(lambda: _tabs(firefox, f"{reporter.box.url}/"), seconds=30)[0]
    firefox.wait_until(consent, "document.querySelector('[type=password]')")
    firefox.evaluate(consent, f"{FILL_FIELD}('[type=email]', {json.dumps(reporter.owner.email)})")
    firefox.evaluate(consent, f"{FILL_FIELD}('[type=password]', {json.dumps(PASSWORD)})")
    firefox.click_button(consent, "Sign in")
    firefox.wait_until(consent, "document.body?.innerText.includes('Approve')")
    firefox.click_button(consent, "Approve")
    firefox.wait_until(options, f"document.body?.innerText.includes({json.dumps(reporter.owner.email)})")
    eventually(lambda: _tabs(firefox, f"{reporter.box.url}/") == [], seconds=30)
    firefox.click_button(options, "Record all sites")
    firefox.wait_until(options, "document.body?.innerText.includes('Stop recording')")
    return options


def _tabs(firefox: Firefox, start: str) -> list[str]:
    return [each["context"] for each in firefox.list_contexts() if each["url"].startswith(start)]


def test_user_signs_in_by_oauth_and_captures(
    firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite
) -> None:
    (app,) = ok(reporter.owner.web.get("/connected-apps"))["items"]
    assert (app["name"], app["scopes"]) == ("ticketbox browser extension", ["tickets:assign", "tickets:write"])
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.open_popup(page)
    ticket = ReportedTicket(reporter, open_ticket(firefox, connected))
    assert ticket.stream_statuses() == dict.fromkeys(STREAMS, ("ok", None))
    assert ticket.record["created"]["via"] == "extension"
    assert "Firefox" in ticket.capture["environment"]["browser"]
    assert ticket.console_args() == [["from plain", "/plain"]]
    assert ticket.request_summaries() == [("document", "/plain", 200), ("fetch", "/data.json?from=plain", 200)]
    (error,) = ticket.streams["errors"]
    assert (error["kind"], error["name"], error["message"]) == ("error", "RangeError", "broken in plain")
    assert "extension://" not in json.dumps(ticket.streams)
    assert ticket.screenshot.headers["content-type"] == "image/png"


def test_shortcut_captures_the_page(firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite) -> None:
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.press_shortcut(page, "alt,shift", "K")
    ticket = ReportedTicket(reporter, create_ticket(firefox, connected))
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/plain"
    assert ticket.console_args() == [["from plain", "/plain"]]


def test_context_menu_item_captures_the_page(
    firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite
) -> None:
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.choose_menu_item(page, "Report a bug on this page")
    ticket = ReportedTicket(reporter, create_ticket(firefox, connected))
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/plain"
    assert ticket.console_args() == [["from plain", "/plain"]]


def capture_full_page(firefox: Firefox, options: str, world: World, address: str) -> tuple[ReportedTicket, Image.Image]:
    """Capture a scrolled page in full, and check that it is restored. Returns the ticket and its screenshot."""
    page = firefox.open(address)
    firefox.evaluate(page, "scrollTo({ top: 700, behavior: 'instant' })")
    look = "JSON.stringify([scrollX, scrollY, document.documentElement.outerHTML])"
    before = firefox.evaluate(page, look)
    firefox.open_popup(page)
    every = f"[...({POPUP}?.document.querySelectorAll('button') ?? [])]"
    button = f"{every}.find((each) => (each.ariaLabel ?? each.textContent).includes"
    firefox.wait_until(options, f"{button}('Capture full page'))?.disabled === false")
    firefox.evaluate(options, f"{button}('Capture full page')).click()")
    firefox.wait_until(options, f"{button}('Use visible part'))")
    eventually(lambda: firefox.evaluate(page, look) == before)
    ticket = ReportedTicket(world, create_ticket(firefox, options))
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 0}
    return ticket, Image.open(BytesIO(ticket.screenshot.content)).convert("RGB")


def test_full_page_screenshot_has_no_seam(firefox: Firefox, connected: str, reporter: World) -> None:
    with TallSite() as tall:
        _, screenshot = capture_full_page(firefox, connected, reporter, f"{tall.url}/grid")
    assert screenshot.height == BAR + ROWS * CELL_HEIGHT
    for row in range(ROWS - 1):
        for column in range(COLUMNS):
            at = ((column + 1) * CELL_WIDTH - 2, BAR + row * CELL_HEIGHT + CELL_HEIGHT - 2)
            assert screenshot.getpixel(at) == colour(row, column), (row, column)
    colours = [screenshot.getpixel((screenshot.width - 20, y)) for y in range(screenshot.height)]
    assert [y for y, each in enumerate(colours) if each == RED] == list(range(BAR)), (
        "the sticky header is shown once, at the top"
    )
    assert [y for y, each in enumerate(colours) if each == BLUE] == list(
        range(screenshot.height - BAR, screenshot.height)
    )


def test_full_page_screenshot_of_a_right_to_left_page(firefox: Firefox, connected: str, reporter: World) -> None:
    with TallSite() as tall:
        _, screenshot = capture_full_page(firefox, connected, reporter, f"{tall.url}/right-to-left")
    check_right_to_left(screenshot)

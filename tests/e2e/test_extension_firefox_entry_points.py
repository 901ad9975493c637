"""What a person does in Firefox: signs in, uses the shortcut and the page's menu, takes a page that no window holds.

The right click and the menu are the browser's own. Of the shortcut, everything is real but the pressing of the keys:
the browser's entry for Alt+Shift+K is told that it was used. The question about a site is answered beforehand, in the
manifest (tests/e2e/extension.py).
"""

import json
import os
from collections.abc import Iterator
from io import BytesIO

import pytest
from PIL import Image

from tests.box import PASSWORD, World, eventually, ok
from tests.e2e.firefox import Firefox, find_firefox
from tests.e2e.reported_ticket import STREAMS, ReportedTicket
from tests.e2e.tall_site import BAR, BLUE, CELL, COLUMNS, RED, ROWS, WIDE, TallSite, check_leftward, colour
from tests.e2e.varied_site import VariedSite
from ticketbox.surfaces.spa import EXTENSION

pytestmark = pytest.mark.long

POPUP = "chrome.extension.getViews({ type: 'popup' })[0]"
TYPE = """((selector, text) => {
  const field = document.querySelector(selector);
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
})"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """A Firefox with the extension, not connected yet."""
    executable = find_firefox()
    if executable is None:
        reason = "there is no Firefox on the PATH, which this test drives"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    archive = (EXTENSION / "firefox.zip").read_bytes()
    with Firefox(executable, archive, tmp_path_factory.mktemp("firefox")) as running:
        yield running


@pytest.fixture(scope="module")
def connected(firefox: Firefox, reporter: World) -> str:
    """The settings of the extension, connected by OAuth in the tab that opens, with every site recorded."""
    options = firefox.open_options()
    firefox.wait_until(options, "document.querySelector('[autocomplete=url]')")
    firefox.evaluate(options, f"{TYPE}('[autocomplete=url]', {json.dumps(reporter.box.url)})")
    firefox.click_button(options, "Connect")
    consent = eventually(lambda: _tabs(firefox, f"{reporter.box.url}/"), seconds=30)[0]
    firefox.wait_until(consent, "document.querySelector('[type=password]')")
    firefox.evaluate(consent, f"{TYPE}('[type=email]', {json.dumps(reporter.owner.email)})")
    firefox.evaluate(consent, f"{TYPE}('[type=password]', {json.dumps(PASSWORD)})")
    firefox.click_button(consent, "Sign in")
    firefox.wait_until(consent, "document.body.innerText.includes('Approve')")
    firefox.click_button(consent, "Approve")
    firefox.wait_until(options, f"document.body.innerText.includes({json.dumps(reporter.owner.email)})")
    eventually(lambda: _tabs(firefox, f"{reporter.box.url}/") == [], seconds=30)
    firefox.click_button(options, "Record all sites")
    firefox.wait_until(options, "document.body.innerText.includes('Stop recording')")
    return options


def _tabs(firefox: Firefox, start: str) -> list[str]:
    return [each["context"] for each in firefox.list_contexts() if each["url"].startswith(start)]


def send(firefox: Firefox, options: str, world: World) -> ReportedTicket:
    """Press Send in what popped up; gives the ticket, and closes its tab."""
    firefox.wait_until(options, f"{POPUP}?.document.querySelector('[type=submit]:enabled')")
    firefox.evaluate(options, f"{POPUP}.document.querySelector('[type=submit]').click()")
    (tab,) = eventually(lambda: [each for each in firefox.list_contexts() if "/tickets/" in each["url"]], seconds=30)
    firefox.call("browsingContext.close", context=tab["context"])
    return ReportedTicket(world, tab["url"])


def test_one_signs_in_by_oauth_in_a_tab_and_captures(
    firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite
) -> None:
    (app,) = ok(reporter.owner.web.get("/connected-apps"))["items"]
    assert (app["name"], app["scopes"]) == ("ticketbox browser extension", ["tickets:write"])
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.open_popup(page)
    ticket = send(firefox, connected, reporter)
    assert ticket.stream_statuses() == dict.fromkeys(STREAMS, ("ok", None))
    assert ticket.record["created"]["via"] == "extension"
    assert ticket.console_args() == [["from plain", "/plain"]]


def test_the_shortcut_captures_the_page(
    firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite
) -> None:
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.press_shortcut(page, "alt,shift", "K")
    ticket = send(firefox, connected, reporter)
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/plain"
    assert ticket.console_args() == [["from plain", "/plain"]]


def test_the_entry_in_the_pages_menu_captures_it(
    firefox: Firefox, connected: str, reporter: World, varied_site: VariedSite
) -> None:
    page = firefox.open(f"{varied_site.url}/plain")
    firefox.wait_until(page, "document.title === 'plain'")
    firefox.choose_menu_item(page, "Report a bug on this page")
    ticket = send(firefox, connected, reporter)
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/plain"
    assert ticket.console_args() == [["from plain", "/plain"]]


def take(firefox: Firefox, options: str, world: World, address: str) -> tuple[ReportedTicket, Image.Image]:
    """Scroll a page a little and take all of it; it is as before. Gives the ticket and its picture."""
    page = firefox.open(address)
    firefox.evaluate(page, "scrollTo({ top: 700, behavior: 'instant' })")
    look = "JSON.stringify([scrollX, scrollY, document.documentElement.outerHTML])"
    before = firefox.evaluate(page, look)
    firefox.open_popup(page)
    button = f"[...({POPUP}?.document.querySelectorAll('button') ?? [])].find((each) => each.textContent.includes"
    firefox.wait_until(options, f"{button}('Capture full page'))")
    firefox.evaluate(options, f"{button}('Capture full page')).click()")
    firefox.wait_until(options, f"{button}('Use visible part'))")
    assert firefox.evaluate(page, look) == before
    ticket = send(firefox, options, world)
    assert ticket.capture["health"]["screenshot"] == {"extent": "full_page", "cut": False, "inner": 0}
    return ticket, Image.open(BytesIO(ticket.screenshot.content)).convert("RGB")


def test_a_tall_page_is_put_together_without_a_seam(firefox: Firefox, connected: str, reporter: World) -> None:
    with TallSite() as tall:
        _, taken = take(firefox, connected, reporter, f"{tall.url}/grid")
    assert taken.height == BAR + ROWS * CELL
    for row in range(ROWS - 1):
        for column in range(COLUMNS):
            at = ((column + 1) * WIDE - 2, BAR + row * CELL + CELL - 2)
            assert taken.getpixel(at) == colour(row, column), (row, column)
    colours = [taken.getpixel((taken.width - 20, y)) for y in range(taken.height)]
    assert [y for y, each in enumerate(colours) if each == RED] == list(range(BAR)), "what sticks stands once, on top"
    assert [y for y, each in enumerate(colours) if each == BLUE] == list(range(taken.height - BAR, taken.height))


def test_a_page_from_right_to_left_goes_on_to_its_left(firefox: Firefox, connected: str, reporter: World) -> None:
    with TallSite() as tall:
        _, taken = take(firefox, connected, reporter, f"{tall.url}/leftward")
    check_leftward(taken)

"""The reporter on a page of another origin: what a stranger sees, sends and can leave out."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import FilePayload, Page, Route, expect

from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.app import find_still_box
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults
from tests.http.reports.test_reports import AWS_KEY, Reporter
from tests.support.operation_cases import draw_address
from tests.support.pictures import png
from tests.support.server import World, ok

pytestmark = pytest.mark.long

CHANGED_FUNCTIONS = """
Array.prototype.toJSON = function () { return 'an array'; };
Array.prototype.shuffle = function () { return this; };
const { parse, stringify } = JSON, { fetch: ask } = window, { map } = Array.prototype;
JSON.stringify = (...given) => stringify(...given);
JSON.parse = (...given) => parse(...given);
Array.prototype.map = function (...given) { return map.apply(this, given); };
window.fetch = (...given) => ask(...given);
"""

MOVE_INTO_COMPONENT = """() => {
  const component = document.body.appendChild(document.createElement('div'));
  component.attachShadow({ mode: 'open' }).append(document.querySelector('#help'));
}"""

# Click, and say whether the dialog is open before the next event is handled.
CLICK = """async (button) => {
  button.click();
  await new Promise(queueMicrotask);
  return button.getRootNode().querySelector('dialog').open;
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[ReportingSite]:
    """The site that embeds the reporter."""
    with ReportingSite() as running:
        yield running


def embed(world: World, site: ReportingSite, attributes: str = "") -> Reporter:
    """Embed the reporter with a key for the site's first origin."""
    reporter = Reporter(world, origins=[site.url])
    site.embed(world.box.url, reporter.key["key"], attributes)
    return reporter


async def press_send(page: Page) -> None:
    """Send the report from an address that nobody else has: reports of one address are limited."""

    async def forward(route: Route) -> None:
        await route.continue_(headers={**route.request.headers, "X-Forwarded-For": draw_address()})

    await page.route("**/api/v1/reports/*", forward)
    await page.get_by_role("button", name="Send report").click()


def read_capture(world: World, reporter: Reporter) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The only report's ticket, and the streams of its capture."""
    (ticket,) = reporter.find_tickets()
    detail = ok(world.api.get(f"/tickets/{ticket['id']}"))
    path = f"/captures/{detail['capture']['id']}"
    names = ("console", "network", "errors", "actions")
    return detail, {name: ok(world.api.get(f"{path}/{name}"))["items"] for name in names}


def test_stranger_reports_from_a_page_with_a_strict_policy(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        await page.goto(f"{site.url}/cart?api_key={AWS_KEY}")
        await page.get_by_role("button", name="Add lamp").click()
        assert await faults(page) == {}
        launcher = page.get_by_role("button", name="Report a problem")
        await launcher.focus()
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Report a problem")
        title = dialog.get_by_label("What is wrong?")
        await expect(title).to_be_focused()
        assert await faults(page) == {}
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        assert await launcher.evaluate(CLICK)  # what is typed next must not reach the page
        await page.keyboard.type("The cart stays empty")
        await dialog.get_by_label("What did you do, and what happened?").fill("I added the lamp.")
        await dialog.get_by_label("Your email").fill("ann@example.org")
        picture: FilePayload = {"name": "shot.png", "mimeType": "image/png", "buffer": png()}
        await dialog.get_by_label("Pictures and files").set_input_files([picture])
        await expect(dialog.get_by_role("button", name="Remove shot.png")).to_be_visible()
        await expect(dialog).not_to_contain_text(AWS_KEY)
        await page.keyboard.press("Control+Enter")
        receipt = page.get_by_role("dialog", name="Report sent").get_by_role("link", name="Open receipt")
        await expect(receipt).to_be_visible()
        assert await faults(page) == {}
        address = await receipt.get_attribute("href")
        assert address is not None
        await page.goto(address)
        await expect(page.get_by_role("status")).to_contain_text("Received.")

    chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    assert (detail["title"], detail["description"]) == ("The cart stays empty", "I added the lamp.")
    assert [each["name"] for each in detail["attachments"]] == ["shot.png"]
    assert detail["capture"]["page"]["url"].startswith(f"{site.url}/cart")
    assert AWS_KEY not in str((detail, streams))
    assert [each["args"] for each in streams["console"]] == [["cart is", "broken"]]
    assert ("TypeError", "no lamp") in [(each["name"], each["message"]) for each in streams["errors"]]
    assert not [each for each in streams["errors"] if each["kind"] == "csp"]
    assert [each["url"] for each in streams["network"]][-1:] == [f"{site.url}/shop.js"]
    words = " ".join(each["words"] for each in streams["actions"])
    assert "Add lamp" in words
    assert "Report" not in words
    health = detail["capture"]["health"]
    assert (health["console"]["status"], health["actions"]["status"]) == ("ok", "ok")


def test_parts_are_removed_and_other_origins_are_refused(chromium: Chromium, world: World, site: ReportingSite) -> None:
    reporter = embed(world, site, ' data-trigger="#help" data-theme="dark"')

    async def visit(page: Page) -> None:
        await page.goto(f"{site.url}/cart")
        await page.get_by_role("button", name="Add lamp").click()
        await expect(page.get_by_role("button", name="Report a problem")).to_have_count(0)
        await page.get_by_role("button", name="Help").click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        await dialog.get_by_label("What is wrong?").fill("No console")
        await dialog.get_by_text("Console", exact=True).click()
        assert await faults(page) == {}
        await dialog.get_by_role("button", name="Remove all of Console").click()
        await expect(dialog.get_by_text("Console", exact=True)).to_have_count(0)
        await press_send(page)
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()
        other = site.url.replace("127.0.0.1", "127.0.0.2")
        await page.goto(f"{other}/cart")
        await page.evaluate(MOVE_INTO_COMPONENT)
        await page.get_by_role("button", name="Help").click()
        await dialog.get_by_label("What is wrong?").fill("From elsewhere")
        await press_send(page)
        await expect(dialog.get_by_role("alert")).to_contain_text("this key isn't for pages of this origin")
        await expect(dialog.get_by_label("What is wrong?")).to_have_value("From elsewhere")

    chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    assert detail["title"] == "No console"
    assert streams["console"] == []
    assert detail["capture"]["health"]["console"]["status"] == "disabled"
    assert streams["errors"] != []
    assert "Help" not in " ".join(each["words"] for each in streams["actions"])


@pytest.mark.parametrize("when", ["before", "after"])
def test_report_arrives_from_a_page_that_changes_the_browsers_functions(
    chromium: Chromium, world: World, site: ReportingSite, when: str
) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        if when == "before":
            await page.add_init_script(CHANGED_FUNCTIONS)
        await page.goto(f"{site.url}/cart")
        if when == "after":
            await page.evaluate(CHANGED_FUNCTIONS)
        await page.get_by_role("button", name="Add lamp").click()
        await page.get_by_role("button", name="Report a problem").click()
        await page.get_by_role("dialog").get_by_label("What is wrong?").fill("The cart stays empty")
        await press_send(page)
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

    chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    assert [each["args"] for each in streams["console"]] == [["cart is", "broken"]]
    replay = ok(world.api.get(f"/captures/{detail['capture']['id']}/replay"))
    assert "Your cart" in str(replay)


def test_panel_fits_a_phone(chromium: Chromium, world: World, site: ReportingSite) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        await page.set_viewport_size({"width": 390, "height": 664})
        await page.goto(f"{site.url}/cart")
        await page.get_by_role("button", name="Report a problem").click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        await expect(dialog.locator("iframe[title=Page]")).to_be_visible()
        box = await find_still_box(dialog)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 664
        assert await dialog.evaluate("each => each.scrollWidth <= each.clientWidth")
        assert await faults(page) == {}
        await dialog.get_by_label("What is wrong?").fill("On a phone")
        send = dialog.get_by_role("button", name="Send report")
        await expect(send).to_be_in_viewport(ratio=1)
        await page.set_viewport_size({"width": 186, "height": 120})  # a small frame
        await send.scroll_into_view_if_needed()
        await expect(send).to_be_in_viewport(ratio=1)
        await press_send(page)
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

    chromium.visit(visit)
    assert read_capture(world, reporter)[0]["title"] == "On a phone"

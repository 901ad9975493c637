"""The reporter on pages that get in its way: right-to-left, modal dialogs, replaced documents; and what it says."""

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import FilePayload, Page, Route, expect

from tests.e2e.reports.test_embedded_reporter import embed, read_capture
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.webapp import faults
from tests.support.operation_cases import draw_address
from tests.support.server import World, ok

pytestmark = pytest.mark.long

CHANGE_PAGE = """() => {
  Object.assign(document.documentElement, { dir: 'rtl', lang: 'ar' });
  const select = document.createElement('select');
  for (const each of ['One', 'Two secret']) select.append(new Option(each));
  select.selectedIndex = 1;
  select.ariaLabel = 'Secret';
  document.querySelector('main').append(select);
  document.documentElement.replaceChildren(document.head, document.body);
}"""
OPEN_MODAL = """() => {
  const dialog = document.createElement('dialog');
  dialog.append('A question of the page');
  document.querySelector('main').append(dialog);
  dialog.showModal();
}"""
LEAVE = "() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"
ADD_ELEMENTS = """() => {
  for (let number = 0; number < 30000; number += 1) document.body.append(document.createElement('i'));
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[ReportingSite]:
    """The site that embeds the reporter."""
    with ReportingSite() as running:
        yield running


def test_button_comes_back_is_usable_in_a_modal_dialog_and_sends_one_report(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)
    address = draw_address()
    posts: list[str] = []

    async def visit(page: Page) -> None:
        sent = asyncio.Event()

        async def forward(route: Route) -> None:
            if route.request.method == "POST":
                posts.append(route.request.url)
                await sent.wait()
            await route.continue_(headers={**route.request.headers, "X-Forwarded-For": address})

        await page.route("**/api/v1/reports/*", forward)
        await page.goto(f"{site.url}/cart")
        launcher = page.get_by_role("button", name="Report a problem")
        await expect(launcher).to_be_visible()
        await page.evaluate(CHANGE_PAGE)
        await page.evaluate(OPEN_MODAL)
        await launcher.click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        title = dialog.get_by_label("What is wrong?")
        await expect(title).to_be_focused()
        assert await faults(page) == {}
        label = dialog.get_by_text("What is wrong?")
        assert await label.evaluate("each => [getComputedStyle(each).direction, each.closest('[lang]').lang]") == [
            "ltr", "en",
        ]  # fmt: skip
        shown = page.frame_locator("iframe[title=Page]")
        await expect(shown.locator("select")).to_have_css("color", "rgba(0, 0, 0, 0)")  # no option seems selected
        await expect(shown.locator("dialog:modal")).to_be_visible()
        await title.fill("   ")
        await page.keyboard.press("Control+Enter")
        assert await title.evaluate("each => each.validity.patternMismatch")
        await title.fill("The question is wrong")
        for _ in range(2):
            await page.keyboard.press("Control+Enter")
        await expect(dialog.get_by_role("button", name="Sending report")).to_be_visible()
        assert await page.evaluate(LEAVE)  # the browser asks whether to leave the page
        sent.set()
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()
        await page.get_by_role("button", name="Done").click()
        await page.evaluate("document.querySelector('main dialog').remove()")
        await launcher.click()
        await expect(dialog).to_be_visible()

    chromium.visit(visit)
    assert len(posts) == 1
    assert read_capture(world, reporter)[0]["title"] == "The question is wrong"


def test_panel_says_why_a_report_is_refused_and_when_there_is_no_picture(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        async def forward(route: Route) -> None:
            await route.continue_(headers={**route.request.headers, "X-Forwarded-For": reporter.address})

        await page.route("**/api/v1/reports/*", forward)
        await page.goto(f"{site.url}/cart")
        await page.evaluate(ADD_ELEMENTS)
        await page.locator("ticketbox-reporter button").click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        await expect(page.locator("ticketbox-reporter form")).to_contain_text("too large for a picture")
        await page.evaluate("document.querySelectorAll('i').forEach((each) => each.remove())")  # they slow the test
        await expect(page.locator("iframe[title=Page]")).to_have_count(0)
        alert = dialog.get_by_role("alert")
        empty: FilePayload = {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""}
        await dialog.get_by_label("Pictures and files").set_input_files([empty])
        await expect(alert).to_have_text("“empty.txt” is empty.")
        await dialog.get_by_label("What is wrong?").fill("The cart stays empty")
        send = dialog.get_by_role("button", name="Send report")
        world.owner.web.patch(f"/report-keys/{reporter.key['id']}", json={"enabled": False})
        await send.click()
        await expect(alert.filter(has_text="it was turned off or deleted")).to_be_visible()
        world.owner.web.patch(f"/report-keys/{reporter.key['id']}", json={"enabled": True})
        while reporter.send(origin=site.url).is_success:
            pass
        await send.click()
        await expect(alert.filter(has_text="Too many reports were sent. Try again in")).to_be_visible()
        reporter.address = draw_address()
        await send.click()
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

    chromium.visit(visit)
    (ticket,) = [each for each in reporter.find_tickets() if ok(world.api.get(f"/tickets/{each['id']}"))["capture"]]
    health = ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]["health"]["replay"]
    assert (health["status"], health["reason"]) == ("blocked", "limit")

"""What a project's mask selectors hide, in the extension's recordings and in reports from pages."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.captures.test_replay import find_page
from tests.e2e.reports.test_embedded_reporter import embed, read_capture
from tests.e2e.sites.reporting_site import PAGE, ReportingHandler, ReportingSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.e2e.support.uploads import read_stored_bytes
from tests.e2e.support.webapp import open_as
from tests.support.mask_selectors import VALID
from tests.support.server import World, ok

pytestmark = pytest.mark.long

SECRET = "Zebra7Quartz"
MASKS = [".customer", "#orders td:nth-child(2)", "x-person"]
HIDDEN = """
<p class="customer" title="SECRET">SECRET
<a href="#" data-id="SECRET" id="link">SECRET</a><img alt="SECRET" src="data:,"></p>
<button id="open">Open <span class="customer">SECRET</span> now</button>
<label class="customer" for="field">SECRET</label><input id="field">
<table id="orders"><tr><td>Lamp</td><td id="cell" tabindex="0">SECRET</td></tr></table>
<x-person></x-person><button id="change">Change</button>
<script>
  const host = document.querySelector("x-person").attachShadow({ mode: "open" });
  host.innerHTML = "<button id=inner>SECRET</button>";
  document.getElementById("change").onclick = () => {
    document.getElementById("cell").textContent = "SECRET 2";
    document.getElementById("cell").title = "SECRET 3";
    host.innerHTML = "<button id=inner title='SECRET'>SECRET</button>";
    setTimeout(() => {
      host.firstChild.firstChild.data = "SECRET 4";
      host.firstChild.title = "SECRET 5";
      document.querySelector("h1").textContent = "Changed";
    });
  };
</script>""".replace("SECRET", SECRET)
PLACES = ("#link", "#open", "#cell", "#inner", "#field", "#change")


def hide(world: World) -> None:
    """Set the selectors of the project."""
    given = {"capture_policy": {"mask_selectors": MASKS, "bodies": "off"}}
    ok(world.owner.web.patch(f"/projects/{world.project}", json=given))


async def click_everything(page: Page) -> None:
    for place in PLACES:
        await page.locator(place).click()
    await expect(page.locator("h1")).to_have_text("Changed")


def check_steps(actions: list[dict[str, Any]]) -> None:
    """What was clicked is in the steps, without a name where it was hidden."""
    clicks = [each["target"] for each in actions if each["kind"] == "click"]
    names = [target and target["name"] for target in clicks]
    assert names == [None, "Open now", None, None, None, "Change"]


def test_extension_records_nothing_of_hidden_parts(recording_browser: ExtensionBrowser, reporter: World) -> None:
    hide(reporter)

    async def answer(route: Route) -> None:
        body = f"<!doctype html><meta charset=utf-8><title>Cart</title><h1>Your cart</h1>{HIDDEN}"
        await route.fulfill(content_type="text/html", body=body)

    async def work() -> str:
        options = await recording_browser.open_options()
        await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'load-projects' })")
        await options.close()
        page = await recording_browser.context.new_page()
        await page.route("http://hidden.test/**", answer)
        await page.goto("http://hidden.test/cart")
        await click_everything(page)
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_text("fields masked")).to_be_visible()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    assert ticket.capture["health"]["replay"]["status"] == "ok"
    events = json.dumps(ok(reporter.api.get(f"/captures/{ticket.capture['id']}/replay")))
    assert "Lamp" in events
    assert "Changed" in events
    assert SECRET not in events
    check_steps(ticket.streams["actions"])
    assert not any(SECRET.encode() in each for each in read_stored_bytes(reporter.box.db))


def test_every_accepted_selector_is_one_in_the_browser(chromium: Chromium) -> None:
    async def visit(page: Page) -> None:
        read = "each => (document.createDocumentFragment().querySelector(each), 'fine')"
        for text in VALID:
            assert await page.evaluate(read, text) == "fine", text

    chromium.visit(visit)


class _Handler(ReportingHandler):
    def do_GET(self) -> None:
        """Send the page with the hidden parts."""
        if not self.path.startswith("/hidden"):
            return super().do_GET()
        page = PAGE.replace("</main>", f"{HIDDEN}</main>")
        given = {"server": self.ticketbox, "key": self.key, "attributes": self.attributes}
        for name, value in given.items():
            page = page.replace("{" + name + "}", value)
        return self.respond("text/html; charset=utf-8", page)


class _Site(ReportingSite):
    handler = _Handler


@pytest.fixture(scope="module")
def site() -> Iterator[ReportingSite]:
    """A site that embeds the reporter, with hidden parts."""
    with _Site() as running:
        yield running


def test_report_from_a_page_shows_nothing_of_hidden_parts(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    hide(world)
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        await page.goto(f"{site.url}/hidden")
        await click_everything(page)
        await page.get_by_role("button", name="Report a problem").click()
        dialog = page.get_by_role("dialog", name="Report a problem")
        await expect(dialog.get_by_label("What is wrong?")).to_be_focused()
        await dialog.get_by_label("What is wrong?").fill("The cart stays empty")
        shown = page.frame_locator("iframe[title=Page]")
        await expect(shown.get_by_text("Lamp", exact=True)).to_be_visible()
        await expect(shown.get_by_text(SECRET)).to_have_count(0)
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

    chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    check_steps(streams["actions"])
    assert SECRET not in json.dumps(ok(world.api.get(f"/captures/{detail['capture']['id']}/replay")))
    assert SECRET not in json.dumps([detail, streams])

    async def read(page: Page) -> None:
        await open_as(page, world.owner, f"/tickets/{detail['id']}?tab=replay")
        await expect(find_page(page).get_by_text("Lamp", exact=True)).to_be_visible()

    chromium.visit(read)


def test_report_names_and_shows_nothing_if_the_selectors_cannot_be_read(
    chromium: Chromium, world: World, site: ReportingSite
) -> None:
    reporter = embed(world, site)

    async def visit(page: Page) -> None:
        async def refuse(route: Route) -> None:
            await (route.abort() if route.request.method == "GET" else route.continue_())

        await page.route("**/api/v1/reports/*", refuse)
        await page.goto(f"{site.url}/hidden")
        await page.locator("#open").click()
        await page.get_by_role("button", name="Report a problem").click()
        await page.get_by_role("dialog").get_by_label("What is wrong?").fill("The cart stays empty")
        await page.get_by_role("button", name="Send report").click()
        await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

    chromium.visit(visit)
    detail, streams = read_capture(world, reporter)
    assert "now" not in json.dumps(streams["actions"])
    assert detail["capture"]["health"]["replay"]["status"] == "blocked"

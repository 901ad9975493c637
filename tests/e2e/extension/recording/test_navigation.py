"""A recording belongs to the tab: what happened on the pages before the captured one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.navigation_site import NavigationSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket, report_page
from tests.support.server import World

READ_KEPT = """async () => {
  const tabs = Object.values(await chrome.storage.session.get(null));
  const read = async ({ data }) => {
    const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  return (await Promise.all(tabs.flatMap(({ documents = [] }) => documents.map(read)))).join();
}"""
COMPLETE = dict.fromkeys(STREAMS, ("ok", None))


@pytest.fixture(scope="module")
def shop_site() -> Iterator[NavigationSite]:
    """The shop."""
    with NavigationSite() as running:
        yield running


async def visit_shop(page: Page, site: NavigationSite, address: str = "/shop") -> None:
    """Open the shop, and wait until everything in it has happened."""
    await page.goto(site.url + address)
    await page.wait_for_selector("body.done")
    await page.frame_locator("iframe").locator("body").wait_for(state="attached")


def read_lines(ticket: ReportedTicket) -> list[tuple[int, str]]:
    """The document and the first argument of each console line."""
    return [(each["document"], each["args"][0]) for each in ticket.streams["console"]]


@pytest.mark.long
def test_capture_contains_the_page_before_a_failed_form_post(
    recording_browser: ExtensionBrowser, reporter: World, shop_site: NavigationSite
) -> None:
    async def visit(page: Page) -> None:
        await visit_shop(page, shop_site)
        await page.get_by_label("Code").fill("SPRING8")
        await page.get_by_role("button", name="Pay").click()
        await expect(page).to_have_title("Failed")

    ticket = report_page(recording_browser, reporter, visit)
    assert sorted(read_lines(ticket)) == [(0, "cart is broken"), (0, "in a frame"), (1, "payment failed")]
    assert [(each["document"], each["message"]) for each in ticket.streams["errors"]] == [(0, "no total")]
    requests = {(each["document"], *summary) for each, summary in _pair(ticket)}
    assert {
        (0, "document", "/shop", 200),
        (0, "document", "/frame", 200),
        (0, "fetch", "/cart?token=[redacted]", 200),
        (1, "document", "/pay", 500),
    } <= requests
    documents = [each for each in ticket.streams["network"] if each["type"] == "document" and not each["frame"]]
    assert [each["method"] for each in documents if each["initiator"] is None] == ["GET", "POST"]
    assert [(each["document"], each["words"]) for each in ticket.streams["actions"]] == [
        (0, "Opened /shop"),
        (0, "Typed 1–10 characters into “Code”"),
        (0, "Clicked button “Pay”"),
        (0, "Submitted form “Code Pay”"),
        (1, "Opened /pay"),
    ]
    assert ticket.stream_statuses() == COMPLETE
    assert ticket.capture["redaction"]["query"] + ticket.capture["redaction"]["patterns"] >= 1
    health = ticket.capture["health"]
    assert health["history_started_at"] < health["page_loaded_at"]
    api = reporter.box.client(reporter.owner.token("read"))
    log = json.loads(api.get(f"/captures/{ticket.capture['id']}/har").content)["log"]
    assert [(each["id"], each["_url"]) for each in log["pages"]] == [
        ("page_1", f"{shop_site.url}/shop"),
        ("page_2", f"{shop_site.url}/pay"),
    ]


@pytest.mark.long
def test_reload_link_and_going_back_keep_each_entry_once(
    recording_browser: ExtensionBrowser, reporter: World, shop_site: NavigationSite
) -> None:
    async def visit(page: Page) -> None:
        await visit_shop(page, shop_site, "/shop?visit=1")
        await page.reload()
        await page.wait_for_selector("body.done")
        await page.get_by_role("link", name="Help").click()
        await expect(page).to_have_title("Help")
        await recording_browser.restart_background()
        await page.go_back(wait_until="commit")
        await expect(page).to_have_title("Shop")
        await page.goto(f"{shop_site.url}/help?again")

    ticket = report_page(recording_browser, reporter, visit)
    entries = [(each["ts"], each["args"]) for each in ticket.streams["console"]]
    assert len({str(each) for each in entries}) == len(entries)
    lines = read_lines(ticket)
    assert {(0, "cart is broken"), (1, "cart is broken"), (2, "help"), (4, "help")} <= set(lines)
    assert [each["document"] for each in ticket.streams["console"]] == sorted(document for document, _ in lines)
    assert ticket.stream_statuses() == COMPLETE


@pytest.mark.long
def test_health_says_that_the_oldest_pages_are_missing(
    recording_browser: ExtensionBrowser, reporter: World, shop_site: NavigationSite
) -> None:
    async def visit(page: Page) -> None:
        for number in range(8):
            await page.goto(f"{shop_site.url}/help?{number}")
            await expect(page).to_have_title("Help")

    ticket = report_page(recording_browser, reporter, visit)
    assert read_lines(ticket) == [(document, "help") for document in range(6)]
    assert ticket.stream_statuses() == dict.fromkeys(STREAMS, ("partial", "navigated"))


@pytest.mark.long
def test_earlier_pages_are_redacted_and_erased_with_their_tab(
    recording_browser: ExtensionBrowser, shop_site: NavigationSite
) -> None:
    async def work() -> str:
        page = await recording_browser.context.new_page()
        await visit_shop(page, shop_site)
        await page.goto(f"{shop_site.url}/help")
        options = await recording_browser.open_options()
        await options.wait_for_function(f"async () => (await ({READ_KEPT})()).includes('cart is broken')")
        kept = await options.evaluate(READ_KEPT)
        await page.close()
        await options.wait_for_function("async () => !Object.keys(await chrome.storage.session.get(null)).length")
        await options.close()
        return kept

    kept = recording_browser.run(work())
    assert "token=[redacted]" in kept
    assert "sk_live" not in kept


@pytest.mark.long
def test_pages_of_other_hosts_are_left_out_if_all_sites_are_recorded(
    recording_browser: ExtensionBrowser, reporter: World, shop_site: NavigationSite
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{shop_site.url.replace('127.0.0.1', '127.0.0.2')}/help?private")
        await page.goto(f"{shop_site.url}/help?public")

    ticket = report_page(recording_browser, reporter, visit)
    assert [each["args"] for each in ticket.streams["console"]] == [["help", "?public"]]
    assert ticket.stream_statuses() == COMPLETE


def _pair(ticket: ReportedTicket) -> list[tuple[dict[str, Any], tuple[str, str, int | None]]]:
    return list(zip(ticket.streams["network"], ticket.request_summaries(), strict=True))

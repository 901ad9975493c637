"""The extension resolves stacks with the source maps that the page itself can load."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.agents.packages import install_or_skip
from tests.e2e.sites.bundled_site import BundledSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.firefox import Firefox
from tests.e2e.support.firefox_extension import POPUP, connect_with_token, create_ticket, require_firefox
from tests.e2e.support.reported_ticket import ReportedTicket, report_page
from tests.support import npm
from tests.support.bundlers import BUILDS, PACKAGES
from tests.support.server import World, eventually, ok
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

PLACES = [("src/lib/format.js", 4), ("src/main.js", 5)]


@pytest.fixture(scope="module")
def modules() -> Path:
    return install_or_skip("the bundlers", lambda: npm.install_once(*PACKAGES))


@pytest.fixture(scope="module")
def bundled_site(modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BundledSite]:
    with BundledSite("esbuild", modules, tmp_path_factory.mktemp("bundle")) as site:
        yield site


@pytest.fixture(scope="module")
def firefox(reporter: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Firefox, str]]:
    """Firefox with the extension, which records all sites, and its options page."""
    archive = (EXTENSION / "firefox.zip").read_bytes()
    with Firefox(require_firefox(), archive, tmp_path_factory.mktemp("firefox")) as running:
        yield running, connect_with_token(running, reporter.box.url, reporter.owner.token("tickets:write"))


def visit_shop(site: BundledSite, path: str = "/shop") -> Callable[[Page], Any]:
    async def visit(page: Page) -> None:
        await page.goto(site.url + path)
        async with page.expect_event("pageerror"):
            await page.get_by_role("button", name="Pay").click()

    return visit


def list_places(ticket: ReportedTicket, stream: str = "errors") -> list[tuple[str, int]]:
    """File and line of the resolved frames of a stream's only entry."""
    (entry,) = ticket.streams[stream]
    originals = [frame["original"] for frame in entry["frames"] if "original" in frame]
    return [(each["file"], each["line"]) for each in originals]


@pytest.mark.parametrize("bundler", BUILDS)
def test_stacks_show_the_authors_files_without_an_uploaded_map(
    bundler: str, recording_browser: ExtensionBrowser, reporter: World, modules: Path, tmp_path: Path
) -> None:
    with BundledSite(bundler, modules, tmp_path / "bundle") as site:
        ticket = report_page(recording_browser, reporter, visit_shop(site))
        requests = [path for _, path, _ in site.list_map_requests()]
    places = list_places(ticket)
    assert places == PLACES[: len(places)]  # webpack inlines the second function
    assert list_places(ticket, "console") == [("src/main.js", 4)]
    maps = ticket.capture["health"]["source_maps"]
    assert maps == {"status": "ok", "reason": None, "captured": len(places) + 1, "dropped": 0}
    (error,) = ticket.streams["errors"]
    assert error["frames"][0]["original"]["from_page"] is True
    assert "price.amount.toFixed(2)" in error["frames"][0]["original"]["context"][2]
    assert requests == ["/main.mjs.map"]


def test_person_sees_and_leaves_out_the_places_and_later_captures_have_no_trace_of_the_load(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve()

    async def work() -> tuple[str, list[Any]]:
        page = await recording_browser.context.new_page()
        await visit_shop(bundled_site)(page)
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_text("3 places in your files")).to_be_visible()
        await popup.get_by_role("button", name="Discard").click()
        again = await recording_browser.open_popup(page)
        await expect(again.get_by_text("3 places in your files")).to_be_visible()
        await again.get_by_role("switch", name="Send source maps").click()
        key = await recording_browser.file_ticket(again)
        await page.close()
        return key, bundled_site.list_map_requests()

    key, requests = recording_browser.run(work())
    ticket = ReportedTicket(reporter, key)
    assert list_places(ticket) == []
    assert ticket.capture["health"].get("source_maps") is None
    assert requests
    assert [url for _, url, _ in ticket.request_summaries()] == ["/shop", "/main.mjs"]


def test_map_in_a_data_address_is_read(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve_inline()
    assert list_places(report_page(recording_browser, reporter, visit_shop(bundled_site))) == PLACES
    assert bundled_site.list_map_requests() == []


def test_policy_turns_the_maps_of_pages_off(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve()
    project = f"/projects/{reporter.project}"
    try:
        ok(reporter.owner.web.patch(project, json={"capture_policy": {"page_source_maps": "off"}}))
        ticket = report_page(recording_browser, reporter, visit_shop(bundled_site))
    finally:
        ok(reporter.owner.web.patch(project, json={"capture_policy": {"page_source_maps": "on"}}))
    assert bundled_site.list_map_requests() == []
    assert list_places(ticket) == []


def test_header_names_the_map_and_redirects_are_not_followed(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve("", script_headers={"SourceMap": "/main.mjs.map"})
    assert list_places(report_page(recording_browser, reporter, visit_shop(bundled_site))) == PLACES
    bundled_site.serve("/moved.map")
    ticket = report_page(recording_browser, reporter, visit_shop(bundled_site))
    assert [path for _, path, _ in bundled_site.list_map_requests()] == ["/moved.map"]
    assert list_places(ticket) == []


def test_map_of_another_origin_is_loaded_as_the_page_could_without_cookies(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve(f"{bundled_site.other_url}/main.mjs.map")
    ticket = report_page(recording_browser, reporter, visit_shop(bundled_site))
    assert list_places(ticket) == []  # the server doesn't allow the page to read it
    maps = ticket.capture["health"]["source_maps"]
    assert (maps["status"], maps["reason"], maps["dropped"]) == ("blocked", "hidden", 1)
    bundled_site.serve(f"{bundled_site.other_url}/main.mjs.map", map_headers={"Access-Control-Allow-Origin": "*"})
    assert list_places(report_page(recording_browser, reporter, visit_shop(bundled_site))) == PLACES
    assert bundled_site.list_map_requests() == [("127.0.0.2", "/main.mjs.map", "")]


def test_map_of_another_origin_without_permission_is_not_requested(
    launch_extension: Callable[..., ExtensionBrowser], reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve(f"{bundled_site.other_url}/main.mjs.map", map_headers={"Access-Control-Allow-Origin": "*"})
    browser = launch_extension("http://127.0.0.1/*", f"http://{urlsplit(reporter.box.url).hostname}/*")
    browser.run(browser.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write")))

    async def visit(page: Page) -> None:
        await page.goto(f"{bundled_site.url}/shop")
        await page.get_by_role("heading", name="Shop").wait_for()
        # recording starts with the first look at the page
        popup = await browser.open_popup(page)
        await expect(popup.get_by_alt_text("The visible part of the page")).to_be_visible()
        await popup.get_by_role("button", name="Discard").click()
        async with page.expect_event("pageerror"):
            await page.get_by_role("button", name="Pay").click()

    ticket = report_page(browser, reporter, visit)
    assert ticket.capture["health"]["source_maps"]["reason"] == "hidden"
    assert bundled_site.list_map_requests() == []


@pytest.mark.parametrize("address", ["/slow.map", "/huge.map"])
def test_slow_or_huge_map_is_ignored_and_the_report_is_sent(
    address: str, recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve(address)
    ticket = report_page(recording_browser, reporter, visit_shop(bundled_site))
    assert [path for _, path, _ in bundled_site.list_map_requests()] == [address]
    assert list_places(ticket) == []
    maps = ticket.capture["health"]["source_maps"]
    assert (maps["status"], maps["reason"], maps["captured"], maps["dropped"]) == ("blocked", "limit", 0, 1)
    assert "1 source map of the page was ignored" in ticket.capture["health_summary"]


def test_preview_appears_while_a_map_is_never_answered_and_the_person_can_send(
    recording_browser: ExtensionBrowser, reporter: World, bundled_site: BundledSite
) -> None:
    bundled_site.serve("/slow.map")
    browser = recording_browser

    async def work() -> str:
        page = await browser.context.new_page()
        await visit_shop(bundled_site)(page)
        (worker,) = [each for each in browser.context.service_workers if browser.id in each.url]
        # its clock runs backwards, so the limit doesn't end the load
        await worker.evaluate("() => { let now = 0; performance.now = () => (now -= 100_000); }")
        try:
            popup = await browser.open_popup(page)
            await asyncio.to_thread(eventually, bundled_site.list_map_requests)
            await expect(popup.get_by_alt_text("The visible part of the page")).to_be_visible()
            await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
            await popup.get_by_label("Title").fill("Paying fails")
        finally:
            bundled_site.end_slow_loads()
            await worker.evaluate("() => { delete performance.now; }")
        key = await browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, browser.run(work()))
    assert ticket.record["title"] == "Paying fails"
    assert len(ticket.streams["errors"]) == 1
    assert ticket.capture["health"]["source_maps"]["reason"] == "hidden"


def test_stacks_show_the_authors_files_in_firefox(
    firefox: tuple[Firefox, str], bundled_site: BundledSite, reporter: World
) -> None:
    browser, options = firefox
    bundled_site.serve()
    page = open_shop(browser, bundled_site)
    browser.evaluate(page, "document.querySelector('button').click()")
    browser.open_popup(page)
    browser.wait_until(options, f"{POPUP}?.document.body.innerText.includes('in your files')")
    ticket = ReportedTicket(reporter, create_ticket(browser, options))
    assert list_places(ticket) == PLACES
    assert [url for _, url, _ in ticket.request_summaries()] == ["/shop", "/main.mjs"]


def test_resource_timings_of_firefox_bring_no_trace_of_the_load_into_later_captures(
    firefox: tuple[Firefox, str], bundled_site: BundledSite, reporter: World
) -> None:
    browser, options = firefox
    bundled_site.serve()
    browser.click_button(options, "Stop recording")
    browser.wait_until(options, "document.body?.innerText.includes('Record all sites')")
    page = open_shop(browser, bundled_site)
    for look in ("Nothing is sent", "in your files"):
        browser.open_popup(page)
        browser.wait_until(options, f"{POPUP}?.document.body.innerText.includes('{look}')")
        discard = f"[...{POPUP}.document.querySelectorAll('button')].find((each) => each.textContent == 'Discard')"
        browser.wait_until(options, f"{discard}?.disabled === false")
        browser.evaluate(options, f"{discard}.click()")
        browser.wait_until(options, f"!{POPUP}")
        browser.evaluate(page, "document.querySelector('button').click()")
    # Firefox lists them for the page; Chromium only reports them to `webRequest`, which recorded sites use
    listed = browser.evaluate(page, "performance.getEntriesByType('resource').map(({ name }) => name).join(' ')")
    assert ".map#" in listed
    browser.open_popup(page)
    ticket = ReportedTicket(reporter, create_ticket(browser, options))
    assert [url for _, url, _ in ticket.request_summaries()] == ["/shop", "/main.mjs"]
    browser.click_button(options, "Record all sites")
    browser.wait_until(options, "document.body?.innerText.includes('Stop recording')")


def open_shop(browser: Firefox, site: BundledSite) -> str:
    """Open the shop, and wait until its script has run; return the tab."""
    page = browser.open(f"{site.url}/shop")
    browser.wait_until(page, "document.querySelector('button')?.onclick")
    return page

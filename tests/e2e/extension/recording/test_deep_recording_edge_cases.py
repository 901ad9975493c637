"""Deep recording that is interrupted, web sockets and requests of service workers."""

import pytest
from playwright.async_api import Page

from tests.e2e.extension.recording.test_deep_recording import start_deep_recording
from tests.e2e.sites.deep_recording_site import DeepRecordingSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World

pytestmark = pytest.mark.long


async def finish(browser: ExtensionBrowser, page: Page) -> str:
    """Create a ticket from a page. Returns its key."""
    popup = await browser.open_popup(page)
    key = await browser.create_ticket(popup)
    await page.close()
    return key


async def run_in_background(browser: ExtensionBrowser, script: str, words: object = None) -> None:
    """Run a script in the extension's background."""
    worker = next(each for each in browser.context.service_workers if browser.id in each.url)
    await worker.evaluate(script, words)


async def open_recorded_page(browser: ExtensionBrowser, deep_site: DeepRecordingSite) -> Page:
    """Open a page with deep recording."""
    page = await browser.context.new_page()
    await page.goto(f"{deep_site.url}/other")
    await start_deep_recording(browser, page, f"{deep_site.url}/deep")
    return page


def report_second_page(
    browser: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite, name: str
) -> ReportedTicket:
    """Start deep recording, visit another page of the site, and create a ticket."""

    async def work() -> str:
        page = await open_recorded_page(browser, deep_site)
        await page.goto(f"{deep_site.url}/{name}")
        await page.wait_for_function(f"document.title === '{name}'")
        return await finish(browser, page)

    return ReportedTicket(reporter, browser.run(work()))


def test_service_worker_request_is_recorded(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    ticket = report_second_page(deep_edition, reporter, deep_site, "served")
    requests = [(e["frame"], e["method"], e["status"]) for e in ticket.streams["network"] if "by=service" in e["url"]]
    assert requests == [(f"{deep_site.url}/service.js", "GET", 200)]


def test_web_socket_is_recorded_with_its_handshake(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    ticket = report_second_page(deep_edition, reporter, deep_site, "sockets")
    sockets = {e["url"].rpartition("/")[2]: e for e in ticket.streams["network"] if e["type"] == "websocket"}
    assert sockets["open"]["status"] == 101
    assert sockets["open"]["response"]["headers"]["upgrade"] == "websocket"
    assert sockets["open"]["error"] is None
    # Chromium doesn't tell the debugger the status while an extension listens to requests.
    assert sockets["refused"]["error"] == "The handshake failed"


def test_status_reported_before_its_request_is_kept(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    """The browser sends both events in any order, which a test can't control. So it dispatches them itself."""
    sent = {"requestId": "7", "loaderId": "l", "documentURL": deep_site.url, "type": "Fetch", "initiator": {}}
    request = {"url": f"{deep_site.url}/early", "method": "GET", "headers": {}}

    async def work() -> str:
        page = await open_recorded_page(deep_edition, deep_site)
        await run_in_background(
            deep_edition,
            """async ({ early, sent }) => {
              const [{ id: tabId }] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
              const dispatch = (method, params) => chrome.debugger.onEvent.dispatch({ tabId }, method, params);
              dispatch("Network.responseReceivedExtraInfo", early);
              dispatch("Network.requestWillBeSent", { ...sent, timestamp: 1, wallTime: Date.now() / 1000 });
              dispatch("Network.loadingFailed", { requestId: "7", timestamp: 2, errorText: "net::ERR_FAILED" });
            }""",
            {"early": {"requestId": "7", "statusCode": 418}, "sent": {**sent, "request": request}},
        )
        return await finish(deep_edition, page)

    ticket = ReportedTicket(reporter, deep_edition.run(work()))
    requests = [(e["status"], e["error"]) for e in ticket.streams["network"] if e["url"].endswith("/early")]
    assert requests == [(418, "net::ERR_FAILED")]


def test_cancel_in_the_browser_bar_stops_deep_recording_but_not_the_recorder(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    """The bar can't be clicked without a screen, so the test dispatches its event, `canceled_by_user`."""

    async def work() -> str:
        page = await open_recorded_page(deep_edition, deep_site)
        await run_in_background(
            deep_edition,
            """async () => {
              const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
              await chrome.debugger.detach({ tabId: tab.id });
              chrome.debugger.onDetach.dispatch({ tabId: tab.id }, "canceled_by_user");
            }""",
        )
        popup = await deep_edition.open_popup(page)
        await popup.get_by_role("button", name="Start deep recording").wait_for()
        await popup.close()
        return await finish(deep_edition, page)

    ticket = ReportedTicket(reporter, deep_edition.run(work()))
    assert ticket.stream_statuses()["network"] == ("ok", None), "the recorder in the page has all requests of the page"
    assert not [e for e in ticket.streams["network"] if e["frame"]], "but none of the worker"
    assert ["from the page"] in ticket.console_args()


def test_stopped_background_detaches_and_the_page_record_survives(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    async def work() -> str:
        page = await open_recorded_page(deep_edition, deep_site)
        await deep_edition.restart_background()
        popup = await deep_edition.open_popup(page)
        offered = popup.get_by_role("button", name="Start deep recording")
        await offered.wait_for()
        await offered.click()  # the debugger is no longer attached
        await popup.get_by_role("button", name="Stop deep recording").wait_for()
        await popup.get_by_role("button", name="Stop deep recording").click()
        await popup.close()
        return await finish(deep_edition, page)

    ticket = ReportedTicket(reporter, deep_edition.run(work()))
    assert ticket.stream_statuses()["network"] == ("ok", None)
    assert ["from the page"] in ticket.console_args()

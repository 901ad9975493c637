"""Deep recording where it is interrupted, and what only few pages do: sockets, and requests of service workers."""

import pytest
from playwright.async_api import Page

from tests.box import World
from tests.e2e.deep_recording_site import DeepRecordingSite
from tests.e2e.extension_browser import ExtensionBrowser
from tests.e2e.reported_ticket import ReportedTicket
from tests.e2e.test_extension_deep_recording import go_deep

pytestmark = pytest.mark.long


async def finish(browser: ExtensionBrowser, page: Page) -> str:
    """Click, send; gives the ticket's address."""
    popup = await browser.open_popup(page)
    ticket = await browser.create_ticket(popup)
    address = ticket.url
    await ticket.close()
    await page.close()
    return address


async def say(browser: ExtensionBrowser, script: str, words: object = None) -> None:
    """Run something in the extension's background."""
    worker = next(each for each in browser.context.service_workers if browser.id in each.url)
    await worker.evaluate(script, words)


async def recorded(browser: ExtensionBrowser, deep_site: DeepRecordingSite) -> Page:
    """A page that is recorded deeply."""
    page = await browser.context.new_page()
    await page.goto(f"{deep_site.url}/other")
    await go_deep(browser, page, f"{deep_site.url}/deep")
    return page


def beyond(browser: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite, name: str) -> ReportedTicket:
    """Record deeply, visit one page more of the site, and send."""

    async def work() -> str:
        page = await recorded(browser, deep_site)
        await page.goto(f"{deep_site.url}/{name}")
        await page.wait_for_function(f"document.title === '{name}'")
        return await finish(browser, page)

    return ReportedTicket(reporter, browser.run(work()))


def test_what_a_service_worker_asks_for_is_recorded(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    ticket = beyond(deep_edition, reporter, deep_site, "served")
    found = [(e["frame"], e["method"], e["status"]) for e in ticket.streams["network"] if "by=service" in e["url"]]
    assert found == [(f"{deep_site.url}/service.js", "GET", 200)]


def test_a_web_socket_is_recorded_with_its_handshake(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    ticket = beyond(deep_edition, reporter, deep_site, "sockets")
    sockets = {e["url"].rpartition("/")[2]: e for e in ticket.streams["network"] if e["type"] == "websocket"}
    assert sockets["open"]["status"] == 101
    assert sockets["open"]["response"]["headers"]["upgrade"] == "websocket"
    assert sockets["open"]["error"] is None
    assert "418" in sockets["refused"]["error"]


def test_a_status_told_before_its_request_is_kept(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    """The network's word and the page's keep no order between them, and which is first can't be had: both are given."""
    sent = {"requestId": "7", "loaderId": "l", "documentURL": deep_site.url, "type": "Fetch", "initiator": {}}
    request = {"url": f"{deep_site.url}/early", "method": "GET", "headers": {}}

    async def work() -> str:
        page = await recorded(deep_edition, deep_site)
        await say(
            deep_edition,
            """async ({ told, sent }) => {
              const [{ id: tabId }] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
              const tell = (method, params) => chrome.debugger.onEvent.dispatch({ tabId }, method, params);
              tell("Network.responseReceivedExtraInfo", told);
              tell("Network.requestWillBeSent", { ...sent, timestamp: 1, wallTime: Date.now() / 1000 });
              tell("Network.loadingFailed", { requestId: "7", timestamp: 2, errorText: "net::ERR_FAILED" });
            }""",
            {"told": {"requestId": "7", "statusCode": 418}, "sent": {**sent, "request": request}},
        )
        return await finish(deep_edition, page)

    ticket = ReportedTicket(reporter, deep_edition.run(work()))
    found = [(e["status"], e["error"]) for e in ticket.streams["network"] if e["url"].endswith("/early")]
    assert found == [(418, "net::ERR_FAILED")]


def test_the_bars_cancel_ends_it_and_the_recorder_goes_on(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    """The bar can't be pressed without a screen: its word, `canceled_by_user`, is given to the real listener."""

    async def work() -> str:
        page = await recorded(deep_edition, deep_site)
        await say(
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
    assert ticket.stream_statuses()["network"] == ("ok", None), "the recorder in the page heard all of its own requests"
    assert not [e for e in ticket.streams["network"] if e["frame"]], "and none of the worker's"
    assert ["from the page"] in ticket.console_args()


def test_a_background_that_is_ended_lets_go_and_what_the_page_recorded_is_there(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    async def work() -> str:
        page = await recorded(deep_edition, deep_site)
        await deep_edition.restart_background()
        popup = await deep_edition.open_popup(page)
        offered = popup.get_by_role("button", name="Start deep recording")
        await offered.wait_for()
        await offered.click()  # nobody holds the tab any more
        await popup.get_by_role("button", name="Stop deep recording").wait_for()
        await popup.get_by_role("button", name="Stop deep recording").click()
        await popup.close()
        return await finish(deep_edition, page)

    ticket = ReportedTicket(reporter, deep_edition.run(work()))
    assert ticket.stream_statuses()["network"] == ("ok", None)
    assert ["from the page"] in ticket.console_args()

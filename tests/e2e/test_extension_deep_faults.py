"""Deep recording where it is interrupted, and what only few pages do: sockets, and requests of service workers."""

import pytest
from playwright.async_api import Page

from tests.e2e.deep_site import DeepSite
from tests.e2e.extension import Extended
from tests.e2e.reporting import Ticket
from tests.e2e.test_extension_deep import go_deep
from tests.support.server import World

pytestmark = pytest.mark.long


async def finish(extended: Extended, page: Page) -> str:
    """Click, send; gives the ticket's address."""
    popup = await extended.click(page)
    ticket = await extended.send(popup)
    address = ticket.url
    await ticket.close()
    await page.close()
    return address


async def say(extended: Extended, script: str, words: object = None) -> None:
    """Run something in the extension's background."""
    worker = next(each for each in extended.context.service_workers if extended.id in each.url)
    await worker.evaluate(script, words)


async def recorded(extended: Extended, deep: DeepSite) -> Page:
    """A page that is recorded deeply."""
    page = await extended.context.new_page()
    await page.goto(f"{deep.url}/other")
    await go_deep(extended, page, f"{deep.url}/deep")
    return page


def beyond(extended: Extended, reporter: World, deep: DeepSite, name: str) -> Ticket:
    """Record deeply, visit one page more of the site, and send."""

    async def work() -> str:
        page = await recorded(extended, deep)
        await page.goto(f"{deep.url}/{name}")
        await page.wait_for_function(f"document.title === '{name}'")
        return await finish(extended, page)

    return Ticket(reporter, extended.run(work()))


def test_what_a_service_worker_asks_for_is_recorded(deep_edition: Extended, reporter: World, deep: DeepSite) -> None:
    ticket = beyond(deep_edition, reporter, deep, "served")
    found = [(e["frame"], e["method"], e["status"]) for e in ticket.streams["network"] if "by=service" in e["url"]]
    assert found == [(f"{deep.url}/service.js", "GET", 200)]


def test_a_web_socket_is_recorded_with_its_handshake(deep_edition: Extended, reporter: World, deep: DeepSite) -> None:
    ticket = beyond(deep_edition, reporter, deep, "sockets")
    sockets = {e["url"].rpartition("/")[2]: e for e in ticket.streams["network"] if e["type"] == "websocket"}
    assert sockets["open"]["status"] == 101
    assert sockets["open"]["response"]["headers"]["upgrade"] == "websocket"
    assert sockets["open"]["error"] is None
    assert "418" in sockets["refused"]["error"]


def test_a_status_told_before_its_request_is_kept(deep_edition: Extended, reporter: World, deep: DeepSite) -> None:
    """The network's word and the page's keep no order between them, and which is first can't be had: both are given."""
    sent = {"requestId": "7", "loaderId": "l", "documentURL": deep.url, "type": "Fetch", "initiator": {}}
    request = {"url": f"{deep.url}/early", "method": "GET", "headers": {}}

    async def work() -> str:
        page = await recorded(deep_edition, deep)
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

    ticket = Ticket(reporter, deep_edition.run(work()))
    found = [(e["status"], e["error"]) for e in ticket.streams["network"] if e["url"].endswith("/early")]
    assert found == [(418, "net::ERR_FAILED")]


def test_the_bars_cancel_ends_it_and_the_recorder_goes_on(
    deep_edition: Extended, reporter: World, deep: DeepSite
) -> None:
    """The bar can't be pressed without a screen: its word, `canceled_by_user`, is given to the real listener."""

    async def work() -> str:
        page = await recorded(deep_edition, deep)
        await say(
            deep_edition,
            """async () => {
              const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
              await chrome.debugger.detach({ tabId: tab.id });
              chrome.debugger.onDetach.dispatch({ tabId: tab.id }, "canceled_by_user");
            }""",
        )
        popup = await deep_edition.click(page)
        await popup.get_by_role("button", name="Record this tab deeply").wait_for()
        await popup.close()
        return await finish(deep_edition, page)

    ticket = Ticket(reporter, deep_edition.run(work()))
    assert ticket.status()["network"] == ("ok", None), "the recorder in the page heard all of its own requests"
    assert not [e for e in ticket.streams["network"] if e["frame"]], "and none of the worker's"
    assert ["from the page"] in ticket.said()


def test_a_background_that_is_ended_lets_go_and_what_the_page_recorded_is_there(
    deep_edition: Extended, reporter: World, deep: DeepSite
) -> None:
    async def work() -> str:
        page = await recorded(deep_edition, deep)
        await deep_edition.end_background()
        popup = await deep_edition.click(page)
        offered = popup.get_by_role("button", name="Record this tab deeply")
        await offered.wait_for()
        await offered.click()  # nobody holds the tab any more
        await popup.get_by_role("button", name="Stop deep recording").wait_for()
        await popup.get_by_role("button", name="Stop deep recording").click()
        await popup.close()
        return await finish(deep_edition, page)

    ticket = Ticket(reporter, deep_edition.run(work()))
    assert ticket.status()["network"] == ("ok", None)
    assert ["from the page"] in ticket.said()

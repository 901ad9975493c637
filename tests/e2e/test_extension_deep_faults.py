"""Deep recording where it is interrupted, and what only few pages do: sockets, and requests of service workers."""

from collections.abc import Iterator

import pytest
from playwright.async_api import Page

from tests.box import World
from tests.e2e.deep_site import DeepSite
from tests.e2e.extension import Extended
from tests.e2e.reporting import Ticket
from tests.e2e.test_extension_deep import go_deep
from ticketbox.surfaces.spa import EXTENSION

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def deep() -> Iterator[DeepSite]:
    """A page that doesn't see all that it does."""
    with DeepSite() as running:
        yield running


@pytest.fixture(scope="module")
def recording(executable: str, reporter: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Extended]:
    """A browser with the deep edition, connected, every site recorded."""
    secret = reporter.owner.token("tickets:write")
    archive = (EXTENSION / "chromium-deep.zip").read_bytes()
    with Extended(executable, archive, tmp_path_factory.mktemp("deep")) as extended:

        async def prepare() -> None:
            await extended.use_token(reporter.box.url, secret)
            await extended.record_everywhere()

        extended.run(prepare())
        yield extended


async def finish(extended: Extended, page: Page) -> str:
    """Click, send; gives the ticket's address."""
    popup = await extended.click(page)
    ticket = await extended.send(popup)
    address = ticket.url
    await ticket.close()
    await page.close()
    return address


async def say(extended: Extended, script: str) -> None:
    """Run something in the extension's background."""
    worker = next(each for each in extended.context.service_workers if extended.id in each.url)
    await worker.evaluate(script)


def test_what_a_service_worker_asks_for_is_recorded(recording: Extended, reporter: World, deep: DeepSite) -> None:
    async def work() -> str:
        page = await recording.context.new_page()
        await page.goto(f"{deep.url}/other")
        await go_deep(recording, page, f"{deep.url}/deep")
        await page.goto(f"{deep.url}/served")
        await page.wait_for_function("document.title === 'served'")
        return await finish(recording, page)

    ticket = Ticket(reporter, recording.run(work()))
    found = [(e["frame"], e["method"], e["status"]) for e in ticket.streams["network"] if "by=service" in e["url"]]
    assert found == [(f"{deep.url}/service.js", "GET", 200)]


def test_a_web_socket_is_recorded_with_its_handshake(recording: Extended, reporter: World, deep: DeepSite) -> None:
    async def work() -> str:
        page = await recording.context.new_page()
        await page.goto(f"{deep.url}/other")
        await go_deep(recording, page, f"{deep.url}/deep")
        await page.goto(f"{deep.url}/sockets")
        await page.wait_for_function("document.title === 'sockets'")
        return await finish(recording, page)

    ticket = Ticket(reporter, recording.run(work()))
    sockets = {e["url"].rpartition("/")[2]: e for e in ticket.streams["network"] if e["type"] == "websocket"}
    assert sockets["open"]["status"] == 101
    assert sockets["open"]["response"]["headers"]["upgrade"] == "websocket"
    assert sockets["open"]["error"] is None
    assert "418" in sockets["refused"]["error"]


def test_the_bars_cancel_ends_it_and_the_recorder_goes_on(recording: Extended, reporter: World, deep: DeepSite) -> None:
    """The bar can't be pressed without a screen: its word, `canceled_by_user`, is given to the real listener."""

    async def work() -> str:
        page = await recording.context.new_page()
        await page.goto(f"{deep.url}/other")
        await go_deep(recording, page, f"{deep.url}/deep")
        await say(
            recording,
            """async () => {
              const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
              await chrome.debugger.detach({ tabId: tab.id });
              chrome.debugger.onDetach.dispatch({ tabId: tab.id }, "canceled_by_user");
            }""",
        )
        popup = await recording.click(page)
        await popup.get_by_role("button", name="Record this tab deeply").wait_for()
        await popup.close()
        return await finish(recording, page)

    ticket = Ticket(reporter, recording.run(work()))
    assert ticket.status()["network"] == ("ok", None), "the recorder in the page heard all of its own requests"
    assert not [e for e in ticket.streams["network"] if e["frame"]], "and none of the worker's"
    assert ["from the page"] in ticket.said()


def test_a_background_that_is_ended_lets_go_and_what_the_page_recorded_is_there(
    recording: Extended, reporter: World, deep: DeepSite
) -> None:
    async def work() -> str:
        page = await recording.context.new_page()
        await page.goto(f"{deep.url}/other")
        await go_deep(recording, page, f"{deep.url}/deep")
        await recording.end_background()
        popup = await recording.click(page)
        offered = popup.get_by_role("button", name="Record this tab deeply")
        await offered.wait_for()
        await offered.click()  # nobody holds the tab any more
        await popup.get_by_role("button", name="Stop deep recording").wait_for()
        await popup.get_by_role("button", name="Stop deep recording").click()
        await popup.close()
        return await finish(recording, page)

    ticket = Ticket(reporter, recording.run(work()))
    assert ticket.status()["network"] == ("ok", None)
    assert ["from the page"] in ticket.said()

"""The popup's preview: the screenshot and the form, before all that the page recorded has been read."""

import asyncio
from contextlib import suppress
from typing import Any, Self

import pytest
from playwright.async_api import CDPSession, Page, expect

from tests.e2e.extension.test_popup import break_shop
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World

pytestmark = pytest.mark.long

LINES = 300  # more than a preview has
LOG = f"""() => {{
  console.log('signed in with password: "Tidewater-77"');
  for (let n = 0; n < {LINES}; n += 1) console.log(`line ${{n}}`);
}}"""
IS_KEPT = """() => new Promise((done) => {
  indexedDB.open("ticketbox").onsuccess = ({ target: { result } }) => {
    result.transaction("drafts").objectStore("drafts").getAll().onsuccess = ({ target }) => {
      result.close();
      done(target.result.length === 1 && target.result[0].filled?.description === "The total is missing");
    };
  };
})"""
PLACES = """() => ["figure", "ul", "input", "textarea", "select", "button[type=submit]"].map((each) => {
  const { x, y, width, height } = document.querySelector(`main ${each}`).getBoundingClientRect();
  return [each, x, y, width, height];
})"""


class HeldPage:
    """A page that the extension can read for the preview, and then not until it is released."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._reads, self._held = 0, asyncio.Event()

    async def __aenter__(self) -> Self:
        self._devtools: CDPSession = await self._page.context.new_cdp_session(self._page)
        worlds: list[dict[str, Any]] = []
        self._devtools.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]))
        await self._devtools.send("Runtime.enable")
        (own,) = [each["id"] for each in worlds if each["origin"].startswith("chrome-extension:")]
        asked = {"expression": "readTicketboxFrame", "contextId": own}
        reader = (await self._devtools.send("Runtime.evaluate", asked))["result"]["objectId"]
        self._devtools.on("Debugger.paused", self._pause)
        await self._devtools.send("Debugger.enable")
        await self._devtools.send("Debugger.setBreakpointOnFunctionCall", {"objectId": reader})
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    def _pause(self, _: object) -> None:
        self._reads += 1
        if self._reads == 1:
            self._resuming = asyncio.ensure_future(self._devtools.send("Debugger.resume"))
        else:
            self._held.set()

    async def wait(self) -> None:
        """Wait until all that the page recorded is being read."""
        await asyncio.wait_for(self._held.wait(), 30)

    async def release(self) -> None:
        """Let the extension read the page."""
        with suppress(Exception):  # it is released
            await self._devtools.send("Debugger.disable")


async def open_preview(browser: ExtensionBrowser, page: Page, held: HeldPage, error: str = "TypeError") -> Page:
    """Click the extension's button. Returns the popup while the rest of the page is being read."""
    await browser.click_button(await browser.find_tab(page))
    popup = await browser.find_popup(is_complete=False)
    await held.wait()
    await expect(popup.get_by_text("Capturing the page")).to_be_visible()
    await expect(popup.get_by_label("Title")).to_have_value(f"{error} after clicking “Pay”")
    return popup


def test_report_that_is_sent_from_the_preview_has_everything(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    async def work() -> str:
        page = await break_shop(recording_browser)
        await page.evaluate(LOG)
        async with page.expect_event("pageerror"):  # no other ticket has it, so that there is no question
            await page.evaluate("() => setTimeout(() => { throw new RangeError('12 lamps'); })")
        async with HeldPage(page) as held:
            popup = await open_preview(recording_browser, page, held, "RangeError")
            await popup.get_by_role("button", name="Send report").click()
            await expect(popup.get_by_role("button", name="Sending report")).to_be_visible()
            await held.release()
            await popup.get_by_role("button", name="Open ticket").wait_for()
        ticket = await recording_browser.follow_ticket(popup)
        address = ticket.url
        await ticket.close()
        await page.close()
        return address

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    statuses = ticket.stream_statuses()
    assert [statuses[name] for name in ("console", "network", "errors")] == [("ok", None)] * 3
    lines = ticket.console_args()
    assert lines[-LINES - 1] == ['signed in with password: "[redacted]"']
    assert lines[-LINES:] == [[f"line {n}"] for n in range(LINES)]
    assert ticket.capture["health"]["replay"]["status"] == "ok"
    assert ticket.capture["redaction"]["keys"] == 1


def test_form_stays_in_place_when_the_capture_is_complete(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> tuple[Any, Any]:
        page = await break_shop(recording_browser)
        await page.evaluate(LOG)
        async with HeldPage(page) as held:
            popup = await open_preview(recording_browser, page, held)
            await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
            await expect(popup.get_by_role("button", name="Annotate")).to_be_disabled()
            before = await popup.evaluate(PLACES)
            await held.release()
            await expect(popup.get_by_role("button", name="Annotate")).to_be_enabled()
            await expect(popup.get_by_text("Capturing the page")).to_be_hidden()
            after = await popup.evaluate(PLACES)
        await popup.get_by_role("button", name="Discard").click()
        await page.close()
        return before, after

    before, after = recording_browser.run(work())
    assert before == after


def test_what_is_entered_in_the_preview_survives_closing_the_popup(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    async def work() -> str:
        page = await break_shop(recording_browser)
        await page.evaluate(LOG)
        async with HeldPage(page) as held:
            popup = await open_preview(recording_browser, page, held)
            await popup.get_by_label("Description").fill("The total is missing")
            await popup.wait_for_function(IS_KEPT)
            await popup.close()
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_label("Description")).to_have_value("The total is missing")
        await expect(popup.get_by_label("Title")).to_have_value("TypeError after clicking “Pay”")
        await expect(popup.get_by_text("This is your draft")).to_have_count(0)  # the page was captured again
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    assert ticket.record["description"].startswith("The total is missing")
    assert ticket.console_args()[-LINES:] == [[f"line {n}"] for n in range(LINES)]

"""The extension's popup: what it shows of a capture, what a person leaves out, and the same bug again."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Route, expect

from tests.e2e.extension.recording.test_actions import ADDRESS, SHOP
from tests.e2e.support.app import assert_accessible
from tests.e2e.support.extension_browser import ExtensionBrowser, is_ticket, is_ticket_tab
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World, ok

pytestmark = pytest.mark.long

# whether the stored draft leaves out exactly these parts
IS_STORED = """(parts) => new Promise((done) => {
  indexedDB.open("ticketbox").onsuccess = ({ target: { result } }) => {
    result.transaction("drafts").objectStore("drafts").getAll().onsuccess = ({ target }) => {
      result.close();
      done(target.result.length === 1 && [...target.result[0].excluded ?? []].sort().join() === parts.join());
    };
  };
})"""


async def break_shop(browser: ExtensionBrowser) -> Page:
    """Click "Pay", which throws, after a step that isn't about it."""

    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html", body=SHOP)

    page = await browser.context.new_page()
    await page.route("http://shop.test/**", answer)
    await page.goto(ADDRESS)
    await page.click("text=Apply gift card")
    async with page.expect_event("pageerror"):
        await page.locator("#pay").click()
    return page


async def shoot(popup: Page, name: str) -> None:
    """Keep pictures of the popup in the folder that `POPUP_PICTURES` names."""
    folder = os.environ.get("POPUP_PICTURES")
    if folder:
        for scheme in ("dark", "light"):
            await popup.emulate_media(color_scheme=scheme)
            for end, top in (("", 0), ("-end", 9999)):
                await popup.evaluate("(top) => scrollTo(0, top)", top)
                await popup.screenshot(path=Path(folder) / f"{name}-{scheme}{end}.png", animations="disabled")


def test_report_is_edited_and_sent_by_keyboard(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await break_shop(recording_browser)
        popup = await recording_browser.open_popup(page)
        chips = popup.get_by_role("list", name="What the capture shows").get_by_role("listitem")
        await expect(chips.first).to_have_text("TypeError")
        await expect(chips.last).to_have_text(re.compile(r"Chrome \d+\s*$"))
        await expect(popup.get_by_role("button", name="Send report")).to_be_in_viewport(ratio=1)
        await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
        await shoot(popup, "report")
        await assert_accessible(popup)

        steps = popup.get_by_role("group", name="Steps to reproduce").get_by_role("textbox")
        before = await steps.count()
        await steps.last.press("Enter")
        await expect(steps).to_have_count(before + 1)
        await expect(steps.nth(before)).to_be_focused()
        await popup.keyboard.type("No total")
        await popup.keyboard.press("Alt+ArrowUp")
        await expect(steps.nth(before - 1)).to_have_value("No total")
        await expect(steps.nth(before - 1)).to_be_focused()
        await popup.keyboard.press("ArrowUp")
        await expect(steps.nth(before - 2)).to_be_focused()
        await popup.keyboard.press("ControlOrMeta+A")
        await popup.keyboard.press("Backspace")
        await expect(steps.nth(before - 2)).to_have_value("")
        await popup.keyboard.press("Backspace")
        await expect(steps).to_have_count(before)
        await popup.get_by_label("Title").focus()
        await popup.keyboard.press("Control+Enter")
        new, done = (popup.get_by_role("button", name=name) for name in ("Create new ticket", "Open ticket"))
        await new.or_(done).wait_for()
        if await new.is_visible():
            await shoot(popup, "same-error")
            await new.click()
        await expect(done).to_be_focused()
        await expect(popup.get_by_role("heading", name="Report sent")).to_be_visible()
        await expect(popup.get_by_text(re.compile(r"^\w+-\d+$"))).to_be_visible()
        await shoot(popup, "sent")
        await assert_accessible(popup)
        await popup.get_by_role("button", name="Copy link").click()
        await expect(popup.get_by_role("button", name="Link copied")).to_be_visible()
        await done.focus()
        async with recording_browser.context.expect_page(is_ticket_tab) as opened:
            with suppress(PlaywrightError):  # the popup closes before the browser confirms the key
                await done.press("Enter")
        ticket = await opened.value
        await ticket.wait_for_url(is_ticket, wait_until="commit")
        address = ticket.url
        await ticket.close()
        await page.close()
        return address

    record = ReportedTicket(reporter, recording_browser.run(work())).record
    assert record["description"].splitlines()[-2:] == ["2. No total", "3. Clicked button “Pay”"]


NOISE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Noise</title>
<button id="save">Save</button><script>
  fetch("http://updates.invalid/latest.txt").catch(({ message }) => console.error("No update information:", message));
  document.getElementById("save").onclick = () => fetch("/save", { method: "POST" });
</script>"""


def test_bug_is_chosen_by_keyboard(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def answer(route: Route) -> None:
        is_page = route.request.method == "GET"
        await route.fulfill(status=200 if is_page else 500, content_type="text/html", body=NOISE if is_page else "")

    async def work() -> str:
        page = await recording_browser.context.new_page()
        await page.route("http://shop.test/**", answer)
        async with page.expect_console_message(lambda message: message.text.startswith("No update")):
            await page.goto(ADDRESS)
        async with page.expect_response("**/save"):
            await page.get_by_role("button", name="Save").click()
        popup = await recording_browser.open_popup(page)
        choices = popup.get_by_role("group", name="Which of these is the bug?").get_by_role("radio")
        await expect(choices.first).to_be_checked()
        await shoot(popup, "bug")
        await assert_accessible(popup)
        await choices.first.focus()
        await popup.keyboard.press("ArrowDown")
        chosen = popup.get_by_role("radio", name="POST shop.test/save: 500")
        await expect(chosen).to_be_checked()
        await expect(popup.get_by_label("Title")).to_have_value("POST shop.test/save: 500 after clicking “Save”")
        await shoot(popup, "bug-chosen")
        await popup.keyboard.press("Control+Enter")
        done = popup.get_by_role("button", name="Open ticket")
        await expect(done).to_be_focused()
        async with recording_browser.context.expect_page(is_ticket_tab) as opened:
            with suppress(PlaywrightError):  # the popup closes before the browser confirms the key
                await done.press("Enter")
        ticket = await opened.value
        await ticket.wait_for_url(is_ticket, wait_until="commit")
        return ticket.url

    bug = ReportedTicket(reporter, recording_browser.run(work())).record["capture"]["bug"]
    assert (bug["stream"], bug["text"]) == ("network", "POST /save: 500")
    assert bug["chosen"]["token_id"]


def test_same_error_is_added_to_its_ticket_and_counted(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def report() -> str:
        page = await break_shop(recording_browser)
        popup = await recording_browser.open_popup(page)
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    first = ReportedTicket(reporter, recording_browser.run(report()))
    api = reporter.box.client(reporter.owner.token("tickets:write"))
    ok(api.patch(f"/tickets/{first.id}", json={"resolved": True}))
    key = first.record["key"]

    async def add() -> None:
        page = await break_shop(recording_browser)
        popup = await recording_browser.open_popup(page)
        await popup.get_by_label("Description").fill("Also with two lamps")
        await popup.get_by_role("button", name="Send report").click()
        region = popup.get_by_role("region", name=f"{key} has the same error")
        await expect(region).to_contain_text("Resolved; adding your report reopens it.")
        await expect(region.get_by_role("button", name=f"Add to {key}")).to_be_focused()
        await assert_accessible(popup)
        await region.get_by_role("button", name=f"Add to {key}").click()
        await expect(popup.get_by_text("seen 2 times")).to_be_visible()
        await expect(popup.get_by_text("Added")).to_be_visible()
        await popup.close()
        await page.close()

    count = len(ok(api.get("/tickets"))["items"])
    recording_browser.run(add())
    assert len(ok(api.get("/tickets"))["items"]) == count
    ticket = ok(api.get(f"/tickets/{first.id}"))
    assert (ticket["occurrences"], ticket["resolved"]) == (2, False)
    assert len(ok(api.get(f"/tickets/{first.id}/captures"))["items"]) == 2
    (comment,) = ok(api.get(f"/tickets/{first.id}/comments"))["items"]
    assert comment["body"] == "Also with two lamps"


def test_what_is_switched_off_is_not_sent(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await break_shop(recording_browser)
        await page.evaluate("() => console.log('kept for me')")
        popup = await recording_browser.open_popup(page)
        for name in ("screenshot", "console", "errors"):
            await popup.get_by_role("switch", name=f"Send {name}").click()
        await expect(popup.get_by_text("Not sent", exact=True)).to_have_count(3)
        await popup.get_by_role("switch", name="Send console").click()
        await expect(popup.get_by_label("Title")).to_have_value("Cart")  # the error isn't in the report
        await popup.wait_for_function(IS_STORED, arg=["errors", "screenshot"])
        await popup.close()
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_role("switch", name="Send errors")).not_to_be_checked()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    assert (ticket.streams["errors"], ticket.screenshot.status_code) == ([], 404)
    assert ["kept for me"] in ticket.console_args()
    assert "TypeError" not in json.dumps(ticket.streams)


def test_popup_can_be_read_at_twice_the_size(recording_browser: ExtensionBrowser) -> None:
    async def work() -> dict[str, Any]:
        page = await break_shop(recording_browser)
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_label("Title")).to_be_focused()
        await popup.evaluate("() => { document.documentElement.style.zoom = 2; }")
        await popup.wait_for_function("() => document.fonts.check('13px \"Inter Variable\"')")
        size = await popup.evaluate(
            "() => ({ wide: document.querySelector('main').getBoundingClientRect().width, all: document.fonts.size,"
            " inter: document.fonts.check('13px \"Inter Variable\"') })"
        )
        await popup.close()
        await page.close()
        return size

    size = recording_browser.run(work())
    assert size["wide"] <= 800, "a popup of Chromium is at most 800 pixels wide"
    assert size["inter"]

"""Pointing at what is wrong, in the extension and the reporter: by pointer and keys, in frames and shadow roots."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.reports.test_embedded_reporter import press_send
from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.support.app import assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.http.reports.test_reports import Reporter
from tests.support.server import World, ok

pytestmark = pytest.mark.long

CART = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Your cart</title>
<h1>Your cart</h1>
<table><tr><td>Lamp<td>40.00 €<tr><td>Chair<td>40.00 €<tr><td>Total<td data-testid="total"><b>40.00 €</b></table>
<p><label>Coupon <input id="coupon" value="SPRING"></label></p>
<shop-badge></shop-badge>
<iframe title="Delivery" srcdoc="<p>Arrives: <span id='when'>Yesterday</span></p>" height="80"></iframe>
<dialog><p>Pay <i>40.00 €</i>?</p></dialog>
<script>
  const root = document.querySelector("shop-badge").attachShadow({ mode: "open" });
  root.innerHTML = "<p>Items: <em>1</em></p>";
  globalThis.seen = [];
  for (const type of ["click", "pointerdown", "keydown", "input", "focusin"])
    document.addEventListener(type, ({ type }) => seen.push(type), true);
</script>"""
TOTAL = "“Total” should be “80.00 €”; it was “40.00 €”"
ITEMS = "“Items” should be “2”; it was “1”"
ARRIVES = "“Arrives” should be “Tomorrow”; it was “Yesterday”"


async def click_middle(page: Page, selector: str, frame: str | None = None) -> None:
    """Click where an element is, whatever is over it."""
    owner = page.frame_locator(frame) if frame else page
    box = await owner.locator(selector).bounding_box()
    assert box
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def shoot(page: Page, name: str) -> None:
    """Keep a picture in the folder that `POINTING_PICTURES` names."""
    if folder := os.environ.get("POINTING_PICTURES"):
        await page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")


async def start_pointing(popup: Page, page: Page, key: str | None = None) -> None:
    """Press "What is wrong?" in the popup, which closes."""
    button = popup.get_by_role("button", name="What is wrong?")
    await (button.press(key) if key else button.click())
    await page.locator("ticketbox-pointer .bar").wait_for()


def test_person_points_at_what_is_wrong_in_three_inputs(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html", body=CART)

    async def work() -> str:
        page = await recording_browser.context.new_page()
        await page.route("http://shop.test/**", answer)
        await page.goto("http://shop.test/cart")
        popup = await recording_browser.open_popup(page)
        await start_pointing(popup, page)
        await click_middle(page, "[data-testid=total]")
        card = page.get_by_role("dialog", name="cell “40.00 €”")
        await expect(card.get_by_label("The text should be")).to_have_value("40.00 €")
        await shoot(page, "card")
        await page.keyboard.type("80.00 €")
        await page.keyboard.press("Enter")
        popup = await recording_browser.find_popup()
        await expect(popup.get_by_label("Title")).to_have_value(TOTAL)
        assert await page.evaluate("seen") == []
        await shoot(popup, "popup")
        await assert_accessible(popup)

        # by keys, from the element with the focus: out of the frame, and into the shadow root beside it
        await page.frame_locator("iframe").locator("#when").evaluate("(each) => { each.tabIndex = 0; each.focus(); }")
        await page.evaluate("seen.length = 0")
        await start_pointing(popup, page, "Enter")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("The text should be")).to_have_value("Yesterday")
        await page.keyboard.press("Escape")
        for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowDown", "Enter"):
            await page.keyboard.press(key)
        await expect(page.get_by_label("The text should be")).to_have_value("1")
        await page.keyboard.type("2")
        await page.keyboard.press("Enter")
        popup = await recording_browser.find_popup()
        await expect(popup.get_by_role("list", name="What is wrong").get_by_role("listitem")).to_have_count(2)
        assert await page.evaluate("seen") == []

        await start_pointing(popup, page)
        await click_middle(page, "#when", "iframe")
        await page.keyboard.type("Tomorrow")
        await page.keyboard.press("Enter")
        popup = await recording_browser.find_popup()
        await expect(popup.get_by_label("Title")).to_have_value(TOTAL)
        await popup.get_by_role("button", name=f"Remove: {ITEMS}").click()

        await page.evaluate("document.querySelector('dialog').showModal()")
        await start_pointing(popup, page)
        await click_middle(page, "dialog i")
        await page.get_by_role("button", name="Should not be here").click()
        popup = await recording_browser.find_popup()
        assert await page.evaluate("document.querySelector('dialog').open")

        await start_pointing(popup, page)
        await page.keyboard.press("Escape")
        popup = await recording_browser.find_popup()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    assert ticket.record["title"] == TOTAL
    expectations: list[dict[str, Any]] = ticket.capture["expectations"]
    assert [each["words"] for each in expectations] == [TOTAL, ARRIVES, "“40.00 €” should not be here"]
    total, arrives, _ = expectations
    assert total["target"]["selectors"][0] == '[data-testid="total"]'
    assert arrives["frame_path"] == ['[title="Delivery"]']
    assert "40.00" not in str(total["target"])
    asset = ticket.capture["screenshot"]["id"]
    marks = ok(reporter.api.get(f"/assets/{asset}/annotations"))["items"]
    assert [each["text"] for each in marks] == [TOTAL, ARRIVES, "“40.00 €” should not be here"]
    assert [each["kind"] for each in ticket.streams["actions"]] == ["navigate"]
    # a pasted token may be an agent's
    assert {each["confirmed"] for each in expectations} == {None}


@pytest.mark.parametrize("keeps", [True, False])
def test_numbers_of_answers_are_kept_only_if_the_person_agrees(
    recording_browser: ExtensionBrowser, reporter: World, keeps: bool
) -> None:
    ok(reporter.owner.web.patch(f"/projects/{reporter.project}", json={"capture_policy": {"bodies": "shape"}}))
    shown = """<!doctype html><meta charset="utf-8"><title>Cart</title><p>Total <b data-testid="total"></b></p>
    <script type="module">
      const { price } = await (await fetch("/api/cart")).json();
      document.querySelector("b").textContent = price.toFixed(2) + " €";
    </script>"""

    async def answer(route: Route) -> None:
        if "/api/" in route.request.url:
            await route.fulfill(json={"price": 40, "count": 2, "customer": "Ann Archer"})
        else:
            await route.fulfill(content_type="text/html", body=shown)

    async def work() -> str:
        options = await recording_browser.open_options()  # to load the project's policy
        await options.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await options.close()
        page = await recording_browser.context.new_page()
        await page.route("http://shop.test/**", answer)
        await page.goto("http://shop.test/cart")
        await expect(page.get_by_test_id("total")).to_have_text("40.00 €")
        popup = await recording_browser.open_popup(page)
        await start_pointing(popup, page)
        await click_middle(page, "[data-testid=total]")
        await page.keyboard.type("80.00 €")
        await page.keyboard.press("Enter")
        popup = await recording_browser.find_popup()
        await expect(popup.get_by_text("No answer has 80.00, so the page computed it.")).to_be_visible()
        await popup.get_by_text("What is kept").click()
        await expect(popup.get_by_role("listitem").filter(has_text="GET /api/cart")).to_contain_text("40, 2")
        await shoot(popup, "numbers")
        await assert_accessible(popup)
        if keeps:
            await popup.get_by_role("checkbox", name="Keep the numbers of the answer").check()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    (expectation,) = ticket.capture["expectations"]
    (call,) = [each for each in ticket.streams["network"] if each["url"].endswith("/api/cart")]
    body = json.loads(call["response"]["body"])
    assert "Ann" not in body["customer"]
    if keeps:
        assert (body["price"], body["count"]) == (40, 2)
        assert (expectation["seen"], expectation["right"], expectation["shown"]) == ("40.00 €", "80.00 €", None)
    else:
        assert body["price"] != 40
        assert (expectation["seen"], expectation["right"]) == (f"{body['price']:.2f} €", None)
        assert expectation["words"] == "“Total” should not be “40.00 €”"


@pytest.fixture(scope="module")
def shop() -> Iterator[ReportingSite]:
    """The site that embeds the reporter."""
    with ReportingSite() as running:
        yield running


def test_stranger_points_in_the_reporter_and_a_member_confirms(
    chromium: Chromium, world: World, shop: ReportingSite
) -> None:
    reporter = Reporter(world, origins=[shop.url])
    shop.embed(world.box.url, reporter.key["key"])
    words = "The button should be “Add chair”; it was “Add lamp”"

    async def visit(page: Page) -> None:
        await page.goto(f"{shop.url}/cart")
        await page.get_by_role("button", name="Report a problem").click()
        panel = page.get_by_role("dialog", name="Report a problem")
        await panel.get_by_role("button", name="Point at what is wrong").press("Enter")
        await page.locator("ticketbox-pointer .bar").wait_for()
        await page.keyboard.press("Escape")
        await expect(panel).to_be_visible()
        await panel.get_by_role("button", name="Point at what is wrong").press("Enter")
        await click_middle(page, "main > button >> nth=0")
        await shoot(page, "reporter-card")
        await page.get_by_label("The text should be").fill("Add chair")
        await page.keyboard.press("Enter")
        await expect(panel.get_by_label("What is wrong?")).to_have_value(words)
        await expect(panel.get_by_role("button", name=f"Remove: {words}")).to_be_visible()
        await shoot(page, "reporter")
        await press_send(page)
        await expect(page.get_by_role("dialog", name="Report sent")).to_be_visible()

    chromium.visit(visit)
    (ticket,) = reporter.find_tickets()
    path = f"/tickets/{ticket['id']}"

    async def confirm(page: Page) -> None:
        lines = page.get_by_role("list", name="What is wrong").get_by_role("listitem")
        await expect(lines).to_contain_text(f"{words} not confirmed")
        await shoot(page, "ticket")
        await lines.get_by_role("button", name="Confirm").click()
        await expect(lines).not_to_contain_text("not confirmed")
        await expect(lines.get_by_role("button", name="Confirm")).to_have_count(0)
        await assert_accessible(page)
        await assert_fits(page)

    use(chromium, world.owner, path, confirm)
    (expectation,) = ok(world.api.get(f"{path}?include=capture"))["capture"]["expectations"]
    assert expectation["words"] == words
    assert expectation["confirmed"]["user"]["name"] == "Ann"

"""What the extension records of a person's actions, on a page that makes it hard."""

import json
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World

ADDRESS = "http://shop.test/cart?step=1"
IBAN = "DE89370400440532013000"
SECRETS = ("hunter2", "4242424242424242", "Elm Street", "Wednesday plan", IBAN, "Passphrase", "Card number", "Iban of")
HOSTILE = """<script>
  // as pages with old libraries do, and worse
  Array.prototype.toJSON = () => "broken";
  Element.prototype.getAttribute = Element.prototype.closest = () => { throw new Error("no"); };
  Document.prototype.querySelectorAll = () => [];
</script>
<form id="odd">
  <input name="getAttribute"><input name="localName"><input name="parentElement"><input name="closest">
  <button type="button">Odd one</button>
</form>"""
SHOP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Cart</title>
<nav><a href="#gifts" id="gifts-link">Gift cards</a></nav>
<form id="find" onsubmit="event.preventDefault()"><input placeholder="Search products" type="search"></form>
<form id="checkout" onsubmit="event.preventDefault()">
  <label>Code <input name="code"></label>
  <label for="mail">Email</label><input id="mail" type="email">
  <label>Passphrase <input type="password" id="pw"></label>
  <label>Card number <input autocomplete="cc-number" id="card"></label>
  <label>Iban of account <input name="iban"></label>
  <div data-private><button type="button" id="street">Elm Street</button></div>
  <div contenteditable role="textbox" aria-label="Note" id="note"></div>
  <label>Country <select><option>Norway</option><option>Sweden</option></select></label>
  <label><input type="checkbox"> Newsletter</label>
  <button type="button" data-testid="gift"><svg width="20" height="20"></svg> Apply gift card</button>
  <ul><li>Oak table <button type="button">Remove</button></li><li>Lamp <button type="button">Remove</button></li></ul>
  <div id="host"></div>
  <p>Total: 12 €</p>
  <button type="button" id="pay">Pay</button>
</form>
<script>
  document.getElementById("host").attachShadow({ mode: "open" }).innerHTML = "<button type=button>Inside</button>";
  document.getElementById("gifts-link").onclick = (event) => {
    event.preventDefault();
    history.pushState(null, "", "/gifts");
  };
  document.getElementById("pay").onclick = () => { document.cart.total; };
  const lamp = document.getElementsByTagName("li")[1];
  for (let count = 0; count < 300; count += 1)
    (count % 2 ? lamp : document.body).dispatchEvent(new MouseEvent("click", { bubbles: true }));
</script>"""

# How a person gets to each element, the locator that is preferred for it, and the step in words.
WALK: list[tuple[str, str, str]] = [
    ("text=Gift cards", 'role=link[name="Gift cards"]', "Clicked link “Gift cards”"),
    ("text=Apply gift card", '[data-testid="gift"]', "Clicked button “Apply gift card”"),
    ("li:nth-of-type(2) > button", "li:nth-of-type(2) > button:nth-of-type(1)", "Clicked button “Remove”"),
    ("#host >> button", '#host >> role=button[name="Inside"]', "Clicked button “Inside”"),
    ("text=Total", 'p:text-is("Total: 12 €")', "Clicked “Total: 12 €”"),
    ("text=Newsletter", 'role=checkbox[name="Newsletter"]', "Clicked checkbox “Newsletter”"),
]


async def open_shop(browser: ExtensionBrowser) -> Page:
    """A page of the shop, which only the browser knows."""

    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html", body=SHOP.replace("<nav>", f"{HOSTILE}<nav>"))

    page = await browser.context.new_page()
    await page.route("http://shop.test/**", answer)
    await page.goto(ADDRESS)
    return page


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def walk(recording_browser: ExtensionBrowser, reporter: World) -> tuple[ReportedTicket, dict[str, Any]]:
    """A ticket about a walk through the shop, and what the popup and the locators said."""

    async def work() -> tuple[ReportedTicket, dict[str, Any]]:
        page = await open_shop(recording_browser)
        for place, _, _ in WALK:
            await page.click(place)
        await page.locator("[name=code]").press_sequentially("SPRING8")
        await page.locator("#mail").fill("ann@example.org")
        await page.locator("[type=search]").press_sequentially("a lamp that is very bright")
        await page.locator("[type=search]").press("Enter")
        await page.locator("#pw").press_sequentially("hunter2")
        await page.locator("#pw").evaluate("(field) => { field.type = 'text'; }")
        await page.locator("#pw").press_sequentially("hunter2")
        await page.locator("#card").press_sequentially("4242424242424242")
        await page.locator("[name=iban]").press_sequentially(IBAN)
        await page.locator("#street").click()
        await page.locator("#note").press_sequentially("Wednesday plan")
        await page.locator("select").press("s")
        await page.keyboard.press("Control+k")
        odd = await page.evaluate("document.getElementById('odd').lastElementChild.getBoundingClientRect().toJSON()")
        await page.mouse.click(odd["x"] + 5, odd["y"] + 5)
        await page.locator("#pay").click()
        popup = await recording_browser.open_popup(page)
        title = popup.get_by_label("Title")
        await expect(title).to_be_focused()
        await expect(title).to_have_value("TypeError after clicking “Pay”")
        fields = await popup.get_by_role("group", name="Steps to reproduce").get_by_role("textbox").all()
        lines = [f"{number}. {await field.input_value()}" for number, field in enumerate(fields, 1)]
        seen: dict[str, Any] = {"description": "\n".join(lines)}
        reported = ReportedTicket(reporter, await recording_browser.file_ticket(popup))
        clean = await recording_browser.context.new_page()  # a page on which Playwright's own scripts work
        await clean.set_content(SHOP)
        seen["found"] = [
            [await locate(clean, selector, place) for selector in find_click(reported, words)["target"]["selectors"]]
            for place, _, words in WALK
        ]
        await clean.close()
        await page.close()
        return reported, seen

    return recording_browser.run(work())


async def locate(page: Page, selector: str, place: str) -> bool:
    """Whether a locator finds exactly the element that contains the given place, or is it."""
    found = page.locator(selector)
    inner = await page.locator(place).first.element_handle()
    return await found.count() == 1 and await found.evaluate(
        "(element, inner) => element.contains(inner) || inner.contains(element)", inner
    )


def find_click(ticket: ReportedTicket, words: str) -> dict[str, Any]:
    """The only click of a person that is described so."""
    (step,) = [step for step in ticket.streams["actions"] if step["words"] == words and not step["synthetic"]]
    return step


Walk = tuple[ReportedTicket, dict[str, Any]]


def test_steps_say_what_the_person_did(walk: Walk) -> None:
    ticket, seen = walk
    words = [step["words"] for step in ticket.streams["actions"] if not step["synthetic"]]
    assert [each for each in words if not each.startswith(("Scrolled", "Left", "Returned"))] == [
        "Opened /cart?step=1",
        "Clicked link “Gift cards”",
        "Opened /gifts",
        *(each for _, _, each in WALK[1:]),
        "Typed 1–10 characters into “Code”",
        "Typed an email address into “Email”",
        "Typed 11–50 characters into “Search products”",
        "Pressed Enter in “Search products”",
        "Submitted form #find",
        "Typed into a private field",
        "Typed into a private field",
        "Typed into a private field",
        "Clicked an element",
        "Typed 11–50 characters into “Note”",
        "Selected an option in “Country”",
        "Pressed Ctrl+K in “Country”",
        "Clicked button “Odd one”",
        "Clicked button “Pay”",
    ]
    assert ticket.capture["health"]["actions"]["status"] in {"ok", "partial"}
    assert "3. Clicked button “Apply gift card”" in seen["description"]
    assert ticket.record["description"] == seen["description"]


def test_locators_are_in_order_of_preference_and_find_only_their_element(walk: Walk) -> None:
    ticket, seen = walk
    for (_, preferred, words), found in zip(WALK, seen["found"], strict=True):
        assert find_click(ticket, words)["target"]["selectors"][0] == preferred
        assert found
        assert all(found), (words, find_click(ticket, words)["target"]["selectors"], found)


def test_private_fields_leave_no_trace(walk: Walk) -> None:
    ticket, _ = walk
    stored = json.dumps([ticket.streams["actions"], ticket.record], ensure_ascii=False)
    assert not [
        secret for secret in (*SECRETS, "SPRING8", "ann@", "very bright", "#pw", "#card", "#street") if secret in stored
    ]


def test_clicks_of_scripts_are_marked_and_bounded(walk: Walk) -> None:
    synthetic = [step for step in walk[0].streams["actions"] if step["synthetic"] and step["kind"] == "click"]
    assert len(synthetic) == 50
    assert all(step["words"].endswith("(by a script)") for step in synthetic)
    assert sum(step["repeat"] for step in synthetic) + walk[0].capture["health"]["actions"]["dropped"] == 300


@pytest.mark.long
def test_only_clicks_of_a_double_click_are_one_step(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await open_shop(recording_browser)
        pay = page.locator("#pay")
        await pay.click()
        await pay.click()
        await pay.dblclick()
        key = await recording_browser.file_ticket(await recording_browser.open_popup(page))
        await page.close()
        return key

    steps = ReportedTicket(reporter, recording_browser.run(work())).streams["actions"]
    clicks = [step["words"] for step in steps if step["kind"] == "click" and not step["synthetic"]]
    assert clicks == [*["Clicked button “Pay”"] * 2, "Double-clicked button “Pay”"]


REPORTS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Reports</title>
<table tabindex="0"><tr><td>Report A<tr><td>Report B<tr><td>Report C</table>
<div tabindex="0" id="stock"><i>Old</i> stock</div>
<label>Email <input type="email"></label>"""


def test_click_in_a_table_is_one_in_its_cell_with_the_keys_that_were_held(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    async def work() -> str:
        page = await recording_browser.context.new_page()
        await page.route("http://shop.test/**", lambda route: route.fulfill(content_type="text/html", body=REPORTS))
        await page.goto("http://shop.test/reports")
        await page.get_by_text("Report A").click()
        await page.get_by_text("Report C").click(modifiers=["Control", "Shift"])
        await page.locator("#stock").click()
        await page.get_by_label("Email").fill("nobody@shop.test")
        await page.get_by_label("Email").fill("nobody")
        key = await recording_browser.file_ticket(await recording_browser.open_popup(page))
        await page.close()
        return key

    steps = ReportedTicket(reporter, recording_browser.run(work())).streams["actions"][1:]
    assert [step["words"] for step in steps] == [
        "Clicked cell “Report A”",
        "Clicked cell “Report C” with Ctrl+Shift",
        "Clicked “Old stock”",
        "Typed 1–10 characters into “Email”",
    ]
    assert steps[2]["target"]["selectors"] == ["#stock"]  # Playwright's `text-is` doesn't find a text in two elements


def test_steps_can_be_left_out(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await open_shop(recording_browser)
        await page.locator("#pay").click()
        popup = await recording_browser.open_popup(page)
        steps = popup.get_by_role("group", name="Steps to reproduce")
        await expect(steps).to_contain_text("from your last")
        switch = popup.get_by_role("switch", name="Send steps")
        await switch.click()
        await expect(popup.get_by_label("Title")).to_have_value("Cart")
        await expect(steps).to_have_count(0)
        await switch.click()
        await expect(steps).to_have_count(1)
        await switch.click()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    assert ticket.streams["actions"] == []
    assert ticket.capture["health"]["actions"]["status"] == "disabled"

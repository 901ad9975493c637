"""What the extension records of a page for its replay: what was shown, and nothing that was entered."""

import json

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.captures.test_replay import find_page
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.e2e.support.uploads import read_stored_bytes
from tests.support.server import World, expect_error, ok

pytestmark = pytest.mark.long

SECRET = "Zebra7Quartz"
# The recorder replaces this function of the page.
IS_NATIVE = (
    "Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.toString().includes('[native code]')"
)
# whether the browser starts the replay's recorder in pages that load
IS_REPLAY_REGISTERED = """async (expected) => {
  const scripts = await chrome.scripting.getRegisteredContentScripts();
  return scripts.length > 0 && scripts.some(({ id }) => id === "replay") === expected;
}"""
PLACES = ("[name=code]", "#pw", "textarea", "#note", "#card")
SHOP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Cart</title>
<style>h1 { color: rgb(1, 2, 3) }</style>
<h1>Your cart</h1>
<input name="code"><input type="hidden" value="SECRET"><input type="password" id="pw"><textarea></textarea>
<div contenteditable id="note">Note: </div>
<div role="textbox" id="editor" tabindex="0"></div>
<div class="cm-content"></div>
<div data-private><p id="private"></p><input id="card" aria-label="SECRET"></div>
<img src="/lamp.png" width="40" height="30" alt="">
<button type="button" id="gift">Add gift card</button>
<button type="button" id="work">Calculate</button>
<p id="table"></p>
<script>
  document.getElementById("gift").onclick = () => {
    document.querySelector("h1").textContent = "Total: NaN";
    document.styleSheets[0].insertRule("h1 { letter-spacing: 3px }", 1);
    document.styleSheets[0].cssRules[0].style.setProperty("opacity", 0.5); // a number, which the recorder passes on
  };
  // what a page does whose every frame changes all of it
  document.getElementById("work").onclick = () => {
    let round = 0;
    const render = () => {
      document.getElementById("table").innerHTML = `<b title=${round}>x</b>`.repeat(20_000);
      round += 1;
      const isRecorded = !IS_NATIVE;
      if (isRecorded && round < 100) setTimeout(render);
      else document.body.dataset.done = "yes";
    };
    render();
  };
  // as widgets do that aren't fields
  for (const id of ["editor", "private"]) document.getElementById(id).textContent = "SECRET";
  document.querySelector(".cm-content").textContent = "SECRET";
</script>""".replace("SECRET", SECRET).replace("IS_NATIVE", IS_NATIVE)


async def open_shop(browser: ExtensionBrowser) -> Page:
    """The shop, in which somebody enters a secret everywhere and adds a gift card."""

    async def answer(route: Route) -> None:
        is_page = route.request.resource_type == "document"
        await route.fulfill(content_type="text/html" if is_page else "image/png", body=SHOP if is_page else b"")

    page = await browser.context.new_page()
    await page.route("http://shop.test/**", answer)
    await page.goto("http://shop.test/cart")
    return page


async def enter_secrets(page: Page) -> None:
    for place in PLACES:
        await page.locator(place).press_sequentially(SECRET)
    await page.locator("#gift").click()
    await expect(page.get_by_role("heading")).to_have_text("Total: NaN")


def test_replay_shows_what_happened_and_no_secret(recording_browser: ExtensionBrowser, reporter: World) -> None:
    cookie = {"name": reporter.box.cookie, "value": reporter.owner.session, "url": reporter.box.url}

    async def work() -> str:
        page = await open_shop(recording_browser)
        await enter_secrets(page)
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_text("fields masked")).to_be_visible()
        key = await recording_browser.file_ticket(popup)
        await recording_browser.context.add_cookies([cookie])  # type: ignore[list-item]
        ticket = await recording_browser.context.new_page()
        await ticket.goto(f"{reporter.box.url}/t/{key}")
        await ticket.get_by_role("tab", name="Replay").click()
        heading = find_page(ticket).get_by_role("heading")
        await expect(heading).to_have_text("Your cart")
        await ticket.get_by_role("slider", name="Replay position").press("End")
        await expect(heading).to_have_text("Total: NaN")
        await expect(heading).to_have_css("letter-spacing", "3px")
        await expect(heading).to_have_css("color", "rgb(1, 2, 3)")
        await expect(heading).to_have_css("opacity", "0.5")
        await expect(find_page(ticket).locator("[name=code]")).to_have_value("*" * 10)
        await ticket.close()
        await recording_browser.context.clear_cookies()
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    health = ticket.capture["health"]["replay"]
    assert (health["status"], health["reason"]) == ("ok", None)
    events = ok(reporter.api.get(f"/captures/{ticket.capture['id']}/replay"))
    assert len(events) == health["captured"] > 3
    kept = json.dumps(events)
    assert SECRET not in kept
    assert "lamp.png" not in kept
    assert "Add gift card" in kept
    # one letter at a time would be a secret, too
    texts = [each for event in events if event["data"].get("source") in (0, 5) for each in collect_texts(event["data"])]
    assert [each for each in texts if each.strip("*\n ")] == ["Total: NaN"]
    assert not any(SECRET.encode() in each for each in read_stored_bytes(reporter.box.db))


def test_styles_that_change_break_no_policy_of_the_page(recording_browser: ExtensionBrowser, reporter: World) -> None:
    """The recorder compares an element's style with the former one, and must not write that into an attribute."""

    async def answer(route: Route) -> None:
        body = '<!doctype html><html lang="en"><title>Strict</title><h1>Orders</h1>'
        policy = {"Content-Security-Policy": "default-src 'none'; style-src 'none'"}
        await route.fulfill(content_type="text/html", headers=policy, body=body)

    async def work() -> tuple[str, list[str]]:
        page = await recording_browser.context.new_page()
        await page.route("http://strict.test/**", answer)
        await page.goto("http://strict.test/orders")
        await page.wait_for_function(f"() => !({IS_NATIVE})")
        violations = await page.evaluate("""async () => {
          const violations = [];
          document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
          const { style } = document.querySelector("h1");
          for (const color of ["red", "green", "blue"]) {
            style.color = color;
            await new Promise(requestAnimationFrame);
            await new Promise((done) => setTimeout(done));
          }
          return violations;
        }""")
        popup = await recording_browser.open_popup(page)
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key, violations

    key, violations = recording_browser.run(work())
    ticket = ReportedTicket(reporter, key)
    assert violations == []
    assert ticket.streams["errors"] == []
    kept = json.dumps(ok(reporter.api.get(f"/captures/{ticket.capture['id']}/replay")))
    assert "blue" in kept


def collect_texts(value: object) -> list[str]:
    """The texts of nodes and fields, not those of attributes."""
    if isinstance(value, list):
        return [text for each in value for text in collect_texts(each)]
    if not isinstance(value, dict):
        return []
    own = [each for name, each in value.items() if name in ("text", "value", "textContent") and isinstance(each, str)]
    return own + [text for name, each in value.items() if name != "attributes" for text in collect_texts(each)]


def test_parts_of_a_capture_can_be_removed_before_sending(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await open_shop(recording_browser)
        await page.evaluate("() => { console.log('keep me'); console.log('drop me'); }")
        await page.reload()
        await page.evaluate("() => { console.log('stay'); console.log('leave'); }")
        popup = await recording_browser.open_popup(page)
        await popup.get_by_role("switch", name="Send replay").click()
        await expect(popup.get_by_text("fields masked")).to_have_count(0)
        await popup.get_by_role("switch", name="Send earlier pages").click()
        await expect(popup.get_by_role("switch", name="Send earlier pages")).not_to_be_checked()
        await popup.get_by_role("group").filter(has_text="Console").locator("summary").click()
        await expect(popup.get_by_text("log: drop me")).to_have_count(0)
        await popup.get_by_role("button", name="Remove log: leave").click()
        await expect(popup.get_by_text("log: leave")).to_have_count(0)
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    health = ticket.capture["health"]
    assert (health["replay"]["status"], health["replay"]["captured"]) == ("disabled", 0)
    expect_error(reporter.api.get(f"/captures/{ticket.capture['id']}/replay"), 404, "not_found")
    assert ticket.console_args() == [["stay"]]
    assert health["console"]["captured"] == 1
    assert {each["document"] for each in ticket.streams["network"]} == {0}


def test_recorder_stops_on_a_page_that_it_slows_down(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def work() -> str:
        page = await open_shop(recording_browser)
        await page.wait_for_function(f"() => !({IS_NATIVE})")
        await page.locator("#work").click()
        await expect(page.locator("body")).to_have_attribute("data-done", "yes", timeout=120_000)
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_role("switch", name="Send replay")).to_have_count(0)
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    health = ticket.capture["health"]
    assert (health["replay"]["status"], health["replay"]["reason"]) == ("blocked", "slowdown")
    assert health["console"]["status"] == "ok"


def test_recorder_begins_again_on_a_page_that_was_slow_once(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    async def work() -> str:
        page = await open_shop(recording_browser)
        await page.wait_for_function(f"() => !({IS_NATIVE})")
        await page.locator("#work").click()
        await expect(page.locator("body")).to_have_attribute("data-done", "yes", timeout=120_000)
        await page.evaluate("() => { document.getElementById('table').textContent = ''; }")
        await page.wait_for_function(f"() => !({IS_NATIVE})", timeout=120_000)
        await page.locator("#gift").click()
        await expect(page.get_by_role("heading")).to_have_text("Total: NaN")
        popup = await recording_browser.open_popup(page)
        await expect(popup.get_by_text("fields masked")).to_be_visible()
        key = await recording_browser.file_ticket(popup)
        await page.close()
        return key

    ticket = ReportedTicket(reporter, recording_browser.run(work()))
    health = ticket.capture["health"]["replay"]
    assert (health["status"], health["reason"]) == ("partial", "slowdown")
    kept = json.dumps(ok(reporter.api.get(f"/captures/{ticket.capture['id']}/replay")))
    assert "Your cart" in kept
    assert "Total: NaN" in kept


@pytest.mark.parametrize("is_policy", [True, False])
def test_replay_is_off_by_setting_and_by_policy(
    recording_browser: ExtensionBrowser, reporter: World, is_policy: bool
) -> None:
    """The recorder doesn't even run: the page's fields have the browser's own functions."""
    project = f"/projects/{reporter.project}"
    (policy,) = [each["capture_policy"] for each in ok(reporter.owner.web.get("/projects"))["items"]]

    async def work() -> tuple[str, bool]:
        options = await recording_browser.open_options()
        setting = options.get_by_label("What recorded sites showed before the capture")
        if is_policy:
            await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'load-projects' })")
        else:
            await setting.select_option("Off")
            await options.wait_for_function(IS_REPLAY_REGISTERED, arg=False)
        page = await open_shop(recording_browser)
        native = await page.evaluate(f"() => {IS_NATIVE}")
        await page.bring_to_front()
        popup = await recording_browser.open_popup(page)
        key = await recording_browser.file_ticket(popup)
        await page.close()
        if not is_policy:
            await setting.select_option("Last 30 seconds")
            await options.wait_for_function(IS_REPLAY_REGISTERED, arg=True)
        await options.close()
        return key, native

    if is_policy:
        ok(reporter.owner.web.patch(project, json={"capture_policy": {**policy, "replay": 0}}))
    try:
        key, native = recording_browser.run(work())
    finally:
        ok(reporter.owner.web.patch(project, json={"capture_policy": policy}))
    assert native
    health = ReportedTicket(reporter, key).capture["health"]["replay"]
    assert (health["status"], health["reason"]) == ("disabled", "policy" if is_policy else None)

"""The extension in Chromium, from the click on its button to the ticket."""

import asyncio
import json
import re
from io import BytesIO
from typing import Any

import httpx
import pytest
from mcp.client import Client
from PIL import Image
from playwright.async_api import Page, expect

from tests.e2e.sites.faulty_site import FaultySite
from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.app import assert_accessible
from tests.e2e.support.devtools_recorder import Json
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket, report_page
from tests.e2e.support.uploads import read_stored_bytes
from tests.support.mcp_client import talk
from tests.support.server import World, eventually, ok


@pytest.mark.long
def test_user_signs_in_by_oauth_and_creates_a_ticket(
    extension_browser: ExtensionBrowser, world: World, varied_site: VariedSite
) -> None:
    browser = extension_browser

    async def connect() -> None:
        await browser.reset()
        options = await browser.connect(world)
        await options.get_by_text(world.owner.email).wait_for()
        async with asyncio.timeout(30):  # until the tab with the code is closed
            while any(world.box.url in page.url for page in browser.context.pages):
                await asyncio.sleep(0.02)

    browser.run(connect())
    (app,) = ok(world.owner.web.get("/connected-apps"))["items"]
    assert (app["name"], app["scopes"]) == ("ticketbox browser extension", ["tickets:assign", "tickets:write"])

    ticket = report_page(browser, world, lambda page: page.goto(f"{varied_site.url}/plain"), title="It broke here")
    assert ticket.record["title"] == "It broke here"
    assert ticket.record["created"]["via"] == "extension"
    assert ticket.record["source_url"] == f"{varied_site.url}/plain"
    assert ticket.screenshot.headers["content-type"] == "image/png"

    async def leave() -> None:
        options = await browser.open_options()
        await options.get_by_role("button", name="Sign out").click()
        await options.get_by_role("heading", name="Connect your ticketbox").wait_for()
        await options.close()

    browser.run(leave())
    eventually(lambda: ok(world.owner.web.get("/connected-apps"))["items"] == [])


def test_capture_contains_what_the_page_did(
    recording_browser: ExtensionBrowser, reporter: World, site: FaultySite
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{site.url}/shop/cart", referer="http://search.invalid/?q=tea")
        await page.wait_for_selector("body.done")

    ticket = report_page(recording_browser, reporter, visit)
    assert ticket.stream_statuses() == dict.fromkeys(STREAMS, ("ok", None))
    assert ticket.capture["health_summary"] == "Console, network, errors and actions were collected in full."
    assert ticket.record["title"] == "Cart · 2 items"
    assert ticket.capture["page"]["referrer"] == "http://search.invalid/?q=tea"

    console = ticket.streams["console"]
    assert [(each["level"], each["args"][0], each["repeat"]) for each in console] == [
        ("debug", "debugging", 1),
        ("log", "cart total", 1),
        ("info", "", 1),
        ("warn", "stock is low", 1),
        ("error", "checkout failed", 1),
        ("log", "tick", 3),
        ("log", "a line\nof two, and \ufffd between", 1),
        ("log", "session of", 1),
        ("log", "sign-in form", 1),
    ]
    assert console[1]["args"] == [
        "cart total", "12.5", "true", "null", "undefined", '{items: 2, note: "naïve ✓"}', '["a", "b"]', "Symbol(mark)",
    ]  # fmt: skip
    assert {each["source"].rpartition("/")[2].split(":")[0] for each in console} == {"app.js"}
    assert "extension://" not in json.dumps(ticket.streams)

    requests = ticket.request_summaries()
    assert requests[0] == ("document", "/shop/cart", 200)
    assert [each for each in requests if each[0] == "fetch"] == [
        ("fetch", "/api/cart?page=2", 200),
        ("fetch", "/api/login", 200),
        ("fetch", "/api/orders?token=[redacted]&page=3", 200),
        ("fetch", "/moved", 200),
        ("fetch", "/prices.json", 200),
        ("fetch", "/prices.json", 200),
        ("fetch", "/api/nothing", 404),
        ("fetch", "/api/broken", 500),
        ("fetch", "/picture.bin", 200),
        ("fetch", "/nobody", None),
        ("fetch", "/api/slow", 200),
    ]
    assert {("script", "/app.js", 200), ("stylesheet", "/shop.css", 200), ("image", "/missing.png", 404)} <= set(
        requests
    )
    fetched = [each for each in ticket.streams["network"] if each["type"] == "fetch"]
    assert [each["from_cache"] for each in fetched[4:6]] == [False, True]
    assert fetched[-2]["error"] == "net::ERR_CONNECTION_REFUSED"
    assert fetched[-1]["duration_ms"] >= 400
    assert {each["initiator"] for each in fetched} == {f"{site.url}/app.js"}

    errors = [(each["kind"], each["name"]) for each in ticket.streams["errors"]]
    assert sorted(errors) == [
        ("csp", ""), ("error", "TypeError"), ("resource", ""), ("resource", ""), ("unhandledrejection", "RangeError"),
    ]  # fmt: skip
    thrown = next(each for each in ticket.streams["errors"] if each["kind"] == "error")
    assert [frame["function"] for frame in thrown["frames"]] == ["total", "render", "tick"]
    seqs = sorted(each["seq"] for name in ("console", "errors", "actions") for each in ticket.streams[name])
    assert seqs == list(range(1, len(seqs) + 1))

    async def read(client: Client) -> dict[str, list[Json]]:
        given = {"capture_id": ticket.capture["id"], "limit": 100, "detail": "full"}
        return {name: (await client.call_tool(f"get_{name}", given)).structured_content["items"] for name in STREAMS}

    by_agent = talk(reporter, "legacy", read)
    assert {name: [_without_nulls(each) for each in ticket.streams[name]] for name in STREAMS} == by_agent


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("bodies", [pytest.param("off", marks=pytest.mark.long), "on"])
def test_no_planted_secret_reaches_the_server(
    recording_browser: ExtensionBrowser, reporter: World, site: FaultySite, bodies: str
) -> None:
    patterns = [] if bodies == "on" else [f"{site.url}/*"]  # a page of no project's has bodies, too
    policy = {"capture_policy": {"bodies": bodies, "extra_redactions": []}, "url_patterns": patterns}
    ok(reporter.owner.web.patch(f"/projects/{reporter.project}", json=policy))

    async def visit(page: Page) -> None:
        options = await recording_browser.open_options()  # to load the project's policy
        await options.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await options.close()
        await page.goto(f"{site.url}/shop/cart")
        await page.wait_for_selector("body.done")
        await page.evaluate(
            """(secret) => {
              document.body.insertAdjacentHTML("beforeend", `<input type="password" name="pw"><input name="mail">`);
              for (const field of document.querySelectorAll("input")) field.value = secret;
              console.log("fields", document.querySelector("input"), document.querySelectorAll("input"));
            }""",
            site.planted.cookie,
        )

    ticket = report_page(recording_browser, reporter, visit)
    assert sum(ticket.capture["redaction"].values()) >= 8
    requests = {re.sub(r"^\w+://[^/]+|\?.*", "", each["url"]): each for each in ticket.streams["network"]}
    login = requests["/api/login"]
    if bodies == "on":
        assert login["request"]["body"] == '{"user":"ann","password":"[redacted]","remember":true}'
        assert login["response"]["body"] == '{"user": "ann", "access_token": "[redacted]"}'
        assert requests["/picture.bin"]["response"]["omitted_reason"] == "binary"
    else:
        bodies_there = [each[side]["body"] for each in requests.values() for side in ("request", "response")]
        assert set(bodies_there) == {None}
        assert login["request"]["omitted_reason"] == login["response"]["omitted_reason"] == "policy"
    haystacks = list(read_stored_bytes(reporter.box.db))
    assert any(b"stock is low" in haystack for haystack in haystacks)
    for secret in site.planted.all:
        assert not any(secret.encode() in haystack for haystack in haystacks), secret


@pytest.mark.long
def test_capture_is_redacted_before_it_leaves_the_browser(
    recording_browser: ExtensionBrowser, reporter: World, site: FaultySite
) -> None:
    async def work() -> str:
        page = await recording_browser.context.new_page()
        await page.goto(f"{site.url}/shop/cart")
        await page.wait_for_selector("body.done")
        popup = await recording_browser.open_popup(page)
        await popup.get_by_text(re.compile(r"^\d+ secrets were redacted")).wait_for()
        read = """() => new Promise((done) => {
              const opening = indexedDB.open("ticketbox");
              opening.onsuccess = () => {
                const reading = opening.result.transaction("drafts").objectStore("drafts").getAll();
                reading.onsuccess = () => {
                  opening.result.close();
                  done(JSON.stringify(reading.result));
                };
              };
            })"""
        await popup.wait_for_function(f"async () => (await ({read})()).includes('stock is low')")
        stored = await popup.evaluate(read)
        await popup.close()
        await page.close()
        return stored

    stored = recording_browser.run(work())
    assert "stock is low" in stored
    assert not [secret for secret in site.planted.all if secret in stored]


def test_zip_download_requires_sign_in(world: World) -> None:
    stranger = httpx.get(f"{world.box.url}/extension/chromium.zip")
    assert (stranger.status_code, stranger.headers["location"]) == (303, "/signin?next=/extension/chromium.zip")
    for browser in ("chromium", "firefox"):
        answer = httpx.get(f"{world.box.url}/extension/{browser}.zip", cookies=world.owner.web.cookies)
        assert answer.headers["content-type"] == "application/zip"
        assert answer.headers["content-disposition"] == f'attachment; filename="ticketbox-{browser}.zip"'
        assert answer.content.startswith(b"PK")
    assert httpx.get(f"{world.box.url}/extension/opera.zip", cookies=world.owner.web.cookies).status_code == 404


@pytest.mark.long
def test_redacted_and_cropped_pixels_are_removed_and_annotations_are_sent(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def work() -> tuple[str, list[float]]:
        page = await recording_browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await recording_browser.open_popup(page)
        await popup.get_by_label("Title").fill("Drawn on")
        async with recording_browser.context.expect_page() as opened:
            await popup.get_by_role("button", name="Annotate").click()
        editor = await opened.value
        picture = editor.get_by_role("group", name="Screenshot of the page")
        await expect(editor.get_by_label("Title")).to_have_value("Drawn on")
        await assert_accessible(editor)

        async def place(tool: str) -> None:
            # the keyboard adds a mark in the centre of the screenshot
            await editor.get_by_role("radio", name=tool, exact=True).click()
            await picture.press("Enter")

        await place("Rectangle")
        before = await picture.locator("img").get_attribute("src")
        await editor.get_by_role("button", name="Crop to rectangle").click()
        await expect(picture.locator("img")).not_to_have_attribute("src", before or "")
        await place("Redact")
        await place("Arrow")
        await editor.get_by_role("button", name="Send report").wait_for()
        size = await picture.locator("img").evaluate("(img) => [img.naturalWidth, img.naturalHeight]")
        ticket = await recording_browser.create_ticket_in_editor(editor)
        address = ticket.url
        await ticket.close()
        await page.close()
        return address, size

    address, size = recording_browser.run(work())
    ticket = ReportedTicket(reporter, address)
    assert ticket.record["title"] == "Drawn on"
    shown = Image.open(BytesIO(ticket.screenshot.content)).convert("RGB")
    assert [shown.width, shown.height] == size
    assert shown.width < 300
    middle = shown.getpixel((shown.width // 2, shown.height // 2))
    corner = shown.getpixel((1, 1))
    assert (middle, corner) == ((0, 0, 0), (255, 255, 255))
    asset = ticket.capture["screenshot"]["id"]
    api = reporter.box.client(reporter.owner.token("read"))
    assert [each["kind"] for each in ok(api.get(f"/assets/{asset}/annotations"))["items"]] == ["arrow"]


@pytest.mark.long
def test_extension_pages_are_accessible(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def look(page: Page, name: str) -> None:
        await assert_accessible(page)
        wide = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, name

    async def work() -> None:
        page = await recording_browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await recording_browser.open_popup(page)
        await look(popup, "popup")
        await popup.get_by_role("button", name="Find similar tickets").click()
        await popup.get_by_role("link").or_(popup.get_by_text("No similar tickets")).first.wait_for()
        await look(popup, "popup with similar tickets")
        await popup.close()
        await page.close()
        options = await recording_browser.open_options()
        await options.set_viewport_size({"width": 390, "height": 844})
        await options.get_by_role("heading", name="Connected").wait_for()
        await look(options, "settings")
        await options.close()

    recording_browser.run(work())

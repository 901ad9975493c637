"""What was sent off while the ticketbox didn't answer: kept, tried again, and never made into two tickets."""

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page

from tests.box import Box, World, eventually, ok, serving
from tests.e2e.extension_browser import ExtensionBrowser
from tests.e2e.varied_site import VariedSite

pytestmark = pytest.mark.long


@pytest.fixture
def varied_site() -> Iterator[VariedSite]:
    """The site that is reported."""
    with VariedSite() as running:
        yield running


@pytest.fixture
def steady(tmp_path: Path) -> Iterator[Box]:
    """A server that comes back under the same address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(tmp_path, "--port", str(port)) as box:
        yield box


@pytest.fixture
def connected(extension_browser: ExtensionBrowser, steady: Box) -> tuple[ExtensionBrowser, World]:
    """The browser, connected to that server and to nothing else."""
    world = World(steady)
    secret = world.owner.token("tickets:write")

    async def connect() -> None:
        await extension_browser.reset()
        await extension_browser.connect_with_token(steady.url, secret)
        # the projects are known before the server goes
        page = await extension_browser.open_options()
        await page.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await page.close()

    extension_browser.run(connect())
    return extension_browser, world


def report_in_vain(browser: ExtensionBrowser, address: str, title: str) -> None:
    """Press Send while nobody listens; the words say that the capture is kept."""

    async def work() -> None:
        page = await browser.context.new_page()
        await page.goto(address)
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill(title)
        await popup.get_by_role("button", name="Create ticket").click()
        await popup.get_by_role("heading", name="Not sent yet").wait_for()
        assert "Couldn’t reach" in await popup.get_by_role("alert").inner_text()
        await popup.close()
        await page.close()

    browser.run(work())


def badge(browser: ExtensionBrowser) -> str:
    """What stands on the extension's button."""

    async def read() -> str:
        page = await browser.open_options()
        text = await page.evaluate("() => chrome.action.getBadgeText({})")
        await page.close()
        return text

    return browser.run(read())


def titles(world: World) -> list[str]:
    """The titles of all tickets."""
    return sorted(each["title"] for each in ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"])


def test_captures_outlast_the_server_and_the_browser_and_become_one_ticket_each(
    connected: tuple[ExtensionBrowser, World], steady: Box, varied_site: VariedSite
) -> None:
    browser, world = connected
    steady.stop()
    for title in ("one", "two", "three"):
        report_in_vain(browser, f"{varied_site.url}/plain", title)
    assert badge(browser) == "3"
    browser.stop()
    browser.start()
    steady.start()
    began = time.monotonic()
    eventually(lambda: titles(world) == ["one", "three", "two"], 120)
    assert time.monotonic() - began < 100
    eventually(lambda: badge(browser) == "")
    time.sleep(5)
    assert titles(world) == ["one", "three", "two"]


def test_what_waits_can_be_sent_at_once_and_discarded(
    connected: tuple[ExtensionBrowser, World], steady: Box, varied_site: VariedSite
) -> None:
    browser, world = connected
    steady.stop()
    for title in ("keep", "drop"):
        report_in_vain(browser, f"{varied_site.url}/plain", title)

    async def drop(page: Page) -> None:
        row = page.get_by_role("listitem").filter(has_text=re.compile("^drop"))
        await row.get_by_text("1 attempt, next at").wait_for()
        await row.get_by_role("button", name="Delete capture").click()
        await row.get_by_role("button", name="Confirm deletion").click()
        await row.wait_for(state="detached")

    async def send(page: Page) -> None:
        await page.get_by_role("button", name="Send all now").click()
        await page.get_by_text("No captures are waiting to be sent.").wait_for()

    async def open_list() -> Page:
        return await browser.open_options()

    page = browser.run(open_list())
    browser.run(drop(page))
    steady.start()
    browser.run(send(page))
    assert titles(world) == ["keep"]
    assert badge(browser) == ""


def test_a_refusal_is_told_and_waits_for_its_person(
    connected: tuple[ExtensionBrowser, World], varied_site: VariedSite
) -> None:
    browser, world = connected
    (token,) = ok(world.owner.web.get("/tokens", params={"limit": 1}))["items"]
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))

    async def work() -> str:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        words = await popup.get_by_role("alert").inner_text()
        await popup.close()
        return words

    assert "credential is wrong, expired or revoked" in browser.run(work())


def test_a_capture_whose_project_is_gone_waits_for_its_person(
    connected: tuple[ExtensionBrowser, World], varied_site: VariedSite
) -> None:
    browser, world = connected

    async def open_form() -> tuple[Page, Page]:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill("gone")
        return page, popup

    page, popup = browser.run(open_form())
    world.owner.web.delete(f"/projects/{world.project}").raise_for_status()

    async def refused() -> str:
        await popup.get_by_role("button", name="Create ticket").click()
        await popup.get_by_role("heading", name="Not sent yet").wait_for()
        words = await popup.get_by_role("alert").inner_text()
        await popup.close()
        await page.close()
        options = await browser.open_options()
        row = options.get_by_role("listitem").filter(has_text="gone")
        await row.get_by_text("Not retried automatically").wait_for()
        await options.get_by_role("button", name="Send all now").click()
        await row.get_by_text(words).wait_for()
        await row.get_by_role("button", name="Delete capture").click()
        await row.get_by_role("button", name="Confirm deletion").click()
        await options.get_by_text("No captures are waiting to be sent.").wait_for()
        await options.close()
        return words

    assert "not found" in browser.run(refused())


def test_what_is_discarded_while_it_is_tried_doesnt_come_back(
    connected: tuple[ExtensionBrowser, World], steady: Box, varied_site: VariedSite
) -> None:
    browser, _ = connected
    steady.stop()
    report_in_vain(browser, f"{varied_site.url}/plain", "drop")
    silent = socket.create_server(("127.0.0.1", httpx.URL(steady.url).port or 0))  # it takes a request and says nothing

    async def discard() -> Page:
        options = await browser.open_options()
        row = options.get_by_role("listitem").filter(has_text="drop")
        await options.get_by_role("button", name="Send all now").click()
        await row.get_by_role("button", name="Delete capture").click()
        await row.get_by_role("button", name="Confirm deletion").click()
        await options.get_by_text("No captures are waiting to be sent.").wait_for()
        return options

    async def look_again(options: Page) -> None:
        await options.wait_for_timeout(1_000)
        await options.reload()
        await options.get_by_text("No captures are waiting to be sent.").wait_for()
        await options.close()

    options = browser.run(discard())
    silent.close()
    browser.run(look_again(options))
    assert badge(browser) == ""


@pytest.mark.parametrize(
    ("spoil", "words"),
    [("each.title = 'x'.repeat(400)", "title"), ("each.description = 'x'.repeat(40_000_000)", "may have up to")],
    ids=["invalid", "too large"],
)
def test_what_the_ticketbox_refuses_is_told_in_words_and_never_lost(
    connected: tuple[ExtensionBrowser, World], steady: Box, varied_site: VariedSite, spoil: str, words: str
) -> None:
    browser, world = connected
    steady.stop()
    report_in_vain(browser, f"{varied_site.url}/plain", "spoilt")
    steady.start()

    async def work() -> str:
        options = await browser.open_options()
        await options.evaluate(
            """() => new Promise((done) => {
              indexedDB.open("ticketbox").onsuccess = ({ target: { result } }) => {
                const store = result.transaction("queue", "readwrite").objectStore("queue");
                store.getAll().onsuccess = ({ target: { result: [each] } }) => {
                  SPOIL;
                  store.put(each).onsuccess = done;
                };
              };
            })""".replace("SPOIL", spoil)
        )
        await options.get_by_role("button", name="Send all now").click()
        await options.get_by_text("Not retried automatically").wait_for()
        said = await options.locator(".bad").inner_text()
        await options.get_by_role("button", name="Delete capture").wait_for()
        await options.close()
        return said

    assert words in browser.run(work())
    assert titles(world) == []
    assert badge(browser) == "1"


def test_what_was_typed_outlasts_the_popup(connected: tuple[ExtensionBrowser, World], varied_site: VariedSite) -> None:
    browser, world = connected

    async def work() -> None:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill("half a thought")
        await popup.get_by_label("Description").fill("I was called away")
        await popup.get_by_label("Priority").select_option("high")
        await popup.wait_for_timeout(300)
        await popup.close()
        popup = await browser.open_popup(page)
        await popup.get_by_text("This is your draft").wait_for()
        assert await popup.get_by_label("Title").input_value() == "half a thought"
        assert await popup.get_by_label("Priority").input_value() == "high"
        ticket = await browser.create_ticket(popup)
        await ticket.close()
        popup = await browser.open_popup(page)
        assert await popup.get_by_label("Title").input_value() == "plain", "what was sent isn't begun any more"
        await popup.close()
        await page.close()

    browser.run(work())
    (ticket,) = ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"]
    assert (ticket["title"], ticket["priority"]) == ("half a thought", "high")

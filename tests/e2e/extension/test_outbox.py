"""Captures while the ticketbox can't be reached: stored, retried, and never turned into two tickets."""

import re
import signal
import socket
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.support.server import Box, World, eventually, find_free_port, ok, run_server

pytestmark = pytest.mark.long

IS_DRAFT_STORED = """() => new Promise((done) => {
  indexedDB.open("ticketbox").onsuccess = ({ target: { result } }) => {
    result.transaction("drafts").objectStore("drafts").getAll().onsuccess = ({ target }) => {
      result.close();
      done(target.result.some(({ filled }) => filled?.title === "unfinished report"
        && filled.description === "I was called away" && filled.priority === "high"));
    };
  };
})"""


# what the browser does at the time of the next attempt, which is at least 30 s away
ATTEMPT_NOW = """async () => {
  const opened = await new Promise((done) => { indexedDB.open("ticketbox").onsuccess = (e) => done(e.target.result); });
  const changing = opened.transaction("queue", "readwrite");
  changing.objectStore("queue").openCursor().onsuccess = ({ target: { result: cursor } }) => {
    if (!cursor) return;
    cursor.update({ ...cursor.value, next: Date.now() });
    cursor.continue();
  };
  await new Promise((done) => { changing.oncomplete = done; });
  opened.close();
  await chrome.alarms.create("outbox", { when: Date.now() });
}"""
FIND_ALARM = "async () => (await chrome.alarms.get('outbox'))?.scheduledTime ?? null"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that keeps its address when it is restarted."""
    with run_server(tmp_path_factory.mktemp("outbox"), "--port", str(find_free_port())) as box:
        yield box


@pytest.fixture
def restartable(server: Box) -> Iterator[Box]:
    """That server, which a test may leave stopped."""
    yield server
    server.close_clients()
    if server.process.poll() is not None:
        server.start()


@pytest.fixture
def connected(extension_browser: ExtensionBrowser, restartable: Box) -> tuple[ExtensionBrowser, World]:
    """A browser whose extension is connected to that server."""
    world = World(restartable)
    secret = world.owner.token("tickets:write")

    async def connect() -> None:
        await extension_browser.reset()
        await extension_browser.connect_with_token(restartable.url, secret)
        # load the projects before the server stops
        page = await extension_browser.open_options()
        await page.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await page.close()

    extension_browser.run(connect())
    return extension_browser, world


def report_while_offline(browser: ExtensionBrowser, address: str, title: str) -> None:
    """Create a ticket while the server is stopped; the popup says that the capture is in the outbox."""

    async def work() -> None:
        page = await browser.context.new_page()
        await page.goto(address)
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill(title)
        await popup.get_by_role("button", name="Send report").click()
        await popup.get_by_role("heading", name="Report saved on this computer").wait_for()
        await expect(popup.get_by_role("alert")).to_contain_text("Couldn’t reach", use_inner_text=True)
        await popup.close()
        await page.close()

    browser.run(work())


def read_badge(browser: ExtensionBrowser) -> str:
    """The text of the extension's badge."""

    async def read() -> str:
        page = await browser.open_options()
        text = await page.evaluate("() => chrome.action.getBadgeText({})")
        await page.close()
        return text

    return browser.run(read())


def list_titles(world: World) -> list[str]:
    """The titles of all tickets."""
    return sorted(each["title"] for each in ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"])


def test_captures_survive_restarts_and_create_one_ticket_each(
    connected: tuple[ExtensionBrowser, World], restartable: Box, varied_site: VariedSite
) -> None:
    browser, world = connected
    restartable.stop()
    for title in ("one", "two", "three"):
        report_while_offline(browser, f"{varied_site.url}/plain", title)
    eventually(lambda: read_badge(browser) == "3")
    browser.stop()
    browser.start()
    restartable.start()

    async def attempt() -> None:
        options = await browser.open_options()
        await options.wait_for_function(FIND_ALARM)
        assert await options.evaluate(FIND_ALARM) - time.time() * 1000 < 60_000
        await options.evaluate(ATTEMPT_NOW)
        await options.get_by_text("No captures are waiting to be sent.").wait_for()
        await options.wait_for_function(f"async () => await ({FIND_ALARM})() === null")
        await options.close()

    browser.run(attempt())
    assert list_titles(world) == ["one", "three", "two"]
    assert read_badge(browser) == ""


def test_typing_while_the_projects_load_leaves_one_chosen(
    connected: tuple[ExtensionBrowser, World], restartable: Box, varied_site: VariedSite
) -> None:
    browser, _ = connected
    restartable.process.send_signal(signal.SIGSTOP)  # the projects don't come before the page is ready

    async def open_form() -> tuple[Page, Page]:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").evaluate(
            """(input) => {
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = () => {
                input.dispatchEvent(new Event("input", { bubbles: true }));
                if (!document.querySelector("option[value^=proj_]:checked")) port2.postMessage(null);
              };
              port2.postMessage(null);
            }"""
        )
        return page, popup

    async def check(page: Page, popup: Page) -> None:
        await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
        await popup.close()
        await page.close()

    try:
        page, popup = browser.run(open_form())
    finally:
        restartable.process.send_signal(signal.SIGCONT)
    browser.run(check(page, popup))


def test_waiting_captures_can_be_sent_or_deleted(
    connected: tuple[ExtensionBrowser, World], restartable: Box, varied_site: VariedSite
) -> None:
    browser, world = connected
    restartable.stop()
    for title in ("keep", "drop"):
        report_while_offline(browser, f"{varied_site.url}/plain", title)

    async def drop(page: Page) -> None:
        row = page.get_by_role("listitem").filter(has_text=re.compile("^drop"))
        await row.get_by_text(re.compile(r"\d attempts?, next at")).wait_for()
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
    restartable.start()
    browser.run(send(page))
    assert list_titles(world) == ["keep"]
    eventually(lambda: read_badge(browser) == "")


def test_revoked_token_is_reported(connected: tuple[ExtensionBrowser, World], varied_site: VariedSite) -> None:
    browser, world = connected
    (token,) = ok(world.owner.web.get("/tokens", params={"limit": 1}))["items"]
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))

    async def work() -> None:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        await expect(popup.get_by_role("alert")).to_contain_text("credential is wrong, expired or revoked")
        await popup.close()

    browser.run(work())


def test_capture_for_a_deleted_project_stays_in_the_outbox(
    connected: tuple[ExtensionBrowser, World], varied_site: VariedSite
) -> None:
    browser, world = connected

    async def open_form() -> tuple[Page, Page]:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill("gone")
        await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()  # it has the projects
        return page, popup

    page, popup = browser.run(open_form())
    world.owner.web.delete(f"/projects/{world.project}").raise_for_status()

    async def create_ticket() -> str:
        await popup.get_by_role("button", name="Send report").click()
        await popup.get_by_role("heading", name="Report not sent").wait_for()
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

    assert "not found" in browser.run(create_ticket())


def test_capture_deleted_during_an_attempt_does_not_return(
    connected: tuple[ExtensionBrowser, World], restartable: Box, varied_site: VariedSite
) -> None:
    browser, _ = connected
    restartable.stop()
    report_while_offline(browser, f"{varied_site.url}/plain", "drop")
    unresponsive = socket.create_server(
        ("127.0.0.1", httpx.URL(restartable.url).port or 0)
    )  # accepts requests and never responds

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
    unresponsive.close()
    browser.run(look_again(options))
    eventually(lambda: read_badge(browser) == "")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [("each.title = 'x'.repeat(400)", "title"), ("each.description = 'x'.repeat(40_000_000)", "may have up to")],
    ids=["invalid", "too large"],
)
def test_rejected_capture_stays_in_the_outbox_with_the_reason(
    connected: tuple[ExtensionBrowser, World], restartable: Box, varied_site: VariedSite, spoil: str, words: str
) -> None:
    browser, world = connected
    restartable.stop()
    report_while_offline(browser, f"{varied_site.url}/plain", "spoilt")

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
        restartable.start()  # now, or the extension might send it before it is spoilt
        await options.get_by_role("button", name="Send all now").click()
        await options.get_by_text("Not retried automatically").wait_for()
        problem = await options.locator(".bad").inner_text()
        await options.get_by_role("button", name="Delete capture").wait_for()
        await options.close()
        return problem

    assert words in browser.run(work())
    assert list_titles(world) == []
    eventually(lambda: read_badge(browser) == "1")


def test_form_input_survives_closing_the_popup(
    connected: tuple[ExtensionBrowser, World], varied_site: VariedSite
) -> None:
    browser, world = connected

    async def work() -> None:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        await expect(page).to_have_title("plain")
        popup = await browser.open_popup(page)
        await popup.get_by_label("Title").fill("unfinished report")
        await popup.get_by_label("Description").fill("I was called away")
        await popup.get_by_label("Priority").select_option("high")
        await popup.wait_for_function(IS_DRAFT_STORED)
        await popup.close()
        popup = await browser.open_popup(page)
        await popup.get_by_text("This is your draft").wait_for()
        await expect(popup.get_by_label("Title")).to_have_value("unfinished report")
        await expect(popup.get_by_label("Priority")).to_have_value("high")
        await browser.file_ticket(popup)
        popup = await browser.open_popup(page)
        await expect(popup.get_by_label("Title")).to_have_value("plain")
        await popup.close()
        await page.close()

    browser.run(work())
    (ticket,) = ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"]
    assert (ticket["title"], ticket["priority"]) == ("unfinished report", "high")

"""Chromium with the extension, unpacked from the zip that the server provides.

The browser's permission prompt can't be answered without a screen. So the manifest is changed in one place: it grants
the sites that a user would allow. `permissions.request` then resolves to true immediately.
"""

import asyncio
import json
import re
import shutil
import subprocess
import threading
import time
import zipfile
from collections.abc import Coroutine
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import unquote

from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from tests.e2e.support.browser import ARGUMENTS, SECONDS, list_sandbox_options
from tests.support.server import PASSWORD, World

T = TypeVar("T")

EVERYWHERE = "*://*/*"
KEY = re.compile(r"^\w+-\d+$")
RESET = """() => new Promise((done, fail) => {
  const opening = indexedDB.open("ticketbox");
  opening.onerror = fail;
  opening.onsuccess = () => {
    const stores = [...opening.result.objectStoreNames];
    const clearing = opening.result.transaction(stores, "readwrite");
    for (const name of stores) clearing.objectStore(name).clear();
    clearing.oncomplete = async () => {
      opening.result.close();
      await chrome.alarms.clearAll();
      await chrome.action.setBadgeText({ text: "" });
      done();
    };
  };
})"""

# The background sends what waits after it has returned to the page that asked it to connect. Until then it may open
# the options page in any blank tab. So the options page holds the lock for sending until the background asks for it.
HOLD_OUTBOX = """() => new Promise((held) => {
  navigator.locks.request("outbox", () => new Promise((release) => { globalThis.release = release; held(); }));
})"""
RELEASE_OUTBOX = """async () => {
  const isWanted = async () => (await navigator.locks.query()).pending.some(({ name }) => name === "outbox");
  while (!(await isWanted())) await new Promise((done) => setTimeout(done, 20));
  globalThis.release();
}"""


def unpack(archive: bytes, folder: Path, granted: list[str] | None = None) -> None:
    """Unpack the extension into a folder. `granted`: sites that it may access from the start."""
    with zipfile.ZipFile(BytesIO(archive)) as zipped:
        zipped.extractall(folder)
    if granted is None:
        return
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    sockets = [each for each in manifest["optional_host_permissions"] if each.startswith("ws")]
    manifest["host_permissions"] = [*granted, *sockets]
    path.write_text(json.dumps(manifest))


class ExtensionBrowser:
    """A browser with the extension. Its profile survives a restart."""

    def __init__(self, executable: str, archive: bytes, folder: Path, granted: list[str] | None = None) -> None:
        self._executable = executable
        self._process: subprocess.Popen[bytes] | None = None
        self._is_installed = False
        self._popup_connection: Browser | None = None
        self._source, self._profile = folder / "extension", folder / "profile"
        unpack(archive, self._source, granted or [EVERYWHERE])
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()
            shutil.rmtree(self._profile, ignore_errors=True)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the browser's event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, SECONDS), self._loop).result()

    def start(self) -> None:
        """Start the browser, or restart it with the same profile."""
        port_file = self._profile / "DevToolsActivePort"
        self._process = self._launch(port_file)
        self._address = f"http://127.0.0.1:{port_file.read_text().split()[0]}"
        self.run(self._connect())

    def _launch(self, port_file: Path) -> subprocess.Popen[bytes]:
        """Start the program until it listens; again if it ends, as it does once in thousands on a busy machine."""
        for _ in range(3):
            port_file.unlink(missing_ok=True)
            process = subprocess.Popen(
                [
                    self._executable,
                    *ARGUMENTS,
                    *list_sandbox_options(),
                    "--remote-debugging-port=0",
                    "--enable-unsafe-extension-debugging",
                    f"--user-data-dir={self._profile}",
                    f"--load-extension={self._source}",
                    f"--disable-extensions-except={self._source}",
                    "--window-size=1000,800",
                    "--hide-scrollbars",  # or pictures have those of Linux
                    "about:blank",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 60
            while process.poll() is None:
                if port_file.exists() and port_file.read_text().strip():
                    return process
                assert time.monotonic() < deadline, "the browser didn't start"
                time.sleep(0.05)
        raise AssertionError("the browser ended")

    def stop(self) -> None:
        """Close the browser as a user does; the profile stays."""
        if self._process is None:
            return
        self.run(self._close())
        self._process.wait(60)
        self._process = None

    async def reset(self) -> None:
        """Reset the extension to its state after installation, and close all pages."""
        options = await self.open_options()
        await options.evaluate(RESET)
        await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'update-recorded-sites' })")
        first, *others = self.context.pages
        for page in others:
            await page.close()
        await self.context.clear_cookies()
        await first.goto("about:blank")

    async def _connect(self) -> None:
        self._playwright: Playwright = await async_playwright().start()
        self._browser: Browser = await self._playwright.chromium.connect_over_cdp(self._address)
        self.context = self._browser.contexts[0]
        self._cdp = await self._browser.new_browser_cdp_session()
        self.id = (await self._find_target("chrome-extension://"))["url"].split("/")[2]
        if not self._is_installed:
            start_page = await self._find_target(f"chrome-extension://{self.id}/start.html")
            await self._cdp.send("Target.closeTarget", {"targetId": start_page["targetId"]})
            self._is_installed = True

    async def _find_target(self, prefix: str) -> dict[str, Any]:
        """Wait for a page or worker whose address begins with a text."""
        for _ in range(600):
            targets = [each for each in await self._targets() if each["url"].startswith(prefix)]
            if targets:
                return targets[0]
            await asyncio.sleep(0.05)
        raise AssertionError(f"nothing opened {prefix}")

    async def _close(self) -> None:
        self._popup_connection = None
        await self._cdp.send("Browser.close")
        await self._playwright.stop()

    async def _targets(self) -> list[dict[str, Any]]:
        return (await self._cdp.send("Target.getTargets", {"filter": [{}]}))["targetInfos"]

    # --- what a user does

    async def open_options(self) -> Page:
        """Open the extension's options page."""
        page = await self.context.new_page()
        await page.goto(f"chrome-extension://{self.id}/options.html")
        return page

    async def connect(self, world: World, *, again: bool = False) -> Page:
        """Connect by OAuth, in the tab that opens. Returns the options page."""
        options = await self.open_options()
        if again:
            await options.get_by_role("button", name="Sign out").click()
        await options.get_by_label("Address of your ticketbox").fill(world.box.url)
        async with self.context.expect_page() as opened:
            await options.get_by_role("button", name="Connect ticketbox").click()
        consent = await opened.value
        await options.evaluate(HOLD_OUTBOX)
        if again:  # the browser still has a session with the ticketbox
            await consent.get_by_role("button", name="Approve").click()
        else:
            await sign_in(consent, world)
        await options.get_by_role("heading", name="Connected").wait_for()
        await options.evaluate(RELEASE_OUTBOX)
        return options

    async def connect_with_token(self, address: str, secret: str) -> None:
        """Connect with a token."""
        page = await self.open_options()
        await page.get_by_label("Address of your ticketbox").fill(address)
        await page.get_by_text("Connect with a token instead").click()
        await page.get_by_role("textbox", name="Token").fill(secret)
        await page.get_by_role("button", name="Connect with token").click()
        await page.get_by_role("heading", name="Connected").wait_for()
        await page.close()

    async def record_all_sites(self) -> None:
        """Record all sites from page load."""
        page = await self.open_options()
        await page.get_by_role("button", name="Record all sites").click()
        await page.get_by_text("All sites", exact=True).wait_for()
        await page.close()

    async def open_popup(self, page: Page) -> Page:
        """Click the extension's button on a page. Returns the popup after it has captured the page."""
        await self.click_button(await self.find_tab(page))
        return await self.find_popup()

    async def find_tab(self, page: Page) -> str:
        """The browser's id of a page's tab, which comes to the front."""
        await page.bring_to_front()
        own = await self.context.new_cdp_session(page)
        info = (await own.send("Target.getTargetInfo"))["targetInfo"]
        tabs = [each for each in await self._targets() if each["type"] == "tab"]
        return next(each for each in tabs if each["url"] == info["url"])["targetId"]

    async def click_button(self, tab: str) -> None:
        """Click the extension's button on a tab."""
        await self._cdp.send("Extensions.triggerAction", {"id": self.id, "targetId": tab})

    async def wait_for_stored_request(self, path: str) -> None:
        """Wait until the background has stored the end of a request that the browser reported, and all before it."""
        options = await self.open_options()
        is_stored = "({ url, endedAt }) => url.endsWith(path) && endedAt !== null"
        stored = f"Object.values(all).flatMap(({{ requests = [] }}) => requests).some({is_stored})"
        await options.wait_for_function(
            f"async (path) => {{ const all = await chrome.storage.session.get(null); return {stored}; }}", arg=path
        )
        await options.close()

    async def restart_background(self) -> None:
        """Stop the extension's background, as the browser may at any time. The next message starts it again."""
        (worker,) = [each for each in self.context.service_workers if self.id in each.url]
        await worker.evaluate("() => { globalThis.before = true; }")
        options = await self.open_options()
        own = await self.context.new_cdp_session(options)
        await own.send("ServiceWorker.enable")
        async with asyncio.timeout(30):
            while not await self._is_restarted():
                await own.send("ServiceWorker.stopAllWorkers")
                await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'update-recorded-sites' })")
        await options.close()

    async def _is_restarted(self) -> bool:
        """Whether the background runs without what was set before."""
        for worker in self.context.service_workers:
            if self.id in worker.url:
                with suppress(PlaywrightError, TimeoutError):  # one that has ended may never answer
                    async with asyncio.timeout(2):
                        return not await worker.evaluate("() => globalThis.before")
        return False

    async def find_popup(self, *, is_complete: bool = True) -> Page:
        """The open popup, after it has captured the page. Only a new connection to the browser lists it."""
        address = f"chrome-extension://{self.id}/popup.html"
        for _ in range(600):
            if any(each["url"] == address and each["type"] == "page" for each in await self._targets()):
                for page in (await self._connect_again()).pages:
                    if page.url == address:
                        await page.get_by_role("heading").first.wait_for()
                        if is_complete:
                            await page.get_by_text("Capturing the page").wait_for(state="hidden")
                        return page
            await asyncio.sleep(0.1)
        raise AssertionError("the popup didn't open")

    async def _connect_again(self) -> BrowserContext:
        """Connect once more, instead of the last time: each connection costs the browser with every event."""
        if self._popup_connection is not None:
            await self._popup_connection.close()
        self._popup_connection = await self._playwright.chromium.connect_over_cdp(self._address)
        return self._popup_connection.contexts[0]

    async def send_report(self, popup: Page) -> None:
        """Send the report as a new ticket, also if another has the same error; the popup says that it is sent."""
        await popup.get_by_role("button", name="Send report").click()
        new, done = (popup.get_by_role("button", name=name) for name in ("Create new ticket", "Open ticket"))
        refused = popup.get_by_role("alert")
        await new.or_(done).or_(refused).first.wait_for()
        assert not await refused.count(), await popup.locator("main").inner_text()
        if await new.is_visible():
            await new.click()
            await done.wait_for()

    async def file_ticket(self, popup: Page) -> str:
        """Send the report, and close the popup. Returns the ticket's key, which the popup shows."""
        await self.send_report(popup)
        key = await popup.get_by_text(KEY).inner_text()
        await popup.close()
        return key

    async def follow_ticket(self, popup: Page) -> Page:
        """Open the ticket of the report that was sent. Returns its page."""
        return await self._open_ticket(popup, "Open ticket")

    async def create_ticket(self, popup: Page) -> Page:
        """Send the report, and open its ticket. Returns the ticket's page."""
        await self.send_report(popup)
        return await self.follow_ticket(popup)

    async def create_ticket_in_editor(self, editor: Page) -> Page:
        """Send the report from the editor. Returns the ticket's page, which opens."""
        return await self._open_ticket(editor, "Send report")

    async def _open_ticket(self, page: Page, button: str) -> Page:
        async with self.context.expect_page(is_ticket_tab) as opened:
            with suppress(PlaywrightError):  # the popup closes before the browser confirms the click
                await page.get_by_role("button", name=button).click()
        ticket = await opened.value
        await ticket.wait_for_url(is_ticket, wait_until="commit")
        return ticket


def is_ticket(address: str) -> bool:
    """Whether an address is that of a ticket, or that of the sign-in page, to which the ticket's page may lead."""
    return "/tickets/" in unquote(address)


def is_ticket_tab(page: Page) -> bool:
    """Whether a tab that just opened is that of a ticket."""
    return page.url in {"", "about:blank"} or is_ticket(page.url)


async def sign_in(page: Page, world: World) -> None:
    """Sign in to the ticketbox, and approve what the extension asks for."""
    await page.get_by_label("Email address").fill(world.owner.email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_role("button", name="Approve").click()

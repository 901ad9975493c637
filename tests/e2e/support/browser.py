"""Chromium as the tests drive it: the machine's own, on a separate thread."""

import asyncio
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.async_api import Browser, BrowserContext, Frame, Page, Request, ViewportSize, async_playwright
from playwright.async_api import Error as PlaywrightError

T = TypeVar("T")

ARGUMENTS = [
    "--headless=new",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 600  # only so that nothing hangs for ever
LATENCY = int(os.environ.get("TICKETBOX_LATENCY", "0"))  # ms for each request; shows what a test doesn't wait for
CPU_RATE = float(os.environ.get("TICKETBOX_CPU_RATE", "1"))  # how many times slower a page's scripts run
_writes: WeakKeyDictionary[Page, set[Request]] = WeakKeyDictionary()


def list_sandbox_options() -> list[str]:
    """The option of `ticketbox verify` that the tests need as root, where Chromium doesn't start with its sandbox."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def find_chromium() -> str | None:
    """Where the machine's browser is, if it has one."""
    return shutil.which("chromium") or shutil.which("google-chrome")


def find_shell() -> str | None:
    """Chromium without its windows, which visits a page in less time; the whole browser where that isn't."""
    return shutil.which("chromium-headless-shell") or find_chromium()


class Chromium:
    """A running browser.

    Its event loop has a separate thread, because tests (and what they call) run other event loops
    in the main thread, which Playwright's synchronous interface doesn't allow.
    """

    def __init__(self, executable: str, *arguments: str) -> None:
        self._executable, self._arguments = executable, arguments
        self._shared: BrowserContext | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chromium", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._browser = self.run(self._launch())
        except BaseException:
            self._end_thread()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.run(self._close())
        finally:
            self._end_thread()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something asynchronous where the browser lives, and wait for it."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, SECONDS), self._loop).result()

    def visit(
        self,
        visitor: Callable[[Page], Awaitable[T]],
        *,
        viewport: ViewportSize | None = None,
        color_scheme: Literal["light", "dark"] | None = None,
        fresh: bool = False,
        **context: Any,
    ) -> T:
        """Let a function use a page; nothing that it leaves behind meets the next.

        A new profile costs the browser more than most visits do, and it has no file of the app yet. So visits share
        one, emptied after each. `fresh` asks for a new one; `context`, Playwright's further options, does so as well.
        """
        if fresh or context:
            return self.run(self._visit_fresh(visitor, viewport=viewport, color_scheme=color_scheme, **context))
        return self.run(self._visit_shared(visitor, viewport, color_scheme))

    async def _visit_fresh(self, visitor: Callable[[Page], Awaitable[T]], **context: Any) -> T:
        given = {name: value for name, value in context.items() if value is not None}
        profile = await self._browser.new_context(**given)
        try:
            page = await profile.new_page()
            return await _visit(page, visitor)
        finally:
            await profile.close()

    async def _visit_shared(
        self,
        visitor: Callable[[Page], Awaitable[T]],
        viewport: ViewportSize | None,
        color_scheme: Literal["light", "dark"] | None,
    ) -> T:
        profile, self._shared = self._shared or await self._begin_shared(), None
        visited: set[str] = set()
        try:
            page = await profile.new_page()
            page.on("framenavigated", lambda frame: visited.add(_origin(frame)))
            if viewport:
                await page.set_viewport_size(viewport)
            if color_scheme:
                await page.emulate_media(color_scheme=color_scheme)
            result = await _visit(page, visitor)
            await _empty(profile, visited)
        except BaseException:
            await profile.close()  # who knows in what state it is
            raise
        self._shared = profile
        return result

    async def _begin_shared(self) -> BrowserContext:
        profile = await self._browser.new_context()
        await profile.new_page()  # stays: the window would close with its last page
        return profile

    async def _launch(self) -> Browser:
        self._playwright = await async_playwright().start()
        try:
            return await self._playwright.chromium.launch(
                executable_path=self._executable,
                args=[*ARGUMENTS, *self._arguments, *list_sandbox_options()],
            )
        except BaseException:
            await self._playwright.stop()
            raise

    async def _close(self) -> None:
        await self._browser.close()
        await self._playwright.stop()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


async def _visit(page: Page, visitor: Callable[[Page], Awaitable[T]]) -> T:
    """Let a function use a page, and wait for what it sent: closing a page ends its requests."""
    writes = _writes[page] = set[Request]()

    def begin(request: Request) -> None:
        if request.method not in {"GET", "HEAD", "OPTIONS"} and request.resource_type != "ping":
            writes.add(request)

    def end(request: Request) -> None:
        writes.discard(request)

    page.on("request", begin)
    page.on("requestfinished", end)
    page.on("requestfailed", end)
    await _slow_down(page)
    result = await visitor(page)
    await wait_for_writes(page)
    return result


async def _slow_down(page: Page) -> None:
    if not LATENCY and CPU_RATE == 1:
        return
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Emulation.setCPUThrottlingRate", {"rate": CPU_RATE})
    await devtools.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": LATENCY, "downloadThroughput": -1, "uploadThroughput": -1},
    )


async def wait_for_writes(page: Page) -> None:
    """Wait until the page's requests that change something have ended, so that the server has what the page shows.

    A click returns before its request is known, and one request may lead to the next. So the page is asked for a value,
    which it returns after what it does now.
    """
    async with asyncio.timeout(30):
        while not page.is_closed():
            with suppress(PlaywrightError):  # it leaves for another address, or closes
                await page.evaluate("0")
                await page.evaluate("0")
            if not _writes[page]:
                return
            await asyncio.sleep(0.02)


async def _empty(profile: BrowserContext, origins: set[str]) -> None:
    """Leave of a profile its window and its cache of files."""
    first, *others = profile.pages
    for page in others:
        await page.close()
    await profile.clear_cookies()
    await profile.clear_permissions()
    devtools = await profile.new_cdp_session(first)
    for origin in origins:
        await devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    await devtools.detach()


def _origin(frame: Frame) -> str:
    parts = urlsplit(frame.url)
    return f"{parts.scheme}://{parts.netloc}"

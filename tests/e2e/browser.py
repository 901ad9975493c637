"""Chromium as the tests drive it: the machine's own, on a separate thread."""

import asyncio
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Frame, Page, ViewportSize, async_playwright

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
SECONDS = 180  # only so that nothing hangs for ever


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

    def __init__(self, executable: str) -> None:
        self._executable = executable
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
            return await visitor(await profile.new_page())
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
            result = await visitor(page)
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
                args=[*ARGUMENTS, *(["--no-sandbox"] if _is_root() else [])],
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


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0

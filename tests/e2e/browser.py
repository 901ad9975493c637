"""Chromium as the tests drive it: the machine's own, on a thread of its own."""

import asyncio
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Self, TypeVar

from playwright.async_api import Browser, Page, async_playwright

T = TypeVar("T")

ARGUMENTS = [
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 60


def find_chromium() -> str | None:
    """Where the machine's browser is, if it has one."""
    return shutil.which("chromium") or shutil.which("google-chrome")


class Chromium:
    """A running browser.

    Its event loop has a thread of its own, because tests (and what they call) run loops of their own
    in the main thread, which Playwright's synchronous interface doesn't allow.
    """

    def __init__(self, executable: str) -> None:
        self._executable = executable
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

    def visit(self, visitor: Callable[[Page], Awaitable[T]], **context: Any) -> T:
        """Let a function use a page in a fresh profile; `context` are Playwright's options for that."""

        async def with_page() -> T:
            profile = await self._browser.new_context(**context)
            try:
                return await visitor(await profile.new_page())
            finally:
                await profile.close()

        return self.run(with_page())

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


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0

"""A person's walk through a site: clicks and typing, with the locators of the recorded steps tried before each."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from playwright.async_api import Error, Locator, Page

from bench.real_sites.devtools import DevTools

# Nobody clicks faster for half a minute.
CLICK_SECONDS = 0.2
SAME = "(found, wanted) => found === wanted || found.contains(wanted) || wanted.contains(found)"


class LocatorResult(NamedTuple):
    """What became of a recorded step's best locator: how many elements it finds, and whether it is the right one."""

    selector: str | None
    matches: int
    is_right: bool


class Click(NamedTuple):
    """A click of a walk, which lasted from `began` to `ended`, epoch milliseconds."""

    began: float
    ended: float


Targets = Sequence[dict[str, Any] | None]


class Walker:
    """Does what a person does, and notes its clicks.

    `targets`: what an earlier walk, with the same clicks, recorded of each of its clicks; it is looked for before the
    click. None if no step belongs to a click.
    """

    def __init__(self, page: Page, devtools: DevTools, url: str, targets: Targets = ()) -> None:
        self.page, self.url = page, url
        self.devtools = devtools
        self.clicks: list[Click] = []
        self.found: list[LocatorResult] = []
        self._targets = targets

    async def open(self, path: str = "") -> None:
        """Open a page of the site by its address."""
        await self.page.goto(self.url + path, wait_until="load")
        await self.devtools.wait_until_quiet()

    async def click(self, selector: str | Locator, *, leaves: bool = False) -> None:
        """Click an element with the mouse. `leaves`: whether that opens another page."""
        element = self.page.locator(selector).first if isinstance(selector, str) else selector.first
        await element.wait_for()
        if len(self.clicks) < len(self._targets):
            self.found.append(await self._find_again(self._targets[len(self.clicks)] or {}, element))
        await self._wait_as_a_person()
        began = time.time() * 1000
        await element.click()
        self.clicks.append(Click(began, time.time() * 1000))
        await self.devtools.wait_until_quiet(1 if leaves else 0.2, 20 if leaves else 2)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag the mouse over an element that takes all of it, such as a canvas: a click, which isn't looked for."""
        await self._wait_as_a_person()
        began = time.time() * 1000
        await self.page.mouse.move(*start)
        await self.page.mouse.down()
        await self.page.mouse.move(*end, steps=5)
        await self.page.mouse.up()
        self.clicks.append(Click(began, time.time() * 1000))
        await self.devtools.wait_until_quiet(0.2, 2)

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.page.keyboard.type(text, delay=20)

    async def _wait_as_a_person(self) -> None:
        if self.clicks:
            await asyncio.sleep(max(0.0, CLICK_SECONDS - time.time() + self.clicks[-1].began / 1000))

    async def _find_again(self, target: dict[str, Any], wanted: Locator) -> LocatorResult:
        selector = next(iter(target.get("selectors") or []), None)
        if selector is None:
            return LocatorResult(None, 0, False)
        try:
            handle = await wanted.element_handle()
            frame = await handle.owner_frame() or self.page.main_frame
            found = frame.locator(selector)
            count = await found.count()
            is_right = count == 1 and await found.evaluate(SAME, handle)
        except Error:
            return LocatorResult(selector, 0, False)
        return LocatorResult(selector, count, bool(is_right))


Walk = Callable[[Walker], Awaitable[None]]

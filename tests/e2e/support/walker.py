"""A person's walk through a site: clicks and typing, with the locators of recorded steps tried before each click."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from playwright.async_api import Error, Locator, Page

# nobody clicks faster for half a minute
CLICK_SECONDS = 0.2
QUIET_SECONDS, PATIENCE_SECONDS = 0.2, 2
SLACK_MS = 50  # between the clocks of the page and of the walk
SAME = "(found, wanted) => found === wanted || found.contains(wanted) || wanted.contains(found)"
ACTIVITY = ("request", "response", "requestfailed", "framenavigated", "console", "pageerror")

Targets = Sequence[dict[str, Any] | None]


class LocatorResult(NamedTuple):
    """What became of a recorded step's best locator: how many elements it finds, and whether it is the right one."""

    selector: str | None
    matches: int
    is_right: bool


class Click(NamedTuple):
    """A click of a walk, which lasted from `began` to `ended`, epoch milliseconds."""

    began: float
    ended: float


class Walker:
    """Does what a person does, and notes its clicks.

    `targets`: what an earlier walk, with the same clicks, recorded of each of its clicks; it is looked for before the
    click. None if no step belongs to a click.
    """

    def __init__(self, page: Page, targets: Targets = ()) -> None:
        self.page = page
        self.clicks: list[Click] = []
        self.found: list[LocatorResult] = []
        self._targets = targets
        self._active = time.monotonic()
        for event in ACTIVITY:
            page.on(event, self._note_activity)

    async def open(self, url: str) -> None:
        """Open a page by its address."""
        await self.page.goto(url, wait_until="load")
        await self._wait_until_quiet()

    async def click(self, element: Locator) -> None:
        """Click an element with the mouse."""
        await element.wait_for()
        if len(self.clicks) < len(self._targets):
            self.found.append(await self._find_again(self._targets[len(self.clicks)] or {}, element))
        if self.clicks:
            await asyncio.sleep(max(0.0, CLICK_SECONDS - time.time() + self.clicks[-1].began / 1000))
        began = time.time() * 1000
        await element.click()
        self.clicks.append(Click(began, time.time() * 1000))
        await self._wait_until_quiet()

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.page.keyboard.type(text, delay=20)

    def _note_activity(self, _: object) -> None:
        self._active = time.monotonic()

    async def _wait_until_quiet(self) -> None:
        """Wait until the page has done nothing for a while; a page that never rests is left after the patience."""
        self._active = time.monotonic()
        end = self._active + PATIENCE_SECONDS
        while (now := time.monotonic()) < end and now - self._active < QUIET_SECONDS:
            await asyncio.sleep(0.05)

    async def _find_again(self, target: dict[str, Any], wanted: Locator) -> LocatorResult:
        selector = next(iter(target.get("selectors") or []), None)
        if selector is None:
            return LocatorResult(None, 0, False)
        count, is_right, is_connected = 0, False, False
        try:
            while not is_connected:  # again, if the page rebuilt its elements in between
                handle = await wanted.element_handle()
                frame = await handle.owner_frame() or self.page.main_frame
                found = frame.locator(selector)
                count = await found.count()
                is_right = count == 1 and await found.evaluate(SAME, handle)
                is_connected = is_right or await handle.evaluate("(element) => element.isConnected")
        except Error:
            return LocatorResult(selector, 0, False)
        return LocatorResult(selector, count, bool(is_right))


def find_clicked_targets(actions: list[dict[str, Any]], clicks: Sequence[Click]) -> list[dict[str, Any] | None]:
    """Return the recorded target of each click of a walk, by the time; None where no step was recorded.

    A step that was repeated in a row has the time of the first click.
    """
    targets: list[dict[str, Any] | None] = [None] * len(clicks)
    steps = [each for each in actions if each["kind"] == "click" and not each["synthetic"]]
    for step in steps if clicks else []:
        distances = [max(each.began - step["ts"], step["ts"] - each.ended, 0) for each in clicks]
        index = distances.index(min(distances))
        if distances[index] <= SLACK_MS:
            for at in range(index, min(index + step["repeat"], len(clicks))):
                targets[at] = step["target"] or {}
    return targets

"""Visits to a site in a browser with the extension: recorded and reported, or not recorded."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from playwright.async_api import CDPSession, Page

from bench.extension_popup import open_popup
from bench.real_sites.devtools import DevTools
from bench.real_sites.site import Site
from bench.real_sites.walker import Click, LocatorResult, Targets, Walker
from tests.e2e.support.extension_browser import ExtensionBrowser


class Cost(NamedTuple):
    """The processor time of a page's main thread: milliseconds for a round of work, and for a second of rest."""

    round_ms: float
    rounds_per_second: float
    rest_ms: float


class Visit(NamedTuple):
    """What a visit was."""

    devtools: DevTools
    clicks: list[Click]
    cost: Cost | None
    found: list[LocatorResult]
    ticket: str | None
    popup_ms: float


class Visitor:
    """Visits a site. Nothing is sent if `reports` is False."""

    def __init__(self, browser: ExtensionBrowser, site: Site, url: str, *, reports: bool) -> None:
        self._browser, self._site, self._url, self._reports = browser, site, url, reports

    def work(self, seconds: float, rest: float, targets: Targets = ()) -> Visit:
        """Work on one page for a while, then rest."""

        async def walk(walker: Walker, session: CDPSession) -> Cost:
            await walker.open(self._site.start)
            before, began, rounds = await _busy_ms(session), time.monotonic(), 0
            while time.monotonic() - began < seconds or not rounds:
                await self._site.work(walker)
                rounds += 1
            passed, busy = time.monotonic() - began, await _busy_ms(session) - before
            await walker.devtools.wait_until_quiet()
            at_rest = await _busy_ms(session)
            await walker.page.wait_for_timeout(rest * 1000)
            resting = (await _busy_ms(session) - at_rest) / rest
            await self._site.work(walker)  # so that the replay ends with something to see
            return Cost(busy / rounds, rounds / passed, resting)

        return self._visit(walk, targets)

    def move(self, targets: Targets = ()) -> Visit:
        """Work on four pages, one after the other."""

        async def walk(walker: Walker, session: CDPSession) -> None:
            await walker.open(self._site.start)
            for move in self._site.moves:
                await self._site.work(walker)
                await move(walker)

        return self._visit(walk, targets)

    def _visit(self, walk: Callable[[Walker, CDPSession], Coroutine[Any, Any, Any]], targets: Targets) -> Visit:
        return self._browser.run(self._run(walk, targets))

    async def _run(self, walk: Callable[[Walker, CDPSession], Coroutine[Any, Any, Any]], targets: Targets) -> Visit:
        page = await self._browser.context.new_page()
        session = await self._browser.context.new_cdp_session(page)
        devtools = await DevTools.attach(page, session)
        await session.send("Performance.enable", {"timeDomain": "threadTicks"})
        walker = Walker(page, devtools, self._url, targets)
        try:
            cost = await walk(walker, session)
            await devtools.wait_until_quiet()
            devtools.is_stopped = True  # sites go on while they are reported
            ticket, drawn = await self._report(page) if self._reports else (None, 0)
            return Visit(devtools, walker.clicks, cost, walker.found, ticket, drawn)
        finally:
            await page.close()

    async def _report(self, page: Page) -> tuple[str, float]:
        popup, shown = await open_popup(self._browser, page)
        return await self._browser.create_ticket(popup), shown


async def _busy_ms(session: CDPSession) -> float:
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration") * 1000

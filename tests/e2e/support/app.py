"""The web app as the tests use it: signed in, and watched for what it must never do."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from axe_playwright_python.base import AxeResults
from playwright.async_api import ConsoleMessage, FloatRect, Locator, Page, ViewportSize, expect

from tests.e2e.support.browser import Chromium
from tests.support.server import Person, eventually

T = TypeVar("T")
Scheme = Literal["light", "dark"]

DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}


class Looks(NamedTuple):
    """A window's size and colours."""

    size: ViewportSize
    scheme: Scheme


LOOKS = {
    "desk": Looks(DESK, "light"),
    "phone": Looks(PHONE, "dark"),
    "desk-dark": Looks(DESK, "dark"),
}
# The rules of axe that depend on colours.
COLOUR_RULES = ("color-contrast", "link-in-text-block")
# For what is done at each size; `assert_accessible` also checks the other scheme.
EVERY = pytest.mark.parametrize(
    "looks", [LOOKS["desk"], pytest.param(LOOKS["phone"], marks=pytest.mark.long)], ids=["desk", "phone"]
)
SIZES = pytest.mark.parametrize("size", [DESK, pytest.param(PHONE, marks=pytest.mark.long)], ids=["desk", "phone"])


class PageMonitor:
    """What a page asked of whom, and what the browser complained of."""

    def __init__(self, page: Page) -> None:
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("console", self._record_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _record_console(self, message: ConsoleMessage) -> None:
        # the browser says so of every answer that refuses something
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def assert_clean(self, url: str) -> None:
        """Nothing left for another host, nothing broke the content-security policy, nothing failed unseen."""
        assert self.hosts - {""} <= {urlsplit(url).netloc}
        assert self.complaints == [], self.complaints


def use(
    chromium: Chromium,
    person: Person,
    path: str,
    visitor: Callable[[Page], Awaitable[T]],
    looks: Looks = LOOKS["desk"],
    **context: Any,
) -> T:
    """Let a signed-in person use the app from an address on; the page must have stayed clean."""

    async def visit(page: Page) -> T:
        watched = PageMonitor(page)
        cookies = [{"name": each.name, "value": each.value, "url": person.box.url} for each in person.web.cookies.jar]
        await page.context.add_cookies(cookies)  # type: ignore[arg-type]
        await page.goto(person.box.url + path)
        result = await visitor(page)
        watched.assert_clean(person.box.url)
        return result

    return chromium.visit(visit, viewport=looks.size, color_scheme=looks.scheme, **context)


async def wait_for_frames(page: Page) -> None:
    """Wait until the page has drawn what it does now, and what it planned for its next frame, such as a focus."""
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def drag_card(card: Locator, target: Locator, **options: Any) -> None:
    """Drag a card of a board. A board loads what a drag needs when the pointer comes."""
    await card.hover()
    await expect(card.locator("xpath=ancestor::li")).to_have_attribute("draggable", "true")
    await card.drag_to(target, **options)


async def find_still_box(locator: Locator) -> FloatRect:
    """The place of an element that has stopped moving."""
    before = None
    async with asyncio.timeout(30):
        while True:
            box = await locator.bounding_box()
            if box is not None and box == before:
                return box
            before = box
            await wait_for_frames(locator.page)


async def expect_value(read: Callable[[], Awaitable[T]], expected: T) -> None:
    """Wait until what is read of a page is what is expected."""
    result = await read()
    with suppress(TimeoutError):
        async with asyncio.timeout(30):
            while result != expected:
                await asyncio.sleep(0.02)
                result = await read()
    assert result == expected


async def hold_messages(page: Page) -> None:
    """Keep the messages in the corner, which otherwise close after 6 s, until the pointer leaves them."""
    await page.get_by_role("region", name="Messages").hover()


async def expect_stored(read: Callable[[], Any], expected: object) -> None:
    """Wait until the server returns what is expected."""
    await asyncio.to_thread(lambda: eventually(lambda: read() == expected, 30, read))


async def expect_clipboard(page: Page, text: str) -> None:
    """Wait until the clipboard has a text: the app writes it some time after the click."""
    await expect_value(lambda: page.evaluate("() => navigator.clipboard.readText()"), text)


async def run_axe(page: Page, rules: Sequence[str] = ()) -> AxeResults:
    """What axe finds when nothing fades or moves any more: a colour on its way to another has too little contrast.

    Without `rules`: those of WCAG 2.2, A and AA, and axe's best practices.
    """
    await page.evaluate(
        """() => {
          const isOver = ({ playState, effect }) =>
            playState !== "running" || effect?.getComputedTiming().endTime === Infinity;
          const moving = document.getAnimations().filter((each) => !isOver(each));
          const patience = new Promise((done) => setTimeout(done, 5_000));
          return Promise.race([patience, Promise.allSettled(moving.map(({ finished }) => finished))]).then(() => null);
        }"""
    )
    axe = Axe()
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe.axe_script)
    # axe isn't in the frames, and would wait for each of them
    options = {"resultTypes": ["violations"], "iframes": False, **({"runOnly": [*rules]} if rules else {})}
    return AxeResults(await page.evaluate("(options) => axe.run(options)", options))


async def assert_accessible(page: Page) -> None:
    """axe finds nothing, nor does it in the other color scheme."""
    result = await run_axe(page)
    assert result.violations_count == 0, result.generate_report()
    is_dark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    schemes: tuple[Scheme, Scheme] = ("dark", "light") if is_dark else ("light", "dark")
    await page.emulate_media(color_scheme=schemes[1])
    result = await run_axe(page, COLOUR_RULES)
    assert result.violations_count == 0, f"{schemes[1]}: {result.generate_report()}"
    await page.emulate_media(color_scheme=schemes[0])


async def assert_fits(page: Page) -> None:
    """Nothing makes the page itself scroll sideways."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

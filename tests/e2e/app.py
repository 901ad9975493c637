"""The web app as the tests use it: signed in, and watched for what it must never do."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import ConsoleMessage, Page, ViewportSize

from tests.e2e.browser import Chromium
from tests.support.server import Person

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
    "phone-light": Looks(PHONE, "light"),
}
# One size and scheme always; the others with the long tests.
EVERY = pytest.mark.parametrize(
    "looks",
    [pytest.param(looks, id=name, marks=[] if name == "desk" else [pytest.mark.long]) for name, looks in LOOKS.items()],
)
# For what needs a look at each scheme alone, and for what is done at each size.
SCHEMES = pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
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
        page.set_default_timeout(10_000)
        await page.goto(person.box.url + path)
        result = await visitor(page)
        watched.assert_clean(person.box.url)
        return result

    return chromium.visit(visit, viewport=looks.size, color_scheme=looks.scheme, **context)


async def assert_accessible(page: Page) -> None:
    """axe finds nothing (WCAG 2.2, A and AA, and its best practices)."""
    result = await Axe().run(page)
    assert result.violations_count == 0, result.generate_report()


async def assert_fits(page: Page) -> None:
    """Nothing makes the page itself scroll sideways."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

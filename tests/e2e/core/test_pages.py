"""The pages that the server renders: in a real browser, with and without script, on a desk and on a phone."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import ConsoleMessage, Page, Response, ViewportSize, expect

from tests.e2e.support.app import PHONE, SIZES, run_axe
from tests.e2e.support.browser import Chromium
from tests.support.server import PASSWORD, Box, run_server

DESK: ViewportSize = {"width": 1280, "height": 900}
NARROWEST = 320
ANSWERS = {
    "name": "Ann <b>Lee</b>",
    "email": "ann@example.org",
    "password": PASSWORD,
    "password_again": PASSWORD,
    "company": 'Acme & "Sons"',
    "project": "Shop",
}
KEPT = ("name", "email", "company", "project")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Box]:
    """A server on a file that nobody set up yet."""
    with run_server(tmp_path, init=False) as box:
        yield box


class Watch:
    """What a page asked for and what the browser complained of."""

    def __init__(self, page: Page) -> None:
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        self.statuses: list[tuple[str, str, int]] = []
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("response", self._record_response)
        page.on("console", self._record_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _record_response(self, response: Response) -> None:
        self.statuses.append((response.request.method, urlsplit(response.url).path, response.status))

    def _record_console(self, message: ConsoleMessage) -> None:
        # the browser reports for every refused page that it failed to load
        if not message.text.startswith("Failed to load resource: the server responded with a status of 4"):
            self.complaints.append(message.text)

    def assert_clean(self, box: Box) -> None:
        """Nothing left for another host, and nothing broke the content-security policy."""
        assert self.hosts - {""} == {urlsplit(box.url).netloc}
        assert self.complaints == []


async def fill(page: Page, **answers: str) -> None:
    """Fill the set-up form; what isn't given is sound."""
    for name, value in {**ANSWERS, **answers}.items():
        await page.fill(f"#{name}", value)


async def submit(page: Page, *, unchecked: bool = False) -> None:
    """Send the form; `unchecked` keeps the browser from checking it first."""
    button = page.get_by_role("button", name="Create account")
    if not unchecked:
        await button.click()
        return
    await page.evaluate("() => { document.forms[0].noValidate = true; }")
    async with page.expect_navigation():
        await button.click()


async def read_field_error(page: Page, field: str) -> tuple[str | None, str]:
    """Whether a field is marked as wrong, and the words under it."""
    box = page.locator(f"#{field}")
    hint = await box.get_attribute("aria-describedby")
    return await box.get_attribute("aria-invalid"), (await page.locator(f"#{hint}").inner_text()).strip()


@SIZES
def test_a_file_is_set_up_in_the_browser_once(chromium: Chromium, fresh: Box, size: ViewportSize) -> None:
    address = fresh.setup_address()

    async def visit(page: Page) -> None:
        watch = Watch(page)
        await page.goto(address)
        assert await page.title() == "Set up ticketbox"
        await fill(page)
        await submit(page)
        await page.wait_for_url("**/projects/*")
        frame = page.get_by_role("navigation", name="Main", include_hidden=True)
        for given in ("name", "company", "project"):
            await frame.get_by_text(ANSWERS[given], exact=True).first.wait_for(state="attached")
        await expect(page.locator("b")).to_have_count(0)

        cookies = await page.context.cookies()
        kept = [(each.get("name"), each.get("httpOnly"), each.get("sameSite")) for each in cookies]
        assert sorted(kept) == [(fresh.cookie, True, "Lax"), (f"{fresh.cookie}-device", True, "Lax")]
        me = await page.context.request.get(f"{fresh.api}/me")
        assert me.status == 200
        assert (await me.json())["user"]["email"] == "ann@example.org"

        await page.goto(address)
        await expect(page.get_by_role("heading", level=1)).to_have_text("This link has expired", use_inner_text=True)
        assert watch.statuses[-1][2] == 404 or ("GET", urlsplit(address).path, 404) in watch.statuses
        watch.assert_clean(fresh)

    chromium.visit(visit, viewport=size)
    with fresh.client() as client:
        signed_in = client.post("/session", json={"email": "ann@example.org", "password": PASSWORD})
        assert signed_in.status_code == 201


@pytest.mark.long
def test_wrong_input_is_explained_and_what_was_typed_stays(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()

    async def expect_refusal(page: Page, field: str, words: str, **answers: str) -> None:
        await fill(page, **answers)
        await submit(page, unchecked=True)
        assert page.url == address
        assert await page.title() == "Error: Set up ticketbox"
        alert = await page.get_by_role("alert").inner_text()
        assert "Check the marked fields." in alert
        assert "Enter your password again." in alert
        assert await read_field_error(page, field) == ("true", words)
        await expect(page.locator("[aria-invalid]")).to_have_count(1)
        await expect(page.locator(f"#{field}")).to_be_focused()
        typed = {**ANSWERS, **answers}
        for name in KEPT:
            await expect(page.locator(f"#{name}")).to_have_value(typed[name])
        for name in ("password", "password_again"):
            await expect(page.locator(f"#{name}")).to_have_value("")
        assert typed["password"] not in await page.content()

    async def visit(page: Page) -> None:
        watch = Watch(page)
        await page.goto(address)
        await expect_refusal(
            page, "password_again", "The passwords don’t match.", password_again="another battery staple"
        )
        short = {"password": "too short", "password_again": "too short"}
        await expect_refusal(page, "password", "Use 10 to 200 characters.", **short)
        no_mail = "Enter an email address, such as ada@example.org."
        await expect_refusal(page, "email", no_mail, email="nobody")
        await expect_refusal(page, "company", "Use 1 to 100 characters, on one line.", company="   ")
        assert [status for method, _, status in watch.statuses if method == "POST"] == [400] * 4
        await fill(page)
        await submit(page)
        await page.wait_for_url("**/projects/*")
        watch.assert_clean(fresh)

    chromium.visit(visit)


@pytest.mark.long
def test_the_browser_itself_holds_back_what_cannot_be_right(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()

    async def visit(page: Page) -> None:
        watch = Watch(page)
        await page.goto(address)
        for field, value in {"password": "too short", "email": "nobody", "name": ""}.items():
            await fill(page)
            await page.fill(f"#{field}", "")
            await page.locator(f"#{field}").press_sequentially(value)
            await submit(page)
            assert not await page.evaluate("() => document.forms[0].checkValidity()")
            await expect(page.locator(f"#{field}")).to_be_focused()
        assert [method for method, _, _ in watch.statuses if method == "POST"] == []

    chromium.visit(visit)


@pytest.mark.long
def test_the_pages_work_without_script_and_by_keyboard(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()

    async def visit(page: Page) -> None:
        await page.goto(address)
        await page.get_by_label("Name", exact=True).focus()
        for name, value in ANSWERS.items():
            await page.keyboard.type("x" if name == "company" else value)
            await page.keyboard.press("Enter" if name == "project" else "Tab")
        await page.wait_for_url(f"{fresh.url}/")
        await expect(page.locator("body")).to_contain_text("needs JavaScript", use_inner_text=True)
        await page.goto(f"{fresh.url}/api/docs")
        refusals = page.locator("#get_me details")
        assert await refusals.get_attribute("open") is None
        await refusals.locator("summary").press("Enter")
        await expect(refusals).to_contain_text("unauthorized", use_inner_text=True)

    chromium.visit(visit, java_script_enabled=False)


async def each_page(page: Page, box: Box, address: str, check: Callable[[str], Awaitable[None]]) -> None:
    """Show every page in every state, and check it."""
    for name, url in {
        "home before the set-up": f"{box.url}/",
        "set-up": address,
        "gone": f"{box.url}/setup/nonsense",
        "API": f"{box.url}/api/docs",
    }.items():
        await page.goto(url)
        await check(name)
    await page.goto(address)
    await fill(page, password_again="another battery staple")
    await submit(page)
    await page.get_by_role("alert").wait_for()
    await check("set-up, refused")
    await fill(page)
    await submit(page)
    await page.wait_for_url("**/projects/*")
    await page.goto("about:blank")  # or the app itself goes to the sign-in, when it is refused
    await page.context.clear_cookies()
    await page.goto(f"{box.url}/")
    await check("sign-in")


@pytest.mark.long
def test_no_page_is_wider_than_a_phone(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()
    wide: dict[str, Any] = {}

    async def visit(page: Page) -> None:
        watch = Watch(page)

        async def check(name: str) -> None:
            for width in (PHONE["width"], NARROWEST):
                await page.set_viewport_size({"width": width, "height": 844})
                scroll_width = await page.evaluate("() => document.documentElement.scrollWidth")
                if scroll_width > width:
                    wide[f"{name} at {width}"] = scroll_width

        await each_page(page, fresh, address, check)
        watch.assert_clean(fresh)

    chromium.visit(visit, is_mobile=True, has_touch=True)
    assert wide == {}


@pytest.mark.long
def test_the_pages_use_the_font_of_the_app(chromium: Chromium, fresh: Box) -> None:
    async def visit(page: Page) -> None:
        watch = Watch(page)
        await page.goto(f"{fresh.url}/api/docs")
        await page.evaluate("document.fonts.ready.then(() => undefined)")
        fonts = "[...document.fonts].map(({family, status}) => [family.replaceAll('\"', ''), status])"
        assert await page.evaluate(fonts) == [["Inter Variable", "loaded"]]
        watch.assert_clean(fresh)

    chromium.visit(visit)


@pytest.mark.long
def test_a_form_from_another_site_sets_nothing_up(chromium: Chromium, fresh: Box) -> None:
    address = fresh.setup_address()
    fields = "".join(f"<input name='{name}' value='{value}'>" for name, value in ANSWERS.items() if name != "company")
    form = f"<form method='post' action='{address}'>{fields}<input name='company' value='x'><button>Go</button></form>"

    async def visit(page: Page) -> None:
        await page.route("http://evil.example/", lambda route: route.fulfill(content_type="text/html", body=form))
        await page.goto("http://evil.example/")
        async with page.expect_response(address) as answered:
            await page.get_by_role("button").click()
        answer = await answered.value
        assert answer.status == 403
        await page.get_by_role("heading", name="This isn’t allowed").wait_for()
        assert await page.evaluate("document.styleSheets.length") == 1  # the policy allows the page's own style
        assert (await run_axe(page)).violations_count == 0
        await page.goto(address)
        assert await page.title() == "Set up ticketbox"

    chromium.visit(visit)

"""What the app's first load asks for: little, nothing twice, and a ticket's text before its capture."""

import asyncio
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, Request, Route, expect

from tests.e2e.support.app import expect_value, find_still_box, use, wait_for_frames
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import capture_on, line
from tests.support.server import World

MOST_BYTES = 90_000
NOTE_ORDER = """() => {
  window.order = [];
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries())
      if (name.includes('/CaptureViewer-')) window.order.push(['capture', startTime]);
  }).observe({ type: 'resource', buffered: true });
  const look = (now) => {
    if (document.body?.innerText.includes('The cart stays empty.')) window.order.push(['text', now]);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


class RequestLog:
    """Everything that a page asked for, and what of it was the app's own files, as sent."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.code = 0
        self._kinds: dict[str, str] = {}

    async def watch(self, page: Page) -> None:
        """Watch a page from its first request on."""
        session: Any = await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._record_request)
        session.on("Network.loadingFinished", self._record_load)
        await session.send("Network.enable")

    def _record_request(self, event: dict[str, dict[str, str]]) -> None:
        self.times[f"{event['request']['method']} {event['request']['url']}"] += 1
        self._kinds[str(event["requestId"])] = str(event["type"])

    def _record_load(self, event: dict[str, int]) -> None:
        if self._kinds.get(str(event["requestId"])) in ("Document", "Script", "Stylesheet"):
            self.code += int(event["encodedDataLength"])

    @property
    def twice(self) -> list[str]:
        return [what for what, times in self.times.items() if times > 1]

    def names(self) -> list[str]:
        """The files' names without the hash of what is in them."""
        return [urlsplit(what).path.rpartition("/")[2].partition("-")[0] for what in self.times]


def test_board_loads_few_bytes_and_repeats_no_request(chromium: Chromium, world: World) -> None:
    for number in range(60):
        world.ticket(f"Ticket {number}")

    async def load(page: Page) -> None:
        await page.goto("about:blank")
        asked = RequestLog()
        await asked.watch(page)
        await page.goto(f"{world.box.url}/projects/{world.project}")
        await expect(page.get_by_role("region", name="To do").locator(".count")).to_have_text("60")
        await asyncio.sleep(0.5)
        assert asked.twice == []
        lists = [what for what in asked.times if "/tickets?" in what and "cursor=" not in what]
        assert len(lists) == len(world.columns)  # what the page preloads is what the board asks for
        assert 20_000 < asked.code <= MOST_BYTES
        assert {"BoardPage", "index"} <= set(asked.names())
        assert not {"MenuContent", "TicketPage", "Palette", "NewTicket", "CaptureViewer"} & set(asked.names())

    use(chromium, world.owner, "/healthz", load, fresh=True)


def test_server_page_preloads_the_files_of_the_page(world: World) -> None:
    pages = {
        "/": "HomePage",
        f"/projects/{world.project}": "BoardPage",
        f"/tickets/{world.ticket('One')['id']}": "TicketPage",
        "/t/SHO-1": "TicketPage",
        "/search": "SearchPage",
        "/inbox": "InboxPage",
        "/settings/tokens": "SettingsPage",
        f"/companies/{world.company}/members": "SettingsPage",
    }
    for path, chunk in pages.items():
        page = world.owner.web.get(world.box.url + path).text
        assert f'<link rel="modulepreload" crossorigin href="/assets/{chunk}-' in page
        links = [part.partition('"')[0] for part in page.split('href="')[1:]]
        assert len(links) == len(set(links))
        assert sum(link.endswith(".woff2") for link in links) == 1
    assert "/assets/BoardPage-" in world.owner.web.get(world.box.url).text  # the home page opens a board
    unknown = world.owner.web.get(f"{world.box.url}/nothing-here", headers={"Accept": "text/html"}).text
    assert 'id="boot"' in unknown
    assert "Page-" not in unknown


def test_board_requests_columns_and_tickets_while_its_code_loads(world: World) -> None:
    ask = world.owner.web.get
    preload = '<link rel="preload" as="fetch" crossorigin href="/api/v1/'
    page = ask(f"{world.box.url}/projects/{world.project}").text
    for question in ("companies?limit=100", "projects?limit=100", f"projects/{world.project}/columns"):
        assert f'{preload}{question}">' in page
    column = world.columns[0]
    assert f"{preload}tickets?project_id={world.project}&amp;column_id={column}&amp;sort=position&amp;limit=25" in page
    filtered = ask(f"{world.box.url}/projects/{world.project}?label=cart").text
    assert "/columns" in filtered
    assert f"{preload}tickets" not in filtered
    foreign = ask(f"{world.box.url}/projects/proj_zzzzzzzzzzzz").text
    assert f"{preload}tickets" not in foreign
    for other in (f"{world.project}/table", 'proj_x"><b>', "proj_x%22%3E%3Cb%3E"):
        text = ask(f"{world.box.url}/projects/{other}").text
        assert text.count('as="fetch"') == 2  # companies and projects
        assert "<b>" not in text


@pytest.mark.long
def test_ticket_shows_its_text_before_it_requests_the_capture(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world, console=[line(1, "log", "started")])
    path = f"/tickets/{ticket['id']}"
    world.api.patch(path, json={"description": "The cart stays empty."}, headers={"If-Match": "*"}).raise_for_status()

    async def load(page: Page) -> None:
        asked, has_waited = RequestLog(), asyncio.Event()

        async def hold(route: Route) -> None:
            await has_waited.wait()
            await route.continue_()

        await page.add_init_script(f"({NOTE_ORDER})()")
        await page.goto("about:blank")
        await asked.watch(page)
        await page.route("**/assets/markdown-*.js", hold)
        await page.goto(world.box.url + path)
        await expect(page.get_by_role("region", name="Capture")).to_be_visible()
        await wait_for_frames(page)
        has_waited.set()
        await expect(page.get_by_role("tab", name="Console")).to_be_visible()
        # the browser reports what it loaded some time after that
        await expect_value(lambda: page.evaluate("() => new Set(window.order.map(([what]) => what)).size"), 2)
        order = dict(await page.evaluate("() => window.order.toReversed()"))
        assert order["text"] < order["capture"]
        await asyncio.sleep(0.5)
        assert asked.twice == []

    use(chromium, world.owner, "/healthz", load, fresh=True)


@pytest.mark.long
def test_menu_is_opened_and_closed_by_keyboard(chromium: Chromium, world: World) -> None:
    async def press(page: Page) -> None:
        account = page.locator("button.account")
        menu = page.get_by_role("menu")
        for key in ("Enter", " ", "ArrowDown"):
            await account.focus()
            await page.keyboard.press(key)
            await expect(menu).to_be_visible()
            await expect(account).to_have_attribute("aria-expanded", "true")
            await page.keyboard.press("Escape")
            await expect(menu).to_have_count(0)
            await expect(account).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(menu).to_be_visible()
        await page.keyboard.press("Tab")
        await expect(menu).to_have_count(0)
        await expect(page.get_by_role("link", name="Settings")).to_be_focused()

    use(chromium, world.owner, f"/projects/{world.project}", press)


@pytest.mark.long
def test_part_that_cannot_be_loaded_is_loaded_when_the_connection_is_back(chromium: Chromium, world: World) -> None:
    world.ticket("One")

    async def lose_connection(page: Page) -> None:
        menu, messages = page.get_by_role("menu"), page.get_by_role("region", name="Messages")
        await expect(page.get_by_role("heading", name="First project")).to_be_visible()
        await page.route("**/*", lambda route: route.abort())
        await page.locator("button.account").click()
        await expect(messages).to_contain_text("A part of the app couldn’t be loaded.")
        await expect(menu).to_have_count(0)
        await page.keyboard.press("Control+k")
        await page.get_by_role("main").get_by_role("link", name="Table").click()
        await expect(page.get_by_role("alert")).to_contain_text("This couldn’t be loaded")
        async with page.expect_event("requestfailed"):
            await page.get_by_role("alert").get_by_role("button", name="Try again").click()
        await page.unroute("**/*")
        await page.route("**/*", lambda route: route.fulfill(status=502))  # as a proxy before a stopped server
        async with page.expect_response(lambda response: response.status == 502):
            await page.get_by_role("alert").get_by_role("button", name="Try again").click()
        await wait_for_frames(page)
        await expect(page.get_by_role("alert")).to_contain_text("This couldn’t be loaded")
        await page.unroute("**/*")
        await page.evaluate("dispatchEvent(new Event('online'))")
        await expect(page.get_by_role("link", name="One")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(messages).not_to_contain_text("couldn’t be loaded")
        await page.locator("button.account").click()
        await expect(menu).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(menu).to_have_count(0)
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("dialog", name="Search and commands")).to_be_visible()

    use(chromium, world.owner, f"/projects/{world.project}", lose_connection)


@pytest.mark.long
@pytest.mark.parametrize("writes", ["in a text field", "with unsaved changes"])
def test_page_does_not_reload_while_somebody_writes(chromium: Chromium, world: World, writes: str) -> None:
    async def lose_connection(page: Page) -> None:
        name, reload = page.get_by_label("Name", exact=True), page.get_by_role("button", name="Reload page")
        await expect(name).to_have_value("Ann")
        await page.route("**/*", lambda route: route.abort())
        await page.locator("button.account").click()
        await expect(reload).to_be_visible()
        await page.unroute("**/*")
        if writes == "in a text field":
            await name.focus()
        else:
            await name.fill("Ann Example")
            await name.blur()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await page.evaluate("dispatchEvent(new Event('online'))")
        await wait_for_frames(page)
        assert page.url not in requests
        if writes == "in a text field":
            await name.blur()
            await page.evaluate("dispatchEvent(new Event('online'))")
            await expect(reload).to_have_count(0)

    use(chromium, world.owner, "/settings/profile", lose_connection)


@pytest.mark.long
@pytest.mark.parametrize("is_upgrade", [True, False])
def test_page_reloads_once_when_the_server_has_no_such_part_any_more(
    chromium: Chromium, world: World, is_upgrade: bool
) -> None:
    world.ticket("One")

    async def upgrade(page: Page) -> None:
        loads: list[str] = []
        asked: list[str] = []  # since the last load of the page

        def note(request: Request) -> None:
            if request.is_navigation_request():
                loads.append(request.url)
                asked.clear()
            else:
                asked.append(request.url)

        async def answer(route: Route) -> None:
            await (route.continue_() if is_upgrade and loads else route.fulfill(status=404))

        page.on("request", note)
        await page.route("**/assets/TableView-*", answer)
        await page.wait_for_function("() => performance.now() > 5_000")  # a new page that fails doesn't load again
        async with page.expect_event("domcontentloaded"):
            await page.get_by_role("main").get_by_role("link", name="Table").click()
        if is_upgrade:
            await expect(page.get_by_role("link", name="One")).to_be_visible()
        else:
            await expect(page.get_by_role("alert")).to_contain_text("This couldn’t be loaded")
        assert len(loads) == 1
        assert page.url not in asked, "it asks whether it can load the page again"

    use(chromium, world.owner, f"/projects/{world.project}", upgrade)


@pytest.mark.long
def test_menu_closes_on_a_click_on_its_button_or_outside(chromium: Chromium, world: World) -> None:
    async def press(page: Page) -> None:
        account, menu = page.locator("button.account"), page.get_by_role("menu")
        box = await find_still_box(account)
        for x, y in ((box["x"] + 5, box["y"] + 5), (700, 500)):
            await account.click()
            await expect(menu).to_be_visible()
            await page.mouse.click(x, y)  # an open menu shields the page: the press closes it and does nothing else
            await expect(menu).to_have_count(0)
            await expect(account).to_have_attribute("aria-expanded", "false")

    use(chromium, world.owner, f"/projects/{world.project}", press)

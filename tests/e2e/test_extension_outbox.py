"""What was sent off while the ticketbox didn't answer: kept, tried again, and never made into two tickets."""

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page

from tests.e2e.extension import Extended
from tests.e2e.odd_site import OddSite
from tests.support.server import Box, World, eventually, ok, run_server

pytestmark = pytest.mark.long


@pytest.fixture
def odd() -> Iterator[OddSite]:
    """The site that is reported."""
    with OddSite() as running:
        yield running


@pytest.fixture
def steady(tmp_path: Path) -> Iterator[Box]:
    """A server that comes back under the same address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with run_server(tmp_path, "--port", str(port)) as box:
        yield box


@pytest.fixture
def connected(extended: Extended, steady: Box) -> tuple[Extended, World]:
    """The browser, connected to that server and to nothing else."""
    world = World(steady)
    secret = world.owner.token("tickets:write")

    async def connect() -> None:
        await extended.forget()
        await extended.use_token(steady.url, secret)
        # the projects are known before the server goes
        page = await extended.options()
        await page.evaluate("() => chrome.runtime.sendMessage({kind: 'projects'})")
        await page.close()

    extended.run(connect())
    return extended, world


def report_in_vain(extended: Extended, address: str, title: str) -> None:
    """Press Send while nobody listens; the words say that the capture is kept."""

    async def work() -> None:
        page = await extended.context.new_page()
        await page.goto(address)
        popup = await extended.click(page)
        await popup.get_by_label("Title").fill(title)
        await popup.get_by_role("button", name="Send").click()
        await popup.get_by_role("heading", name="Not sent yet").wait_for()
        assert "doesn’t answer" in await popup.get_by_role("alert").inner_text()
        await popup.close()
        await page.close()

    extended.run(work())


def badge(extended: Extended) -> str:
    """What stands on the extension's button."""

    async def read() -> str:
        page = await extended.options()
        text = await page.evaluate("() => chrome.action.getBadgeText({})")
        await page.close()
        return text

    return extended.run(read())


def titles(world: World) -> list[str]:
    """The titles of all tickets."""
    return sorted(each["title"] for each in ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"])


def test_captures_outlast_the_server_and_the_browser_and_become_one_ticket_each(
    connected: tuple[Extended, World], steady: Box, odd: OddSite
) -> None:
    extended, world = connected
    steady.stop()
    for title in ("one", "two", "three"):
        report_in_vain(extended, f"{odd.url}/plain", title)
    assert badge(extended) == "3"
    extended.stop()
    extended.start()
    steady.start()
    began = time.monotonic()
    eventually(lambda: titles(world) == ["one", "three", "two"], 120)
    assert time.monotonic() - began < 100
    eventually(lambda: badge(extended) == "")
    time.sleep(5)
    assert titles(world) == ["one", "three", "two"]


def test_what_waits_can_be_sent_at_once_and_discarded(
    connected: tuple[Extended, World], steady: Box, odd: OddSite
) -> None:
    extended, world = connected
    steady.stop()
    for title in ("keep", "drop"):
        report_in_vain(extended, f"{odd.url}/plain", title)

    async def drop(page: Page) -> None:
        row = page.get_by_role("listitem").filter(has_text=re.compile("^drop"))
        await row.get_by_text("Tried once, again at").wait_for()
        await row.get_by_role("button", name="Discard").click()
        await row.get_by_role("button", name="Discard for good").click()
        await row.wait_for(state="detached")

    async def send(page: Page) -> None:
        await page.get_by_role("button", name="Send now").click()
        await page.get_by_text("Nothing waits.").wait_for()

    async def open_list() -> Page:
        return await extended.options()

    page = extended.run(open_list())
    extended.run(drop(page))
    steady.start()
    extended.run(send(page))
    assert titles(world) == ["keep"]
    assert badge(extended) == ""


def test_a_refusal_is_told_and_waits_for_its_person(connected: tuple[Extended, World], odd: OddSite) -> None:
    extended, world = connected
    (token,) = ok(world.owner.web.get("/tokens", params={"limit": 1}))["items"]
    ok(world.owner.web.delete(f"/tokens/{token['id']}"))

    async def work() -> str:
        page = await extended.context.new_page()
        await page.goto(f"{odd.url}/plain")
        popup = await extended.click(page)
        words = await popup.get_by_role("alert").inner_text()
        await popup.close()
        return words

    assert "credential is wrong, expired or revoked" in extended.run(work())


def test_a_capture_whose_project_is_gone_waits_for_its_person(connected: tuple[Extended, World], odd: OddSite) -> None:
    extended, world = connected

    async def open_form() -> tuple[Page, Page]:
        page = await extended.context.new_page()
        await page.goto(f"{odd.url}/plain")
        popup = await extended.click(page)
        await popup.get_by_label("Title").fill("gone")
        return page, popup

    page, popup = extended.run(open_form())
    world.owner.web.delete(f"/projects/{world.project}").raise_for_status()

    async def refused() -> str:
        await popup.get_by_role("button", name="Send").click()
        await popup.get_by_role("heading", name="Not sent yet").wait_for()
        words = await popup.get_by_role("alert").inner_text()
        await popup.close()
        await page.close()
        options = await extended.options()
        row = options.get_by_role("listitem").filter(has_text="gone")
        await row.get_by_text("Not tried again by itself").wait_for()
        await options.get_by_role("button", name="Send now").click()
        await row.get_by_text(words).wait_for()
        await row.get_by_role("button", name="Discard").click()
        await row.get_by_role("button", name="Discard for good").click()
        await options.get_by_text("Nothing waits.").wait_for()
        await options.close()
        return words

    assert "not found" in extended.run(refused())


def test_what_is_discarded_while_it_is_tried_doesnt_come_back(
    connected: tuple[Extended, World], steady: Box, odd: OddSite
) -> None:
    extended, _ = connected
    steady.stop()
    report_in_vain(extended, f"{odd.url}/plain", "drop")
    silent = socket.create_server(("127.0.0.1", httpx.URL(steady.url).port or 0))  # it takes a request and says nothing

    async def discard() -> Page:
        options = await extended.options()
        row = options.get_by_role("listitem").filter(has_text="drop")
        await options.get_by_role("button", name="Send now").click()
        await row.get_by_role("button", name="Discard").click()
        await row.get_by_role("button", name="Discard for good").click()
        await options.get_by_text("Nothing waits.").wait_for()
        return options

    async def look_again(options: Page) -> None:
        await options.wait_for_timeout(1_000)
        await options.reload()
        await options.get_by_text("Nothing waits.").wait_for()
        await options.close()

    options = extended.run(discard())
    silent.close()
    extended.run(look_again(options))
    assert badge(extended) == ""


@pytest.mark.parametrize(
    ("spoil", "words"),
    [("each.title = 'x'.repeat(400)", "title"), ("each.description = 'x'.repeat(40_000_000)", "may have up to")],
    ids=["invalid", "too large"],
)
def test_what_the_ticketbox_refuses_is_told_in_words_and_never_lost(
    connected: tuple[Extended, World], steady: Box, odd: OddSite, spoil: str, words: str
) -> None:
    extended, world = connected
    steady.stop()
    report_in_vain(extended, f"{odd.url}/plain", "spoilt")
    steady.start()

    async def work() -> str:
        options = await extended.options()
        await options.evaluate(
            """() => new Promise((done) => {
              indexedDB.open("ticketbox").onsuccess = ({ target: { result } }) => {
                const store = result.transaction("queue", "readwrite").objectStore("queue");
                store.getAll().onsuccess = ({ target: { result: [each] } }) => {
                  SPOIL;
                  store.put(each).onsuccess = done;
                };
              };
            })""".replace("SPOIL", spoil)
        )
        await options.get_by_role("button", name="Send now").click()
        await options.get_by_text("Not tried again by itself").wait_for()
        said = await options.locator(".bad").inner_text()
        await options.get_by_role("button", name="Discard").wait_for()
        await options.close()
        return said

    assert words in extended.run(work())
    assert titles(world) == []
    assert badge(extended) == "1"


def test_what_was_typed_outlasts_the_popup(connected: tuple[Extended, World], odd: OddSite) -> None:
    extended, world = connected

    async def work() -> None:
        page = await extended.context.new_page()
        await page.goto(f"{odd.url}/plain")
        popup = await extended.click(page)
        await popup.get_by_label("Title").fill("half a thought")
        await popup.get_by_label("What happened").fill("I was called away")
        await popup.get_by_label("Priority").select_option("high")
        await popup.wait_for_timeout(300)
        await popup.close()
        popup = await extended.click(page)
        await popup.get_by_text("You began this earlier").wait_for()
        assert await popup.get_by_label("Title").input_value() == "half a thought"
        assert await popup.get_by_label("Priority").input_value() == "high"
        ticket = await extended.send(popup)
        await ticket.close()
        popup = await extended.click(page)
        assert await popup.get_by_label("Title").input_value() == "plain", "what was sent isn't begun any more"
        await popup.close()
        await page.close()

    extended.run(work())
    (ticket,) = ok(world.box.client(world.owner.token("read")).get("/tickets"))["items"]
    assert (ticket["title"], ticket["priority"]) == ("half a thought", "high")

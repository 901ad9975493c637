"""What the extension gets of each kind of page, and what it says of the rest."""

from collections.abc import Callable

import pytest
from playwright.async_api import Error, Page

from tests.e2e.extension import Extended
from tests.e2e.faulty_site import FaultySite
from tests.e2e.odd_site import OddSite
from tests.e2e.reporting import STREAMS, Ticket, report
from tests.support.server import World

pytestmark = pytest.mark.long
COMPLETE = ("ok", None)


def all_streams(status: str, reason: str | None = None) -> dict[str, tuple[str, str | None]]:
    """The same health for each stream."""
    return dict.fromkeys(STREAMS, (status, reason))


@pytest.fixture
def take(recording: Extended, reporter: World) -> Callable[..., Ticket]:
    """Visits an address, waits for its title, clicks and sends."""

    def taken(address: str, title: str | None = None) -> Ticket:
        async def visit(page: Page) -> None:
            await page.goto(address)
            if title is not None:
                await page.wait_for_function("(title) => document.title === title", arg=title)

        return report(recording, reporter, visit)

    return taken


@pytest.mark.parametrize("name", ["plain", "strict"])
def test_a_page_is_recorded_whatever_its_policy_says_of_scripts(
    take: Callable[..., Ticket], odd: OddSite, name: str
) -> None:
    ticket = take(f"{odd.url}/{name}", name)
    assert ticket.status() == all_streams("ok")
    assert ticket.said() == [[f"from {name}", f"/{name}"]]
    assert ticket.asked() == [("document", f"/{name}", 200), ("fetch", f"/data.json?from={name}", 200)]
    assert [(each["kind"], each["message"]) for each in ticket.streams["errors"]] == [("error", f"broken in {name}")]


def test_a_sandboxed_page_gives_the_picture_and_says_why_no_more(take: Callable[..., Ticket], odd: OddSite) -> None:
    ticket = take(f"{odd.url}/sandboxed")
    assert ticket.status() == all_streams("blocked", "csp")
    assert [ticket.streams[name] for name in STREAMS] == [[], [], []]
    assert ticket.screenshot.status_code == 200
    assert "content-security policy blocks" in ticket.capture["health_summary"]


def test_a_page_that_was_open_before_says_what_is_missing(
    recorder: Callable[..., Extended], reporter: World, odd: OddSite
) -> None:
    extended, secret = recorder(f"{reporter.box.url.rpartition(':')[0]}/*"), reporter.owner.token("tickets:write")

    async def connect() -> None:
        await extended.use_token(reporter.box.url, secret)

    async def visit(page: Page) -> None:
        await page.goto(f"{odd.url}/plain")
        await page.wait_for_function("document.title === 'plain'")

    extended.run(connect())
    ticket = report(extended, reporter, visit)
    assert ticket.status() == all_streams("partial", "late_start")
    assert ticket.said() == []
    # what the browser remembers of requests is there all the same, but not how they were made
    assert ticket.asked() == [("document", "/plain", 200), ("fetch", "/data.json?from=plain", 200)]
    assert ticket.streams["network"][1]["method"] == "?"
    assert ticket.capture["page"]["url"] == f"{odd.url}/plain"


def test_recording_begins_in_open_pages_when_a_site_is_allowed(
    recorder: Callable[..., Extended], reporter: World, odd: OddSite
) -> None:
    extended, secret = recorder(), reporter.owner.token("tickets:write")

    async def visit(page: Page) -> None:
        await page.goto(f"{odd.url}/plain")
        await extended.use_token(reporter.box.url, secret)
        await extended.record_everywhere()
        await page.evaluate("console.info('after')")

    ticket = report(extended, reporter, visit)
    assert ticket.status() == all_streams("partial", "late_start")
    assert ticket.said() == [["after"]]


def test_every_frame_is_recorded_and_named(take: Callable[..., Ticket], odd: OddSite) -> None:
    ticket = take(f"{odd.url}/frames", "frames")
    assert ticket.status() == all_streams("ok")
    foreign = odd.url.replace("127.0.0.1", "127.0.0.2")
    said = {(each["frame"], each["args"][0]) for each in ticket.streams["console"]}
    assert said == {
        (None, "from frames"),
        (f"{odd.url}/plain", "from plain"),
        (f"{foreign}/plain", "from plain"),
        ("about:srcdoc", "from srcdoc"),
    }
    errors = [(each["frame"], each["message"]) for each in ticket.streams["errors"]]
    assert sorted(errors, key=str) == [
        (f"{odd.url}/plain", "broken in plain"),
        (f"{foreign}/plain", "broken in plain"),
        (None, "broken in frames"),
    ]
    ids = [each["id"] for each in ticket.streams["network"]]
    assert len(set(ids)) == len(ids) >= 6


def test_a_single_page_app_keeps_its_history_across_addresses(
    recording: Extended, reporter: World, odd: OddSite
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{odd.url}/app")
        await page.click("#next")
        await page.wait_for_function("document.title === 'two'")

    ticket = report(recording, reporter, visit)
    assert ticket.status() == all_streams("ok")
    assert ticket.capture["page"]["url"] == f"{odd.url}/app/two"
    assert ticket.said() == [["from app", "/app"], ["went to", "/app/two"]]
    (xhr,) = (each for each in ticket.streams["network"] if each["type"] == "xhr")
    assert (xhr["method"], xhr["status"], xhr["request"]["bytes"]) == ("POST", 200, 10)
    assert xhr["request"]["headers"] == {"x-mark": "[redacted]"}
    assert xhr["response"]["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/data.json", "/paper.pdf"])
def test_a_raw_document_is_recorded_as_what_it_is(take: Callable[..., Ticket], odd: OddSite, path: str) -> None:
    ticket = take(f"{odd.url}{path}")
    assert ticket.status() == all_streams("ok")
    assert ticket.asked()[0] == ("document", path, 200)
    assert (ticket.streams["console"], ticket.streams["errors"]) == ([], [])
    assert ticket.screenshot.headers["content-type"] == "image/png"


def test_a_page_that_never_came_gives_the_picture_of_that(
    recording: Extended, reporter: World, site: FaultySite
) -> None:
    async def visit(page: Page) -> None:
        with pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
            await page.goto(f"{site.refusing}/nobody")
        await page.wait_for_url("chrome-error://**")

    ticket = report(recording, reporter, visit)
    assert ticket.status() == all_streams("blocked", "restricted_page")
    assert ticket.screenshot.headers["content-type"] == "image/png"
    assert ticket.capture["page"]["url"] == f"{site.refusing}/nobody"
    assert "the browser lets no extension into this page" in ticket.capture["health_summary"]


def test_the_browsers_own_pages_are_captured_as_a_picture(recording: Extended, reporter: World) -> None:
    ticket = report(recording, reporter, lambda page: page.goto("chrome://version/"), title="The version is wrong")
    assert ticket.status() == all_streams("blocked", "restricted_page")
    assert ticket.screenshot.headers["content-type"] == "image/png"
    # not even its address is told to an extension
    assert (ticket.capture["page"]["url"], ticket.record["title"]) == ("", "The version is wrong")


def test_a_slow_page_was_recorded_from_its_beginning(take: Callable[..., Ticket], odd: OddSite) -> None:
    ticket = take(f"{odd.url}/slow", "slow")
    assert ticket.capture["health_summary"] == "Console, network and errors were collected in full."


def test_a_flood_is_cut_and_counted(recording: Extended, reporter: World, odd: OddSite) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{odd.url}/plain")
        await page.wait_for_function("document.title === 'plain'")
        await page.evaluate("for (let round = 0; round < 2500; round += 1) console.log('round', round)")

    ticket = report(recording, reporter, visit)
    assert ticket.status() == {"console": ("partial", "limit"), "network": COMPLETE, "errors": COMPLETE}
    health = ticket.capture["health"]["console"]
    assert (health["captured"], health["dropped"]) == (2000, 501)
    assert ticket.said()[-1] == ["round", "2499"]


PEEK = """async () => {
  const { fetch, console } = globalThis;
  const own = Object.getOwnPropertyDescriptor(globalThis, "fetch");
  const words = (error) => `${error.name}: ${error.message}`;
  const raised = (work) => { try { work(); return "nothing"; } catch (error) { return words(error); } };
  const gone = await fetch("http://[").then(() => "", words);
  const unhandled = new Promise((done) => {
    addEventListener("unhandledrejection", (event) => done(words(event.reason)), { once: true });
  });
  fetch("http://[");
  const stop = new AbortController();
  const aborted = fetch("/slow", { signal: stop.signal }).catch((error) => error.name);
  stop.abort();
  let looked = 0;
  console.log({ get secret() { looked += 1; return 1; } });
  return [
    fetch.toString(), fetch.name, fetch.length, "prototype" in fetch, String(XMLHttpRequest.prototype.send),
    Function.prototype.toString.toString(), console.log.toString(), console.log.name,
    raised(() => new fetch("/")), raised(() => XMLHttpRequest.prototype.open.call({}, "GET", "/")),
    gone, await unhandled, await aborted, fetch("/data.json") instanceof Promise,
    [own.writable, own.enumerable, own.configurable], fetch === globalThis.fetch,
    (await fetch("/data.json")).constructor === Response, await (await fetch("/data.json")).json(),
    raised(() => console.log(Symbol("a"), 1n, { __proto__: null })), looked,
    Object.keys(globalThis).filter((name) => /ticketbox/i.test(name)),
    await new Promise((done) => {
      const request = new XMLHttpRequest();
      request.open("GET", "/data.json");
      request.onload = (event) => done([event.type, request.onload.length, request.responseText]);
      request.send();
    }),
  ];
}"""


def test_a_page_sees_no_difference(recording: Extended, recorder: Callable[..., Extended], odd: OddSite) -> None:
    async def peek(extended: Extended) -> object:
        page = await extended.context.new_page()
        await page.goto(f"{odd.url}/plain")
        seen = await page.evaluate(PEEK)
        await page.close()
        return seen

    untouched = recorder()
    assert recording.run(peek(recording)) == untouched.run(peek(untouched))


def test_what_a_page_logs_isnt_taken_for_the_extensions_own(recording: Extended, odd: OddSite) -> None:
    """Chromium goes by the address at the top of the stack, and reports it among the extension's errors."""
    seen = "() => fetch({ toString() { throw new Error('asked'); } }).catch(({ stack }) => stack)"

    async def peek() -> str:
        page = await recording.context.new_page()
        await page.goto(f"{odd.url}/plain")
        stack = await page.evaluate(seen)
        await page.close()
        return stack

    stack = recording.run(peek())
    assert "ticketbox:collect.js" in stack
    assert "-extension:" not in stack

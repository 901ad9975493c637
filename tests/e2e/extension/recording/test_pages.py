"""What the extension records on each kind of page, and how it reports what is missing."""

from collections.abc import Callable

import pytest
from playwright.async_api import Error, Page

from tests.e2e.sites.faulty_site import FaultySite
from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket, report_page
from tests.support.server import World

pytestmark = pytest.mark.long


def all_streams(status: str, reason: str | None = None) -> dict[str, tuple[str, str | None]]:
    """The same status for each stream."""
    return dict.fromkeys(STREAMS, (status, reason))


@pytest.fixture
def report_address(recording_browser: ExtensionBrowser, reporter: World) -> Callable[..., ReportedTicket]:
    """Visits an address, waits for its title and creates a ticket."""

    def report(address: str, title: str | None = None) -> ReportedTicket:
        async def visit(page: Page) -> None:
            await page.goto(address)
            if title is not None:
                await page.wait_for_function("(title) => document.title === title", arg=title)

        return report_page(recording_browser, reporter, visit)

    return report


@pytest.mark.parametrize("name", ["plain", "strict"])
def test_page_is_recorded_whatever_its_script_policy(
    report_address: Callable[..., ReportedTicket], varied_site: VariedSite, name: str
) -> None:
    ticket = report_address(f"{varied_site.url}/{name}", name)
    assert ticket.stream_statuses() == all_streams("ok")
    assert ticket.console_args() == [[f"from {name}", f"/{name}"]]
    assert ticket.request_summaries() == [("document", f"/{name}", 200), ("fetch", f"/data.json?from={name}", 200)]
    assert [(each["kind"], each["message"]) for each in ticket.streams["errors"]] == [("error", f"broken in {name}")]


def test_sandboxed_page_has_only_a_screenshot_and_what_the_browser_reports(
    report_address: Callable[..., ReportedTicket], varied_site: VariedSite
) -> None:
    ticket = report_address(f"{varied_site.url}/sandboxed")
    assert ticket.stream_statuses() == {**all_streams("blocked", "csp"), "network": ("partial", "csp")}
    assert ticket.request_summaries() == [("document", "/sandboxed", 200)]
    assert [ticket.streams[name] for name in STREAMS if name != "network"] == [[], [], []]
    assert ticket.screenshot.status_code == 200
    assert "content-security policy blocks" in ticket.capture["health_summary"]


def test_page_that_was_open_before_is_marked_incomplete(
    launch_extension: Callable[..., ExtensionBrowser], reporter: World, varied_site: VariedSite
) -> None:
    browser, secret = (
        launch_extension(f"{reporter.box.url.rpartition(':')[0]}/*"),
        reporter.owner.token("tickets:write"),
    )

    async def connect() -> None:
        await browser.connect_with_token(reporter.box.url, secret)

    async def visit(page: Page) -> None:
        await page.goto(f"{varied_site.url}/plain")
        await page.wait_for_function("document.title === 'plain'")

    browser.run(connect())
    ticket = report_page(browser, reporter, visit)
    assert ticket.stream_statuses() == all_streams("partial", "late_start")
    assert ticket.console_args() == []
    # the browser's timings list earlier requests, but without their methods
    assert ticket.request_summaries() == [("document", "/plain", 200), ("fetch", "/data.json?from=plain", 200)]
    assert ticket.streams["network"][1]["method"] == "?"
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/plain"


def test_recording_starts_in_open_pages_when_a_site_is_added(
    extension_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    browser, secret = extension_browser, reporter.owner.token("tickets:write")
    browser.run(browser.reset())

    async def visit(page: Page) -> None:
        await page.goto(f"{varied_site.url}/plain")
        await browser.connect_with_token(reporter.box.url, secret)
        await browser.record_all_sites()
        await page.evaluate("console.info('after')")

    ticket = report_page(browser, reporter, visit)
    assert ticket.stream_statuses() == all_streams("partial", "late_start")
    assert ticket.console_args() == [["after"]]


def test_every_frame_is_recorded_with_its_address(
    report_address: Callable[..., ReportedTicket], varied_site: VariedSite
) -> None:
    ticket = report_address(f"{varied_site.url}/frames", "frames")
    assert ticket.stream_statuses() == all_streams("ok")
    foreign = varied_site.url.replace("127.0.0.1", "127.0.0.2")
    first_args = {(each["frame"], each["args"][0]) for each in ticket.streams["console"]}
    assert first_args == {
        (None, "from frames"),
        (f"{varied_site.url}/plain", "from plain"),
        (f"{foreign}/plain", "from plain"),
        ("about:srcdoc", "from srcdoc"),
    }
    errors = [(each["frame"], each["message"]) for each in ticket.streams["errors"]]
    assert sorted(errors, key=str) == [
        (f"{varied_site.url}/plain", "broken in plain"),
        (f"{foreign}/plain", "broken in plain"),
        (None, "broken in frames"),
    ]
    ids = [each["id"] for each in ticket.streams["network"]]
    assert len(set(ids)) == len(ids) >= 6


def test_single_page_app_keeps_its_record_across_addresses(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{varied_site.url}/app")
        await page.click("#next")
        await page.wait_for_function("document.title === 'two'")

    ticket = report_page(recording_browser, reporter, visit)
    assert ticket.stream_statuses() == all_streams("ok")
    assert ticket.capture["page"]["url"] == f"{varied_site.url}/app/two"
    assert ticket.console_args() == [["from app", "/app"], ["went to", "/app/two"]]
    (xhr,) = (each for each in ticket.streams["network"] if each["type"] == "xhr")
    assert (xhr["method"], xhr["status"], xhr["request"]["bytes"]) == ("POST", 200, 10)
    assert xhr["request"]["headers"] == {"x-mark": "[redacted]"}
    assert xhr["response"]["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/data.json", "/paper.pdf"])
def test_raw_document_is_recorded(
    report_address: Callable[..., ReportedTicket], varied_site: VariedSite, path: str
) -> None:
    ticket = report_address(f"{varied_site.url}{path}")
    assert ticket.stream_statuses() == all_streams("ok")
    assert ticket.request_summaries()[0] == ("document", path, 200)
    assert (ticket.streams["console"], ticket.streams["errors"]) == ([], [])
    assert ticket.screenshot.headers["content-type"] == "image/png"


def test_page_that_failed_to_load_has_a_screenshot_and_the_reason(
    recording_browser: ExtensionBrowser, reporter: World, site: FaultySite
) -> None:
    async def visit(page: Page) -> None:
        with pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
            await page.goto(f"{site.refusing_url}/nobody")
        await page.wait_for_url("chrome-error://**")

    ticket = report_page(recording_browser, reporter, visit)
    statuses = {**all_streams("blocked", "restricted_page"), "network": ("partial", "restricted_page")}
    assert ticket.stream_statuses() == statuses
    (request,) = ticket.streams["network"]
    assert (request["type"], request["error"]) == ("document", "net::ERR_CONNECTION_REFUSED")
    assert ticket.screenshot.headers["content-type"] == "image/png"
    assert ticket.capture["page"]["url"] == f"{site.refusing_url}/nobody"
    assert "the browser lets no extension into this page" in ticket.capture["health_summary"]


def test_browser_page_has_only_a_screenshot(recording_browser: ExtensionBrowser, reporter: World) -> None:
    ticket = report_page(
        recording_browser, reporter, lambda page: page.goto("chrome://version/"), title="The version is wrong"
    )
    assert ticket.stream_statuses() == all_streams("blocked", "restricted_page")
    assert ticket.screenshot.headers["content-type"] == "image/png"
    # the browser hides even its address from extensions
    assert (ticket.capture["page"]["url"], ticket.record["title"]) == ("", "The version is wrong")


def test_slow_page_is_recorded_from_its_start(
    report_address: Callable[..., ReportedTicket], varied_site: VariedSite
) -> None:
    ticket = report_address(f"{varied_site.url}/slow", "slow")
    assert ticket.capture["health_summary"] == "Console, network, errors and actions were collected in full."


def test_excess_console_lines_are_dropped_and_counted(
    recording_browser: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{varied_site.url}/plain")
        await page.wait_for_function("document.title === 'plain'")
        await page.evaluate("for (let round = 0; round < 2500; round += 1) console.log('round', round)")

    ticket = report_page(recording_browser, reporter, visit)
    assert ticket.stream_statuses() == {**all_streams("ok"), "console": ("partial", "limit")}
    health = ticket.capture["health"]["console"]
    assert (health["captured"], health["dropped"]) == (2000, 501)
    assert ticket.console_args()[-1] == ["round", "2499"]


INSPECT = """async () => {
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


def test_page_cannot_detect_the_recorder(
    recording_browser: ExtensionBrowser, connected_browser: ExtensionBrowser, varied_site: VariedSite
) -> None:
    async def inspect(browser: ExtensionBrowser) -> object:
        page = await browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        seen = await page.evaluate(INSPECT)
        await page.close()
        return seen

    unrecorded = connected_browser.run(inspect(connected_browser))
    assert recording_browser.run(inspect(recording_browser)) == unrecorded


def test_page_logs_are_not_attributed_to_the_extension(
    recording_browser: ExtensionBrowser, varied_site: VariedSite
) -> None:
    """Chromium attributes a log to the script at the top of its stack, and lists it among the extension's errors."""
    seen = "() => fetch({ toString() { throw new Error('asked'); } }).catch(({ stack }) => stack)"

    async def inspect() -> str:
        page = await recording_browser.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        stack = await page.evaluate(seen)
        await page.close()
        return stack

    stack = recording_browser.run(inspect())
    assert "ticketbox:recorder.js" in stack
    assert "-extension:" not in stack

"""Deep recording: what only the browser's debugger sees, for one tab, until the user stops it."""

import pytest
from playwright.async_api import Page

from tests.e2e.sites.deep_recording_site import SECRET, DeepRecordingSite
from tests.e2e.support.app import expect_value
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import report_page
from tests.e2e.support.uploads import read_stored_bytes
from tests.support.server import World, ok

pytestmark = pytest.mark.long


async def start_deep_recording(browser: ExtensionBrowser, page: Page, address: str) -> None:
    """Start deep recording in the popup, and visit an address."""
    popup = await browser.open_popup(page)
    await popup.get_by_role("button", name="Start deep recording").click()
    await popup.get_by_role("button", name="Stop deep recording").wait_for()
    await popup.close()
    await page.goto(address)
    await page.wait_for_function("document.title === 'deep'")


async def expect_attached(browser: ExtensionBrowser, count: int) -> None:
    """Wait until the extension's debugger is attached to so many tabs."""
    await expect_value(lambda: count_attached(browser), count)


async def count_attached(browser: ExtensionBrowser) -> int:
    """Count the tabs that the extension's debugger is attached to."""
    options = await browser.open_options()
    result = await options.evaluate(
        "async () => (await chrome.tabs.query({})).length && (await Promise.all((await chrome.tabs.query({})).map("
        "({ id }) => chrome.debugger.sendCommand({ tabId: id }, 'Runtime.evaluate', { expression: '1' })"
        ".then(() => 1, () => 0)))).reduce((a, b) => a + b)"
    )
    await options.close()
    return result


@pytest.mark.parametrize("bodies", ["on", "off"])
def test_requests_hidden_from_the_page_are_recorded_and_redacted(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite, bodies: str
) -> None:
    policy = {"capture_policy": {"bodies": bodies, "extra_redactions": []}, "url_patterns": [f"{deep_site.url}/*"]}
    ok(reporter.owner.web.patch(f"/projects/{reporter.project}", json=policy))

    async def visit(page: Page) -> None:
        options = await deep_edition.open_options()
        await options.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await options.close()
        await page.goto(f"{deep_site.url}/other")
        await start_deep_recording(deep_edition, page, f"{deep_site.url}/in")
        await page.wait_for_timeout(500)

    ticket = report_page(deep_edition, reporter, visit)
    deep_edition.run(expect_attached(deep_edition, 0))  # deep recording stops when the ticket is created
    earlier = next(each for each in ticket.streams["network"] if each["document"] == 0)
    assert (earlier["method"], earlier["url"]) == ("GET", f"{deep_site.url}/other")
    recorded = [each for each in ticket.streams["network"] if each["document"] == 1]
    network = {(each["method"], each["url"].partition("?")[0]): each for each in recorded}
    foreign = deep_site.url.replace("127.0.0.1", "127.0.0.2")
    assert [(each["type"], each["status"]) for each in recorded[:2]] == [
        ("document", 302), ("document", 200),
    ]  # fmt: skip
    assert network["OPTIONS", f"{foreign}/closed"]["status"] == 204
    closed = network["GET", f"{foreign}/closed"]
    assert (closed["status"], "net::ERR_FAILED" in closed["error"]) == (418, True), "the status is hidden from the page"
    by_worker = network["GET", f"{deep_site.url}/data.json"]
    assert (by_worker["frame"], by_worker["status"]) == (f"{deep_site.url}/worker.js", 200)
    posted = network["POST", f"{deep_site.url}/data.json"]
    if bodies == "on":
        assert posted["request"]["body"] == '{"password":"[redacted]","note":"to the server"}'
        assert posted["response"]["body"] == '{"sum": 4}'
        assert by_worker["response"]["body"] == '{"api_key": "[redacted]", "sum": 3}'
    else:
        assert {each[side]["body"] for each in network.values() for side in ("request", "response")} == {None}
        assert posted["request"]["omitted_reason"] == posted["response"]["omitted_reason"] == "policy"

    console = [(each["frame"], each["level"], each["args"]) for each in ticket.streams["console"]]
    assert sorted(console, key=str) == [
        (f"{deep_site.url}/worker.js", "warn", ["from the worker", "{depth: 3}"]),
        (None, "log", ["from the page"]),
    ]
    errors = [(each["frame"], each["name"], each["message"]) for each in ticket.streams["errors"]]
    assert (f"{deep_site.url}/worker.js", "RangeError", "broken in the worker") in errors
    assert ticket.stream_statuses()["network"] == ("ok", None)
    assert sum(ticket.capture["redaction"].values()) >= 2
    assert not any(SECRET.encode() in haystack for haystack in read_stored_bytes(reporter.box.db))


def test_deep_recording_is_off_until_started_and_stops_when_asked(
    deep_edition: ExtensionBrowser, reporter: World, deep_site: DeepRecordingSite
) -> None:
    async def work() -> None:
        page = await deep_edition.context.new_page()
        await page.goto(f"{deep_site.url}/other")
        await expect_attached(deep_edition, 0)
        await start_deep_recording(deep_edition, page, f"{deep_site.url}/deep")
        await expect_attached(deep_edition, 1)
        popup = await deep_edition.open_popup(page)
        await popup.get_by_role("button", name="Stop deep recording").click()
        await popup.get_by_role("button", name="Start deep recording").wait_for()
        await popup.close()
        await expect_attached(deep_edition, 0)
        await start_deep_recording(deep_edition, page, f"{deep_site.url}/deep")
        await page.close()
        await expect_attached(deep_edition, 0)

    deep_edition.run(work())


def test_regular_edition_has_no_deep_recording(
    connected_browser: ExtensionBrowser, deep_site: DeepRecordingSite
) -> None:
    async def work() -> tuple[int, bool]:
        page = await connected_browser.context.new_page()
        await page.goto(f"{deep_site.url}/other")
        popup = await connected_browser.open_popup(page)
        await popup.get_by_role("button", name="Send report").wait_for()
        offers = await popup.get_by_role("button", name="Start deep recording").count()
        has_debugger = await popup.evaluate("() => 'debugger' in chrome")
        await popup.close()
        await page.close()
        return offers, has_debugger

    assert connected_browser.run(work()) == (0, False)

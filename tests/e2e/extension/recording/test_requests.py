"""Requests that no page can see: the browser reports them, with the permission that "Record this site" asks for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.loads_site import LoadsSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket, report_page
from tests.support.server import World

pytestmark = pytest.mark.long


def find(ticket: ReportedTicket, path: str, method: str = "GET") -> dict[str, Any]:
    """The only request for a path."""
    (entry,) = [e for e in ticket.streams["network"] if e["url"].endswith(path) and e["method"] == method]
    return entry


async def visit_loads(page: Page, site: LoadsSite) -> None:
    """Open the page, and wait until its requests have ended; one never does."""
    await page.goto(f"{site.url}/redirected", wait_until="commit")
    await expect(page).to_have_title("done")
    await page.get_by_role("link", name="Leave").click()
    pings = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('-ping'))"
    await page.wait_for_function(f"() => {pings}.length === 2")


def test_browser_reports_what_the_page_cannot_see(recording_browser: ExtensionBrowser, reporter: World) -> None:
    async def visit(page: Page) -> None:
        await visit_loads(page, site)
        await page.evaluate("() => fetch('/data?last')")
        await recording_browser.wait_for_stored_request("/data?last")
        await recording_browser.wait_for_stored_request("/other-ping")
        await recording_browser.restart_background()
        await page.evaluate("() => fetch('/data?after-restart')")

    with LoadsSite() as site:
        ticket = report_page(recording_browser, reporter, visit)
    summaries = [(each["type"], each["method"], each["url"], each["status"]) for each in ticket.streams["network"]]
    assert [each for each in summaries if summaries.count(each) > 1] == [], "a request is listed twice"
    page = find(ticket, "/redirected")
    assert (page["type"], page["status"], page["initiator"], page["redirects"]) == (
        "document", 200, None, [{"status": 302, "url": f"{site.url}/page"}],
    )  # fmt: skip
    frame = find(ticket, "/moved-frame")
    assert (frame["type"], frame["status"], frame["frame"]) == ("document", 200, f"{site.url}/frame")
    assert frame["redirects"] == [{"status": 302, "url": f"{site.url}/frame"}]
    assert not [each for each in ticket.streams["network"] if each["url"].endswith("/frame")]
    moved = find(ticket, "/moved")
    assert (moved["type"], moved["status"]) == ("fetch", 200)
    assert moved["redirects"] == [{"status": 302, "url": f"{site.url}/data?token=[redacted]"}]
    assert find(ticket, "/detached.png")["error"].startswith("net::ERR_")
    assert find(ticket, "/mask.svg")["error"].startswith("net::ERR_")
    assert find(ticket, "/unreachable.png")["error"].startswith("net::ERR_")
    hanging = find(ticket, "/hanging.png")
    assert (hanging["status"], hanging["error"], hanging["duration_ms"]) == (None, None, None)
    assert (find(ticket, "/shared", "OPTIONS")["status"], find(ticket, "/shared", "PUT")["status"]) == (200, 409)
    assert find(ticket, "/refused", "OPTIONS")["status"] == 200
    assert find(ticket, "/refused", "PUT")["error"] == "net::ERR_FAILED"
    assert [find(ticket, path, "POST")["status"] for path in ("/own-ping", "/other-ping")] == [200, 200]
    assert find(ticket, "/from-worker")["status"] == 200
    assert (find(ticket, "/app.webmanifest")["type"], find(ticket, "/later")["type"]) == ("other", "other")
    assert find(ticket, "/data?after-restart")["status"] == 200
    assert ticket.stream_statuses()["network"] == ("ok", None)
    assert ticket.capture["redaction"]["query"] >= 1
    api = reporter.box.client(reporter.owner.token("read"))
    log = json.loads(api.get(f"/captures/{ticket.capture['id']}/har").content)["log"]
    hops = {
        (each["request"]["url"], each["response"]["status"], each["response"]["redirectURL"]) for each in log["entries"]
    }
    page_url = f"{site.url}/page"
    assert {(f"{site.url}/redirected", 302, page_url), (page_url, 200, "")} <= hops


def test_health_says_what_a_site_hides_from_the_extension(
    launch_extension: Callable[..., ExtensionBrowser], reporter: World
) -> None:
    browser = launch_extension("http://127.0.0.1/*", f"{reporter.box.url.rpartition(':')[0]}/*")
    secret = reporter.owner.token("tickets:write")

    async def record() -> None:
        await browser.connect_with_token(reporter.box.url, secret)
        page = await browser.context.new_page()
        await visit_loads(page, site)
        popup = await browser.open_popup(page)
        await popup.get_by_role("button", name="Record this site").click()
        await expect(popup.get_by_role("button", name="Record this site")).to_have_count(0)
        await page.close()

    with LoadsSite() as site:
        browser.run(record())
        ticket = report_page(browser, reporter, lambda page: visit_loads(page, site))
    assert ticket.stream_statuses()["network"] == ("partial", "hidden")
    assert "doesn't show all of it" in ticket.capture["health_summary"]
    hidden = find(ticket, "/detached.png")
    assert (hidden["status"], hidden["error"], hidden["response"]["omitted_reason"]) == (None, None, "unavailable")
    assert find(ticket, "/own-ping", "POST")["status"] == 200
    assert find(ticket, "/other-ping", "POST")["response"]["omitted_reason"] == "unavailable"
    assert find(ticket, "/redirected")["status"] == 200
    assert find(ticket, "/hanging.png")["duration_ms"] is None
    assert find(ticket, "/app.webmanifest")["type"] == "other"

"""WebSockets and event streams of recorded pages, with their messages."""

from typing import Any

import pytest
from mcp.client import Client
from playwright.async_api import Page, expect

from tests.e2e.sites.socket_site import SENT, SocketSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket, report_page
from tests.support.mcp_client import talk
from tests.support.server import World, ok

pytestmark = pytest.mark.long


def report_sockets(browser: ExtensionBrowser, world: World, site: SocketSite, bodies: str) -> ReportedTicket:
    """Report the page to a project with a policy for bodies."""
    policy = {"capture_policy": {"bodies": bodies}, "url_patterns": [f"{site.url}/*"]}
    ok(world.owner.web.patch(f"/projects/{world.project}", json=policy))

    async def visit(page: Page) -> None:
        options = await browser.open_options()
        await options.evaluate("() => chrome.runtime.sendMessage({kind: 'load-projects'})")
        await options.close()
        await page.goto(f"{site.url}/page")
        await expect(page).to_have_title("done")

    return report_page(browser, world, visit)


def test_handshakes_of_workers_are_recorded_and_the_rest_is_named(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    async def visit(page: Page) -> None:
        await page.goto(f"{site.url}/workers")
        await expect(page).to_have_title("done")
        await page.evaluate("() => fetch('/worker.js?last')")
        await recording_browser.wait_for_stored_request("/worker.js?last")

    with SocketSite() as site:
        ticket = report_page(recording_browser, reporter, visit)
    socket, dead = find(ticket, "/socket?by=dedicated"), find(ticket, "/nothing?by=dedicated")
    assert (socket["type"], socket["status"], socket["error"], socket["duration_ms"]) == ("websocket", 101, None, None)
    assert (dead["type"], dead["status"], dead["error"]) == ("websocket", None, "net::ERR_FAILED")
    for kind in ("dedicated", "shared"):
        assert find(ticket, f"/events?by={kind}")["status"] == 200
        assert find(ticket, f"/refused?by={kind}")["status"] == 404
    assert ticket.stream_statuses()["network"] == ("partial", "hidden")


def find(ticket: ReportedTicket, path: str) -> dict[str, Any]:
    """The only request for a path."""
    found = [each for each in ticket.streams["network"] if each["url"].endswith(path)]
    assert len(found) == 1, found
    return found[0]


def test_messages_of_sockets_are_recorded_and_redacted(recording_browser: ExtensionBrowser, reporter: World) -> None:
    with SocketSite() as site:
        ticket = report_sockets(recording_browser, reporter, site, "on")
    socket, stream = find(ticket, "/socket"), find(ticket, "/events")
    assert (socket["type"], socket["status"], socket["error"]) == ("websocket", 101, "closed with code 4001: kicked")
    assert sorted((each["sent"], each["bytes"], str(each["omitted_reason"])) for each in socket["messages"]) == [
        (False, 500, "limit"), (True, 7, "binary"), (True, len(SENT), "None"),
    ]  # fmt: skip
    bodies = [each["body"] for each in socket["messages"]]
    assert '{"item":"green tea","password":"[redacted]"}' in bodies
    assert "x" * 400 in bodies
    dead, failed = find(ticket, "/nothing"), find(ticket, "/refused")
    assert (dead["type"], dead["error"] is not None) == ("websocket", True)
    assert (failed["type"], failed["status"], failed["error"] is not None) == ("eventsource", 404, True)
    assert (stream["type"], stream["status"], stream["error"]) == ("eventsource", 200, None)
    assert [(each["sent"], each["body"]) for each in stream["messages"]] == [
        (False, "12 a cup"), (False, "the kettle is on"),
    ]  # fmt: skip

    async def read(client: Client) -> dict[str, Any]:
        given = {"capture_id": ticket.capture["id"], "entry": stream["id"]}
        return (await client.call_tool("get_network_request", given)).structured_content

    assert talk(reporter, "legacy", read)["messages"][1]["body"] == "the kettle is on"


def test_messages_without_bodies_have_their_sizes_only(recording_browser: ExtensionBrowser, reporter: World) -> None:
    with SocketSite() as site:
        ticket = report_sockets(recording_browser, reporter, site, "off")
    messages = [each for path in ("/socket", "/events") for each in find(ticket, path)["messages"]]
    assert {(each["body"], each["omitted_reason"]) for each in messages} == {(None, "policy")}
    assert sorted(each["bytes"] for each in messages) == sorted(
        [len(SENT), 7, 500, len("12 a cup"), len("the kettle is on")]
    )

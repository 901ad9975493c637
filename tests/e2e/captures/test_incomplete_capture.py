"""Pages that can't be recorded, or only partly: streams with a reason, and a screenshot in any case."""

import pytest
from playwright.async_api import Page

from tests.e2e.sites.faulty_site import FaultySite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.devtools_recorder import DevToolsRecorder, Recording
from tests.e2e.support.uploads import build_parts, send_capture
from tests.support.server import World, ok

LATE_SECONDS = 1.2


def test_page_that_blocks_scripts_still_creates_a_ticket_with_a_screenshot(
    chromium: Chromium, site: FaultySite, world: World
) -> None:
    async def collect(page: Page) -> Recording:
        recorder = await DevToolsRecorder.attach(page)
        await page.goto(f"{site.url}/closed")
        return await recorder.recording()

    closed = chromium.visit(collect, viewport={"width": 640, "height": 400})
    blocked = {"status": "blocked", "reason": "csp", "captured": 0, "dropped": 0}
    assert [closed.facts["health"][name] for name in ("console", "network", "errors")] == [blocked] * 3
    assert closed.streams == {"console": [], "network": [], "errors": []}

    receipt = ok(send_capture(world.api, build_parts(closed, compressed=True, project_id=world.project)))
    words = (
        "The console, network requests and errors could not be collected: the page's content-security policy "
        "blocks the extension's script. The screenshot is not affected."
    )
    ticket = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))
    capture = ticket["capture"]
    assert (ticket["title"], capture["health"]) == ("Statement", closed.facts["health"])
    assert capture["health_summary"] == words
    assert capture["counts"] == {"console": 0, "network": 0, "errors": 0, "failed_requests": 0, "actions": 0}
    for name in ("console", "network", "errors"):
        assert capture[name] == {"items": [], "total": 0, "omitted": 0, "shortened": 0, "next": None}
        assert ok(world.api.get(f"/captures/{receipt['capture_id']}/{name}")) == {
            "items": [],
            "next_cursor": None,
            "total": 0,
            "matched": 0,
            "health": blocked,
            "health_summary": words,
        }
    assert ok(world.api.get(f"/captures/{receipt['capture_id']}/har"))["log"]["entries"] == []
    assert world.api.get(f"/tickets/{ticket['id']}/screenshot").content == closed.screenshot
    listed = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert [each["capture"]["health_summary"] for each in listed] == [words]


@pytest.mark.long
def test_late_start_reports_when_recording_started(chromium: Chromium, site: FaultySite, world: World) -> None:
    async def collect(page: Page) -> Recording:
        await page.goto(f"{site.url}/shop/cart")
        await page.wait_for_selector("body.done")
        await page.wait_for_timeout(LATE_SECONDS * 1000)
        recorder = await DevToolsRecorder.attach(page)
        await page.evaluate("() => window.again()")
        return await recorder.recording()

    late = chromium.visit(collect)
    assert [entry["args"] for entry in late.console] == [["clicked again"]]
    assert [entry["url"] for entry in late.network] == [f"{site.url}/api/cart?page=9"]
    assert late.errors == []
    health = late.facts["health"]
    assert health["errors"] == {"status": "partial", "reason": "late_start", "captured": 0, "dropped": 0}

    receipt = ok(send_capture(world.api, build_parts(late, project_id=world.project)))
    capture = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))["capture"]
    assert capture["health"] == health
    seconds = (health["history_started_at"] - health["page_loaded_at"]) / 1000
    assert seconds > LATE_SECONDS
    assert capture["health_summary"] == (
        "The console, network requests and errors could be collected only in part: the extension started after "
        f"the page had loaded. History starts {seconds:,.1f} s after the page loaded, when the extension did; "
        "what happened before is missing. The screenshot is not affected."
    )
    console = ok(world.api.get(f"/captures/{receipt['capture_id']}/console"))
    assert (console["items"], console["health"]) == (
        [{**each, "document": 0, "frames": []} for each in late.console],
        health["console"],
    )
    assert ok(world.api.get(f"/captures/{receipt['capture_id']}/errors"))["items"] == []
    assert world.api.get(f"/tickets/{receipt['ticket_id']}/screenshot").content == late.screenshot

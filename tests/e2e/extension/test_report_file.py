"""A report's assignee, and the report as a file that the command line sends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.extension.test_popup import break_shop, shoot
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.support.server import Box, World, find_free_port, ok, run_server, ticketbox

pytestmark = pytest.mark.long


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Box]:
    """A server that can be stopped."""
    with run_server(tmp_path, "--port", str(find_free_port())) as box:
        yield box


def test_downloaded_report_is_sent_by_the_command_line(
    extension_browser: ExtensionBrowser, server: Box, tmp_path: Path
) -> None:
    world = World(server)
    jonas = world.join("Jonas")
    secret = world.owner.token("tickets:write", "tickets:assign")
    browser = extension_browser

    async def report() -> Path:
        await browser.reset()
        await browser.connect_with_token(server.url, secret)
        await browser.record_all_sites()
        page = await break_shop(browser)
        popup = await browser.open_popup(page)
        await popup.get_by_label("Assignee").select_option("Jonas")
        await popup.get_by_label("Title").fill("No total")
        await shoot(popup, "assignee")
        server.stop()
        await popup.get_by_role("button", name="Send report").click()
        await popup.get_by_role("heading", name="Report saved on this computer").wait_for()
        async with popup.expect_download() as started:
            await popup.get_by_role("button", name="Download report").click()
        download = await started.value
        assert download.suggested_filename.startswith("report-shop.test-")
        await download.save_as(tmp_path / "report.json")
        await popup.close()
        popup = await browser.open_popup(page)
        await popup.get_by_role("button", name="Send report").wait_for()
        await expect(popup.get_by_label("Assignee")).to_have_count(0)
        await popup.close()
        await page.close()
        return tmp_path / "report.json"

    async def send() -> None:
        options = await browser.open_options()
        await options.get_by_role("button", name="Send all now").click()
        await options.get_by_text("No captures are waiting to be sent.").wait_for()
        await options.close()

    path = browser.run(report())
    server.start()
    answer = ticketbox(
        "capture", "import", str(path), "--json", db=server.db, TICKETBOX_URL=server.url, SERVICE_API_TOKEN=secret
    )
    assert answer.returncode == 0, answer.stderr
    api = server.client(world.owner.token("read"))
    ticket = ok(api.get(f"/tickets/{json.loads(answer.stdout)['ticket_id']}?include=capture"))
    assert (ticket["title"], ticket["project_id"]) == ("No total", world.project)
    assert [each["id"] for each in ticket["assignees"]] == [jonas.id]
    assert ticket["capture"]["screenshot"]
    assert ticket["capture"]["counts"]["errors"] == 1
    assert ok(api.get(f"/captures/{ticket['capture']['id']}/replay"))
    browser.run(send())
    assert len(ok(api.get("/tickets"))["items"]) == 1

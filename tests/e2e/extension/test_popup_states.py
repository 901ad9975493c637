"""What the popup shows where no report can be made or sent: first use, pages of the browser, refusals."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.extension.test_popup import break_shop, shoot
from tests.e2e.support.app import assert_accessible
from tests.e2e.support.extension_browser import ExtensionBrowser

pytestmark = pytest.mark.long

PROJECT: dict[str, Any] = {
    "id": "proj_9w4k2m7x0c3n", "company_id": "co_7h2k9m4p1r6t", "name": "Web shop", "url_patterns": [],
    "capture_policy": {"bodies": "shape", "extra_redactions": [], "actions": "on", "replay": 30, "mask_selectors": [],
                       "page_source_maps": "on", "declared_names": []},
}  # fmt: skip
REFUSALS = {
    401: "The credential is wrong, expired or revoked.",
    403: "You can't create tickets in this project.",
    413: "The capture has 43 MB. A capture may have up to 40 MB.",
    429: "You sent too many requests. Try again in 40 seconds.",
}


class RefusingServer(ThreadingHTTPServer):
    """A server that lists a project and refuses every capture."""

    status = 401

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Refusal)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Refusal(BaseHTTPRequestHandler):
    """Answers like the API."""

    server: RefusingServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        """Answer a read."""
        path = self.path.partition("?")[0]
        answers: dict[str, Any] = {
            "/api/v1/me": {
                "user": {"name": "Rita", "email": "rita@example.org"}, "token": {"scopes": ["tickets:write"]},
            },
            "/api/v1/projects": {"items": [PROJECT], "next_cursor": None},
        }  # fmt: skip
        self.answer(200 if path in answers else 404, answers.get(path, {"detail": "not found"}))

    def do_POST(self) -> None:
        """Refuse a write."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(self.server.status, {"detail": REFUSALS[self.server.status]})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        """Send JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Retry-After", "40")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write no log."""


@pytest.fixture
def refusing() -> Iterator[RefusingServer]:
    """A running server."""
    with RefusingServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


async def look_at(popup: Page, name: str) -> None:
    """Take a picture, and check that everybody can use what is shown."""
    await shoot(popup, name)
    await assert_accessible(popup)
    wide = await popup.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{name} is {wide} pixels too wide"


def test_first_use_leads_to_the_settings(extension_browser: ExtensionBrowser) -> None:
    async def work() -> None:
        await extension_browser.reset()
        page = await break_shop(extension_browser)
        popup = await extension_browser.open_popup(page)
        await expect(popup.get_by_role("button", name="Connect ticketbox")).to_be_focused()
        await look_at(popup, "first-use")
        await popup.close()
        await page.close()

    extension_browser.run(work())


def test_pages_without_recording_can_be_reported(extension_browser: ExtensionBrowser, refusing: RefusingServer) -> None:
    async def work() -> None:
        await extension_browser.reset()
        await extension_browser.connect_with_token(refusing.url, "secret")
        page = await break_shop(extension_browser)
        popup = await extension_browser.open_popup(page)
        await expect(popup.get_by_role("button", name="Record this site")).to_be_visible()
        await look_at(popup, "not-recorded")
        await popup.close()
        await page.close()
        for name, address in (("browser", "chrome://version"), ("source", f"view-source:{refusing.url}/api/v1/me")):
            page = await extension_browser.context.new_page()
            await page.goto(address)
            popup = await extension_browser.open_popup(page)
            await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()
            await look_at(popup, f"restricted-{name}")
            await popup.close()
            await page.close()

    extension_browser.run(work())


def test_refused_report_says_why_and_can_be_downloaded(
    extension_browser: ExtensionBrowser, refusing: RefusingServer
) -> None:
    async def send(page: Page, status: int) -> Page:
        refusing.status = status
        popup = await extension_browser.open_popup(page)
        await popup.get_by_role("button", name="Send report").click()
        heading = "Report saved on this computer" if status == 429 else "Report not sent"
        await popup.get_by_role("heading", name=heading).wait_for()
        await expect(popup.get_by_role("alert")).to_have_text(REFUSALS[status])
        await expect(popup.get_by_role("button", name="Download report")).to_be_visible()
        await look_at(popup, f"refused-{status}")
        return popup

    async def work() -> None:
        await extension_browser.reset()
        await extension_browser.connect_with_token(refusing.url, "secret")
        page = await break_shop(extension_browser)
        for status in (403, 413, 429):
            await (await send(page, status)).close()
        popup = await send(page, 401)
        async with extension_browser.context.expect_page() as opened:
            await popup.get_by_role("button", name="Sign in again").click()
        options = await opened.value
        await options.get_by_role("heading", name="Connect your ticketbox").wait_for()
        await expect(options.get_by_role("button", name="Download report")).to_have_count(len(REFUSALS))
        await options.close()
        await page.close()

    extension_browser.run(work())

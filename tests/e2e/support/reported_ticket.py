"""Reports a page with the extension, and reads the resulting ticket."""

import re
from collections.abc import Callable
from typing import Any

from playwright.async_api import Page

from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.uploads import read_all_entries
from tests.support.server import World, ok

STREAMS = ("console", "network", "errors", "actions")


class ReportedTicket:
    """A ticket that was created by the extension, read over REST. `reference`: its key or its address."""

    def __init__(self, world: World, reference: str) -> None:
        in_address = re.search(r"t-\w+", reference) if "/" in reference else None
        api = world.box.client(world.owner.token("read"))
        self.record = ok(api.get(f"/tickets/{in_address[0] if in_address else reference}"))
        self.id = self.record["id"]
        self.capture = self.record["capture"]
        self.streams = {name: read_all_entries(api, f"/captures/{self.capture['id']}/{name}", 100) for name in STREAMS}
        self.screenshot = api.get(f"/tickets/{self.id}/screenshot")

    def stream_statuses(self) -> dict[str, tuple[str, str | None]]:
        """The status and reason of each stream."""
        health = self.capture["health"]
        return {name: (health[name]["status"], health[name]["reason"]) for name in STREAMS}

    def console_args(self) -> list[list[str]]:
        """The arguments of each console line."""
        return [each["args"] for each in self.streams["console"]]

    def request_summaries(self) -> list[tuple[str, str, int | None]]:
        """The type, path and status of each request."""
        return [(e["type"], re.sub(r"^\w+://[^/]+", "", e["url"]), e["status"]) for e in self.streams["network"]]


def report_page(browser: ExtensionBrowser, world: World, visit: Callable[[Page], Any], **given: str) -> ReportedTicket:
    """Visit a page, open the popup and create a ticket. Returns the ticket."""

    async def work() -> str:
        page = await browser.context.new_page()
        await visit(page)
        popup = await browser.open_popup(page)
        if "title" in given:
            await popup.get_by_label("Title").fill(given["title"])
        key = await browser.file_ticket(popup)
        await page.close()
        return key

    return ReportedTicket(world, browser.run(work()))

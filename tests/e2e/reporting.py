"""Reporting a page with the extension, and reading what became of it."""

import re
from collections.abc import Callable
from typing import Any

from playwright.async_api import Page

from tests.e2e.extension import Extended
from tests.e2e.sending import every_entry
from tests.support.server import World, ok

STREAMS = ("console", "network", "errors")


class Ticket:
    """What became of a click, read over REST."""

    def __init__(self, world: World, address: str) -> None:
        self.id = re.search(r"t-\w+", address)[0]  # type: ignore[index]
        api = world.box.client(world.owner.token("read"))
        self.record = ok(api.get(f"/tickets/{self.id}"))
        self.capture = self.record["capture"]
        self.streams = {name: every_entry(api, f"/captures/{self.capture['id']}/{name}", 100) for name in STREAMS}
        self.screenshot = api.get(f"/tickets/{self.id}/screenshot")

    def status(self) -> dict[str, tuple[str, str | None]]:
        """Each stream's health, briefly."""
        health = self.capture["health"]
        return {name: (health[name]["status"], health[name]["reason"]) for name in STREAMS}

    def said(self) -> list[list[str]]:
        """The console's words."""
        return [each["args"] for each in self.streams["console"]]

    def asked(self) -> list[tuple[str, str, int | None]]:
        """The requests' types, paths and statuses."""
        return [(e["type"], re.sub(r"^\w+://[^/]+", "", e["url"]), e["status"]) for e in self.streams["network"]]


def report(extended: Extended, world: World, visit: Callable[[Page], Any], **given: str) -> Ticket:
    """Visit a page, click, send; gives the ticket."""

    async def work() -> str:
        page = await extended.context.new_page()
        await visit(page)
        popup = await extended.click(page)
        if "title" in given:
            await popup.get_by_label("Title").fill(given["title"])
        ticket = await extended.send(popup)
        address = ticket.url
        await ticket.close()
        await page.close()
        return address

    return Ticket(world, extended.run(work()))

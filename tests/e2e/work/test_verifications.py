"""Verifications on the ticket's page: before and after, side by side (docs/use/verifications.md)."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import EVERY, Looks, assert_accessible, assert_fits, use
from tests.e2e.support.browser import Chromium
from tests.support.pictures import png
from tests.support.server import World, ok


@pytest.mark.long
@EVERY
def test_before_and_after_are_side_by_side(chromium: Chromium, world: World, looks: Looks, tmp_path: Path) -> None:
    ticket = world.ticket("Gift card fails")["id"]
    agent = world.owner.client("tickets:write", label="Claude Code")

    def post(verdict: str, commit: str, **given: Any) -> None:
        files = {"file": (f"{verdict}.png", png())}
        shot = ok(agent.post(f"/tickets/{ticket}/attachments", files=files))["id"]
        body = {"commit": commit, "base_url": "http://localhost:3000", "verdict": verdict, "screenshot": shot}
        ok(agent.post(f"/tickets/{ticket}/verifications", json={**body, **given}))

    async def watch(page: Page) -> None:
        await expect(page.get_by_role("heading", level=1)).to_have_text("Gift card fails")
        await expect(page.get_by_role("heading", name="Verifications")).to_have_count(0)
        files = {"file": ("trace.zip", b"PK\x05\x06" + bytes(18))}
        trace = ok(agent.post(f"/tickets/{ticket}/attachments", files=files))
        post("reproduced", "abcdef12", rounds=3, console=["TypeError: rate is undefined"], trace=trace["id"])
        before, after = (page.get_by_role("article", name=name) for name in ("Before", "After"))
        await expect(before).to_contain_text("Reproduced")
        await expect(before).to_contain_text("abcdef1")
        await expect(before).to_contain_text("by Claude Code")
        await expect(before).to_contain_text("3 rounds")
        await expect(before.get_by_label("Console")).to_have_text("TypeError: rate is undefined")
        href = f"/api/v1/assets/{trace['id']}/content"
        await expect(before.get_by_role("link", name="Trace")).to_have_attribute("href", href)
        await expect(after).to_contain_text("Not tried on a fix yet")
        await expect(after.get_by_role("link", name="Trace")).to_have_count(0)
        post("flaky", "bbbbbbb")
        await expect(after).to_contain_text("Flaky")
        post("gone", "ccccccc")
        await expect(after).to_contain_text("Gone")
        await page.get_by_text("1 more run").click()
        await expect(page.get_by_role("region", name="Verifications")).to_contain_text("Flaky")
        await assert_accessible(page)
        await assert_fits(page)
        await before.get_by_role("button", name="Open the picture of before").click()
        await expect(page.get_by_role("dialog")).to_contain_text("reproduced.png")

    use(chromium, world.owner, f"/tickets/{ticket}", watch, looks)

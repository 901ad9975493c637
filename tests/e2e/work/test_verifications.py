"""Verifications on the ticket's page: before and after, side by side (docs/use/verifications.md)."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import EVERY, Looks, assert_accessible, assert_fits, expect_clipboard, expect_value, use
from tests.e2e.support.browser import Chromium
from tests.e2e.support.captures import HEIGHT, WIDTH, capture_on
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
        post("not_reached", "eeeeeee", reason="the page never asked for POST /pay")
        await expect(after).to_contain_text("the page never asked for POST /pay")
        post("gone", "ccccccc", branch="fix/gift-card")
        await expect(after).to_contain_text(
            re.compile(r"Unproven\s*After ·\s*Branch\s*fix/gift-card at\s*Commit\s*ccccccc")
        )
        await page.get_by_text("2 more runs").click()
        await expect(page.get_by_role("region", name="Verifications")).to_contain_text("Flaky")
        await assert_accessible(page)
        await assert_fits(page)
        await before.get_by_role("button", name="Open the picture of before").click()
        await expect(page.get_by_role("dialog")).to_contain_text("reproduced.png")

    use(chromium, world.owner, f"/tickets/{ticket}", watch, looks)


def test_command_that_verifies_again_is_copied(chromium: Chromium, world: World) -> None:
    ticket = world.ticket("Gift card fails")
    run = {"commit": "abcdef12", "base_url": "http://localhost:3000", "verdict": "gone", "rounds": 3}
    ok(world.api.post(f"/tickets/{ticket['id']}/verifications", json=run))
    command = f"ticketbox verify {ticket['key']} --base-url http://localhost:3000"

    async def copy(page: Page) -> None:
        region = page.get_by_role("region", name="Verifications")
        await expect(region.locator("header")).to_contain_text("Unproven in 3 of 3 rounds")
        after = page.get_by_role("article", name="After")
        await expect(after).to_have_text(re.compile(r"Unproven\s*After ·\s*Commit\s*abcdef1\s*3 rounds"))
        await expect(region.get_by_text(command)).to_have_count(0)
        again = region.get_by_role("button", name="Verify again")
        await again.click()
        await expect(region.get_by_text(command)).to_be_visible()
        await assert_accessible(page)
        await region.get_by_role("button", name="Copy command").click()
        await expect_clipboard(page, command)
        await again.click()
        await expect(region.get_by_text(command)).to_have_count(0)

    permissions = ["clipboard-read", "clipboard-write"]
    use(chromium, world.owner, f"/tickets/{ticket['id']}", copy, permissions=permissions)


def test_pictures_show_the_same_part_around_what_is_marked(chromium: Chromium, world: World) -> None:
    ticket = capture_on(world)
    marked = ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]["screenshot_id"]
    for commit, verdict in (("abcdef1", "reproduced"), ("bcdef12", "gone")):
        files = {"file": (f"{verdict}.png", png(WIDTH, HEIGHT))}
        shot = ok(world.api.post(f"/tickets/{ticket['id']}/attachments", files=files))["id"]
        body = {"commit": commit, "base_url": "http://localhost:3000", "verdict": verdict, "screenshot": shot}
        ok(world.api.post(f"/tickets/{ticket['id']}/verifications", json=body))

    async def measure(page: Page, name: str) -> list[float]:
        """Left, top and width of what a frame shows, in per cent of the picture."""
        found: list[float] = await page.get_by_role("article", name=name).evaluate(
            """(article) => {
              const frame = article.querySelector('.frame');
              const picture = article.querySelector('img').getBoundingClientRect();
              const { x, y } = frame.getBoundingClientRect();
              const sizes = [x + frame.clientLeft - picture.x, y + frame.clientTop - picture.y, frame.clientWidth];
              return sizes.map((each) => Math.round((100 * each) / picture.width));
            }"""
        )
        return found

    async def watch(page: Page) -> None:
        region = page.get_by_role("region", name="Verifications")
        await region.scroll_into_view_if_needed()
        await expect(region.locator("img")).to_have_count(2)
        for name in ("Before", "After"):
            await expect_value(lambda name=name: measure(page, name), [0, 0, 100])
        geometry = {"x": WIDTH / 2, "y": HEIGHT / 2, "width": WIDTH / 10, "height": HEIGHT / 10}
        body = {"annotations": [{"kind": "rectangle", "geometry": geometry}]}
        await asyncio.to_thread(lambda: ok(world.api.put(f"/assets/{marked}/annotations", json=body)))
        # 35 % of the width, around the middle of the mark
        top = round(100 * (0.55 * HEIGHT / WIDTH - 0.35 * 0.6 / 2))
        for name in ("Before", "After"):
            await expect_value(lambda name=name: measure(page, name), [38, top, 35])

    use(chromium, world.owner, f"/tickets/{ticket['id']}", watch)

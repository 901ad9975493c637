"""The embedded reporter in the applications of `bench/reproduce`: without a framework, with React, with Vue."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bench.reproduce.api import Api
from bench.reproduce.bugs import BUGS
from bench.reproduce.server import serve_app
from tests.e2e.reports.test_embedded_reporter import press_send, read_capture
from tests.e2e.support.browser import Chromium
from tests.http.reports.test_reports import Reporter
from tests.support.server import World, ok

pytestmark = pytest.mark.long

# Vue catches what a handler throws, and logs it
EVENTS = {"owner-null": "pageerror", "coupon-null": "pageerror", "nobody-found": "console"}
CASES = {"owner-null": "Call printer", "coupon-null": "Apply coupon", "nobody-found": "Find people"}


@pytest.mark.parametrize("name", CASES)
def test_report_has_the_error_that_a_stranger_ran_into(
    chromium: Chromium, world: World, apps: dict[str, Path], name: str
) -> None:
    (bug,) = [each for each in BUGS if each.name == name]
    index = apps[bug.app] / "index.html"
    original = index.read_text(encoding="utf-8")
    with serve_app(apps[bug.app], name, Api()) as address:
        reporter = Reporter(world, origins=[address])
        script = f'<script src="{world.box.url}/reporter.js" data-key="{reporter.key["key"]}"></script>'
        index.write_text(original.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{script}'))

        async def visit(page: Page) -> None:
            await page.goto(address, wait_until="networkidle")
            async with page.expect_event(EVENTS[name]):
                for role, label, *text in bug.steps:
                    found = page.get_by_role(role, name=label, exact=True)  # type: ignore[arg-type]
                    await (found.fill(text[0]) if text else found.click())
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            await expect(dialog.get_by_label("What is wrong?")).to_be_focused()
            await page.keyboard.type("Nothing happens")
            await expect(dialog.locator("iframe[title=Page]")).to_be_visible()
            await press_send(page)
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

        chromium.visit(visit)
    index.write_text(original, encoding="utf-8")
    detail, streams = read_capture(world, reporter)
    assert detail["title"] == "Nothing happens"
    assert "Cannot read properties of" in str(streams["errors"] if EVENTS[name] == "pageerror" else streams["console"])
    assert any(CASES[name] in each["words"] for each in streams["actions"])
    assert any("/api/" in each["url"] for each in streams["network"])
    replay = ok(world.api.get(f"/captures/{detail['capture']['id']}/replay"))
    assert CASES[name] in str(replay)

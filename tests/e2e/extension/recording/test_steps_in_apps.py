"""The locators of recorded steps, in walks through the three applications of `bench/reproduce`."""

import asyncio
import io
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page

from bench.reproduce.api import Api
from bench.reproduce.apps import APPS
from bench.reproduce.bugs import BUGS, WAIT, Bug
from bench.reproduce.record import SCRIPTS
from bench.reproduce.server import serve_app
from tests.e2e.support.browser import Chromium
from tests.e2e.support.walker import LocatorResult, Targets, Walker, find_clicked_targets
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

HEALTHY = "none"
SHARE = 0.98
SIDE_BY_SIDE = 4
# what the extension answers its script: no project hides anything, and no replay is recorded
ANSWER = "globalThis.chrome = { runtime: { sendMessage: async () => ({ seconds: 0, masks: [] }) } };"


async def walk(page: Page, address: str, bug: Bug, targets: Targets = ()) -> Walker:
    """Do what runs into a bug, in the application without it."""
    walker = Walker(page, targets)
    await walker.open(address + "/")
    for role, name, *text in (step for step in bug.steps if step != WAIT):
        await walker.click(page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
        if text:
            await walker.type(text[0])
    return walker


async def record_and_repeat(context: BrowserContext, app: Path, recorder: str, bug: Bug) -> list[LocatorResult]:
    """Record a walk, and look for what it clicked in a walk that isn't recorded."""
    with serve_app(app, HEALTHY, Api()) as address:
        page = await context.new_page()
        await page.add_init_script(recorder)
        walker = await walk(page, address, bug)
        report = await page.evaluate("readTicketboxFrame()")
        await page.close()
    with serve_app(app, HEALTHY, Api()) as address:
        page = await context.new_page()
        found = (await walk(page, address, bug, find_clicked_targets(report["record"]["actions"], walker.clicks))).found
        await page.close()
    return found


def test_locator_of_every_step_finds_its_element_again(chromium: Chromium, apps: dict[str, Path]) -> None:
    """The walks wait for most of their time, so several are done side by side."""
    with zipfile.ZipFile(io.BytesIO((EXTENSION / "chromium.zip").read_bytes())) as archive:
        recorder = "\n".join([ANSWER, *(archive.read(name).decode() for name in SCRIPTS)])
    limit = asyncio.Semaphore(SIDE_BY_SIDE)

    async def visit(first: Page) -> list[list[LocatorResult]]:
        async def check(bug: Bug) -> list[LocatorResult]:
            async with limit:
                return await record_and_repeat(first.context, apps[bug.app], recorder, bug)

        return await asyncio.gather(*map(check, BUGS))

    results = chromium.visit(visit, fresh=True)
    for app in APPS:
        found = [each for bug, steps in zip(BUGS, results, strict=True) if bug.app == app for each in steps]
        wrong = [each for each in found if not each.is_right]
        assert len(found) >= 10
        assert len(found) - len(wrong) >= SHARE * len(found), (app, wrong)
        print(f"{app}: {len(found) - len(wrong)} of {len(found)}")

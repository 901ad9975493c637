"""The locators of recorded steps, in walks through the three applications of `bench/reproduce`."""

import io
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Page

from bench.real_sites.comparison import find_clicked_targets
from bench.real_sites.devtools import DevTools
from bench.real_sites.walker import LocatorResult, Targets, Walker
from bench.reproduce.api import Api
from bench.reproduce.apps import APPS
from bench.reproduce.bugs import BUGS, WAIT, Bug
from bench.reproduce.record import SCRIPTS
from bench.reproduce.server import serve_app
from tests.e2e.support.browser import Chromium
from ticketbox.http.extension_zip import EXTENSION

pytestmark = pytest.mark.long

HEALTHY = "none"
SHARE = 0.98
# what the extension answers its script: no project hides anything, and no replay is recorded
ANSWER = "globalThis.chrome = { runtime: { sendMessage: async () => ({ seconds: 0, masks: [] }) } };"


async def walk(page: Page, address: str, bug: Bug, targets: Targets = ()) -> Walker:
    """Do what runs into a bug, in the application without it."""
    session = await page.context.new_cdp_session(page)
    walker = Walker(page, await DevTools.attach(page, session), address, targets)
    await walker.open("/")
    for role, name, *text in (step for step in bug.steps if step != WAIT):
        await walker.click(page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
        if text:
            await walker.type(text[0])
    return walker


@pytest.mark.parametrize("app", APPS)
def test_locator_of_every_step_finds_its_element_again(chromium: Chromium, apps: dict[str, Path], app: str) -> None:
    with zipfile.ZipFile(io.BytesIO((EXTENSION / "chromium.zip").read_bytes())) as archive:
        recorder = "\n".join([ANSWER, *(archive.read(name).decode() for name in SCRIPTS)])

    async def record(page: Page, address: str, bug: Bug) -> Targets:
        await page.add_init_script(recorder)
        walker = await walk(page, address, bug)
        report = await page.evaluate("readTicketboxFrame()")
        return find_clicked_targets(report["record"], walker.clicks)

    async def repeat(page: Page, address: str, bug: Bug, targets: Targets) -> list[LocatorResult]:
        return (await walk(page, address, bug, targets)).found

    found: list[LocatorResult] = []
    for bug in (each for each in BUGS if each.app == app):
        with serve_app(apps[app], HEALTHY, Api()) as address:
            targets = chromium.visit(lambda page, at=address, of=bug: record(page, at, of), fresh=True)
        with serve_app(apps[app], HEALTHY, Api()) as address:
            found += chromium.visit(
                lambda page, at=address, of=bug, known=targets: repeat(page, at, of, known), fresh=True
            )
    wrong = [each for each in found if not each.is_right]
    assert len(found) >= 10
    assert len(found) - len(wrong) >= SHARE * len(found), wrong
    print(f"{app}: {len(found) - len(wrong)} of {len(found)}")

"""Browsers, sites and recordings. The expensive ones are shared by the tests of a worker or a file."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bench.reproduce.apps import NpmMissingError, build_apps, list_apps
from tests.demo import Demo, copy_demo
from tests.e2e.sites.faulty_site import FaultySite
from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.browser import Chromium, find_chromium, find_shell
from tests.e2e.support.devtools_recorder import DevToolsRecorder, Recording
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.support.build_once import build_once
from tests.support.server import Box, World
from ticketbox.http.extension_zip import EXTENSION

expect.set_options(timeout=30_000)  # the default of 5 s is too short on a busy machine


@pytest.fixture(scope="session")
def executable() -> str:
    """The path of the machine's browser, which supports extensions."""
    return _require(find_chromium())


@pytest.fixture(scope="session")
def shell() -> str:
    """The path of the machine's browser, without its windows where possible."""
    return _require(find_shell())


@pytest.fixture(scope="session")
def chromium(shell: str) -> Iterator[Chromium]:
    """The machine's browser, for visiting pages."""
    with Chromium(shell) as running:
        yield running


@pytest.fixture(scope="session")
def windowed(executable: str) -> Iterator[Chromium]:
    """The full browser, which supports drag and drop."""
    with Chromium(executable) as running:
        yield running


def _require(found: str | None) -> str:
    """Return the path of a browser; if there is none, skip the test, or fail if CI is set."""
    if found is None:
        reason = "this test needs Chromium or Chrome on the PATH"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def launch_extension(
    executable: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., ExtensionBrowser]]:
    """Starts browsers with the extension. The arguments are the sites that it may access, by default all."""
    with ExitStack() as running:
        yield lambda *granted: running.enter_context(_start_extension(executable, tmp_path_factory, *granted))


def _start_extension(executable: str, factory: pytest.TempPathFactory, *granted: str) -> ExtensionBrowser:
    archive = (EXTENSION / "chromium.zip").read_bytes()
    return ExtensionBrowser(executable, archive, factory.mktemp("extension"), list(granted))


@pytest.fixture(scope="session")
def extension_browser(executable: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtensionBrowser]:
    """A browser with the extension. Tests `reset` it before they connect it."""
    with _start_extension(executable, tmp_path_factory) as running:
        yield running


@pytest.fixture(scope="session")
def reporter(box: Box) -> World:
    """The user who reports, with one company for all tests of a worker."""
    world = World(box, "Rita")
    box.keep_clients()
    return world


@pytest.fixture(scope="session")
def connected_browser(
    executable: str, reporter: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExtensionBrowser]:
    """A browser whose extension is connected with a token, and records no site from page load."""
    with _start_extension(executable, tmp_path_factory) as browser:
        browser.run(browser.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write")))
        yield browser


@pytest.fixture(scope="session")
def recording_browser(
    executable: str, reporter: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExtensionBrowser]:
    """A browser whose extension is connected with a token and records all sites."""
    with _start_extension(executable, tmp_path_factory) as browser:
        browser.run(browser.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write")))
        browser.run(browser.record_all_sites())
        yield browser


@pytest.fixture(scope="session")
def varied_site() -> Iterator[VariedSite]:
    """A site with many kinds of pages."""
    with VariedSite() as running:
        yield running


@pytest.fixture(scope="session")
def site() -> Iterator[FaultySite]:
    """A site with many faults."""
    with FaultySite() as running:
        yield running


@pytest.fixture(scope="session")
def shop(chromium: Chromium, site: FaultySite) -> Recording:
    """The faulty page, recorded from its first byte."""

    async def collect(page: Page) -> Recording:
        recorder = await DevToolsRecorder.attach(page)
        await page.goto(f"{site.url}/shop/cart", referer="http://search.invalid/?q=tea")
        await page.wait_for_selector("body.done")
        return await recorder.recording()

    return chromium.visit(collect, viewport={"width": 900, "height": 600}, locale="en-GB", timezone_id="Asia/Tokyo")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A running demo with its shop."""
    with Demo(copy_demo(tmp_path_factory)) as running:
        yield running


@pytest.fixture(scope="session")
def desk(box: Box) -> World:
    """A company for all tests of a worker that leave nothing behind."""
    world = World(box, "Eve")
    box.keep_clients()
    return world


@pytest.fixture(scope="session")
def desk_secret(desk: World) -> str:
    """A token for that company."""
    return desk.owner.token("tickets:write", "tickets:assign")


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The built applications of `bench/reproduce`."""
    try:
        return list_apps(build_once(tmp_path_factory, "apps", build_apps))
    except NpmMissingError as error:
        pytest.skip(str(error))

"""One browser and one faulty site for each test worker; a recording is made once and only read."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.async_api import Page, expect

from tests.box import Box, World
from tests.e2e.browser import Chromium, find_chromium, find_shell
from tests.e2e.deep_recording_site import DeepRecordingSite
from tests.e2e.devtools_recorder import DevToolsRecorder, Recording
from tests.e2e.extension_browser import ExtensionBrowser
from tests.e2e.faulty_site import FaultySite
from tests.e2e.varied_site import VariedSite
from ticketbox.surfaces.spa import EXTENSION

expect.set_options(timeout=15_000)  # its own 5 s are over before a page is there, where others use the machine as well


@pytest.fixture(scope="session")
def executable() -> str:
    """Where the machine's browser is, which takes extensions."""
    return _there(find_chromium())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The machine's browser, for visits to pages."""
    with Chromium(_there(find_shell())) as running:
        yield running


@pytest.fixture(scope="module")
def windowed(executable: str) -> Iterator[Chromium]:
    """The whole browser, which can drag as a person does."""
    with Chromium(executable) as running:
        yield running


def _there(found: str | None) -> str:
    """A browser that was found. Without one the test is skipped, but fails where CI is set."""
    if found is None:
        reason = "there is no Chromium or Chrome on the PATH, which this test drives"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def launch_extension(
    executable: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., ExtensionBrowser]]:
    """Starts browsers with the extension; what is given are the sites that it may reach, all by default."""
    archive = (EXTENSION / "chromium.zip").read_bytes()
    with ExitStack() as running:
        yield lambda *granted: running.enter_context(
            ExtensionBrowser(executable, archive, tmp_path_factory.mktemp("extension"), list(granted))
        )


@pytest.fixture(scope="module")
def extension_browser(launch_extension: Callable[..., ExtensionBrowser]) -> ExtensionBrowser:
    """One such browser, for tests that let it `forget` before they connect it."""
    return launch_extension()


@pytest.fixture(scope="module")
def reporter(box: Box) -> World:
    """Who reports: one company for all tests of a file."""
    return World(box, "Rita")


@pytest.fixture(scope="module")
def recording_browser(launch_extension: Callable[..., ExtensionBrowser], reporter: World) -> ExtensionBrowser:
    """A browser whose owner connected by a token and has every site recorded."""
    secret = reporter.owner.token("tickets:write")
    browser = launch_extension()

    async def prepare() -> None:
        await browser.connect_with_token(reporter.box.url, secret)
        await browser.record_all_sites()

    browser.run(prepare())
    return browser


@pytest.fixture(scope="module")
def varied_site() -> Iterator[VariedSite]:
    """Pages that are hard to record."""
    with VariedSite() as running:
        yield running


@pytest.fixture(scope="session")
def site() -> Iterator[FaultySite]:
    """The site that is captured."""
    with FaultySite() as running:
        yield running


@pytest.fixture(scope="session")
def shop(chromium: Chromium, site: FaultySite) -> Recording:
    """The faulty page, collected from its first byte on."""

    async def collect(page: Page) -> Recording:
        collector = await DevToolsRecorder.attach(page)
        await page.goto(f"{site.url}/shop/cart", referer="http://search.invalid/?q=tea")
        await page.wait_for_selector("body.done")
        return await collector.recording()

    return chromium.visit(collect, viewport={"width": 900, "height": 600}, locale="en-GB", timezone_id="Asia/Tokyo")


@pytest.fixture(scope="session")
def lasting_world(box: Box) -> World:
    """A company for all tests of a worker that leave nothing behind; use it through `desk`."""
    return World(box, "Eve")


@pytest.fixture(scope="session")
def desk_secret(lasting_world: World) -> str:
    """A token for the lasting company."""
    return lasting_world.owner.token("tickets:write", "tickets:assign")


@pytest.fixture
def desk(lasting_world: World, desk_secret: str) -> Iterator[World]:
    """The lasting company with a client of this test's own: a server's clients are closed after each test."""
    lasting_world.api = lasting_world.box.client(desk_secret)
    yield lasting_world
    lasting_world.box.close_clients()


@pytest.fixture(scope="module")
def deep_site() -> Iterator[DeepRecordingSite]:
    """A page that doesn't see all that it does."""
    with DeepRecordingSite() as running:
        yield running


@pytest.fixture(scope="module")
def deep_edition(
    executable: str, reporter: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExtensionBrowser]:
    """A browser with the deep edition, connected, every site recorded."""
    secret = reporter.owner.token("tickets:write")
    archive = (EXTENSION / "chromium-deep.zip").read_bytes()
    with ExtensionBrowser(executable, archive, tmp_path_factory.mktemp("deep")) as browser:

        async def prepare() -> None:
            await browser.connect_with_token(reporter.box.url, secret)
            await browser.record_all_sites()

        browser.run(prepare())
        yield browser

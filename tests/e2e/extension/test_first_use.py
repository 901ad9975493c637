"""The first minutes with the extension: the start page, the first recorded site, a newer version."""

import asyncio
import json
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZipFile

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.extension_browser import ExtensionBrowser, sign_in
from tests.support.server import World, ok
from ticketbox import __version__
from ticketbox.http.extension_zip import build_extension_zip

pytestmark = pytest.mark.long

OLD_VERSION = "0.0.9"
ALLOW_SITE = "() => chrome.permissions.onAdded.dispatch({ origins: ['http://127.0.0.1/*'], permissions: [] })"
READ_BADGE = """async (url) => {
  const [tab] = await chrome.tabs.query({ url: `${url}/plain` });
  return chrome.action.getBadgeText({ tabId: tab.id });
}"""


def set_version(archive: bytes, version: str) -> bytes:
    """Return the extension's zip as another version."""
    changed = BytesIO()
    with ZipFile(BytesIO(archive)) as source, ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "manifest.json":
                content = json.dumps({**json.loads(content), "version": version}).encode()
            target.writestr(name, content)
    return changed.getvalue()


@pytest.fixture(scope="module")
def downloaded(
    executable: str, reporter: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExtensionBrowser]:
    """A browser with an older version of the extension that the server sends. Starting it waits for the start page."""
    archive = set_version(build_extension_zip("chromium", reporter.box.url), OLD_VERSION)
    folder = tmp_path_factory.mktemp("downloaded")
    with ExtensionBrowser(executable, archive, folder) as browser:
        yield browser


def test_first_use_leads_from_the_start_page_to_a_complete_capture(
    downloaded: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def connect() -> None:
        start = await downloaded.context.new_page()
        await start.goto(f"chrome-extension://{downloaded.id}/start.html")
        await expect(start.get_by_label("Address of your ticketbox")).to_have_value(reporter.box.url)
        async with downloaded.context.expect_page() as opened:
            await start.get_by_role("button", name="Connect ticketbox").click()
        await sign_in(await opened.value, reporter)
        await expect(start.get_by_role("heading", name="Connected")).to_be_visible()
        await start.wait_for_function("async () => (await chrome.tabs.getCurrent()).active")
        await start.close()

    async def record_site(page: Page) -> None:
        popup = await downloaded.open_popup(page)
        update = popup.get_by_role("link", name="Download it")
        await expect(update).to_have_attribute("href", f"{reporter.box.url}/extension/chromium.zip")
        await expect(popup.get_by_text(f"Version {__version__} of this extension is available.")).to_be_visible()
        await popup.get_by_label("Title").fill("The total is wrong")
        record = popup.get_by_role("button", name="Record this site")
        await expect(record).to_be_in_viewport(ratio=1)
        await record.click()
        async with page.expect_event("load"):
            await popup.get_by_role("button", name="Reload page").click()

    async def capture_again(page: Page) -> None:
        popup = await downloaded.open_popup(page)
        await expect(popup.get_by_label("Title")).to_have_value("The total is wrong")
        await expect(popup.get_by_role("button", name="Reload page")).to_have_count(0)
        await expect(popup.get_by_role("region", name="Capture health")).not_to_contain_text("Incomplete")
        await popup.close()

    async def work() -> None:
        await connect()
        page = await downloaded.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        await record_site(page)
        project = ok(reporter.api.get("/projects"))["items"][0]
        assert f"{varied_site.url}/*" in project["url_patterns"]
        await page.wait_for_function("document.title === 'plain'")
        await capture_again(page)
        await page.close()

    downloaded.run(work())


def test_allowed_site_is_announced_after_the_prompt_closed_the_popup(
    downloaded: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def work() -> None:
        await downloaded.reset()
        await downloaded.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write"))
        page = await downloaded.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await downloaded.open_popup(page)
        await popup.get_by_role("button", name="Record this site").click()
        await expect(popup.get_by_role("button", name="Reload page")).to_be_visible()
        await popup.close()
        (background,) = [each for each in downloaded.context.service_workers if downloaded.id in each.url]
        assert await background.evaluate(READ_BADGE, varied_site.url) == ""
        await background.evaluate(ALLOW_SITE)
        again = await downloaded.find_popup()
        await expect(again.get_by_role("button", name="Reload page")).to_be_visible()
        async with asyncio.timeout(30):
            while await background.evaluate(READ_BADGE, varied_site.url) != "●":
                await asyncio.sleep(0.05)
        await again.close()
        await page.close()

    downloaded.run(work())


def test_source_of_a_page_is_refused_without_waiting_for_it(
    downloaded: ExtensionBrowser, reporter: World, varied_site: VariedSite
) -> None:
    async def work() -> None:
        await downloaded.reset()
        await downloaded.connect_with_token(reporter.box.url, reporter.owner.token("tickets:write"))
        page = await downloaded.context.new_page()
        await page.goto(f"view-source:{varied_site.url}/plain")
        popup = await downloaded.open_popup(page)
        health = popup.get_by_role("region", name="Capture health")
        await expect(health).to_contain_text("the browser doesn’t allow extensions on this page")
        await expect(popup.get_by_role("button", name="Record this site")).to_have_count(0)
        await popup.close()
        await page.close()

    downloaded.run(work())

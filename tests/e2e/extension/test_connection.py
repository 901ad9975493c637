"""An OAuth connection over time: it is renewed silently, and when it ends, no capture is lost."""

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.varied_site import VariedSite
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import report_page
from tests.support.operation_cases import update_row
from tests.support.server import World, ok

EXPIRE_TOKEN = """() => new Promise((done, fail) => {
  const opening = indexedDB.open("ticketbox");
  opening.onerror = fail;
  opening.onsuccess = () => {
    const changing = opening.result.transaction("state", "readwrite");
    const accounts = changing.objectStore("state");
    const reading = accounts.get("account");
    reading.onsuccess = () => accounts.put({...reading.result, expires: Date.now() - 1000}, "account");
    changing.oncomplete = () => { opening.result.close(); done(reading.result.secret); };
  };
})"""


@pytest.fixture
def connected(extension_browser: ExtensionBrowser, world: World) -> ExtensionBrowser:
    """A browser whose extension is connected by OAuth."""

    async def connect() -> None:
        await extension_browser.reset()
        await (await extension_browser.connect(world)).close()

    extension_browser.run(connect())
    return extension_browser


def expire_access_token(browser: ExtensionBrowser, world: World) -> str:
    """Expire the access token, for the server and the extension. Returns the token."""
    update_row(world.box.db, "UPDATE oauth_secret SET expires_at = 1 WHERE opens = 'access'")

    async def expire() -> str:
        options = await browser.open_options()
        secret = await options.evaluate(EXPIRE_TOKEN)
        await options.close()
        return secret

    return browser.run(expire())


@pytest.mark.long
def test_expired_token_is_renewed_silently(connected: ExtensionBrowser, world: World, varied_site: VariedSite) -> None:
    before = expire_access_token(connected, world)
    ticket = report_page(connected, world, lambda page: page.goto(f"{varied_site.url}/plain"), title="Hours later")
    assert (ticket.record["title"], ticket.record["created"]["via"]) == ("Hours later", "extension")
    assert expire_access_token(connected, world) != before
    assert len(ok(world.owner.web.get("/connected-apps"))["items"]) == 1


@pytest.mark.long
def test_capture_waits_in_the_outbox_while_the_connection_is_revoked(
    connected: ExtensionBrowser, world: World, varied_site: VariedSite
) -> None:
    async def write() -> tuple[Page, Page]:
        page = await connected.context.new_page()
        await page.goto(f"{varied_site.url}/plain")
        popup = await connected.open_popup(page)
        await popup.get_by_label("Title").fill("Kept")
        await expect(popup.get_by_role("button", name="Send report")).to_be_enabled()  # the projects are loaded
        return page, popup

    page, popup = connected.run(write())
    (app,) = ok(world.owner.web.get("/connected-apps"))["items"]
    ok(world.owner.web.delete(f"/connected-apps/{app['id']}"))

    async def expire() -> None:
        await popup.evaluate(EXPIRE_TOKEN)

    connected.run(expire())

    async def send() -> str:
        await popup.get_by_role("button", name="Send report").click()
        await popup.get_by_role("heading", name="Report not sent").wait_for()
        words = await popup.get_by_role("alert").inner_text()
        await popup.close()
        await page.close()
        return words

    assert "Sign in again" in connected.run(send())
    assert ok(world.api.get("/tickets"))["items"] == []

    async def connect_again() -> None:
        options = await connected.connect(world, again=True)
        await options.get_by_text("No captures are waiting to be sent.").wait_for()  # sent automatically

    connected.run(connect_again())
    assert [each["title"] for each in ok(world.api.get("/tickets"))["items"]] == ["Kept"]

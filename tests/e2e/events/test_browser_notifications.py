"""Notifications of the browser, by choice, once for all tabs, and only while none is visible."""

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.e2e.support.app import assert_accessible, expect_value, use
from tests.e2e.support.browser import Chromium
from tests.support.server import World, ok

# A headless browser shows no notifications. This keeps what a page asks for, and can hide a tab.
RECORDER = """
window.notes = [];
window.Notification = class {
  static permission = localStorage.getItem('test-permission') ?? 'default';
  static async requestPermission() {
    window.asked = (window.asked ?? 0) + 1;
    localStorage.setItem('test-permission', 'granted');
    return (this.permission = 'granted');
  }
  constructor(title, options) { Object.assign(this, {title, ...options}); window.notes.push(this); }
  close() {}
};
const Source = window.EventSource;
window.EventSource = class extends Source {
  constructor(address) { super(address); window.source = this; }
};
window.hide = (hidden) => {
  Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
};
"""
HOLDS = "async () => (await navigator.locks.query()).held.filter((each) => each.name.includes('visible')).length"
IS_LIVE = "() => window.source?.readyState"
TAGS = "() => window.notes.map((each) => each.tag)"


async def settle(page: Page, script: str, value: object) -> None:
    """Wait until a script returns a value. The page's policy forbids what `wait_for_function` does."""
    await expect_value(lambda: page.evaluate(script), value)


@pytest.mark.long
def test_notifications_are_shown_once_while_no_tab_is_visible(chromium: Chromium, world: World) -> None:
    bob = world.join("Bob")
    ticket = world.ticket("Look at this")

    def mention(text: str) -> None:
        ok(world.owner.web.post(f"/tickets/{ticket['id']}/comments", json={"body": f"@Bob {text}"}))

    async def wait_for_unread(page: Page, count: int) -> None:
        link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Inbox")
        await expect(link).to_contain_text(str(count))

    async def work(page: Page) -> None:
        await page.context.add_init_script(RECORDER)
        await page.reload()
        switch = page.get_by_role("switch", name="Notify me in this browser")
        await expect(switch).not_to_be_checked()
        assert await page.evaluate("window.asked") is None
        await switch.click()
        await expect(switch).to_be_checked()
        await assert_accessible(page)
        await settle(page, HOLDS, 1)
        other = await page.context.new_page()
        await other.goto(f"{world.box.url}/inbox")
        await expect(other.get_by_role("heading", name="Inbox")).to_be_visible()
        await settle(page, HOLDS, 2)

        for each in (page, other):
            await settle(each, IS_LIVE, 1)
        await page.evaluate("hide(true)")  # the other tab is still visible
        mention("first")
        await wait_for_unread(page, 1)
        await wait_for_unread(other, 1)  # or it would be hidden when it hears of the first
        await other.evaluate("hide(true)")
        await settle(page, HOLDS, 0)
        mention("second")
        await wait_for_unread(page, 2)
        await wait_for_unread(other, 2)
        mention("third")  # by the time that it is shown, a second tab would have shown the one before
        tags: list[str] = []
        async with asyncio.timeout(30):
            while len(set(tags)) < 2:
                tags = [*await page.evaluate(TAGS), *await other.evaluate(TAGS)]
        assert len(tags) == 2
        unread = ok(bob.web.get("/notifications", params={"unread": True}))["items"]
        assert {each["id"] for each in unread[:2]} == set(tags)

        of = page if await page.evaluate("window.notes.length") else other
        note = await of.evaluate("`${notes[0].title}: ${notes[0].body}`")
        assert note == f"Ann mentioned you: {ticket['key']} Look at this"
        await of.evaluate("notes[0].onclick()")
        await expect(of).to_have_url(f"{world.box.url}/tickets/{ticket['id']}")
        await other.close()
        await page.goto(f"{world.box.url}/settings/notifications")
        await switch.click()
        await expect(switch).not_to_be_checked()
        await settle(page, HOLDS, 0)

    use(chromium, bob, "/settings/notifications", work, fresh=True)  # the script stays with the profile

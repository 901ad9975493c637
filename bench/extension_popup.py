"""How long the extension's popup takes to show a preview."""

import asyncio
import time

from playwright.async_api import Page

from tests.e2e.support.extension_browser import ExtensionBrowser

# the form and the screenshot appear together
SHOWN = """() => new Promise((done) => new PerformanceObserver((list, observer) => {
  observer.disconnect();
  done(performance.timeOrigin + list.getEntries()[0].renderTime);
}).observe({ type: "element", buffered: true }))"""
# A person reads before they send. Connecting to a popup that is starting stops it for up to 0.8 s.
READING_SECONDS = 4


async def open_popup(browser: ExtensionBrowser, page: Page) -> tuple[Page, float]:
    """Click the extension's button on a page; return the popup, and after how many milliseconds it showed a preview."""
    tab = await browser.find_tab(page)
    began = time.time()
    await browser.click_button(tab)
    await asyncio.sleep(READING_SECONDS)
    popup = await browser.find_popup()
    return popup, await popup.evaluate(SHOWN) - began * 1000

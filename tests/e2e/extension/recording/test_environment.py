"""What the extension and the embedded reporter report about a page's environment."""

import json
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.e2e.sites.reporting_site import ReportingSite
from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite
from tests.e2e.support.browser import Chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import report_page
from tests.http.reports.test_reports import Reporter
from tests.support.server import World, ok
from ticketbox import __version__

pytestmark = pytest.mark.long

SECRET = "tea-is-served-at-four"
PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Totals</title><link rel="icon" href="data:,">
<meta name="feature-flags" content="new_checkout, fast_search">
<script>
  window.__release = "shop@1.4.2";
  window.__flags = {{ new_checkout: true, variant: "B", limits: [1, 2], api_token: "8f3a99b1c2d4", render() {{}} }};
  Object.defineProperty(window.__flags, "broken", {{ enumerable: true, get() {{ throw new Error("hostile"); }} }});
  localStorage.setItem("cart", "{SECRET}");
  sessionStorage.setItem("draft", "{SECRET}");
  document.cookie = "theme={SECRET}";
  document.cookie = "{SECRET}";
</script>
<h1>Totals</h1><button id="slow">Add</button><p></p>
<script src="/slow.js"></script>"""
SLOW = """
function addSlowly() {
  const end = performance.now() + 150;
  while (performance.now() < end);
  document.querySelector("p").textContent = "added";
}
document.getElementById("slow").addEventListener("click", addSlowly);
"""


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path:
            case "/":
                self.respond("text/html", PAGE)
            case "/slow.js":
                self.respond("text/javascript", SLOW)
            case _:
                self.send_error(404)


class _Site(TwoOriginSite):
    handler = _Handler


async def wait_for_measures(page: Page) -> None:
    """Wait until the browser has measured the click, and the extension has read that when it was idle, or after 1 s."""
    await page.evaluate(
        """() => new Promise((done) => {
          const missing = new Set(["long-animation-frame", "first-input"]);
          globalThis.observer = new PerformanceObserver((list) => {
            for (const { entryType } of list.getEntries()) missing.delete(entryType);
            if (!missing.size) setTimeout(() => requestIdleCallback(() => done(), { timeout: 2000 }));
          });
          for (const type of [...missing]) globalThis.observer.observe({ type, buffered: true });
        })"""
    )


def test_extension_sends_the_environment_without_values_of_the_storage(
    recording_browser: ExtensionBrowser, reporter: World
) -> None:
    project, browser = f"/projects/{reporter.project}", recording_browser
    ok(reporter.owner.web.patch(project, json={"capture_policy": {"declared_names": ["shop.theme", "meta:build"]}}))
    with _Site() as site:

        async def visit(page: Page) -> None:
            options = await browser.open_options()
            await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'load-projects' })")
            await options.close()
            await page.bring_to_front()  # a page in the background draws nothing
            await page.goto(site.url)
            await page.evaluate("""() => {
              window.shop = { theme: "dark", secret: "never" };
              document.head.append(Object.assign(document.createElement("meta"), { name: "build", content: "b17" }));
            }""")
            await page.get_by_role("button", name="Add").click()
            await expect(page.get_by_text("added")).to_be_visible()
            await wait_for_measures(page)

        ticket = report_page(recording_browser, reporter, visit)
    found: dict[str, Any] = ticket.capture["environment"]
    assert found["release"] == "shop@1.4.2"
    assert found["extension"] == __version__
    assert found["declared"] == {
        "__flags.new_checkout": "true",
        "__flags.variant": "B",
        "__flags.limits": "1, 2",
        "__flags.api_token": "[redacted]",
        "meta:feature-flags": "new_checkout, fast_search",
        "shop.theme": "dark",
        "meta:build": "b17",
    }
    start = {"document": 0, "local": {}, "session": {}, "cookies": []}  # before the page's script
    names = {"local": ["cart"], "session": ["draft"], "cookies": ["theme"], "omitted": 0}
    assert found["storage"] == {**names, "start": [start]}
    assert (found["color_scheme"], found["reduced_motion"], found["touch"]) == ("light", False, False)
    assert SECRET not in json.dumps(ticket.record)
    vitals = found["vitals"]
    assert vitals["ttfb_ms"] <= vitals["fcp_ms"] <= vitals["lcp_ms"]
    assert vitals["inp_ms"] >= 150
    assert vitals["cls"] >= 0
    (script,) = [each for frame in found["long_frames"] for each in frame["scripts"] if each["function"] == "addSlowly"]
    assert script["url"] == f"{site.url}/slow.js"
    assert script["invoker"] == "BUTTON#slow.onclick"
    assert script["duration_ms"] >= 150


def test_embedded_reporter_sends_the_environment(chromium: Chromium, world: World) -> None:
    given = {"capture_policy": {"declared_names": ["lamps.shade", "meta:viewport"]}}
    ok(world.owner.web.patch(f"/projects/{world.project}", json=given))
    with ReportingSite() as site:
        reporter = Reporter(world, origins=[site.url])
        site.embed(world.box.url, reporter.key["key"], "")

        async def visit(page: Page) -> None:
            await page.add_init_script(
                """window.__release = 'lamps@7';
                window.__flags = { dimmer: false };
                window.lamps = { shade: 'brass', id: 7 };"""
            )
            await page.goto(f"{site.url}/cart")
            await page.evaluate("localStorage.setItem('lamp', 'brass')")
            await page.get_by_role("button", name="Report a problem").click()
            dialog = page.get_by_role("dialog", name="Report a problem")
            await dialog.get_by_label("What is wrong?").fill("The lamp stays dark")
            await dialog.get_by_role("button", name="Send report").click()
            await expect(page.get_by_role("link", name="Open receipt")).to_be_visible()

        chromium.visit(visit)
        (ticket,) = reporter.find_tickets()
        found = ok(world.api.get(f"/tickets/{ticket['id']}"))["capture"]["environment"]
    assert found["release"] == "lamps@7"
    assert found["declared"] == {
        "__flags.dimmer": "false", "lamps.shade": "brass", "meta:viewport": "width=device-width",
    }  # fmt: skip
    assert found["storage"]["local"] == ["lamp"]
    assert found["vitals"]["fcp_ms"] > 0
    assert "extension" not in found

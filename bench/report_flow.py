"""How long a person waits when reporting a heavy page: `uv run --group dev python -m bench.report_flow`.

The page has 20,000 elements, 2,000 console lines and 200 requests with bodies (5 MB of streams), and an error in a
bundle whose source map the page itself can load. *Preview* is the time from the click on the extension's button until
the popup shows the screenshot and the form, *sent* that from "Send report" until the popup has the ticket's link, and
*opened* that from there until the ticket's page has shown its title. With and without the maps of pages, in turns.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from playwright.async_api import Page, Route

from bench.extension_popup import open_popup
from bench.machine import describe_machine, format_table
from tests.e2e.sites.bundled_site import BundledSite
from tests.e2e.support.browser import find_chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import STREAMS, ReportedTicket
from tests.support import npm
from tests.support.bundlers import PACKAGES
from tests.support.server import World, ok, run_server
from ticketbox.http.extension_zip import EXTENSION

WORK = """async () => {
  const list = document.createElement("ul");
  for (let n = 0; n < 10_000; n += 1) {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("b"), { textContent: `order ${n}` }));
    list.append(item);
  }
  document.body.append(list);
  for (let n = 0; n < 2_000; n += 1) console.log(`order ${n}`, "loaded ".repeat(130));
  const load = async (n) => (await fetch(`/api/orders/${n}`)).text();
  for (let n = 0; n < 200; n += 10) await Promise.all(Array.from({ length: 10 }, (_, at) => load(n + at)));
}"""
BODY = json.dumps([{"order": n, "customer": f"customer {n}", "total": n * 7 % 101} for n in range(250)])


async def _open(browser: ExtensionBrowser, site: BundledSite) -> Page:
    async def answer(route: Route) -> None:
        await route.fulfill(content_type="application/json", body=BODY)

    page = await browser.context.new_page()
    await page.route("**/api/orders/*", answer)
    await page.goto(f"{site.url}/shop")
    await page.evaluate(WORK)
    async with page.expect_event("pageerror"):
        await page.get_by_role("button", name="Pay").click()
    return page


async def _load_projects(browser: ExtensionBrowser) -> None:
    """Load the project's policy: it says whether pages record bodies."""
    options = await browser.open_options()
    await options.evaluate("() => chrome.runtime.sendMessage({ kind: 'load-projects' })")
    await options.close()


async def _report(browser: ExtensionBrowser, site: BundledSite) -> tuple[str, list[float]]:
    page = await _open(browser, site)
    popup, preview = await open_popup(browser, page)
    pressed = time.time()
    await browser.send_report(popup)
    sent = time.time()
    async with browser.context.expect_page() as opened:
        await popup.get_by_role("button", name="Open ticket").click(no_wait_after=True)
    ticket = await opened.value
    await ticket.get_by_role("heading", level=1).wait_for()
    shown = time.time()
    address = ticket.url
    await ticket.close()
    await page.close()
    return address, [preview, (sent - pressed) * 1000, (shown - sent) * 1000]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    executable = find_chromium()
    assert executable is not None, "Chromium isn't on the PATH"
    modules = npm.install_once(*PACKAGES)
    times: dict[str, list[list[float]]] = {"on": [], "off": []}
    sizes: list[float] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, run_server(Path(name)) as box:
        world, archive = World(box, "Rita"), (EXTENSION / "chromium.zip").read_bytes()
        session = world.owner.session
        with (
            BundledSite("esbuild", modules, Path(name) / "bundle") as site,
            ExtensionBrowser(executable, archive, Path(name)) as browser,
        ):
            browser.run(browser.connect_with_token(box.url, world.owner.token("tickets:write")))
            browser.run(browser.record_all_sites())
            browser.run(browser.context.add_cookies([{"name": box.cookie, "value": session, "url": box.url}]))
            for each in range(options.rounds * 2):
                policy = "on" if each % 2 == 0 else "off"
                given = {
                    "capture_policy": {"page_source_maps": policy, "bodies": "on"},
                    "url_patterns": [f"{site.url}/*"],
                }
                ok(world.owner.web.patch(f"/projects/{world.project}", json=given))
                browser.run(_load_projects(browser))
                address, measured = browser.run(_report(browser, site))
                times[policy].append(measured)
                ticket = ReportedTicket(world, address)
                resolved = (ticket.capture["health"].get("source_maps") or {}).get("captured", 0)
                assert bool(resolved) is (policy == "on"), ticket.capture["health"]
                sizes.append(sum(len(json.dumps(ticket.streams[stream])) for stream in STREAMS) / 1e6)
                print(policy, *(f"{ms:.0f}" for ms in measured), f"{sizes[-1]:.1f} MB of streams", flush=True)
    rows: list[list[object]] = []
    for policy, rounds in times.items():
        medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
        rows.append([policy, *(f"{ms:,.0f}" for ms in medians), f"{medians[1] + medians[2]:,.0f}"])
    print(format_table(["maps of pages", "preview ms", "sent ms", "opened ms", "sent and opened ms"], rows))


if __name__ == "__main__":
    main()

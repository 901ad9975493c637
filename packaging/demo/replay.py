"""Record the demo's replay: a gift card is added to the cart, as in `ticketbox/demo/data/captures/cart.json`.

    uv run --group dev python packaging/demo/replay.py

The pages of `packaging/demo/pages` are changed as the shop would change them, by a real pointer in Chromium, and
recorded by the extension's recorder library with its options. Afterwards the times are stretched, so that each event
has the time of the capture's step. `@rrweb/record` must be installed below `web/`.
"""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from playwright.sync_api import Page, sync_playwright

from ticketbox.demo.dataset import DATA, read_capture

NAME = "cart"
PAGES = Path(__file__).parent / "pages"
RECORDER = Path(__file__).parents[2] / "web" / "node_modules" / "@rrweb" / "record" / "dist" / "record.umd.min.cjs"
LOADED, LAST = 300, 17_950  # milliseconds after the page began to load
SHORT = 10  # milliseconds that a change takes
# as in web/src/recorder/replay/masking.ts
START = """() => {
  const mask = (text) => (text.trim() ? '*'.repeat(Math.min(text.length, 10)) : text);
  window.events = [];
  rrwebRecord.record({
    emit: (event) => window.events.push(event), maskInputFn: mask, maskTextFn: mask, inlineStylesheet: true,
    maskInputOptions: { input: true, textarea: true, select: true, password: true }, slimDOMOptions: 'all',
    maskTextSelector: ':read-write, [role=textbox], [role=searchbox], [role=combobox]',
  });
}"""
SETTLE_MS = 80  # the recorder collects the pointer's positions


def main() -> None:
    """Record the replay, and write it with times that count from the page's start."""
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True)
    capture = read_capture(NAME)
    viewport = capture.environment.viewport
    assert viewport
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": viewport.width, "height": viewport.height})
        page.set_content(templates.get_template("cart.html").render(before=True, bag=3))
        page.add_script_tag(path=RECORDER)
        page.evaluate("() => { window.marks = []; }")
        set_time(page, LOADED)
        page.evaluate(START)
        set_time(page, LOADED + SHORT)
        act(page, templates)
        page.wait_for_timeout(1_000)
        set_time(page, LAST)
        events: list[dict[str, Any]] = page.evaluate("() => window.events")
        marks: list[tuple[int, int]] = page.evaluate("() => window.marks")
        browser.close()
    shown = [stretch(event, marks) for event in events if event["type"] in (2, 3, 4)]
    shown[0]["data"]["href"] = capture.page.url
    folder = DATA / "replays"
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in shown)
    (folder / f"{NAME}.json").write_text(f"[\n{lines}\n]\n", "utf-8")


def act(page: Page, templates: jinja2.Environment) -> None:
    """Do what the capture's steps say, at their times."""
    gift, cart = (read_main(templates.get_template(f"{name}.html").render()) for name in ("gift-cards", "cart"))
    point(page, 5_200, 7_500, "a:text-is('Gift cards')")
    click(page, 7_612)
    show(page, 7_690, gift)
    point(page, 8_300, 9_300, "#amount")
    click(page, 9_360)
    set_time(page, 9_806)
    page.select_option("#amount", "€50")
    page.wait_for_timeout(SETTLE_MS)
    set_time(page, 9_806 + SHORT)
    point(page, 10_200, 11_100, "[data-testid=add]")
    click(page, 11_198)
    set_time(page, 11_340)  # the shop has added it
    page.evaluate("() => { document.querySelector('.bag b').textContent = '4'; }")
    show(page, 11_430, cart)
    point(page, 12_300, 13_900, ".line:nth-child(2) .more")
    click(page, 14_055)
    point(page, 15_100, 16_800, "dd.total")
    set_time(page, LAST - SHORT)
    page.mouse.move(1_100, 560)
    page.wait_for_timeout(SETTLE_MS)


def set_time(page: Page, at: int) -> None:
    """Say how late it is now in the capture."""
    page.evaluate("(at) => { window.marks.push([Date.now(), at]); }", at)


def stretch(event: dict[str, Any], marks: list[tuple[int, int]]) -> dict[str, Any]:
    """Move an event, and the pointer's positions in it, to the capture's times."""
    real = event["timestamp"]
    at = interpolate(real, marks)
    for position in event["data"].get("positions", []):
        position["timeOffset"] = interpolate(real + position["timeOffset"], marks) - at
    return {**event, "timestamp": at}


def interpolate(real: int, marks: list[tuple[int, int]]) -> int:
    """Return the time in the capture of a moment of the recording."""
    for (start, first), (end, last) in pairwise(marks):
        if real <= end:
            return round(first + (last - first) * (real - start) / max(1, end - start))
    return marks[-1][1]


def point(page: Page, start: int, end: int, selector: str) -> None:
    """Move the pointer to the middle of an element."""
    box = page.locator(selector).bounding_box()
    assert box, selector
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    left, top = page.evaluate("() => [window.left ?? 640, window.top_ ?? 300]")
    for step in range(1, 11):
        set_time(page, start + (end - start) * step // 10)
        eased = 1 - (1 - step / 10) ** 2
        page.mouse.move(left + (x - left) * eased, top + (y - top) * eased)
        page.wait_for_timeout(SETTLE_MS)
    page.evaluate("([x, y]) => { window.left = x; window.top_ = y; }", [x, y])


def click(page: Page, at: int) -> None:
    """Click where the pointer is."""
    set_time(page, at)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(SETTLE_MS)
    set_time(page, at + SHORT)


def show(page: Page, at: int, main: str) -> None:
    """Show another page of the shop, which replaces what is below the header."""
    set_time(page, at)
    page.evaluate("(main) => { document.querySelector('main').outerHTML = main; }", main)
    page.wait_for_timeout(SETTLE_MS)
    set_time(page, at + SHORT)


def read_main(html: str) -> str:
    """Return the `main` element of a page."""
    found = re.search(r"<main>.*</main>", html, re.DOTALL)
    assert found
    return re.sub(r"\s*\n\s*", "", found[0])


if __name__ == "__main__":
    main()

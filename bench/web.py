"""The web app in a real browser: first loads, a drag over 1,000 cards, a long console.

    uv run --group dev python -m bench.web

Sizes are bytes on the wire from an empty cache, heads included, as the browser counts them. Times run from the start
of the navigation. Processor time is that of the page's main thread, without slowing; times and frames are taken with
the processor slowed by `--slowed`, which says more the less else the machine does. `--tree` measures another checkout
in the same turns.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.browsing import CARDS, LINES, WINDOW, Prepared, Tab, prepared
from bench.frames import Frames, drag, scroll, smoothness
from bench.machine import describe, table
from tests.e2e.browser import ARGUMENTS, find_chromium

# When a card is painted, it is clicked; the board is usable when that took the app to the ticket.
CLICK_THE_FIRST_CARD = """() => {
  const look = () => {
    const card = document.querySelector('[data-ticket]');
    if (!card || card.getBoundingClientRect().height === 0) return requestAnimationFrame(look);
    setTimeout(() => {
      card.click();
      if (location.pathname.startsWith('/tickets/')) window.usable = performance.now();
    });
  };
  look();
}"""
# When each came onto the page, seen once a frame.
NOTE_TEXT_AND_CAPTURE = """() => {
  window.seen = {};
  const look = () => {
    const now = performance.now();
    if (document.body?.innerText.includes('The cart stays empty')) window.seen.text ??= now;
    if (document.querySelector('.capture [role=tab]')) window.seen.capture ??= now;
    if (!window.seen.capture) requestAnimationFrame(look);
  };
  look();
}"""


def first_load(browser: Browser, on: Prepared, name: str, path: str) -> list[object]:
    """What loading a page for the first time costs."""
    with Tab(browser, on) as tab:
        tab.open(path)
        cpu = tab.cpu_ms()
        twice = [what for what, times in tab.asked.items() if times > 1]
        code = tab.kinds["Script"] + tab.kinds["Stylesheet"] + tab.kinds["Document"]
        answers = tab.kinds["Fetch"] + tab.kinds["XHR"]
        rest = sum(tab.kinds.values()) - code - answers
        asked = sum(tab.asked.values())
        style = cpu["Layout"] + cpu["RecalcStyle"]
        sizes = [code / 1000, answers / 1000, rest / 1000]
        return [on.name, name, asked, ", ".join(twice) or "none", *sizes, cpu["Task"], cpu["Script"], style]


def times(browser: Browser, on: Prepared, slowed: int) -> dict[str, float]:
    """How long until something is there, in ms, on a slowed processor."""
    with Tab(browser, on, CLICK_THE_FIRST_CARD, slowed) as tab:
        tab.page.goto(f"{on.url}/projects/{on.project}")
        usable = tab.page.wait_for_function("() => window.usable", timeout=60_000).json_value()
    with Tab(browser, on, NOTE_TEXT_AND_CAPTURE, slowed) as tab:
        tab.page.goto(f"{on.url}/tickets/{on.ticket}")
        tab.page.wait_for_function("() => window.seen.capture", timeout=60_000)
        seen = tab.page.evaluate("() => window.seen")
    return {
        "board: a card answers to a click": usable,
        "ticket: its text is there": seen["text"],
        "ticket: its capture is there": seen["capture"],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slowed", type=int, default=4, help="how many times slower the processor is made")
    parser.add_argument("--tree", type=Path, action="append", default=[], help="measure this checkout as well")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        prepared(Path(folder), given.tree) as servers,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS, "--no-sandbox"])
        print(f"{describe()}\nChromium {browser.version}, window {WINDOW['width']} × {WINDOW['height']}\n")
        head = ("tree", "first load", "requests", "asked twice", "page, code and styles kB", "answers kB", "else kB",
                "CPU ms", "script", "style and layout")  # fmt: skip
        loads = [(on, "board", f"/projects/{on.project}") for on in servers]
        loads += [(on, "ticket with a capture", f"/tickets/{on.ticket}") for on in servers]
        print(table(head, [first_load(browser, *load) for load in loads]) + "\n")
        took: dict[tuple[str, str], list[float]] = {}
        for on in servers * given.rounds:
            for what, ms in times(browser, on, given.slowed).items():
                took.setdefault((on.name, what), []).append(ms)
        head = ("tree", f"ms, {given.slowed} × slowed", "median", "best", "worst")
        print(table(head, [[*of, statistics.median(ms), min(ms), max(ms)] for of, ms in took.items()]) + "\n")
        head = ("tree", f"{given.slowed} × slowed", "frames/s", "least in 1 s", "frame p99 ms", "longest ms",
                "% below 30/s", "these, a round", "main thread ms, not slowed")  # fmt: skip
        rows: list[list[object]] = []
        for measure, what in ((drag, f"drag over {CARDS:,} cards"), (scroll, f"scroll through {LINES:,} lines")):
            slow: dict[str, list[Frames]] = {}
            free: dict[str, list[Frames]] = {}
            for on in servers * given.rounds:
                slow.setdefault(on.name, []).append(measure(browser, on, given.slowed))
                free.setdefault(on.name, []).append(measure(browser, on, 1))
            rows += [smoothness(name, what, slow[name], free[name]) for name in slow]
        print(table(head, rows))
        browser.close()


if __name__ == "__main__":
    main()

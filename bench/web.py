"""The web app in a browser: first loads, a drag over 1,000 cards, a long console, a replay.

    uv run --group dev python -m bench.web

Sizes are bytes on the wire with an empty cache, headers included, as the browser counts them. Times run from the start
of the navigation. Processor time is that of the page's main thread without throttling; times and frames are measured
with the processor throttled by `--slowed`, and are more reliable the less else the machine does. `--tree` measures
another checkout in the same rounds.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.browser import CARDS, LINES, WINDOW, QuietTab, Tab, Target, launch_targets
from bench.frames import Frames, drag, scroll, summarize
from bench.machine import describe_machine, format_table
from tests.e2e.support.browser import ARGUMENTS, find_chromium
from tests.support.server import find_free_port

# Clicks the first card when it is drawn. The board is usable once that opens the ticket.
CLICK_THE_FIRST_CARD = """() => {
  const look = () => {
    const card = document.querySelector('[data-ticket]');
    if (!card || card.getBoundingClientRect().height === 0) return requestAnimationFrame(look);
    setTimeout(() => {
      card.click();
      if (location.pathname.startsWith('/tickets/')) alert(performance.now());
    });
  };
  look();
}"""
# Notes when each appears on the page; looks once per frame.
WATCH_TEXT_AND_CAPTURE = """() => {
  window.seen = {};
  const look = () => {
    const now = performance.now();
    if (document.body?.innerText.includes('The cart stays empty')) window.seen.text ??= now;
    if (document.querySelector('[aria-label=Capture] [role=tab]')) {
      window.seen.capture = now;
      alert(JSON.stringify(window.seen));
    } else requestAnimationFrame(look);
  };
  look();
}"""

# Looks once per frame. The replay is drawn with the frame after the one in which the recorded page has a size.
OPEN_REPLAY = """() => new Promise((done) => {
  const began = performance.now();
  const look = () => {
    const player = document.querySelector("iframe[title='Recorded page'].ready");
    const heading = player?.contentDocument?.querySelector('iframe')?.contentDocument?.querySelector('h1');
    if (!heading || heading.getBoundingClientRect().height === 0) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  [...document.querySelectorAll('[role=tab]')].find((each) => each.textContent.trim() === 'Replay').click();
  look();
})"""


def measure_first_load(browser: Browser, target: Target, name: str, path: str) -> list[object]:
    """Measure the first load of a page; return a row of the table."""
    with Tab(browser, target) as tab:
        tab.open(path)
        cpu = tab.cpu_ms()
        repeated = [request for request, times in tab.requests.items() if times > 1]
        code = tab.kinds["Script"] + tab.kinds["Stylesheet"] + tab.kinds["Document"]
        api = tab.kinds["Fetch"] + tab.kinds["XHR"]
        other = sum(tab.kinds.values()) - code - api
        requests = sum(tab.requests.values())
        style = cpu["Layout"] + cpu["RecalcStyle"]
        sizes = [code / 1000, api / 1000, other / 1000]
        return [target.name, name, requests, ", ".join(repeated) or "none", *sizes, cpu["Task"], cpu["Script"], style]


def measure_times(browser: Browser, port: int, target: Target, slowed: int) -> dict[str, float]:
    """Measure when parts of the app are usable, in ms, on a throttled processor."""
    with QuietTab(browser, port, target, CLICK_THE_FIRST_CARD, slowed) as tab:
        usable = tab.load(f"/projects/{target.project}")
    with QuietTab(browser, port, target, WATCH_TEXT_AND_CAPTURE, slowed) as tab:
        seen = tab.load(f"/tickets/{target.ticket}")
    return {
        "board: a click on a card opens it": usable,
        "ticket: its text appears": seen["text"],
        "ticket: its capture appears": seen["capture"],
    }


def measure_replay(browser: Browser, target: Target, slowed: int = 1) -> tuple[float, float]:
    """Open the replay of a capture whose screenshot is shown; return milliseconds, and those of the main thread."""
    with Tab(browser, target) as tab:
        tab.open(f"/tickets/{target.replay}")
        tab.slow_down(slowed)
        before = tab.cpu_ms()["Task"]
        waited = float(tab.page.evaluate(OPEN_REPLAY))
        return waited, tab.cpu_ms()["Task"] - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slowed", type=int, default=4, help="factor to throttle the processor by")
    parser.add_argument("--tree", type=Path, action="append", default=[], help="also measure this checkout")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        launch_targets(Path(folder), options.tree) as servers,
        sync_playwright() as playwright,
    ):
        port = find_free_port()
        arguments = [*ARGUMENTS, "--no-sandbox", f"--remote-debugging-port={port}"]
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        print(f"{describe_machine()}\nChromium {browser.version}, window {WINDOW['width']} × {WINDOW['height']}\n")
        head = ("tree", "first load", "requests", "repeated requests", "page, code and styles kB", "API kB", "other kB",
                "CPU ms", "script", "style and layout")  # fmt: skip
        loads = [(target, "board", f"/projects/{target.project}") for target in servers]
        loads += [(target, "ticket with a capture", f"/tickets/{target.ticket}") for target in servers]
        print(format_table(head, [measure_first_load(browser, *load) for load in loads]) + "\n")
        durations: dict[tuple[str, str], list[float]] = {}
        for target in servers * options.rounds:
            for what, ms in measure_times(browser, port, target, options.slowed).items():
                durations.setdefault((target.name, what), []).append(ms)
        head = ("tree", f"ms, {options.slowed} × slowed", "median", "best", "worst")
        print(
            format_table(head, [[*of, statistics.median(ms), min(ms), max(ms)] for of, ms in durations.items()]) + "\n"
        )
        head = ("tree", "replay of 30 s, from the click to the first frame", "ms", "main thread ms")
        opened: list[list[object]] = []
        for factor in (1, options.slowed):
            found: dict[str, list[tuple[float, float]]] = {}
            for target in servers * options.rounds:
                found.setdefault(target.name, []).append(measure_replay(browser, target, factor))
            for name, measured in found.items():
                opened.append([name, f"{factor} × slowed", *map(statistics.median, zip(*measured, strict=True))])
        print(format_table(head, opened) + "\n")
        head = ("tree", f"{options.slowed} × slowed", "frames/s", "fewest in 1 s", "frame p99 ms", "longest ms",
                "% below 30/s", "slow frames per round", "main thread ms, not slowed")  # fmt: skip
        rows: list[list[object]] = []
        for measure, what in ((drag, f"drag over {CARDS:,} cards"), (scroll, f"scroll through {LINES:,} lines")):
            slow: dict[str, list[Frames]] = {}
            free: dict[str, list[Frames]] = {}
            for target in servers * options.rounds:
                slow.setdefault(target.name, []).append(measure(browser, target, options.slowed))
                free.setdefault(target.name, []).append(measure(browser, target, 1))
            rows += [summarize(name, what, slow[name], free[name]) for name in slow]
        print(format_table(head, rows))
        browser.close()


if __name__ == "__main__":
    main()

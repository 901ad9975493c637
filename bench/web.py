"""The web app in a real browser: first loads, a drag over 1,000 cards, a long console: `uv run python -m bench.web`.

Sizes are bytes on the wire from an empty cache, heads included, as the browser counts them. Times run from the start
of the navigation. Processor time is that of the page's main thread, without slowing; times and frames are taken with
the processor slowed by `--slowed`, which says more the less else the machine does.
"""

import argparse
import contextlib
import itertools
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from bench.machine import describe, percentile, table
from bench.seed import PASSWORD, seed
from bench.serving import ticketbox
from bench.uploads import screenshot, streams
from tests.e2e.browser import ARGUMENTS, find_chromium

WINDOW = {"width": 1280, "height": 800}
CARDS = 1_000
LINES = 5_000
SMOOTH_MS = 1000 / 30
QUIET_S = 0.5

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
RECORD_FRAMES = """() => {
  window.frames_ = [];
  const note = (now) => { window.frames_.push(now); window.recording = requestAnimationFrame(note); };
  note(performance.now());
}"""
TAKE_FRAMES = "() => { cancelAnimationFrame(window.recording); return window.frames_; }"
SCROLL_LANES = """() => {
  for (const more of document.querySelectorAll('.more')) more.parentElement.scrollTop = 1e9;
  return document.querySelectorAll('[data-ticket]').length;
}"""


class Prepared(NamedTuple):
    """What is on the server that is measured."""

    url: str
    session: str
    project: str
    ticket: str


class Tab:
    """A page in a fresh profile, and what its network and its processor time came to."""

    def __init__(self, browser: Browser, prepared: Prepared, script: str | None = None, slowed: int = 1) -> None:
        self._context = browser.new_context(viewport=WINDOW)  # type: ignore[arg-type]
        self._context.add_cookies([{"name": "ticketbox", "value": prepared.session, "url": prepared.url}])
        self.page: Page = self._context.new_page()
        self.url = prepared.url
        self.asked: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._types: dict[str, str] = {}
        self._cdp: Any = self._context.new_cdp_session(self.page)
        self._cdp.send("Network.enable")
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._cdp.on("Network.requestWillBeSent", self._sent)
        self._cdp.on("Network.loadingFinished", self._loaded)
        self.slow_down(slowed)
        if script:
            self.page.add_init_script(f"({script})()")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def slow_down(self, factor: int) -> None:
        """Give the page's main thread less of the processor from now on."""
        self._cdp.send("Emulation.setCPUThrottlingRate", {"rate": factor})

    def open(self, path: str) -> None:
        """Load an address of the app, and wait until the network has been quiet for a moment."""
        self.page.goto(self.url + path)
        before = -1
        while before != (before := sum(self.kinds.values())):
            self.page.wait_for_timeout(QUIET_S * 1000)

    def cpu_ms(self) -> dict[str, float]:
        """Processor time of the main thread so far."""
        figures = {each["name"]: each["value"] for each in self._cdp.send("Performance.getMetrics")["metrics"]}
        return {name: figures[f"{name}Duration"] * 1000 for name in ("Task", "Script", "Layout", "RecalcStyle")}

    def _sent(self, event: dict[str, Any]) -> None:
        self.asked[f"{event['request']['method']} {event['request']['url'].removeprefix(self.url)}"] += 1
        self._types[event["requestId"]] = event["type"]

    def _loaded(self, event: dict[str, Any]) -> None:
        self.kinds[self._types.get(event["requestId"], "Other")] += int(event["encodedDataLength"])


@contextlib.contextmanager
def prepared(folder: Path) -> Generator[Prepared]:
    """A server on a fresh file: a project with 1,000 tickets in its three columns, and one with a long capture."""
    seeded = seed(folder / "web.db", 20)
    with ticketbox(seeded.db) as server, httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:

        def ask(method: str, path: str, **given: Any) -> Any:
            answer = client.request(method, path, **given)
            if answer.is_error:
                raise RuntimeError(f"{method} {path}: {answer.text[:500]}")
            return answer.json()

        ask("POST", "/session", json={"email": "bench@example.org", "password": PASSWORD})
        member = {"Authorization": f"Bearer {seeded.token}"}
        company = ask("GET", "/companies")["items"][0]["id"]
        project = ask("POST", f"/companies/{company}/projects", json={"name": "Shop"})["id"]
        columns = [each["id"] for each in ask("GET", f"/projects/{project}/columns")["items"]]
        labels = ["checkout", "cart", "login"]

        def make(number: int) -> None:
            title = f"Ticket {number}: the cart stays empty after the coupon was used on a phone"
            body = {
                "column_id": columns[number % 3],
                "title": title[: 40 + number % 40],
                "labels": labels[: number % 4],
            }
            ask("POST", "/tickets", json=body, headers=member)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make, range(CARDS)))
        entries = {name: json.loads(text)[:LINES] for name, text in streams(5_000_000).items()}
        healthy = {name: {"status": "ok"} for name in entries}
        facts = {
            "id": "bench-web-capture", "column_id": columns[2], "captured_at": time.time() * 1000, "health": healthy,
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
        }  # fmt: skip
        parts = {name: (None, json.dumps(told)) for name, told in {"capture": facts, **entries}.items()}
        parts["screenshot"] = ("shot.png", screenshot(300_000))  # type: ignore[assignment]
        ticket = ask("POST", "/captures", files=parts, headers=member)["ticket_id"]
        ask("PATCH", f"/tickets/{ticket}", json={"description": "The cart stays empty."}, headers={"If-Match": "*"})
        yield Prepared(server.url, client.cookies["ticketbox"], project, ticket)


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
        return [name, asked, ", ".join(twice) or "none", *sizes, cpu["Task"], cpu["Script"], style]


def times(browser: Browser, on: Prepared, slowed: int, rounds: int) -> list[list[object]]:
    """How long until something is there, on a slowed processor."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        with Tab(browser, on, CLICK_THE_FIRST_CARD, slowed) as tab:
            tab.page.goto(f"{on.url}/projects/{on.project}")
            usable = tab.page.wait_for_function("() => window.usable", timeout=60_000).json_value()
            found.setdefault("board: a card answers to a click", []).append(usable)
        with Tab(browser, on, NOTE_TEXT_AND_CAPTURE, slowed) as tab:
            tab.page.goto(f"{on.url}/tickets/{on.ticket}")
            tab.page.wait_for_function("() => window.seen.capture", timeout=60_000)
            seen = tab.page.evaluate("() => window.seen")
            found.setdefault("ticket: its text is there", []).append(seen["text"])
            found.setdefault("ticket: its capture is there", []).append(seen["capture"])
    return [[what, statistics.median(took), min(took), max(took)] for what, took in found.items()]


def drag(browser: Browser, on: Prepared, slowed: int) -> list[object]:
    """Carry a card across three columns that hold 1,000 cards, up and down in each."""
    with Tab(browser, on) as tab:
        tab.open(f"/projects/{on.project}")
        while tab.page.evaluate(SCROLL_LANES) <= CARDS and tab.page.locator(".more").count():
            tab.page.wait_for_timeout(100)
        cards = tab.page.locator("[data-ticket]").count()
        tab.page.evaluate("() => document.querySelectorAll('.scroll').forEach((lane) => (lane.scrollTop = 4000))")
        lanes = [box for lane in tab.page.locator(".lane").all() if (box := lane.bounding_box())]
        tab.page.wait_for_timeout(500)
        tab.slow_down(slowed)
        mouse = tab.page.mouse
        mouse.move(lanes[0]["x"] + 100, 400)
        mouse.down()
        mouse.move(lanes[0]["x"] + 110, 410, steps=4)
        moves = 0

        def carry() -> None:
            nonlocal moves
            for lane in [*lanes, *reversed(lanes)]:
                for y in (250, 600, 400):
                    mouse.move(lane["x"] + 120, y, steps=20)
                    moves += 20

        row = _smoothness(tab, f"drag over {cards:,} cards", carry)
        mouse.up()
        return [*row, moves]


def scroll(browser: Browser, on: Prepared, slowed: int) -> list[object]:
    """Go through the whole console with the wheel."""
    with Tab(browser, on) as tab:
        tab.page.goto(f"{on.url}/tickets/{on.ticket}/console")
        region = tab.page.get_by_role("region", name="Console lines")
        region.wait_for(timeout=60_000)
        tab.open(f"/tickets/{on.ticket}/console")
        height = region.evaluate("element => element.scrollHeight")
        tab.slow_down(slowed)
        region.scroll_into_view_if_needed()
        region.hover()
        turns = 150

        def turn() -> None:
            for _ in range(turns):
                tab.page.mouse.wheel(0, height / turns)

        return [*_smoothness(tab, f"scroll through {height / 28:,.0f} lines", turn), turns]


def _smoothness(tab: Tab, name: str, act: Any) -> list[object]:
    before = tab.cpu_ms()
    tab.page.evaluate(RECORD_FRAMES)
    act()
    at: list[float] = tab.page.evaluate(TAKE_FRAMES)
    after = tab.cpu_ms()
    gaps = [late - early for early, late in itertools.pairwise(at)]
    slow = sum(gap > SMOOTH_MS + 1 for gap in gaps) / len(gaps)
    busy = (after["Task"] - before["Task"]) / (at[-1] - at[0])
    return [name, len(gaps) / (at[-1] - at[0]) * 1000, percentile(gaps, 0.99), max(gaps), slow * 100, busy * 100]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slowed", type=int, default=4, help="how many times slower the processor is made")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, prepared(Path(folder)) as on, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS, "--no-sandbox"])
        print(f"{describe()}\nChromium {browser.version}, window {WINDOW['width']} × {WINDOW['height']}\n")
        pages = {"board": f"/projects/{on.project}", "ticket with a capture": f"/tickets/{on.ticket}"}
        head = ("first load", "requests", "asked twice", "page, code and styles kB", "answers kB", "else kB",
                "CPU ms", "script", "style and layout")  # fmt: skip
        print(table(head, [first_load(browser, on, name, path) for name, path in pages.items()]) + "\n")
        rows = times(browser, on, given.slowed, given.rounds)
        print(table((f"ms, {given.slowed} × slowed", "median", "best", "worst"), rows) + "\n")
        head = (f"{given.slowed} × slowed", "frames/s", "frame p99 ms", "longest ms", "% below 30/s",
                "main thread busy %", "steps")  # fmt: skip
        print(table(head, [measure(browser, on, given.slowed) for measure in (drag, scroll)]))
        browser.close()


if __name__ == "__main__":
    main()

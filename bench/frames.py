"""Frame rates of the web app: a drag over 1,000 cards, and a scroll through a long console."""

import contextlib
import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Generator
from typing import NamedTuple

from playwright.sync_api import Browser

from bench.browser import QUIET_S, Tab, Target
from bench.machine import percentile

TURNS = 150
SMOOTH_MS = 1000 / 30

RECORD_FRAMES = """() => {
  window.frames_ = [];
  const note = (now) => { window.frames_.push(now); window.recording = requestAnimationFrame(note); };
  note(performance.now());
}"""
TAKE_FRAMES = "() => { cancelAnimationFrame(window.recording); return window.frames_; }"
SCROLL_LANES = """() => {
  for (const more of document.querySelectorAll('.more')) more.parentElement.scrollTop = 1e9;
  return document.querySelectorAll('.more').length;
}"""


class Frames(NamedTuple):
    """The times at which frames were drawn and parts of the action began, and the main thread's time, in ms."""

    at: list[float]
    parts: list[tuple[str, float]]
    busy_ms: float

    @property
    def gaps(self) -> list[float]:
        """The duration of each frame."""
        return [late - early for early, late in itertools.pairwise(self.at)]

    @property
    def mean(self) -> float:
        """The mean of frames per second."""
        return len(self.gaps) / (self.at[-1] - self.at[0]) * 1000

    @property
    def least(self) -> int:
        """The fewest frames within one second."""
        ends = [now for now in self.at if now - 1000 >= self.at[0]]
        return min((sum(end - 1000 < now <= end for now in self.at) for end in ends), default=round(self.mean))

    def count_slow(self) -> Counter[str]:
        """Count the frames that took longer than 33 ms, by the part in which they ended."""
        late = [end for end, gap in zip(self.at[1:], self.gaps, strict=True) if gap > SMOOTH_MS + 1]
        return Counter(next(name for name, begun in reversed(self.parts) if begun <= end) for end in late)


@contextlib.contextmanager
def record_frames(tab: Tab, recordings: list[Frames]) -> Generator[Callable[[str], None]]:
    """Record the frames of the block, which calls the yielded function when a part begins."""
    parts: list[tuple[str, float]] = []
    before = tab.cpu_ms()["Task"]
    tab.page.evaluate(RECORD_FRAMES)
    yield lambda name: parts.append((name, tab.page.evaluate("() => performance.now()")))
    at: list[float] = tab.page.evaluate(TAKE_FRAMES)
    recordings.append(Frames([each for each in at if each >= parts[0][1]], parts, tab.cpu_ms()["Task"] - before))


def drag(browser: Browser, target: Target, slowed: int) -> Frames:
    """Drag a card across three columns with 1,000 cards, up and down in each, as fast as the page follows."""
    recordings: list[Frames] = []
    with Tab(browser, target) as tab:
        tab.open(f"/projects/{target.project}")
        tab.page.locator("[data-ticket]").first.wait_for()
        while tab.page.evaluate(SCROLL_LANES):
            tab.page.wait_for_timeout(100)
        tab.page.evaluate("() => document.querySelectorAll('.scroll').forEach((lane) => (lane.scrollTop = 4000))")
        lanes = [box for lane in tab.page.locator(".lane").all() if (box := lane.bounding_box())]
        tab.page.wait_for_timeout(500)
        tab.slow_down(slowed)
        mouse = tab.page.mouse
        mouse.move(lanes[0]["x"] + 100, 400)
        tab.page.locator("li[draggable=true]").first.wait_for()
        with record_frames(tab, recordings) as begin:
            begin("pick-up")
            mouse.down()
            mouse.move(lanes[0]["x"] + 110, 410, steps=4)
            begin("over")
            for lane in [*lanes, *reversed(lanes)]:
                for y in (250, 600, 400):
                    mouse.move(lane["x"] + 120, y, steps=20)
            begin("drop")
            mouse.up()
            tab.page.wait_for_timeout(QUIET_S * 1000)
    return recordings[0]


def scroll(browser: Browser, target: Target, slowed: int) -> Frames:
    """Scroll through the whole console with the wheel."""
    recordings: list[Frames] = []
    with Tab(browser, target) as tab:
        tab.page.goto(f"{target.url}/tickets/{target.ticket}/console")
        region = tab.page.get_by_role("region", name="Console lines")
        region.wait_for(timeout=60_000)
        tab.open(f"/tickets/{target.ticket}/console")
        height = region.evaluate("element => element.scrollHeight")
        tab.slow_down(slowed)
        region.scroll_into_view_if_needed()
        region.hover()
        with record_frames(tab, recordings) as begin:
            begin("scroll")
            for _ in range(TURNS):
                tab.page.mouse.wheel(0, height / TURNS)
    return recordings[0]


def summarize(name: str, what: str, slowed: list[Frames], free: list[Frames]) -> list[object]:
    """Return a row of the table: the median of several rounds, or the worst of them."""
    gaps = [gap for each in slowed for gap in each.gaps]
    slow = sum((each.count_slow() for each in slowed), Counter[str]())
    return [
        name,
        what,
        statistics.median(each.mean for each in slowed),
        min(each.least for each in slowed),
        percentile(gaps, 0.99),
        max(gaps),
        100 * slow.total() / len(gaps),
        ", ".join(f"{count / len(slowed):.1f} {part}" for part, count in slow.items()) or "none",
        statistics.median(each.busy_ms for each in free),
    ]

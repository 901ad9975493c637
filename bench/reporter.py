"""The cost of the embedded reporter to a page: `uv run --group dev python -m bench.reporter`, about six minutes.

The three applications of `bench.reproduce` run alternately without and with the reporter, whose panel stays closed. A
person clicks and types without a pause; each action asks the application's API and renders. Then the page rests. The
figures are the processor time of the page's main thread, as the DevTools protocol counts its tasks (`TaskDuration`, in
thread ticks), which other work on the machine hardly changes. The protocol is attached, which makes each recorded stack
cost more than it does for a user. Needs npm.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from bench.machine import describe_machine, format_table
from bench.reproduce.api import Api
from bench.reproduce.apps import NpmMissingError, build_apps
from bench.reproduce.server import serve_app
from tests.e2e.support.browser import find_shell
from ticketbox.http.reporters.embedded_scripts import SCRIPTS

ELEMENT = '<script src="/reporter.js" data-key="pub_bench"></script>'
BUTTONS = {
    "plain": ["Show all", "Call printer", "Show dates", "Comments of Pay rent"],
    "react": ["Reverse", "Show Oak table", "Close details", "Apply coupon"],
    "vue": ["Ida Holm", "Sort by name", "Olu Adeyemi", "Show status"],
}
FIELDS = {"plain": "Title", "react": "Search", "vue": "Name"}
RESTED_S = 5


class Cost(NamedTuple):
    """Milliseconds of the main thread: to load, for an action, and for a second of rest; and actions a second."""

    load: float
    action: float
    rest: float
    pace: float


def embed_reporter(folder: Path, target: Path) -> Path:
    """Copy an application, and put the reporter into its page as the first script."""
    shutil.copytree(folder, target)
    page = target / "index.html"
    before, charset, after = page.read_text(encoding="utf-8").partition('<meta charset="utf-8">')
    page.write_text(f"{before}{charset}\n{ELEMENT}{after}", encoding="utf-8")
    (target / "reporter.js").write_bytes((SCRIPTS / "reporter.js").read_bytes())
    return target


def measure(browser: Browser, app: str, folder: Path, rounds: int, *, embedded: bool) -> Cost:
    """Load an application in a new page, work in it, and let it rest."""
    page = browser.new_page()
    protocol = page.context.new_cdp_session(page)
    protocol.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read_task_ms() -> float:
        figures = {each["name"]: each["value"] for each in protocol.send("Performance.getMetrics")["metrics"]}
        return figures["TaskDuration"] * 1000

    with serve_app(folder, "", Api()) as address:
        page.goto(address, wait_until="networkidle")
        load = read_task_ms()
        assert page.locator("ticketbox-reporter").count() == embedded
        work(page, app, 1)
        before, began = read_task_ms(), time.perf_counter()
        actions = work(page, app, rounds)
        action, seconds = (read_task_ms() - before) / actions, time.perf_counter() - began
        page.wait_for_timeout(1000)
        before = read_task_ms()
        page.wait_for_timeout(RESTED_S * 1000)
        rest = (read_task_ms() - before) / RESTED_S
        page.close()
    return Cost(load, action, rest, actions / seconds)


def work(page: Page, app: str, rounds: int) -> int:
    """Click and type; return the number of actions."""
    actions = 0
    for _ in range(rounds):
        for name in BUTTONS[app]:
            page.get_by_role("button", name=name, exact=True).click()
        field = page.get_by_role("textbox", name=FIELDS[app], exact=True)
        for text in ("lamp", ""):
            field.fill(text)
        actions += len(BUTTONS[app]) + 2
    return actions


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only these applications")
    parser.add_argument("--pages", type=int, default=8, help="pages of each application and variant")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of six actions in a page")
    parser.add_argument("--apps", type=Path, help="keep the built applications in this folder")
    options = parser.parse_args()
    shell = find_shell()
    if shell is None:
        sys.exit("skipped: this needs Chromium or Chrome on the PATH")
    print(describe_machine(), flush=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        try:
            plain = build_apps(options.apps or Path(temporary) / "apps")
        except NpmMissingError as error:
            sys.exit(f"skipped: {error}")
        embedded = {app: embed_reporter(folder, Path(temporary) / app) for app, folder in plain.items()}
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=shell, args=arguments)
        rows = [compare(browser, app, plain[app], embedded[app], options) for app in options.names or plain]
        browser.close()
    head = ["app", "load ms", "with", "actions/s", "ms per action", "with", "±", "share of the main thread",
            "rest ms/s", "with"]  # fmt: skip
    print(format_table(head, rows))


def compare(browser: Browser, app: str, plain: Path, embedded: Path, options: argparse.Namespace) -> list[object]:
    """Measure an application alternately without and with the reporter; return a row of the table."""
    pairs: list[tuple[Cost, Cost]] = []
    for number in range(options.pages + 1):
        order = (False, True) if number % 2 else (True, False)
        costs = {
            each: measure(browser, app, embedded if each else plain, options.rounds, embedded=each) for each in order
        }
        if number > 0:  # the first pair fills the browser's caches
            pairs.append((costs[False], costs[True]))
    without, recorded = (Cost(*(statistics.median(each) for each in zip(*variant, strict=True)))
                         for variant in zip(*pairs, strict=True))  # fmt: skip
    more = [second.action - first.action for first, second in pairs]
    error = statistics.stdev(more) / len(more) ** 0.5
    share = statistics.median(more) * without.pace / 1000
    return [app, f"{without.load:.0f}", f"{recorded.load:.0f}", f"{without.pace:.1f}", f"{without.action:.2f}",
            f"{recorded.action:.2f}", f"{error:.2f}", f"{share * 100:+.2f} %", f"{without.rest:.2f}",
            f"{recorded.rest:.2f}"]  # fmt: skip


if __name__ == "__main__":
    main()

"""What captures of real sites hold, and what the recorder costs them: `uv run --group dev python -m bench.real_sites`.

Installs ten applications that nobody here wrote from PyPI and npm, serves each on loopback, and walks through it in
Chromium with the extension: half a minute of clicks on one page, and a walk over four pages. The captures are compared
with what the DevTools protocol reported. The same walk without recording says what the recorder
costs, whether it breaks anything, and whether the recorded steps name their elements.
"""

import argparse
import statistics
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, format_table
from bench.real_sites.comparison import Share, compare, find_clicked_targets
from bench.real_sites.npm_sites import SITES as NPM_SITES
from bench.real_sites.python_sites import SITES as PYTHON_SITES
from bench.real_sites.site import Site
from bench.real_sites.visits import Visit, Visitor
from tests.e2e.support.browser import find_chromium
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.e2e.support.reported_ticket import ReportedTicket
from tests.support.server import World, ok, run_server
from ticketbox.domain.core.packed_content import pack_content
from ticketbox.http.extension_zip import EXTENSION

SITES = [*NPM_SITES, *PYTHON_SITES]
STREAMS = ("requests", "outcomes", "lines", "errors", "clicks", "navigations")


def _set_recording(browser: ExtensionBrowser, *, is_on: bool) -> None:
    async def work() -> None:
        if is_on:
            await browser.record_all_sites()
            return
        options = await browser.open_options()
        await options.get_by_role("button", name="Stop recording").click()
        await options.get_by_role("button", name="Record all sites").wait_for()
        await options.close()

    browser.run(work())


class Result:
    """The rows of the two tables for a site."""

    def __init__(self, site: Site, tickets: dict[str, ReportedTicket], visits: dict[str, Visit], world: World) -> None:
        self.shares = {
            name: compare(ticket.streams, visits[name].devtools, len(visits[name].clicks))
            for name, ticket in tickets.items()
        }
        self.name, self._visits = site.name, visits
        self.locators = [found for name in ("again", "moves again") for found in visits[name].found]
        capture = tickets["page"].capture
        self.health = {name: tickets[name].capture["health"] for name in tickets}
        path = f"/captures/{capture['id']}/replay"
        stored = world.api.get(path)
        # as the server stores it
        self.replay_kb = len(pack_content(stored.content, compress=True).data) / 1000 if stored.is_success else 0.0
        frames = ok(world.api.get(f"{path}/frames"))["items"] if stored.is_success else []
        self.frames = [len(world.api.get(f"{path}/frame", params={"at": each["at"]}).content) / 1000 for each in frames]

    def coverage_rows(self) -> list[list[object]]:
        """The captured and reported entries, within a page and across pages."""
        rows: list[list[object]] = []
        for name, shares in self.shares.items():
            health = self.health[name]
            reasons = [f"{part}: {each['reason']}" for part, each in health.items() if _has_reason(each)]
            cells = [f"{shares[each].captured} of {shares[each].reported}" for each in STREAMS]
            rows.append(
                [self.name if name == "page" else "", "1" if name == "page" else "4", *cells, ", ".join(reasons)]
            )
        return rows

    def list_errors(self, *names: str) -> set[str]:
        """The errors of visits, without their stacks, in which recording shows."""
        errors = [text for name in names for _, text in self._visits[name].devtools.errors.values()]
        return {text.partition("\n")[0] for text in errors}

    def measure_cost(self) -> tuple[float, float]:
        """What the recorder adds to the page's main thread, busy and at rest, in percent of the time."""
        recorded, plain = self._visits["page"].cost, self._visits["plain"].cost
        assert recorded is not None
        assert plain is not None
        added = (recorded.round_ms - plain.round_ms) * recorded.rounds_per_second
        return added / 10, (recorded.rest_ms - plain.rest_ms) / 10

    def cost_row(self) -> list[object]:
        """What the recorder costs."""
        recorded = self._visits["page"].cost
        assert recorded is not None
        busy, rest = self.measure_cost()
        right = sum(each.is_right for each in self.locators)
        health = self.health["page"]
        replay = f"{self.replay_kb:.0f}" if self.replay_kb else _name_reason(health.get("replay"))
        frames = f"{len(self.frames)}, {max(self.frames):.0f}" if self.frames else _name_reason(health.get("frames"))
        return [
            self.name, f"{recorded.rounds_per_second * recorded.round_ms / 10:.1f} %", f"{busy:+.1f} %",
            f"{rest:+.2f} %", replay, frames, f"{self._visits['page'].popup_ms:.0f}",
            f"{right} of {len(self.locators)}",
        ]  # fmt: skip


def _has_reason(part: object) -> bool:
    return isinstance(part, dict) and bool(part.get("reason"))


def _name_reason(part: dict[str, Any] | None) -> str:
    """Say why something is missing."""
    return f"none: {part['reason'] or part['status']}" if part else "none"


def measure(site: Site, folder: Path, world: World, browser: ExtensionBrowser, seconds: float, rest: float) -> Result:
    """Install, serve and visit a site. Raises what the site's tools raise."""
    folder.mkdir(parents=True, exist_ok=True)
    start = site.install(folder)
    with start() as server:
        _set_recording(browser, is_on=True)
        visitor = Visitor(browser, site, server.url, reports=True)
        moves = visitor.move()  # first: all later visits find warm caches
        visits = {"page": visitor.work(seconds, rest), "moves": moves}
        tickets = {name: ReportedTicket(world, visit.ticket or "") for name, visit in visits.items()}
        _set_recording(browser, is_on=False)
        targets = {name: find_clicked_targets(ticket.streams, visits[name].clicks) for name, ticket in tickets.items()}
        visitor = Visitor(browser, site, server.url, reports=False)
        visits["plain"] = visitor.work(seconds, rest)
        visits["again"] = visitor.work(seconds / 3, 1, targets["page"])
        visits["moves again"] = visitor.move(targets["moves"])
    return Result(site, tickets, visits, world)


def _print_missing(result: Result) -> None:
    for name, shares in result.shares.items():
        for stream, share in shares.items():
            for text in sorted(set(share.missing))[:8]:
                print(f"  {result.name}, {name}: {stream}: {share.missing.count(text)} x {text}")
    for found in {each for each in result.locators if not each.is_right}:
        print(f"  {result.name}: locator {found.selector} finds {found.matches}")
    for text in result.list_errors("page", "moves") - result.list_errors("plain", "moves again"):
        print(f"  {result.name}: an error only while recording: {text[:200]}")


def _total(results: list[Result], name: str, stream: str) -> str:
    shares: list[Share] = [result.shares[name][stream] for result in results]
    captured, reported = sum(each.captured for each in shares), sum(each.reported for each in shares)
    return f"{captured / reported * 100:.1f} %" if reported else "-"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", nargs="*", default=[site.name for site in SITES], help="by default all")
    parser.add_argument("--seconds", type=float, default=30, help="of clicks on one page")
    parser.add_argument("--rest", type=float, default=10, help="seconds without clicks")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ticketbox-real-sites")
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    executable = find_chromium()
    assert executable is not None, "Chromium isn't on the PATH"
    results: list[Result] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, run_server(Path(name)) as box:
        world, archive = World(box, "Rita"), (EXTENSION / "chromium.zip").read_bytes()
        with ExtensionBrowser(executable, archive, Path(name)) as browser:
            browser.run(browser.connect_with_token(box.url, world.owner.token("tickets:write")))
            for site in SITES:
                if site.name not in options.sites:
                    continue
                try:
                    result = measure(site, options.folder / site.name, world, browser, options.seconds, options.rest)
                except Exception:
                    print(f"{site.name} failed: {traceback.format_exc()}", flush=True)
                    with suppress(Exception):
                        _set_recording(browser, is_on=False)
                    continue
                results.append(result)
                _print_missing(result)
                print(*result.coverage_rows(), result.cost_row(), sep="\n", flush=True)
    rows = [row for result in results for row in result.coverage_rows()]
    totals = [["all", pages, *[_total(results, name, each) for each in STREAMS], ""] for name, pages in (("page", "1"), ("moves", "4"))]  # fmt: skip # noqa: E501
    print(format_table(["site", "pages", *STREAMS, "health"], [*rows, *totals]))
    head = ["site", "busy", "recorder", "at rest", "replay kB", "key frames, kB", "popup ms", "locators"]
    print(format_table(head, [result.cost_row() for result in results]))
    if results:
        costs = [result.measure_cost() for result in results]
        busy, rest = (statistics.median(each) for each in zip(*costs, strict=True))
        replay = statistics.median(result.replay_kb for result in results)
        print(f"medians: recorder {busy:+.1f} %, at rest {rest:+.2f} %, replay {replay:.0f} kB")


if __name__ == "__main__":
    main()

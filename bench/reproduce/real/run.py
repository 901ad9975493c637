"""Captures the bugs of real applications with the extension, and verifies each on its broken and its fixed build."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Self

from bench.machine import describe_machine, format_table
from bench.reproduce.real.application import Application, Case, InstallError, install, start
from bench.reproduce.real.applications import APPLICATIONS
from bench.reproduce.real.proxy import Variants, serve_variants
from tests.e2e.support.browser import find_chromium, list_sandbox_options
from tests.e2e.support.extension_browser import ExtensionBrowser
from tests.support.server import World, find_free_port, ok, run_server
from ticketbox.http.extension_zip import EXTENSION

WALK_SECONDS, START_SECONDS = 90, 120
SETTLED_SECONDS = 1.5
RIGHT = ("reproduced", "gone")


class Row(NamedTuple):
    """What happened to a bug: the number of its steps, and the verdict and its reason on both builds."""

    application: str
    case: Case
    steps: int
    on_bug: str
    on_fix: str
    reason: str


def run_real(names: list[str], cache: Path, temporary: Path) -> None:
    """Capture and verify the bugs of all applications, or of the named ones, and print the table."""
    chromium = find_chromium()
    if chromium is None:
        sys.exit("skipped: this needs Chromium or Chrome on the PATH")
    archive = (EXTENSION / "chromium.zip").read_bytes()
    rows: list[Row] = []
    with run_server(temporary) as box, ExtensionBrowser(chromium, archive, temporary / "browser") as browser:
        world = World(box)
        secret = world.owner.token("tickets:write")
        browser.run(browser.connect_with_token(box.url, secret))
        browser.run(browser.record_all_sites())
        for application in APPLICATIONS:
            cases = [each for each in application.cases if not names or {application.name, each.name} & {*names}]
            if not cases:
                continue
            try:
                with _Server(application, cache) as server:
                    for case in cases:
                        rows.append(_prove(browser, world, secret, server, case, cache / "captures"))
                        print(" | ".join(_format_row(rows[-1])), file=sys.stderr, flush=True)
            except InstallError as error:
                print(f"{application.name}: skipped: {error}", file=sys.stderr)
    print(describe_machine())
    print(
        format_table(["application", "bug", "steps", "on the bug", "on the fix", "why not"], [*map(_format_row, rows)])
    )
    print("; ".join(f"{count} {kind}" for kind, count in Counter(map(_name_result, rows)).most_common()))


class _Server:
    """A running application on a port. Raises InstallError."""

    def __init__(self, application: Application, cache: Path) -> None:
        self.application, self.port = application, find_free_port()
        self._folder = install(application, cache)

    def __enter__(self) -> Self:
        self._process = start(self.application, self._folder, self.port)
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"http://127.0.0.1:{self.port}{self.application.ready}"):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise InstallError(f"it doesn't start; see server.log in {self._folder}")
            time.sleep(0.2)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def refresh(self) -> None:
        """Start it again if runs change its state."""
        if self.application.fresh:
            self.__exit__()
            self.__enter__()


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def _prove(browser: ExtensionBrowser, world: World, secret: str, server: _Server, case: Case, folder: Path) -> Row:
    name = server.application.name
    broken: list[str] = []
    server.refresh()
    with serve_variants(server.port, case.fault, broken) as variants:
        try:
            key, cookies = browser.run(_capture(browser, variants.broken, case))
        except Exception as error:  # whatever a page does to Playwright
            return Row(name, case, 0, "not captured", "not captured", _shorten(error))
        if not broken:
            return Row(name, case, 0, "not captured", "not captured", "the fault didn't happen")
        capture = ok(world.api.get(f"/tickets/{key}"))["capture"]["id"]
        steps = ok(world.api.get(f"/captures/{capture}/actions"))["items"]
        _keep(world, capture, folder / name / case.name)
        options = ["--live"] if case.live else []
        if cookies:
            state = folder / name / case.name / "state.json"
            state.write_text(json.dumps({"cookies": cookies, "origins": []}))
            options += ["--storage-state", str(state)]
        server.refresh()
        on_bug, why = _verify(world, secret, key, variants, case, "reproduced", options)
        server.refresh()
        on_fix, why_not = _verify(world, secret, key, variants, case, "gone", options)
    reason = "; ".join(dict.fromkeys(filter(None, [why, why_not])))
    return Row(name, case, len(steps), on_bug, on_fix, reason)


async def _capture(browser: ExtensionBrowser, address: str, case: Case) -> tuple[str, list[Any]]:
    """Walk into a bug as a person does, and create a ticket; return its key, and the cookies from before."""
    browser.context.set_default_timeout(20_000)
    cookies: list[Any] = []
    try:
        if case.before:
            earlier = await browser.context.new_page()
            await earlier.goto(address + case.before[0])
            await case.before[1](earlier)
            await earlier.close()
            cookies = [*await browser.context.cookies(address)]
        page = await browser.context.new_page()
        await page.goto(address + case.start)
        async with asyncio.timeout(WALK_SECONDS):
            await case.walk(page)
        await asyncio.sleep(SETTLED_SECONDS)
        ticket = await browser.create_ticket(await browser.open_popup(page))
        key = ticket.url.rpartition("/")[2]
        await ticket.close()
        return key, cookies
    finally:
        for each in browser.context.pages:
            if each.url.startswith(address):
                await each.close()
        await browser.context.clear_cookies()


def _keep(world: World, capture: str, folder: Path) -> None:
    """Write the pack and the streams of a capture, to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(BytesIO(world.api.get(f"/captures/{capture}/reproduction").content)) as archive:
        archive.extractall(folder)
    for stream in ("console", "network", "errors", "actions"):
        folder.joinpath(f"{stream}.json").write_bytes(world.api.get(f"/captures/{capture}/{stream}?limit=100").content)


def _verify(
    world: World, secret: str, key: str, variants: Variants, case: Case, expected: str, options: list[str]
) -> tuple[str, str | None]:
    """Run `ticketbox verify` where it can know: a fault of the front end without a backend, others with it."""
    kinds = variants[2:] if case.fault.front else variants[:2]
    address = kinds[0 if expected == "reproduced" else 1]
    done = subprocess.run(
        [sys.executable, "-m", "ticketbox", "verify", key, "--base-url", address, "--rounds", "1", "--expect", expected,
         "--commit", "1" * 40 if expected == "reproduced" else "2" * 40, "--json", *list_sandbox_options(),
         *options],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "SERVICE_API_TOKEN": secret, "TICKETBOX_URL": world.box.url,
             "TICKETBOX_BROWSER": find_chromium() or ""},
    )  # fmt: skip
    try:
        outcome: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return "no verdict", _shorten(done.stderr)
    return outcome["verdict"].replace("_", " "), outcome["reason"]


def _name_result(row: Row) -> str:
    if (row.on_bug, row.on_fix) == RIGHT:
        return "right"
    if row.on_bug == "gone" or row.on_fix == "reproduced":
        return "wrong"
    return "not proved"


def _format_row(row: Row) -> list[str]:
    part = "" if row.case.fault.front else " (server)"
    return [row.application, row.case.name + part, str(row.steps), row.on_bug, row.on_fix, row.reason]


def _shorten(error: object) -> str:
    return " ".join(str(error).split())[:200]

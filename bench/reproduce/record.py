"""Records a bug with the extension's recorder, in a page of the buggy application."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request

from bench.reproduce.api import Api
from bench.reproduce.bugs import RACE, WAIT, Bug
from bench.reproduce.server import serve_app
from ticketbox.http.extension_zip import EXTENSION

Json = dict[str, Any]
STREAMS = ("console", "network", "errors", "actions")
SCRIPTS = ("enable-bodies.js", "recorder.js", "record-reader.js")
# what the extension answers its script: no project hides anything, and no replay is recorded
_ANSWER = "globalThis.chrome = { runtime: { sendMessage: async () => ({ seconds: 0, masks: [] }) } };"
SETTLED_MS = 1_300  # longer than the slowest answer
_PAUSE_MS = 50  # the shortest pause of a person


def record_bug(browser: Browser, folder: Path, bug: Bug) -> Json:
    """Run into a bug; return the parts of its capture, as the extension sends them."""
    with zipfile.ZipFile(io.BytesIO((EXTENSION / "chromium.zip").read_bytes())) as archive:
        recorder = "\n".join([_ANSWER, *(archive.read(name).decode() for name in SCRIPTS)])
    with serve_app(folder, bug.name, Api()) as address:
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.add_init_script(recorder)
        pending = _follow_requests(page)
        page.goto(address, wait_until="networkidle")
        for step in bug.steps:
            if bug.kind != RACE or step == WAIT:
                _wait_for_answers(page, pending)
            if step == WAIT:
                continue
            role, name, *text = step
            found = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
            if text:
                found.fill(text[0])
            else:
                found.click()
        page.wait_for_timeout(SETTLED_MS)
        picture = page.screenshot()
        report = page.evaluate("readTicketboxFrame()")
        page.close()
    if not all(each["target"] for each in report["record"]["actions"] if each["kind"] in ("click", "input")):
        raise RuntimeError(f"the recorder didn't record which elements {bug.name} uses")
    return _build_parts(report, picture)


def _follow_requests(page: Page) -> set[Request]:
    """Return the requests of a page that aren't answered yet; the set changes while events are processed."""
    pending = set[Request]()

    def end(request: Request) -> None:  # Playwright can't call a set's own methods
        pending.discard(request)

    def begin(request: Request) -> None:
        pending.add(request)

    page.on("request", begin)
    page.on("requestfinished", end)
    page.on("requestfailed", end)
    return pending


def _wait_for_answers(page: Page, pending: set[Request]) -> None:
    page.wait_for_timeout(_PAUSE_MS)
    while pending:
        page.wait_for_timeout(_PAUSE_MS)


def _build_parts(report: Json, picture: bytes) -> Json:
    record = report["record"]
    numbered = sorted(
        (entry for name in ("console", "errors", "actions") for entry in record[name]),
        key=lambda entry: (entry["ts"], entry["seq"]),
    )
    for number, entry in enumerate(numbered, 1):
        entry["seq"] = number
    for number, entry in enumerate(record["network"], 1):
        entry["id"] = f"r{number}"
    streams = {name: sorted(record[name], key=lambda entry: entry["ts"]) for name in STREAMS}
    health = {name: {"status": "ok", "captured": len(streams[name])} for name in STREAMS}
    envelope = {
        "page": report["page"],
        "environment": report["environment"],
        "captured_at": max([entry["ts"] for entries in streams.values() for entry in entries]) + SETTLED_MS,
        "health": health,
    }
    return {
        "capture": envelope,
        "screenshot": picture,
        **{name: json.dumps(entries).encode() for name, entries in streams.items()},
    }

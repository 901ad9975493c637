"""The reproduction pack of a capture: a test that repeats the steps against the recorded answers."""

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import takewhile
from pathlib import Path

import msgspec
from msgspec import UNSET

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, Level, NetworkEntry
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.har import encode_har
from ticketbox.domain.captures.records import Capture, Expectation
from ticketbox.domain.captures.redaction.redactor import redact_text
from ticketbox.domain.captures.reproduction import expected as expecting
from ticketbox.domain.captures.reproduction.bug import Bug, find_bug, find_failure
from ticketbox.domain.captures.reproduction.checks import Check, plan_checks
from ticketbox.domain.captures.reproduction.expected import ExpectedRun, StoredState, TimedStep
from ticketbox.domain.captures.reproduction.faults import find_faults, find_wrong_answers, needs_server
from ticketbox.domain.captures.reproduction.plan import Line, plan_steps
from ticketbox.domain.captures.reproduction.spec import write_spec
from ticketbox.domain.captures.steps import Step, build_steps
from ticketbox.domain.tickets.records import Failure

SPEC, EXPECTED, HAR, MESSAGES = "reproduce.spec.ts", "expected.json", "network.har", "messages.json"
# what recorded the page runs in the test too, so that both write the same failure in the same words
RECORDER = "recorder.js"
# the same for every capture
HELPERS = (
    "reproduction.js", "reproduction.d.ts", "acts.js", "answers.js", "boundary.js", "boxes.js", "checks.js", "clock.js",
    "elements.js", "failures.js", "observations.js", "reasons.js", "server.js", "sockets.js", "storage.js",
    "verdict.js", MESSAGES, RECORDER,
)  # fmt: skip
_RECORDER_HEAD = b"/* eslint-disable */\n// @ts-nocheck\n"
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the same capture always has the same pack
_README = """\
# {title}

A reproduction of {key}. It opens the application at `BASE_URL`, repeats the recorded steps, and serves the recorded
answers of the API, so that no backend is required. The test fails while the captured failure happens, and passes when
it is gone. It reaches nothing but the application.

```sh
npm install --save-dev @playwright/test && npx playwright install chromium
BASE_URL=http://localhost:3000 npx playwright test reproduce.spec.ts
```

{looks_for}{server}{missing}
"""


_SERVER = """
{who}, the server at `BASE_URL` answers the calls that failed, and those that depend on them. They are
sent to it, writes too.
"""


class PackFile(msgspec.Struct, frozen=True):
    """A file of a pack."""

    name: str
    data: bytes


class Recording(msgspec.Struct, frozen=True):
    """A capture with its streams and the texts of its ticket."""

    capture: Capture
    captured_at: int
    key: str
    title: str
    console: Sequence[ConsoleEntry]
    network: Sequence[NetworkEntry]
    errors: Sequence[ErrorEntry]
    actions: Sequence[ActionEntry]


def build_files(recording: Recording, version: str) -> list[PackFile]:
    """Build the files of a pack, most telling first. `version` is ticketbox's."""
    capture = recording.capture
    title = redact_text(recording.title)[0]
    steps = build_steps(recording.actions)
    confirmed = [each for each in capture.expectations if each.confirmed is not None]
    bug = _find_bug(recording, steps, confirmed)
    checks = plan_checks(confirmed)
    printed = (each for each in recording.console if each.level is Level.ERROR)
    failed = [each.ts for each in (*recording.errors, *printed)]
    planned = plan_steps(steps, capture.page.url, recording.network, failed)
    end = expecting.find_end(bug, confirmed, None)
    lines = list(takewhile(lambda line: end is None or line.step.ts <= end, planned)) or planned
    expected = _build_expected(recording, lines, bug, confirmed, checks)
    looked_for = [f"Fails if this happens again: {each}" for each in _list_failures(expected)]
    closing = [*_describe_later_steps(planned, lines), *(looked_for or ([] if checks else expected.missing[-1:]))]
    named = title if expected.is_empty or title != redact_text(capture.page.title)[0] else _name_bug(expected, lines)
    spec = write_spec(
        named,
        lines,
        capture.page.url,
        capture.environment,
        checks=checks,
        closing=closing,
    )
    archive = encode_har(capture.page, recording.captured_at, recording.network, version)
    return [
        PackFile(SPEC, spec.encode()),
        PackFile(EXPECTED, msgspec.json.format(msgspec.json.encode(expected), indent=2) + b"\n"),
        PackFile("README.md", _write_readme(title, recording.key, expected).encode()),
        *(PackFile(name, _read_helper(name)) for name in HELPERS),
        PackFile(HAR, archive),
    ]


def _find_bug(recording: Recording, steps: Sequence[Step], confirmed: Sequence[Expectation]) -> Bug | None:
    """Find the failure that is the bug; beside confirmed expectations, only one that a person chose."""
    chosen = recording.capture.bug
    streams = recording.console, recording.network, recording.errors
    if confirmed and not (chosen and chosen.chosen):
        return None
    return find_failure(streams, chosen) if chosen else find_bug(lambda: streams, steps, recording.capture.page.url)


@cache
def _read_helper(name: str) -> bytes:
    """Read a file that is the same for every capture; the recorder is that of the browser extension."""
    if name == MESSAGES:
        return Path(__file__).parent.with_name(name).read_bytes()
    if name != RECORDER:
        return Path(__file__).with_name(name).read_bytes()
    extension = resources.files("ticketbox") / "web_dist" / "extension" / "chromium.zip"
    with zipfile.ZipFile(io.BytesIO(extension.read_bytes())) as archive:
        return _RECORDER_HEAD + archive.read(name)


def compress_files(files: Sequence[PackFile]) -> bytes:
    """Build a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name, _FIRST_DATE), file.data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _build_expected(
    recording: Recording,
    lines: Sequence[Line],
    bug: Bug | None,
    confirmed: Sequence[Expectation],
    checks: Sequence[Check],
) -> ExpectedRun:
    capture, began = recording.capture, _find_beginning(recording)
    acted_at = expecting.find_last_act(lines)
    failed_at = expecting.find_end(bug, confirmed, began if acted_at is None else acted_at)
    wait_ms = expecting.compute_wait(lines, failed_at, began)
    errors, failed_requests, console_errors = expecting.describe_bug(bug)
    faults = find_faults(bug, recording.network, capture.page.url, acted_at)
    wrong_answers = find_wrong_answers(confirmed, recording.network, capture.page.url)
    expected = ExpectedRun(
        capture_id=capture.id,
        ticket_id=capture.ticket_id,
        page=capture.page.url,
        errors=errors,
        failed_requests=failed_requests,
        console_errors=console_errors,
        steps=[
            TimedStep(line.step.number, line.step.ts, line.place, list(line.again), list(line.typed))
            for line in lines
            if line.code is not None
        ],
        wait_ms=wait_ms,
        missing=[],
        title=redact_text(capture.page.title)[0],
        unknown=expecting.list_unknown(lines, capture.health, wait_ms, began),
        acted_at=acted_at,
        failed_at=failed_at,
        submits=expecting.has_submitted(lines),
        faults=[*map(expecting.describe_request, [*faults, *wrong_answers])],
        needs_server=needs_server(bug, faults),
        external=capture.external,
        confirmed=capture.confirmed is not None,
        place=expecting.find_place(bug),
        background=expecting.list_background(recording.errors, recording.console, bug),
        browser=expecting.name_browser(capture.environment.browser),
        bug=Failure(capture.bug.stream, capture.bug.entry) if bug and capture.bug else None,
        storage=_list_stored(capture.environment, lines),
        expectations=[each.state for each in checks],
        began=_find_start(recording, lines),
    )
    missing = expecting.list_missing(capture.health, recording.network, lines, checks, expected)
    return msgspec.structs.replace(expected, missing=missing)


def _find_beginning(recording: Recording) -> float | None:
    """Return the time of the first entry, in epoch milliseconds."""
    streams = (recording.console, recording.network, recording.errors)
    return min((entries[0].ts for entries in streams if entries), default=None)


def _name_bug(expected: ExpectedRun, lines: Sequence[Line]) -> str:
    """Name a test by its bug, where the ticket has no title but the page's."""
    acts = [line.step.words for line in lines if line.code and not line.code.startswith(("arrive(", "open("))]
    after = f" after: {acts[-1]}" if acts else ""
    return f"{_list_sought(expected)[0]}{after}"


def _list_stored(environment: Environment, lines: Sequence[Line]) -> list[StoredState]:
    """List what the page had stored before the steps that open it."""
    storage = environment.storage
    if storage is UNSET or storage.start is UNSET:
        return []
    opens = [line.step for line in lines if line.code is not None and line.code.startswith("open(")]
    stored: list[StoredState] = []
    for start in storage.start:
        later = next((step.number for step in opens[1:] if step.document >= start.document), None)
        is_first = start is storage.start[0] or not opens or start.document <= opens[0].document
        if is_first or later is not None:
            stored.append(
                StoredState(0 if is_first or later is None else later, start.local, start.session, start.cookies)
            )
    return stored


def _find_start(recording: Recording, lines: Sequence[Line]) -> float:
    """Return when the page's clock starts, in epoch milliseconds: with the first step, or what came before it."""
    times = [line.step.ts for line in lines[:1]]
    if (began := _find_beginning(recording)) is not None:
        times.append(began)
    return min(times, default=recording.captured_at)


def _describe_later_steps(planned: Sequence[Line], lines: Sequence[Line]) -> list[str]:
    first, last = len(lines) + 1, len(planned)
    if first > last:
        return []
    steps = f"Step {first}" if first == last else f"Steps {first} to {last}"
    return [f"{steps} came after the failure."]


def _list_sought(expected: ExpectedRun) -> list[str]:
    return [*(each.words for each in expected.expectations), *_list_failures(expected)]


def _list_failures(expected: ExpectedRun) -> list[str]:
    errors = [format_error(each) for each in expected.errors]
    printed = [f"{each} (in the console)" for each in expected.console_errors]
    failed = [
        f"{each.method} {each.url}: {each.error or each.status or 'no answer'}" for each in expected.failed_requests
    ]
    return [" ".join(each.split())[:200] for each in (errors or printed or failed)]


def _write_readme(title: str, key: str, expected: ExpectedRun) -> str:
    looks_for = "".join(f"- {each}\n" for each in _list_sought(expected))
    missing = "".join(f"- {each}\n" for each in expected.missing)
    who = "Because the failure is an answer of the server" if expected.needs_server else "If there is one"
    return (
        _README.format(
            title=" ".join(title.split()),
            key=key,
            looks_for=f"It looks for:\n\n{looks_for}" if looks_for else "",
            server=_SERVER.format(who=who) if expected.faults else "",
            missing=f"\nWhat the capture lacks:\n\n{missing}" if missing else "",
        ).rstrip()
        + "\n"
    )

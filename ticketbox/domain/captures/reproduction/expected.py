"""What a reproduction looks for: expected.json, and what the capture lacks for it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import UNSET

from ticketbox.domain.captures.actions import ActionKind
from ticketbox.domain.captures.capture import (
    THROWN,
    ConsoleEntry,
    ErrorEntry,
    Health,
    HealthReason,
    Level,
    NetworkEntry,
    OmittedReason,
    Stream,
)
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.health import get_stream_health
from ticketbox.domain.captures.records import Expectation
from ticketbox.domain.captures.reproduction.bug import Bug
from ticketbox.domain.captures.reproduction.checks import Check, ExpectedState
from ticketbox.domain.captures.reproduction.moments import API_TYPES
from ticketbox.domain.captures.reproduction.plan import Line
from ticketbox.domain.captures.source_maps.stacks import parse_stack
from ticketbox.domain.tickets.records import Failure

MAX_TEXT = 2_000
MAX_BACKGROUND, MAX_BACKGROUND_TEXT = 50, 300

_OTHER_BROWSER = re.compile(r"^(?!.*Chrom).*\b(?:(Firefox)[/ ]|Version/)([0-9]+)")
MAX_WAIT = 20_000  # FAILURE_MS of reproduction.js
_SHORTEST_WAIT = 1_000
_LOADS = 5_000  # how long a page fails because it was opened, in milliseconds
_NO_BODY_NEEDED = (204, 205, 304)


class ExpectedError(msgspec.Struct, frozen=True):
    """An error of the page."""

    name: str
    message: str
    count: int


class Place(msgspec.Struct, frozen=True):
    """Where something failed: the addresses of the script and of the author's file; function and line of the script."""

    files: list[str]
    function: str | None
    line: int | None


class ExpectedRequest(msgspec.Struct, frozen=True):
    """A request that failed."""

    method: str
    url: str
    status: int | None
    error: str | None


class TimedStep(msgspec.Struct, frozen=True):
    """A repeated step and its time, in epoch milliseconds.

    `place` is a CSS selector that finds its element where its name comes from an answer with stand-ins. `again` are the
    times at which it is repeated, `typed` the samples that it types.
    """

    number: int
    at: float
    place: str | None = None
    again: list[float] = []
    typed: list[str] = []


class StoredState(msgspec.Struct, frozen=True):
    """What the page had stored before a step that opens it, 0 for the first; null for values that aren't recorded."""

    before: int
    local: dict[str, str | None]
    session: dict[str, str | None]
    cookies: list[str]


class ExpectedRun(msgspec.Struct, frozen=True):
    """The contents of expected.json. One failure of the capture is the bug: an error, a request, or a printed text.

    `unknown` are the steps that the test lacks because the record doesn't name their element, or because nothing was
    recorded before a failure that loading the page doesn't explain: without them, no run says that the bug is gone.
    `title` is that of the page. `wait_ms` is how long a failure may come after the last step; the test waits for 20 s
    at most. `acted_at` and `failed_at` are when the last repeated step was done and when the bug happened, in epoch
    milliseconds: the calls in between led to the bug, and a form that was submitted if `submits`. `external` is whether
    somebody without an account sent the capture, `confirmed` whether a member confirmed it. `place` is where the bug
    happened, `background` the other errors of the capture, and `browser` the one that it comes from, unless it words
    errors as Chromium, in which the test runs. `bug` names the failure in the capture, and `storage` is what the page
    had stored when the recording began, and `began` when the page's clock starts, in epoch milliseconds. The server
    answers `faults` in a run, not the recording; with `needs_server`, nothing else can say whether the bug is still
    there. The `expectations` are what people confirmed, in the order in which the test checks them.
    """

    capture_id: str
    ticket_id: str
    page: str
    errors: list[ExpectedError]
    failed_requests: list[ExpectedRequest]
    console_errors: list[str]
    steps: list[TimedStep]
    wait_ms: int
    missing: list[str]
    title: str = ""
    unknown: list[TimedStep] = []
    acted_at: float | None = None
    failed_at: float | None = None
    submits: bool = False
    faults: list[ExpectedRequest] = []
    needs_server: bool = False
    external: bool = False
    confirmed: bool = False
    place: Place | None = None
    background: list[str] = []
    browser: str | None = None
    bug: Failure | None = None
    storage: list[StoredState] = []
    expectations: list[ExpectedState] = []
    began: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the capture has nothing to look for."""
        return not (self.errors or self.failed_requests or self.console_errors or self.expectations)

    @property
    def is_found_by_requests(self) -> bool:
        """Whether failed requests are all that there is to look for."""
        return bool(self.failed_requests) and not (self.errors or self.console_errors)


def describe_bug(bug: Bug | None) -> tuple[list[ExpectedError], list[ExpectedRequest], list[str]]:
    """Describe what the test looks for: one error, one failed request, or one text of the console."""
    match bug and bug.entry:
        case ErrorEntry() as entry:
            message = format_error(entry).removeprefix(f"{entry.name}: ")[:MAX_TEXT]
            return [ExpectedError(entry.name, message, entry.count)], [], []
        case NetworkEntry() as entry:
            return [], [describe_request(entry)], []
        case ConsoleEntry() as entry:
            return [], [], [" ".join(entry.args)[:MAX_TEXT]]
        case None:
            return [], [], []


def find_place(bug: Bug | None) -> Place | None:
    """Find where the bug happened: the innermost frame that is in a script, or the page's text around it."""
    match bug and bug.entry:
        case ErrorEntry() as entry:
            frames = entry.frames
        case ConsoleEntry() as entry:
            frames = entry.frames or parse_stack(entry.stack or "")
        case _:
            return None
    for frame in frames:
        if frame.url.startswith(("http:", "https:")):
            original = [] if frame.original is UNSET else [frame.original.file]
            return Place([frame.url.partition("?")[0].partition("#")[0], *original], frame.function, frame.line)
    return None


def name_browser(user_agent: str | None) -> str | None:
    """Name the browser of a capture; None if it words errors as Chromium."""
    found = _OTHER_BROWSER.search(user_agent or "")
    return found and f"{found[1] or 'Safari'} {found[2]}"


def list_background(errors: Iterable[ErrorEntry], console: Iterable[ConsoleEntry], bug: Bug | None) -> list[str]:
    """List the errors of the capture that aren't the bug, each once: they needn't be gone on a fix."""
    chosen = bug and bug.entry
    thrown = [format_error(each) for each in errors if each is not chosen and each.kind in THROWN]
    printed = [
        " ".join(each.args).strip().partition("\n")[0]
        for each in console
        if each is not chosen and each.level is Level.ERROR
    ]
    return list(dict.fromkeys(each[:MAX_BACKGROUND_TEXT] for each in [*thrown, *printed]))[:MAX_BACKGROUND]


def find_last_act(lines: Sequence[Line]) -> float | None:
    """Find when the last step was done that the test repeats, in epoch milliseconds."""
    acts = [line for line in lines if line.code and not line.code.startswith("arrive(")]
    return max((moment for line in acts for moment in (line.step.ts, *line.again)), default=None)


def has_submitted(lines: Sequence[Line]) -> bool:
    """Whether the last repeated step submitted a form before the bug happened."""
    acted_at = find_last_act(lines)
    submits = [line.step for line in lines if line.step.kind is ActionKind.SUBMIT and line.code is None]
    return acted_at is not None and any(not step.synthetic and step.ts >= acted_at for step in submits)


def compute_wait(lines: Sequence[Line], failed_at: float | None, began: float | None) -> int:
    """Compute how long after its last step the test has to wait for the failure, in milliseconds.

    `began` is when the recording began, for a capture without steps.
    """
    last = max((moment for line in lines if line.code for moment in (line.step.ts, *line.again)), default=began)
    gap = 0 if failed_at is None or last is None else failed_at - last
    return int(max(gap, 0) + _SHORTEST_WAIT)


def list_unknown(lines: Sequence[Line], health: Health, wait_ms: int, began: float | None) -> list[TimedStep]:
    """List the steps of which the capture doesn't say what to act on.

    The first step is unknown if none was recorded, and the failure isn't one of loading the page.
    """
    unknown = [TimedStep(line.step.number, line.step.ts) for line in lines if line.is_unknown]
    if unknown or any(line.code for line in lines) or began is None:
        return unknown
    is_late = get_stream_health(health, Stream.NETWORK).reason is HealthReason.LATE_START
    return [TimedStep(1, began)] if is_late or wait_ms > _LOADS + _SHORTEST_WAIT else []


def find_end(bug: Bug | None, states: Sequence[Expectation], acted_at: float | None) -> float | None:
    """Find until when the run has to do what the page did, in epoch milliseconds: until the bug was there.

    A person takes their time to say what is wrong, so only what came soon after the last step led to it.
    """
    ends = [] if bug is None else [bug.at]
    if states:
        seen_at = max(each.at for each in states)
        ends.append(seen_at if acted_at is None else min(seen_at, acted_at + _LOADS))
    return max(ends, default=None)


def list_missing(
    health: Health,
    network: Sequence[NetworkEntry],
    lines: Sequence[Line],
    checks: Sequence[Check],
    expected: ExpectedRun,
) -> list[str]:
    """Say what the capture lacks for a reproduction, and what would provide it."""
    late = (
        f"The failure came {expected.wait_ms // 1_000} s after the last step, and the test waits for "
        f"{MAX_WAIT // 1_000} s. Add the step that causes it to the test."
    )
    return [
        *_list_missing_steps(health, lines, expected),
        *_list_missing_answers(network),
        *_list_missing_sent(network, expected),
        *_list_missing_history(health),
        *_list_missing_storage(expected.storage),
        *(
            f"The record doesn't say what to check: {each.state.words}. Add it to the end of the test; until then, it "
            "never says that the bug is gone."
            for each in checks
            if each.code is None
        ),
        *([late] if expected.wait_ms > MAX_WAIT else []),
        *(
            ["The capture has no failure to look for. Add what must be true to the end of the test."]
            if expected.is_empty
            else []
        ),
    ]


def _list_missing_steps(health: Health, lines: Sequence[Line], expected: ExpectedRun) -> list[str]:
    missing: list[str] = []
    if not lines:
        reason = get_stream_health(health, Stream.ACTIONS).reason
        advice = (
            "the project's capture policy leaves actions out; set `capture_policy.actions` to `on`"
            if reason is HealthReason.POLICY
            else "capture the bug again with an extension that records this site"
        )
        opens = (
            "only opens the page, and never says that the bug is gone" if expected.unknown else "only opens the page"
        )
        missing.append(f"The capture has no steps, so the test {opens}: {advice}.")
    elif expected.unknown:
        numbers = ", ".join(str(each.number) for each in expected.unknown)
        missing.append(
            f"Steps without a known element: {numbers}. Add their locators to the test; until then, it never says that "
            "the bug is gone."
        )
    if any(line.step.value_kind and line.step.kind is ActionKind.INPUT and line.code for line in lines):
        missing.append("What was typed isn't recorded; the test types samples. Change them if the value matters.")
    return missing


def _list_missing_answers(network: Sequence[NetworkEntry]) -> list[str]:
    calls = [each for each in network if each.type in API_TYPES and each.status is not None and each.method != "HEAD"]
    counts = Counter(each.response.omitted_reason for each in calls if not _is_answer_complete(each))
    unknown = counts.pop(None, 0)
    advice = {
        OmittedReason.POLICY: "the project's capture policy has no bodies; set `capture_policy.bodies` to "
        "`shape` or `on`, and capture the bug again",
        OmittedReason.LIMIT: "they were longer than what a capture keeps",
        OmittedReason.BINARY: "they aren't text",
        OmittedReason.UNAVAILABLE: "the browser doesn't show them to the page",
    }
    missing = [
        f"{count:,} of {len(calls):,} API answers have no complete body: {advice[reason]}."
        for reason, count in counts.items()
        if reason is not None
    ]
    if unknown:
        missing.append(f"{unknown:,} of {len(calls):,} API answers have no body: the client didn't send them.")
    return missing


def _list_missing_sent(network: Sequence[NetworkEntry], expected: ExpectedRun) -> list[str]:
    if not expected.is_found_by_requests:
        return []
    bug = expected.failed_requests[0]
    if not any(describe_request(each) == bug and each.request.omitted_reason is not None for each in network):
        return []
    return [
        "What was sent with the request that failed isn't in the capture, so the test can't tell it from a corrected "
        "one: set `capture_policy.bodies` to `shape` or `on`, and capture the bug again."
    ]


def describe_request(entry: NetworkEntry) -> ExpectedRequest:
    """Describe a request that failed."""
    return ExpectedRequest(entry.method, entry.url, entry.status, entry.error)


def _is_answer_complete(entry: NetworkEntry) -> bool:
    if entry.response.omitted_reason is OmittedReason.LIMIT:
        return False
    return entry.response.body is not None or entry.response.bytes == 0 or entry.status in _NO_BODY_NEEDED


def _list_missing_history(health: Health) -> list[str]:
    if get_stream_health(health, Stream.NETWORK).reason is HealthReason.LATE_START:
        return ["The recording began after the page had loaded. Turn on recording of the site, and capture it again."]
    return []


def _list_missing_storage(storage: Sequence[StoredState]) -> list[str]:
    stored = [values.items() for each in storage for values in (each.local, each.session)]
    names = [name for values in stored for name, value in values if value is None]
    cookies = [name for each in storage[:1] for name in each.cookies]
    remedy = "run `ticketbox verify` with --storage-state or --setup"
    missing: list[str] = []
    if names:
        missing.append(
            f"The page had values in its storage that the capture lacks ({_list_names(names)}): set "
            f"`capture_policy.storage` to `shape` and capture the bug again, or {remedy}."
        )
    if cookies:
        missing.append(f"The page had cookies ({_list_names(cookies)}). If it needs them, {remedy}.")
    return missing


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

"""The test of a reproduction: the recorded steps as Playwright Test."""

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec

from ticketbox.domain.captures.actions import ActionKind
from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.environment import Size
from ticketbox.domain.captures.reproduction.bug import NAVIGATES_MS
from ticketbox.domain.captures.reproduction.layout import MAX_LINE, write_step
from ticketbox.domain.captures.reproduction.locators import find_place, quote, write_locator
from ticketbox.domain.captures.reproduction.moments import find_moments
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.core.network.page_address import normalize_path

MAX_REPEAT = 20

_SAMPLES = {
    "color": "#336699", "date": "2026-01-15", "datetime": "2026-01-15T10:00", "email": "person@example.org",
    "empty": "", "month": "2026-01", "number": "1", "private": "private-Value-1", "range": "50",
    "tel": "+1 555 0100", "time": "10:00", "url": "https://example.org/", "week": "2026-W03",
}  # fmt: skip
_REPEATED = {"11–50": 4, "51–200": 20, "200+": 50}
_SAMPLE = "Sample"
_LONGEST_NAME = MAX_LINE - len("test(, async ({ page }, testInfo) => {")
_PRIVATE_FIELD = "page.locator('input[type=password]').first()"
_MINOR = {ActionKind.SCROLL, ActionKind.VISIBILITY, ActionKind.RESIZE}
_CAUSES = {ActionKind.CLICK, ActionKind.KEY, ActionKind.CHANGE, ActionKind.SUBMIT, ActionKind.NAVIGATE}
# How long after a step the browser still acts because of it, in milliseconds.
_SUBMITS = 2_000
_CLICKS = 100
_MODIFIERS = {"Ctrl": "Control"}


class Line(msgspec.Struct, frozen=True):
    """A step of the test: its comment, and its code, or none if it isn't repeated.

    `element` is the locator that the code begins with, and `place` a CSS selector of it. `again` has
    the moments at which the code runs again, in epoch milliseconds, and `typed` the samples that it types. `times` is
    how often the code runs each time. `is_unknown`: the record doesn't say which element it was.
    """

    step: Step
    note: str
    code: str | None
    element: str | None = None
    place: str | None = None
    again: Sequence[float] = ()
    typed: Sequence[str] = ()
    times: int = 1
    is_unknown: bool = False


def plan_steps(steps: Sequence[Step], page_url: str, network: Sequence[NetworkEntry]) -> list[Line]:
    """Decide what the test does for each recorded step."""
    lines: list[Line] = []
    cause: Step | None = None
    moments = find_moments(steps, network)
    for step in steps:
        line = _add_place(_plan_step(step, cause, page_url, moments.get(step.number, ())))
        lines.append(line)
        if line.code is not None and step.kind in _CAUSES:
            cause = step
    return lines


def write_spec(
    title: str, lines: Sequence[Line], page_url: str, viewport: Size | None, *, closing: Sequence[str]
) -> str:
    """Write the test. `closing` are comments before its end: what it expects, or what is missing."""
    codes = [line.code for line in lines if line.code is not None]
    starts = bool(codes) and codes[0].startswith("open(")
    verbs = ["open"] if not starts or any(code.startswith("open(") for code in codes) else []
    verbs += ["arrive"] if any(code.startswith("arrive(") for code in codes) else []
    body = [f"  const {{ {', '.join([*verbs, 'step', 'finish'])} }} = await replayCapture(page, testInfo);"]
    if viewport and viewport.width and viewport.height:
        body.append(f"  await page.setViewportSize({{ width: {viewport.width}, height: {viewport.height} }});")
    if not starts:
        body += ["", "  // The recording begins on this page", _write_call(0, f"open({quote(read_path(page_url))})")]
    for line in lines:
        if line.code is None and line.step.kind in _MINOR:
            continue
        body += ["", f"  // {_comment(f'{line.step.number}. {line.step.words}{line.note}')}"]
        if line.code is not None:
            body.append(_write_call(line.step.number, line.code, line.element, line.times))
    return "\n".join(
        [
            "import { test } from '@playwright/test';",
            "import { replayCapture } from './reproduction.js';",
            "",
            f"test({quote(shorten_title(title))}, async ({{ page }}, testInfo) => {{",
            *body,
            "",
            *(f"  // {_comment(each)}" for each in closing),
            "  await finish();",
            "});",
            "",
        ]
    )


def shorten_title(title: str) -> str:
    """Cut a title to the name of a test that fits into a line, after a word; README.md has all of it."""
    if len(quote(title)) <= _LONGEST_NAME:
        return title
    words, cut = title.split(), ""
    while words and len(quote(f"{cut} {words[0]}…")) <= _LONGEST_NAME:
        cut = f"{cut} {words.pop(0)}".strip()
    return f"{cut or title[: _LONGEST_NAME // 2]}…"


def read_path(url: str) -> str:
    """Return an address without its origin."""
    parts = _split(url)
    if parts is None or not parts.netloc:
        return "/"
    rest = parts._replace(scheme="", netloc="", path="").geturl()
    return f"{normalize_path(parts.path)}{rest}"


def _plan_step(step: Step, cause: Step | None, page_url: str, again: Sequence[float]) -> Line:
    since = step.ts - cause.ts if cause is not None else float("inf")
    kind = step.kind
    if step.synthetic or kind in _MINOR:
        return Line(step, "", None)
    if kind is ActionKind.NAVIGATE:
        return _plan_navigation(step, since, page_url)
    if kind is ActionKind.SUBMIT and since <= _SUBMITS:
        return Line(step, " (by the step before)", None)
    if kind is ActionKind.CLICK and cause is not None and cause.kind is ActionKind.KEY and since <= _CLICKS:
        return Line(step, " (by the key)", None)
    locator = write_locator(step.target, step.frame)
    if kind is ActionKind.KEY:
        times = 1 if again else min(step.repeat, MAX_REPEAT)
        return Line(step, "", _write_key(step, locator), again=again, times=times)
    if locator is None and step.value_kind == "private":
        locator = _PRIVATE_FIELD
    if locator is None:
        return Line(step, " (the record doesn't say which element; add it here)", None, is_unknown=True)
    match kind:
        case ActionKind.CLICK:
            count = 1 if again else min(step.repeat, MAX_REPEAT)
            return Line(step, "", f"{locator}.click({f'{{ clickCount: {count} }}' if count > 1 else ''})", again=again)
        case ActionKind.SUBMIT:
            return Line(step, "", f"{locator}.evaluate((form: HTMLFormElement) => form.requestSubmit())")
        case ActionKind.CHANGE if step.value_kind == "option":
            return Line(step, ": which one isn't recorded", f"{locator}.selectOption({{ index: 1 }})")
        case ActionKind.CHANGE if step.value_kind == "file":
            sample = "{ name: 'sample.txt', mimeType: 'text/plain', buffer: Buffer.from('sample') }"
            return Line(step, ": a sample", f"{locator}.setInputFiles({sample})")
        case _:
            note = "" if step.value_kind == "empty" else ": a sample of the same kind"
            sample = _choose_sample(step.value_kind)
            again = again[-(len(sample) - 1) :] if len(sample) > 1 else ()
            lengths = _split_sample(sample, len(again) + 1)
            part = f".slice(0, {lengths}[part])" if again else ""
            typed = [sample[:length] for length in lengths] if sample else []
            return Line(step, note, f"{locator}.fill({_write_sample(sample)}{part})", again=again, typed=typed)


def _add_place(line: Line) -> Line:
    """Add the step's element, and its place unless it is found by its place anyway."""
    element, place = write_locator(line.step.target, line.step.frame), find_place(line.step.target, line.step.frame)
    if line.code is None:
        return line
    if element is None and line.code.startswith(f"{_PRIVATE_FIELD}."):
        element = _PRIVATE_FIELD
    if element is None or not line.code.startswith(f"{element}."):
        return line
    is_same = place is not None and element == f"page.locator({quote(place)})"
    return msgspec.structs.replace(line, element=element, place=None if is_same else place)


def _plan_navigation(step: Step, since: float, page_url: str) -> Line:
    url = _split(step.url or page_url)
    home = _split(page_url)
    if url is None or home is None or not url.netloc or url.netloc != home.netloc:
        return Line(step, " (another site; not repeated)", None)
    verb = "arrive" if since <= NAVIGATES_MS else "open"
    return Line(step, "", f"{verb}({quote(read_path(step.url or page_url))})")


def _write_key(step: Step, locator: str | None) -> str:
    *held, key = re.split(r"\+(?=.)", step.key or "Enter")
    if len(key) == 1 and "Shift" not in held:
        key = key.lower()
    keys = quote("+".join([*(_MODIFIERS.get(each, each) for each in held), key]))
    return f"{locator}.press({keys})" if locator else f"page.keyboard.press({keys})"


def _write_call(number: int, code: str, element: str | None = None, times: int = 1) -> str:
    parameters = ", ".join(filter(None, ["it" if element else "", "part" if "[part]" in code else ""]))
    body = f"it{code.removeprefix(element)}" if element else code
    if times == 1:
        return write_step(number, element, f"({parameters}) => {body}")
    loop = f"for (let count = 0; count < {times}; count += 1) await {body};"
    return write_step(number, element, f"async ({parameters}) => {{\n{loop}")


def _split_sample(sample: str, parts: int) -> list[int]:
    """Return the length of a sample after each part of typing."""
    return [max(1, len(sample) * number // parts) for number in range(1, parts + 1)]


def _choose_sample(value_kind: str | None) -> str:
    kind, _, length = (value_kind or "text").partition(" ")
    if kind in _SAMPLES:
        return _SAMPLES[kind]
    return _SAMPLE * _REPEATED.get(length, 1)


def _write_sample(sample: str) -> str:
    """Write a sample; a long one as a repetition."""
    times = sample.count(_SAMPLE)
    return f"{quote(_SAMPLE)}.repeat({times})" if times > 1 else quote(sample)


def _comment(text: str) -> str:
    """Return a text as the content of a comment: one line."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text).split())


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None

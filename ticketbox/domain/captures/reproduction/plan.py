"""What the test of a reproduction does for each recorded step."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import UNSET

from ticketbox.domain.captures.actions import ActionKind, ActionTarget, Dialog
from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.reproduction.bug import NAVIGATES_MS
from ticketbox.domain.captures.reproduction.locators import find_place, quote, write_locator
from ticketbox.domain.captures.reproduction.moments import find_moments
from ticketbox.domain.captures.reproduction.samples import LONG, LONG_TIMES, choose_file, choose_sample
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.core.network.page_address import normalize_path

MAX_REPEAT = 20

_PRIVATE_FIELD = "page.locator('input[type=password]').first()"
MINOR = {ActionKind.SCROLL, ActionKind.VISIBILITY, ActionKind.RESIZE}
_CAUSES = {
    ActionKind.CLICK, ActionKind.DRAG, ActionKind.KEY, ActionKind.CHANGE, ActionKind.SUBMIT, ActionKind.NAVIGATE,
}  # fmt: skip
_HISTORY = {"back": "page.goBack()", "forward": "page.goForward()", "reload": "page.reload()"}
# How long after a step the browser still acts because of it, in milliseconds.
_SUBMITS = 2_000
_CLICKS = 100
_TRAVERSES = 500
_FOLLOWS = 2_000
_DOUBLE = 2
_MODIFIERS = {"Ctrl": "Control"}


class Line(msgspec.Struct, frozen=True):
    """A step of the test: its comment, and its code, or none if it isn't repeated.

    `element` is the locator in the code, and `place` a CSS selector of it. `again` has the moments at which the code
    runs again, in epoch milliseconds, and `typed` the samples that it types. `times` is how often the code runs each
    time. `is_unknown`: the record doesn't say which element it was. `prepares` is code that must run before the step
    that led to this one.
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
    prepares: str | None = None


def plan_steps(
    steps: Sequence[Step], page_url: str, network: Sequence[NetworkEntry], failures: Sequence[float] = ()
) -> list[Line]:
    """Decide what the test does for each recorded step. `failures` is when something failed."""
    lines: list[Line] = []
    cause: Step | None = None
    moments = find_moments(steps, network)
    followers = sorted([*(each.ts for each in network), *failures])
    for step in steps:
        if step.kind in MINOR:
            line = _plan_minor(step, followers)
        else:
            line = _plan_step(step, cause, page_url, moments.get(step.number, ()))
        line = _add_place(line)
        lines.append(line)
        if line.code is not None and step.kind in _CAUSES:
            cause = step
    return lines


def _plan_step(step: Step, cause: Step | None, page_url: str, again: Sequence[float]) -> Line:
    since = step.ts - cause.ts if cause is not None else float("inf")
    if step.synthetic:
        return Line(step, "", None)
    if step.kind is ActionKind.NAVIGATE:
        return _plan_navigation(step, cause, page_url)
    if step.kind is ActionKind.DIALOG:
        return Line(step, "", None, prepares=_write_answer(step))
    if step.kind is ActionKind.SUBMIT and since <= _SUBMITS:
        return Line(step, " (by the step before)", None)
    if cause is not None and since <= _CLICKS and _is_by_key(step, cause):
        return Line(step, " (by the key)", None)
    locator = _find_locator(step)
    if step.kind is ActionKind.KEY and step.key is not None:
        times = 1 if again else min(step.repeat, MAX_REPEAT)
        return Line(step, "", _write_key(step, locator), again=again, times=times)
    if locator is None or step.kind is ActionKind.KEY:
        return Line(step, " (the record doesn't say which element; add it here)", None, is_unknown=True)
    return _plan_act(step, locator, again)


def _is_by_key(step: Step, cause: Step) -> bool:
    """Whether the browser did a step for a key: it clicked the button, or changed the choice."""
    is_change = step.kind is ActionKind.CHANGE and step.target == cause.target
    return cause.kind is ActionKind.KEY and (step.kind is ActionKind.CLICK or is_change)


def _plan_act(step: Step, locator: str, again: Sequence[float]) -> Line:
    match step.kind:
        case ActionKind.CLICK:
            count = 1 if again else min(step.repeat, MAX_REPEAT)
            return Line(step, "", _write_click(step, locator, count), again=again)
        case ActionKind.HOVER:
            return Line(step, "", f"{locator}.hover()")
        case ActionKind.DRAG:
            return _plan_drag(step, locator)
        case ActionKind.SUBMIT:
            return Line(step, "", f"{locator}.evaluate((form: HTMLFormElement) => form.requestSubmit())")
        case ActionKind.CHANGE if step.value_kind == "option":
            return Line(step, ": which one isn't recorded", f"choose({locator})")
        case ActionKind.CHANGE if step.value_kind == "file":
            return Line(step, ": a sample", f"attach({locator}, {quote(choose_file(step))})")
        case _:
            return _plan_typing(step, locator, again)


def _plan_typing(step: Step, locator: str, again: Sequence[float]) -> Line:
    note = "" if step.value_kind == "empty" else ": a sample of the same kind"
    sample = choose_sample(step)
    again = again[-(len(sample) - 1) :] if len(sample) > 1 else ()
    lengths = _split_sample(sample, len(again) + 1)
    part = f".slice(0, {lengths}[part])" if again else ""
    typed = [sample[:length] for length in lengths] if sample else []
    return Line(step, note, f"{locator}.fill({_write_sample(sample)}{part})", again=again, typed=typed)


def _plan_minor(step: Step, followers: Sequence[float]) -> Line:
    """Repeat scrolling and resizing that a request or a failure followed."""
    index = bisect_left(followers, step.ts)
    is_followed = index < len(followers) and followers[index] - step.ts <= _FOLLOWS
    if step.synthetic or not is_followed or step.to_point is UNSET:
        return Line(step, "", None)
    first, second = step.to_point
    if step.kind is ActionKind.RESIZE:
        return Line(step, "", f"page.setViewportSize({{ width: {first}, height: {second} }})")
    locator = _find_locator(step)
    if locator is None:
        return Line(step, "", f"scroll({first}, {second})")
    return Line(step, "", f"{locator}.evaluate((it) => it.scrollTo({first}, {second}))")


def _plan_drag(step: Step, locator: str) -> Line:
    end = step.to if isinstance(step.to, ActionTarget) else None
    target = write_locator(end, step.frame, step.frame_path)
    if target is None:
        return Line(step, " (the record doesn't say where to; add it here)", None, is_unknown=True)
    points = [step.point, step.to_point]
    places = "".join(f", {each}" for each in points) if UNSET not in points else ""
    return Line(step, "", f"drag({locator}, {target}{places})")


def _find_locator(step: Step) -> str | None:
    locator = write_locator(step.target, step.frame, step.frame_path)
    return _PRIVATE_FIELD if locator is None and step.value_kind == "private" else locator


def _add_place(line: Line) -> Line:
    """Add the step's element, and its place unless it is found by its place anyway."""
    element, place = _find_locator(line.step), find_place(line.step.target, line.step.frame)
    if line.code is None or element is None or not re.match(rf"(?:\w+\()?{re.escape(element)}[.,)]", line.code):
        return line
    is_same = place is not None and element == f"page.locator({quote(place)})"
    return msgspec.structs.replace(line, element=element, place=None if is_same else place)


def _plan_navigation(step: Step, cause: Step | None, page_url: str) -> Line:
    url = _split(step.url or page_url)
    home = _split(page_url)
    if url is None or home is None or not url.netloc or url.netloc != home.netloc:
        return Line(step, " (another site; not repeated)", None)
    since = step.ts - cause.ts if cause is not None else float("inf")
    history = _HISTORY.get(step.value_kind or "")
    if history is not None and (since > _TRAVERSES or _is_navigation(cause)):
        return Line(step, "", history)
    verb = "arrive" if since <= NAVIGATES_MS else "open"
    return Line(step, "", f"{verb}({quote(read_path(step.url or page_url))})")


def _is_navigation(step: Step | None) -> bool:
    """Whether a step is the page that was opened before: a page seldom goes back or reloads on its own then."""
    return step is not None and step.kind is ActionKind.NAVIGATE


def _write_click(step: Step, locator: str, count: int) -> str:
    """Write a click; where it was in a picture matters."""
    options = [] if step.button is UNSET else [f"button: '{step.button.value}'"]
    if step.point is not UNSET:
        options.append(f"position: {{ x: {step.point[0]}, y: {step.point[1]} }}")
    if step.key is not None:
        options.append(f"modifiers: [{', '.join(quote(_MODIFIERS.get(each, each)) for each in step.key.split('+'))}]")
    if count > _DOUBLE:
        options.append(f"clickCount: {count}")
    given = f"{{ {', '.join(options)} }}" if options else ""
    return f"{locator}.{'dblclick' if count == _DOUBLE else 'click'}({given})"


def _write_answer(step: Step) -> str:
    """Write how the next dialog is answered."""
    if not step.accepted:
        return "answer('dismiss')"
    return f"answer('accept', {quote(choose_sample(step))})" if step.dialog is Dialog.PROMPT else "answer('accept')"


def _write_key(step: Step, locator: str | None) -> str:
    *held, key = re.split(r"\+(?=.)", step.key or "")
    if len(key) == 1 and "Shift" not in held:
        key = key.lower()
    keys = quote("+".join([*(_MODIFIERS.get(each, each) for each in held), key]))
    return f"{locator}.press({keys})" if locator else f"page.keyboard.press({keys})"


def _split_sample(sample: str, parts: int) -> list[int]:
    """Return the length of a sample after each part of typing."""
    return [max(1, len(sample) * number // parts) for number in range(1, parts + 1)]


def _write_sample(sample: str) -> str:
    """Write a sample; a long one as a repetition."""
    return f"{quote(LONG)}.repeat({LONG_TIMES})" if sample == LONG * LONG_TIMES else quote(sample)


def read_path(url: str) -> str:
    """Return an address without its origin."""
    parts = _split(url)
    if parts is None or not parts.netloc:
        return "/"
    rest = parts._replace(scheme="", netloc="", path="").geturl()
    return f"{normalize_path(parts.path)}{rest}"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None

"""The moments of a step that the record has as one: repeated clicks, or typing that sent a request after each pause.

A capture doesn't say when the repetitions came. The calls that they caused do.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice, pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple

from ticketbox.domain.captures.actions import ActionKind
from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.fingerprints import fingerprint_page
from ticketbox.domain.captures.steps import Step

API_TYPES = ("fetch", "xhr")
MAX_MOMENTS = 10
# What these steps enter can be typed in parts; a part of a date or of a number isn't valid.
_TYPED = frozenset({"text", "search", "private", "email", "tel", "url"})
_MINOR = frozenset({
    ActionKind.SCROLL, ActionKind.VISIBILITY, ActionKind.RESIZE, ActionKind.SUBMIT, ActionKind.NAVIGATE,
    ActionKind.HOVER, ActionKind.DIALOG,
})  # fmt: skip
_LATE_MS = 5_000  # a call this long after the step before it has another cause


class _Call(NamedTuple):
    """A call of the API: when, to which endpoint, and what was sent."""

    start: float
    end: float
    endpoint: tuple[str, int]
    sent: tuple[str, str | None]


def find_moments(steps: Sequence[Step], network: Sequence[NetworkEntry]) -> dict[int, list[float]]:
    """Find the moments after the first one of each step that was several, by the step's number, in epoch milliseconds.

    Repeated clicks and keys have them if each caused a call and an answer came in between; without an answer, they stay
    one step, such as a double click. Typing has them if it caused several different calls.
    """
    acts = [step for step in steps if not step.synthetic and step.kind not in _MINOR]
    if not any(step.repeat > 1 or _is_typed(step) for step in acts):
        return {}
    calls = _list_calls(network)
    moments: dict[int, list[float]] = {}
    for step, following in pairwise([*acts, None]):
        if step is None or not (step.repeat > 1 or _is_typed(step)):
            continue
        found = _find_calls(step, following.ts if following is not None else inf, calls)
        times = [call.start for call in found]
        if _is_typed(step) or any(times[0] < call.end <= times[-1] for call in found[:-1]):
            moments[step.number] = times[1:]
    return {number: times for number, times in moments.items() if times}


def _list_calls(network: Sequence[NetworkEntry]) -> list[_Call]:
    calls: list[_Call] = []
    for entry in network:
        if entry.type not in API_TYPES:
            continue
        page = fingerprint_page(entry.url.partition("?")[0].partition("#")[0])
        if page is not None:
            sent = entry.url, entry.request.body
            calls.append(_Call(entry.ts, entry.ts + (entry.duration_ms or 0), (entry.method, page.value), sent))
    return sorted(calls, key=attrgetter("start"))


def _is_typed(step: Step) -> bool:
    return step.kind is ActionKind.INPUT and (step.value_kind or "").partition(" ")[0] in _TYPED


def _find_calls(step: Step, end: float, calls: Sequence[_Call]) -> list[_Call]:
    """Find the calls that a step caused each time: to one endpoint, for typing each with other values."""
    by_endpoint: defaultdict[tuple[str, int], list[_Call]] = defaultdict(list)
    last = step.ts
    for call in islice(calls, bisect_left(calls, step.ts, key=attrgetter("start")), None):
        if call.start >= end or call.start - last > _LATE_MS:
            break
        last = call.start
        by_endpoint[call.endpoint].append(call)
    for found in by_endpoint.values():
        if step.repeat > 1 and len(found) == step.repeat <= MAX_MOMENTS:
            return found
        if _is_typed(step) and len(found) > 1 and all(one.sent != other.sent for one, other in pairwise(found)):
            return found[-MAX_MOMENTS:]
    return []

"""Compares a capture with what the DevTools protocol reported of the same walk."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from bench.real_sites.devtools import DevTools, request_of
from bench.real_sites.walker import Click

Json = dict[str, Any]
SLACK_MS = 50  # between the clocks of the page and of the walk


class Share(NamedTuple):
    """How many entries there are, how many of them the capture has, and which it lacks."""

    captured: int
    reported: int
    missing: list[str]


def _compare(captured: Counter[Any], reported: Counter[Any]) -> Share:
    missing = reported - captured
    return Share((captured & reported).total(), reported.total(), [str(each) for each in missing.elements()])


def compare(streams: dict[str, list[Json]], devtools: DevTools, clicks: int) -> dict[str, Share]:
    """Compare all streams of a capture. Lines and errors of workers aren't compared."""
    seen = [request for _, request in devtools.requests()]
    entries = [request_of(each["method"], each["url"], each["status"]) for each in streams["network"]]
    lines: Counter[str] = Counter()
    for each in streams["console"]:
        lines[each["level"]] += each["repeat"]
    uncaught = sum(each["count"] for each in streams["errors"] if each["kind"] in ("error", "unhandledrejection"))
    steps = [each for each in streams["actions"] if not each["synthetic"]]
    opened = Counter(_address(each["url"]) for each in steps if each["kind"] == "navigate")
    clicked = sum(each["repeat"] for each in steps if each["kind"] == "click")
    texts = " ".join(text for each in streams["console"] for text in each["args"])
    unknown = [f"{level}: {text[:100]}" for _, level, text in devtools.lines if text[:20] not in texts]
    return {
        "requests": _compare(
            Counter((each.method, each.address) for each in entries),
            Counter((each.method, each.address) for each in seen),
        ),
        "outcomes": _compare(Counter(entries), Counter(seen)),
        "lines": _compare(lines, Counter(level for _, level, _ in devtools.lines))._replace(missing=unknown),
        "errors": _compare(Counter(error=uncaught), Counter(error=len(devtools.errors))),
        "clicks": _compare(Counter(click=clicked), Counter(click=clicks)),
        "navigations": _compare(opened, Counter(_address(address) for _, address in devtools.navigations)),
    }


def find_clicked_targets(streams: dict[str, list[Json]], clicks: Sequence[Click]) -> list[Json | None]:
    """Return the recorded target of each click of a walk, by the time; None where no step was recorded.

    A step that was repeated in a row has the time of the first click.
    """
    targets: list[Json | None] = [None] * len(clicks)
    steps = [each for each in streams["actions"] if each["kind"] == "click" and not each["synthetic"]]
    for step in steps if clicks else []:
        distances = [max(each.began - step["ts"], step["ts"] - each.ended, 0) for each in clicks]
        index = distances.index(min(distances))
        if distances[index] <= SLACK_MS:
            for at in range(index, min(index + step["repeat"], len(clicks))):
                targets[at] = step["target"] or {}
    return targets


def _address(url: str) -> str:
    return request_of("GET", url, None).address

"""The differences of two captures: page and browser, errors, and the outcomes of requests.

Errors are the same if their messages and innermost frames are, without what differs each time; requests, if method and
address are. Both are compared across builds, and requests of the page's own host across hosts.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from ticketbox.domain.captures.capture import ErrorEntry, ErrorKind, NetworkEntry, Page
from ticketbox.domain.captures.environment import Environment, Size
from ticketbox.domain.captures.fingerprints import generalize_address
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.summaries.overview import clip_line, group_errors_by, identify_origin, shorten_url
from ticketbox.domain.captures.timeline.moments import describe_outcome

MAX_VALUE = 300  # characters
MAX_OUTCOMES = 5
MEASURED = ("vitals", "long_frames")  # they differ each time
_FRESH = "200"
_NOT_MODIFIED = "304"
_ALIKE = 5


class Difference(msgspec.Struct, frozen=True):
    """A property of the page or browser that differs, as text; null in a capture that lacks it."""

    name: str
    capture: str | None
    other: str | None


class ComparedError(msgspec.Struct, frozen=True):
    """An error of either capture. `entry` is the `seq` of the first one, null in a capture without the error."""

    kind: ErrorKind
    message: str
    source: str | None
    entry: int | None
    other_entry: int | None
    count: int
    other_count: int


class ComparedRequest(msgspec.Struct, frozen=True):
    """The requests of a method and address in both captures.

    `outcomes` are statuses and errors, in the order of their first requests. `entry` is the `id` of the first request
    that failed, else of the first one; null in a capture without the request.
    """

    method: str
    url: str
    entry: str | None
    other_entry: str | None
    count: int
    other_count: int
    outcomes: list[str]
    other_outcomes: list[str]
    failed: bool
    other_failed: bool


class _RequestGroup(msgspec.Struct):
    """The requests of a method and address in one capture."""

    url: str
    entry: str
    count: int
    outcomes: list[str]
    failed: bool


_NO_REQUEST = _RequestGroup("", "", 0, [], failed=False)


def compare_properties(page: Page, environment: Environment, other_page: Page, other: Environment) -> list[Difference]:
    """Return how pages and browsers differ, in the order of their fields."""
    fields = {**_list_properties(page), **_list_properties(environment)}
    other_fields = {**_list_properties(other_page), **_list_properties(other)}
    names = dict.fromkeys([*fields, *other_fields])
    pairs = [(name, fields.get(name), other_fields.get(name)) for name in names]
    return [Difference(name, _clip(mine), _clip(theirs)) for name, mine, theirs in pairs if mine != theirs]


def compare_errors(entries: Iterable[ErrorEntry], others: Iterable[ErrorEntry]) -> list[ComparedError]:
    """Return the errors of both captures: those of the first only, those of the other only, and those of both."""
    mine, theirs = group_errors_by(entries, identify_origin), group_errors_by(others, identify_origin)
    found: list[ComparedError] = []
    for key in dict.fromkeys([*mine, *theirs]):
        group, other = mine.get(key), theirs.get(key)
        shown = group or other
        assert shown is not None
        found.append(
            ComparedError(
                kind=shown.kind,
                message=shown.message,
                source=shown.source,
                entry=None if group is None else group.entry,
                other_entry=None if other is None else other.entry,
                count=0 if group is None else group.count,
                other_count=0 if other is None else other.count,
            )
        )
    return sorted(found, key=lambda error: 2 if error.count and error.other_count else 0 if error.count else 1)


def compare_requests(
    entries: Iterable[NetworkEntry], page: Page, others: Iterable[NetworkEntry], other_page: Page
) -> tuple[list[ComparedRequest], int]:
    """Return the requests that differ or failed, and the number of those that succeeded alike.

    First come those that failed in one capture and not in the other, then those that failed in a capture that the
    other doesn't know, those that failed in both, those with other outcomes, and those that only one capture has.
    """
    mine, theirs = _group_requests(entries, page.url), _group_requests(others, other_page.url)
    found: list[ComparedRequest] = []
    for key in dict.fromkeys([*mine, *theirs]):
        group, other = mine.get(key, _NO_REQUEST), theirs.get(key, _NO_REQUEST)
        found.append(
            ComparedRequest(
                method=key[0],
                url=shorten_url(group.url or other.url),
                entry=group.entry or None,
                other_entry=other.entry or None,
                count=group.count,
                other_count=other.count,
                outcomes=group.outcomes,
                other_outcomes=other.outcomes,
                failed=group.failed,
                other_failed=other.failed,
            )
        )
    listed = [request for request in found if not _is_alike(request)]
    return sorted(listed, key=_rank_request), len(found) - len(listed)


def _list_properties(record: Page | Environment) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in record.__struct_fields__:
        if name not in MEASURED:
            _add_property(found, name, getattr(record, name))
    return found


def _add_property(found: dict[str, str], name: str, value: Any) -> None:
    """Add a value as text; each part of a nested value is a property with a longer name."""
    if isinstance(value, Size):
        found[name] = f"{value.width} × {value.height}"
    elif isinstance(value, msgspec.Struct):
        for part in value.__struct_fields__:
            _add_property(found, f"{name}.{part}", getattr(value, part))
    elif isinstance(value, dict):
        for part, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            _add_property(found, f"{name}.{part}", inner)
    elif isinstance(value, list | tuple):
        texts = [_format_value(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        if texts:
            found[name] = ", ".join(texts)
    elif value is not None and value is not msgspec.UNSET and value != "":
        found[name] = _format_value(value)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _clip(value: str | None) -> str | None:
    return None if value is None else clip_line(value, MAX_VALUE)


def _group_requests(entries: Iterable[NetworkEntry], page_url: str) -> dict[tuple[str, str], _RequestGroup]:
    groups: dict[tuple[str, str], _RequestGroup] = {}
    for entry in entries:
        key = (entry.method, generalize_address(entry.url, page_url))
        outcome, failed = describe_outcome(entry), is_failure(entry)
        group = groups.setdefault(key, _RequestGroup(entry.url, entry.id, 0, [], failed=False))
        group.count += 1
        if outcome not in group.outcomes and len(group.outcomes) < MAX_OUTCOMES:
            group.outcomes.append(outcome)
        if failed and not group.failed:
            group.url, group.entry, group.failed = entry.url, entry.id, True
    return groups


def _is_alike(request: ComparedRequest) -> bool:
    return _rank_request(request) == _ALIKE


def _rank_request(request: ComparedRequest) -> int:
    """Return the place among the differences; what succeeded in both is last."""
    differs = _simplify(request.outcomes) != _simplify(request.other_outcomes)
    in_both = request.count > 0 and request.other_count > 0
    if request.failed or request.other_failed:
        return 1 if not in_both else 0 if differs else 2
    return 4 if not in_both else 3 if differs else _ALIKE


def _simplify(outcomes: list[str]) -> set[str]:
    """Return outcomes without what depends on the cache."""
    return {_FRESH if outcome == _NOT_MODIFIED else outcome for outcome in outcomes}

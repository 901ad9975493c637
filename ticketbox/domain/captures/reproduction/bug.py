"""Which failure of a capture is the bug: the one that a person chose, or else the last one that a step led to."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from ticketbox.domain.captures.actions import ActionKind
from ticketbox.domain.captures.capture import THROWN, ConsoleEntry, ErrorEntry, Level, NetworkEntry
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.fingerprints import fingerprint_message, fingerprint_page
from ticketbox.domain.captures.records import DescribedFailure
from ticketbox.domain.captures.reproduction.moments import API_TYPES
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.timeline.moments import describe_entry
from ticketbox.domain.tickets.records import Failure, FailureStream

NAVIGATES_MS = 5_000  # how long after a step the browser still opens a page because of it
_ACTS = frozenset({
    ActionKind.CLICK, ActionKind.INPUT, ActionKind.CHANGE, ActionKind.SUBMIT, ActionKind.KEY, ActionKind.DRAG,
    ActionKind.HOVER,
})  # fmt: skip
_TRAVERSALS = ("back", "forward")
_NOTICE = "ResizeObserver loop"  # of the browser, about what it does a moment later anyway


class Bug(NamedTuple):
    """A failure: what it is in other runs too, when what failed began, and when it failed, in epoch milliseconds.

    `weight` compares failures of one step: errors say more than the console, and that more than requests.
    """

    entry: ErrorEntry | ConsoleEntry | NetworkEntry
    identity: tuple[object, ...]
    began: float
    at: float
    weight: int


def find_bug(
    console: Iterable[ConsoleEntry],
    network: Iterable[NetworkEntry],
    errors: Iterable[ErrorEntry],
    steps: Sequence[Step],
    page_url: str,
) -> Bug | None:
    """Find the failure that the last step with a failure led to; None if all are background.

    Background are failures of a page that was opened, if steps followed, wherever they happen again, and failures that
    come again without a step. If nothing was done since the page was opened, opening it is the step.
    """
    failures = [*_list_errors(errors), *_list_printed(console), *_list_requests(network, _read_host(page_url))]
    acts = [step.ts for step in steps if _is_act(step)]
    loads = _list_loads(steps)

    def find_cause(failure: Bug) -> int:
        """The number of steps before a failure, since the page was opened; 0 if opening it led to the failure."""
        number = bisect_right(acts, failure.began)
        return number if number and not any(acts[number - 1] < load <= failure.began for load in loads) else 0

    background = {each.identity for each in failures if not find_cause(each)} | _find_recurring(failures, acts)
    caused = [each for each in failures if each.identity not in background]
    opened = max(loads, default=0)
    if not caused and not (acts and acts[-1] > opened):
        caused = [each for each in failures if each.began >= opened]
    if not caused:
        return None
    last = max(map(find_cause, caused))
    of_last = [each for each in caused if find_cause(each) == last]
    chosen = max(of_last, key=lambda each: (each.weight, each.at))
    return min((each for each in of_last if each.identity == chosen.identity), key=lambda each: each.at)


def find_failure(
    console: Iterable[ConsoleEntry], network: Iterable[NetworkEntry], errors: Iterable[ErrorEntry], wanted: Failure
) -> Bug | None:
    """Find a failure that was named, background or not; None if a test can't look for it, or it isn't there."""
    match wanted.stream:
        case FailureStream.ERRORS:
            named = (_read_error(each) for each in errors if str(each.seq) == wanted.entry)
        case FailureStream.CONSOLE:
            named = (_read_line(each) for each in console if str(each.seq) == wanted.entry)
        case FailureStream.NETWORK:
            named = (_read_request(each) for each in network if each.id == wanted.entry and is_failure(each))
    return next(named, None)


def describe_failure(bug: Bug) -> DescribedFailure:
    """Describe a failure in one line."""
    moment = describe_entry(bug.entry)
    assert moment.entry is not None
    text = f"{moment.text}: {moment.outcome}" if isinstance(bug.entry, NetworkEntry) else moment.text
    return DescribedFailure(FailureStream(moment.kind.value), moment.entry, text)


def _is_act(step: Step) -> bool:
    return (step.kind in _ACTS or step.value_kind in _TRAVERSALS) and not step.synthetic


def _list_loads(steps: Sequence[Step]) -> list[float]:
    """List when a person opened a page, rather than a step."""
    loads: list[float] = []
    acted = float("-inf")
    for step in steps:
        if _is_act(step):
            acted = step.ts
        elif step.kind is ActionKind.NAVIGATE and step.ts - acted > NAVIGATES_MS:
            loads.append(step.ts)
    return loads


def _find_recurring(failures: Sequence[Bug], acts: Sequence[float]) -> set[tuple[object, ...]]:
    """Find what failed several times, at first long after a step, such as a request that a timer repeats."""
    first: dict[tuple[object, ...], Bug] = {}
    recurring: set[tuple[object, ...]] = set()
    for each in sorted(failures, key=lambda each: each.began):
        known = first.setdefault(each.identity, each)
        number = bisect_right(acts, known.began)
        if each is not known and number and known.began - acts[number - 1] > NAVIGATES_MS:
            recurring.add(each.identity)
    return recurring


def _list_errors(entries: Iterable[ErrorEntry]) -> Iterator[Bug]:
    for entry in entries:
        if not entry.message.startswith(_NOTICE) and (bug := _read_error(entry)):
            yield bug


def _read_error(entry: ErrorEntry) -> Bug | None:
    fingerprint = fingerprint_message(format_error(entry)) if entry.kind in THROWN else None
    return None if fingerprint is None else Bug(entry, ("error", fingerprint.value), entry.ts, entry.ts, 3)


def _list_printed(entries: Iterable[ConsoleEntry]) -> Iterator[Bug]:
    return filter(None, map(_read_line, entries))


def _read_line(entry: ConsoleEntry) -> Bug | None:
    if entry.level is not Level.ERROR:
        return None
    text = " ".join(entry.args)
    fingerprint = fingerprint_message(text)
    return Bug(entry, ("console", fingerprint.value if fingerprint else text), entry.ts, entry.ts, 2)


def _list_requests(entries: Iterable[NetworkEntry], host: str | None) -> Iterator[Bug]:
    """List the calls and pages that failed, without what the page cancelled, and what another host didn't answer."""
    for entry in entries:
        if not is_failure(entry) or not (entry.type in API_TYPES or (entry.type == "document" and entry.frame is None)):
            continue
        is_own = _read_host(entry.url) == host
        if entry.status is None and (not is_own or "abort" in (entry.error or "").lower()):
            continue
        yield _read_request(entry)._replace(weight=int(is_own))


def _read_request(entry: NetworkEntry) -> Bug:
    page = fingerprint_page(entry.url.partition("?")[0].partition("#")[0])
    identity = ("request", entry.method, entry.status, page.value if page else entry.url)
    return Bug(entry, identity, entry.ts, entry.ts + (entry.duration_ms or 0), 0)


def _read_host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None

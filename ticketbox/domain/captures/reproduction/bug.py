"""Which failure of a capture is the bug: the one that a person chose, or else the last one that a step led to."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
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


Entry = ConsoleEntry | NetworkEntry | ErrorEntry
Streams = tuple[Iterable[ConsoleEntry], Iterable[NetworkEntry], Iterable[ErrorEntry]]


class Bug(NamedTuple):
    """A failure, and when it failed, in epoch milliseconds."""

    entry: Entry
    at: float


class _Candidate(NamedTuple):
    """What is compared of a failure, so that its entry, which can be large, isn't held.

    It is what it is in other runs too, when what failed began, and when it failed. `weight` compares failures of one
    step: errors say more than the console, and that more than requests. `place` is its stream, and its number there.
    """

    identity: tuple[object, ...]
    began: float
    at: float
    weight: int
    place: tuple[int, int] = (0, 0)


def find_bug(read_streams: Callable[[], Streams], steps: Sequence[Step], page_url: str) -> Bug | None:
    """Find the failure that the last step with a failure led to; None if all are background.

    Background are failures of a page that was opened, if steps followed, wherever they happen again, and failures that
    come again without a step. If nothing was done since the page was opened, opening it is the step.
    """
    failures = list(_list_candidates(read_streams(), _read_host(page_url)))
    acts = [step.ts for step in steps if _is_act(step)]
    loads = _list_loads(steps)

    def find_cause(failure: _Candidate) -> int:
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
    first = min((each for each in of_last if each.identity == chosen.identity), key=lambda each: each.at)
    stream, number = first.place
    return Bug(next(islice(read_streams()[stream], number, None)), first.at)


def find_failure(streams: Streams, wanted: Failure) -> Bug | None:
    """Find a failure that was named, background or not; None if a test can't look for it, or it isn't there."""
    console, network, errors = streams
    named: Iterator[tuple[Entry, _Candidate | None]]
    match wanted.stream:
        case FailureStream.ERRORS:
            named = ((each, _compare_error(each)) for each in errors if str(each.seq) == wanted.entry)
        case FailureStream.CONSOLE:
            named = ((each, _compare_line(each)) for each in console if str(each.seq) == wanted.entry)
        case FailureStream.NETWORK:
            named = ((each, _compare_request(each)) for each in network if each.id == wanted.entry and is_failure(each))
    entry, found = next(named, (None, None))
    return None if entry is None or found is None else Bug(entry, found.at)


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


def _find_recurring(failures: Sequence[_Candidate], acts: Sequence[float]) -> set[tuple[object, ...]]:
    """Find what failed several times, at first long after a step, such as a request that a timer repeats."""
    first: dict[tuple[object, ...], _Candidate] = {}
    recurring: set[tuple[object, ...]] = set()
    for each in sorted(failures, key=lambda each: each.began):
        known = first.setdefault(each.identity, each)
        number = bisect_right(acts, known.began)
        if each is not known and number and known.began - acts[number - 1] > NAVIGATES_MS:
            recurring.add(each.identity)
    return recurring


def _list_candidates(streams: Streams, host: str | None) -> Iterator[_Candidate]:
    """List what a step can have led to: no notices of the browser, nothing that the page cancelled."""

    def compare(entry: Entry) -> _Candidate | None:
        match entry:
            case ErrorEntry():
                return None if entry.message.startswith(_NOTICE) else _compare_error(entry)
            case ConsoleEntry():
                return _compare_line(entry)
            case NetworkEntry():
                is_own = _read_host(entry.url) == host
                return _compare_request(entry)._replace(weight=int(is_own)) if _matters(entry, is_own) else None

    for stream, entries in enumerate(streams):
        for number, entry in enumerate(entries):
            if (candidate := compare(entry)) is not None:
                yield candidate._replace(place=(stream, number))


def _compare_error(entry: ErrorEntry) -> _Candidate | None:
    fingerprint = fingerprint_message(format_error(entry)) if entry.kind in THROWN else None
    return None if fingerprint is None else _Candidate(("error", fingerprint.value), entry.ts, entry.ts, 3)


def _compare_line(entry: ConsoleEntry) -> _Candidate | None:
    if entry.level is not Level.ERROR:
        return None
    text = " ".join(entry.args)
    fingerprint = fingerprint_message(text)
    return _Candidate(("console", fingerprint.value if fingerprint else text), entry.ts, entry.ts, 2)


def _matters(entry: NetworkEntry, is_own: bool) -> bool:
    """Whether a request is a call or a page that failed, and neither cancelled nor left unanswered by another host."""
    if not is_failure(entry) or not (entry.type in API_TYPES or (entry.type == "document" and entry.frame is None)):
        return False
    return entry.status is not None or (is_own and "abort" not in (entry.error or "").lower())


def _compare_request(entry: NetworkEntry) -> _Candidate:
    page = fingerprint_page(entry.url.partition("?")[0].partition("#")[0])
    identity = ("request", entry.method, entry.status, page.value if page else entry.url)
    return _Candidate(identity, entry.ts, entry.ts + (entry.duration_ms or 0), 0)


def _read_host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None

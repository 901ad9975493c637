"""The excerpt of a capture for a small context window: its most relevant entries within a budget.

The overview comes first: errors in groups, and all failed requests. Then come one complete error of each group, failed
requests with their bodies, the console lines around the first error, and everything else that fits. The same input
always results in the same excerpt.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from ticketbox.domain.captures.actions import ActionEntry, ActionKind
from ticketbox.domain.captures.capture import THROWN, ConsoleEntry, Entry, ErrorEntry, NetworkEntry, Stream
from ticketbox.domain.captures.filters import AROUND_MS
from ticketbox.domain.captures.intake.entry_sequence import EntrySequence, Occurrence
from ticketbox.domain.captures.source_maps.stacks import write_original_stack
from ticketbox.domain.captures.steps import Step, build_steps
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.summaries.lines import format_line
from ticketbox.domain.captures.summaries.overview import ErrorGroup, FailedRequest, group_errors, group_failed_requests
from ticketbox.domain.core.access.tokens import estimate_tokens

BYTES_PER_TOKEN = 4  # bytes of JSON for each token, roughly
DEFAULT_BUDGET = 3_600
SHORTEST = 200
STEPS_SHARE = 0.1  # of the budget, for the steps before what went wrong

E = TypeVar("E", bound=Entry | ErrorGroup | FailedRequest)

_ENCODER = msgspec.json.Encoder()
_ENVELOPE = 100
_MAX_MISSES = 20
_CLIP_MARK = "… [{:,} more characters]"
# Tools return these as lines; their JSON with all fields takes up to four times as much.
_LISTED = (ConsoleEntry, ErrorGroup, FailedRequest, Step)
# What says least of how to reproduce a failure.
_MINOR_ACTIONS = {ActionKind.SCROLL, ActionKind.VISIBILITY, ActionKind.RESIZE}


class Part(msgspec.Struct, Generic[E]):
    """The excerpt of one stream, in the stream's order."""

    items: list[E]
    total: int
    omitted: int
    shortened: int
    next: str | None


class CaptureExcerpt(msgspec.Struct):
    """A capture's streams, cut. `next` is the call that fetches what is missing; null if nothing is."""

    error_groups: Part[ErrorGroup]
    failed_requests: Part[FailedRequest]
    errors: Part[ErrorEntry]
    network: Part[NetworkEntry]
    console: Part[ConsoleEntry]
    actions: Part[Step]


def estimate_by_length(text: str) -> int:
    """Estimate tokens by the length of a text, for budgets so large that only the size of the answer counts."""
    return len(text) // BYTES_PER_TOKEN


def build_excerpt(
    console: Sequence[ConsoleEntry],
    network: Sequence[NetworkEntry],
    errors: Sequence[ErrorEntry],
    actions: Sequence[ActionEntry] = (),
    *,
    capture_id: str,
    budget_tokens: int = DEFAULT_BUDGET,
    estimate: Callable[[str], int] = estimate_tokens,
) -> CaptureExcerpt:
    """Choose entries for a budget of tokens: of lines for the overview and the console, else of their JSON.

    Strings that are too long for the budget end in a mark that says how much is missing; other
    requests lose their headers and all but the start of their bodies. A part counts such entries in `shortened`,
    and a console line also has `truncated`. The entries that are passed in aren't changed.
    """
    budget = _Budget(max(0, budget_tokens - _ENVELOPE), estimate)
    line_times, request_times = _list_occurrences(console), _list_occurrences(network)
    failing = (network[i] for i, (_, failed) in enumerate(request_times) if failed)
    groups, failures = _Selection(group_errors(errors)), _Selection(group_failed_requests(failing))
    lines, requests, faults = _Selection(console), _Selection(network), _Selection(errors)
    steps = _Selection(build_steps(actions))

    thrown = [(entry.ts, entry.kind in THROWN) for entry in errors]
    moment = _find_first_failure(thrown, _list_occurrences(errors), line_times, request_times)
    near_lines, near_requests = _order_by_distance(line_times, moment), _order_by_distance(request_times, moment)
    around = [i for i in near_lines if moment is not None and abs(line_times[i][0] - moment) <= AROUND_MS]
    failed_lines = [i for i in near_lines if line_times[i][1]]
    failed_requests = [i for i in near_requests if request_times[i][1]]
    near_steps = _order_by_distance(_list_occurrences(actions), moment)
    telling_steps = [i for i in near_steps if actions[i].kind not in _MINOR_ACTIONS]
    first_seqs = {group.entry for group in groups.entries}
    firsts = [i for i, entry in enumerate(errors) if entry.seq in first_seqs]

    groups.select(range(len(groups.entries)), budget, up_to=0.25)
    failures.select(range(len(failures.entries)), budget, up_to=0.7)
    steps.select(telling_steps, budget, up_to=min(1, budget.spent / max(1, budget.total) + STEPS_SHARE))
    faults.select(firsts, budget, up_to=0.8)
    requests.select(failed_requests, budget, up_to=0.9)
    lines.select(around, budget, up_to=0.97)
    faults.select(firsts, budget)
    requests.select(failed_requests, budget)
    steps.select([*telling_steps, *near_steps], budget)
    lines.select(failed_lines, budget)
    faults.select(range(len(errors)), budget)
    requests.select(near_requests, budget)
    lines.select(near_lines, budget)
    return CaptureExcerpt(
        error_groups=groups.build_part(f'get_errors(capture_id="{capture_id}")'),
        failed_requests=failures.build_part(f'get_network(capture_id="{capture_id}", failures_only=true)'),
        errors=faults.build_part(f'get_{Stream.ERRORS}(capture_id="{capture_id}")'),
        network=requests.build_part(f'get_{Stream.NETWORK}(capture_id="{capture_id}")'),
        console=lines.build_part(f'get_{Stream.CONSOLE}(capture_id="{capture_id}")'),
        actions=steps.build_part(f'get_{Stream.ACTIONS}(capture_id="{capture_id}")'),
    )


class _Budget:
    def __init__(self, total: int, estimate: Callable[[str], int]) -> None:
        self.total = total
        self.spent = 0
        self.estimate = estimate


class _Selection(Generic[E]):
    """The selected entries of one stream, by position."""

    def __init__(self, entries: Sequence[E]) -> None:
        self.entries = entries
        self.chosen: dict[int, E] = {}

    def select(self, indexes: Iterable[int], budget: _Budget, up_to: float = 1.0) -> None:
        """Select entries in this order until that share of the budget is spent, or too many didn't fit."""
        misses = 0
        for index in indexes:
            if index in self.chosen:
                continue
            left = int(budget.total * up_to) - budget.spent
            fitting = _fit_entry(self.entries[index], left, budget)
            if fitting is None:
                misses += 1
                if misses == _MAX_MISSES:
                    return
            else:
                misses = 0
                self.chosen[index], cost = fitting
                budget.spent += cost

    def build_part(self, call: str) -> Part[E]:
        """Build the stream's part of the excerpt. `call` returns what it leaves out."""
        items = [self.chosen[index] for index in sorted(self.chosen)]
        shortened = sum(item != self.entries[index] for index, item in self.chosen.items())
        omitted = len(self.entries) - len(items)
        return Part(items, len(self.entries), omitted, shortened, call if omitted or shortened else None)


def _list_occurrences(entries: Sequence[Entry]) -> list[Occurrence]:
    """List the time of each entry and whether it is a failure."""
    if isinstance(entries, EntrySequence):
        return entries.list_occurrences()
    return [(entry.ts, is_failure(entry)) for entry in entries]


def _find_first_failure(*streams: list[Occurrence]) -> float | None:
    """Return the time of the first failure in the first stream that has any."""
    return next((min(times) for stream in streams if (times := [ts for ts, failed in stream if failed])), None)


def _order_by_distance(occurrences: list[Occurrence], moment: float | None) -> list[int]:
    """Order positions by their distance to a time; without one, newest first."""
    if moment is None:
        return list(reversed(range(len(occurrences))))
    distances = [abs(ts - moment) for ts, _ in occurrences]
    return sorted(range(len(occurrences)), key=distances.__getitem__)


def _fit_entry(entry: E, left: int, budget: _Budget) -> tuple[E, int] | None:
    """Shorten an entry as far as needed; return it with its cost, or None if it doesn't fit."""
    total = budget.total
    for longest, largest in ((total // 3, total // 4), (total // 12, total // 8), (0, left)):
        candidate = _shorten_entry(entry, max(longest, SHORTEST), bare=not longest)
        text = write_entry(candidate)
        limit = min(left, largest)
        if len(text) <= 8 * limit and (cost := budget.estimate(text) + 1) <= limit:
            return candidate, cost
    return None


def write_entry(entry: Any) -> str:
    """Write an entry as tools return it: some as a line, and a stack only once."""
    if isinstance(entry, _LISTED):
        return format_line(entry)
    if isinstance(entry, ErrorEntry) and entry.stack:
        entry = replace(entry, frames=[])
    return _ENCODER.encode(entry).decode()


def _shorten_entry(entry: Any, longest: int, *, bare: bool) -> Any:
    """Return a copy with shorter strings, or the entry itself; `bare` drops secondary fields."""
    match entry:
        case ErrorGroup() | FailedRequest() | Step():
            return entry
        case ConsoleEntry():
            changes = _clip_fields(entry, longest, "stack", "source")
            args = [_clip(arg, longest) for arg in entry.args[: 5 if bare else None]]
            if args != entry.args:
                changes["args"] = args
            return replace(entry, **changes, truncated=True) if changes else entry
        case NetworkEntry():
            bare = bare or not is_failure(entry)
            changes = _clip_fields(entry, longest, "url", "initiator", "error", "status_text")
            for name in ("request", "response"):
                part = getattr(entry, name)
                if part_changes := _clip_part(part, longest, bare=bare):
                    changes[name] = replace(part, **part_changes)
            if entry.messages:
                changes["messages"] = UNSET if bare else entry.messages[-10:]
            if entry.redirects:
                changes["redirects"] = [replace(each, url=_clip(each.url, longest)) for each in entry.redirects[-3:]]
            return replace(entry, **changes) if changes else entry
        case _:
            if original := write_original_stack(entry.stack, entry.frames):
                entry = replace(entry, stack=original)
            changes = _clip_fields(entry, longest, "message", "stack", "source", "name")
            frames = [
                replace(frame, **_clip_fields(frame, longest, "url", "function"))
                for frame in entry.frames[: 3 if bare else 12]
            ]
            if frames != entry.frames:
                changes["frames"] = frames
            return replace(entry, **changes) if changes else entry


def _clip_fields(record: Any, longest: int, *names: str) -> dict[str, Any]:
    texts = ((name, getattr(record, name)) for name in names)
    return {name: _clip(text, longest) for name, text in texts if text is not None and len(text) > longest}


def _clip_part(part: Any, longest: int, *, bare: bool) -> dict[str, Any]:
    if bare:
        changes: dict[str, Any] = {"headers": {}} if part.headers else {}
        if part.body is not None and len(part.body) > SHORTEST:
            changes["body"] = _clip(part.body, SHORTEST)
        return changes
    changes = _clip_fields(part, longest, "body")
    if any(len(value) > longest for value in part.headers.values()):
        changes["headers"] = {name: _clip(value, longest) for name, value in part.headers.items()}
    return changes


def _clip(text: str, longest: int) -> str:
    """Clip a text to a length that includes the mark, so that the field's limit holds too."""
    if len(text) <= longest:
        return text
    length = longest - len(_CLIP_MARK) - len(f"{len(text):,}")
    return text[:length] + _CLIP_MARK.format(len(text) - length)

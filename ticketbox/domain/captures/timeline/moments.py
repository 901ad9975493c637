"""The moments of a capture: what the person did and what the page did, in one order.

The web app merges the streams that it has loaded in the same way (web/src/app/captures/timeline/timeline.ts); both are
tested with tests/domain/captures/timeline.json.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from ticketbox.domain.captures.actions import ActionEntry, ActionKind
from ticketbox.domain.captures.capture import THROWN, ConsoleEntry, Entry, ErrorEntry, Level, NetworkEntry, Stream
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.steps import Step, build_steps, shorten_address
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.summaries.overview import clip_line, shorten_url
from ticketbox.domain.tickets.records import Failure

MAX_TEXT = 160  # characters


class MomentKind(StrEnum):
    """What a moment is: an entry of a stream, or the beginning of a page."""

    PAGES = "pages"
    ACTIONS = "actions"
    CONSOLE = "console"
    NETWORK = "network"
    ERRORS = "errors"


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, as a short text. `entry` names it for the call that returns it whole.

    `outcome` is a request's status or error, a console line's level, or the kind of an error that nobody threw.
    """

    kind: MomentKind
    entry: str | None
    ts: float
    text: str
    outcome: str | None = None
    failed: bool = False
    count: int = 1
    omitted_before: int = 0


def merge_streams(
    console: Iterable[ConsoleEntry],
    network: Sequence[NetworkEntry],
    errors: Iterable[ErrorEntry],
    actions: Sequence[ActionEntry],
) -> list[Moment]:
    """Merge the streams of a capture by time; at the same time actions are first, then console, network and errors.

    Where another document of the tab begins and no action says so, a moment of the kind `pages` is added.
    """
    entries: list[Entry] = [*build_steps(actions), *console, *network, *errors]
    entries.sort(key=lambda entry: entry.ts)
    addresses = _find_documents(network)
    moments: list[Moment] = []
    latest = entries[0].document if entries else 0
    for entry in entries:
        moment = describe_entry(entry)
        # a page that is being left can still log after the next one has begun to load
        if entry.document > latest:
            latest = entry.document
            if moment.kind is not MomentKind.PAGES:
                moments.append(_describe_page(entry.ts, addresses.get(latest)))
        moments.append(moment)
    return moments


def find_first_failure(moments: Sequence[Moment], bug: Failure | None = None) -> Moment | None:
    """Return the bug, or the first thing that went wrong: thrown, a failed request, another error, a console line."""
    name = None if bug is None else (bug.stream.value, bug.entry)
    if known := next((moment for moment in moments if (moment.kind.value, moment.entry) == name), None):
        return known
    failed = [moment for moment in moments if moment.failed and moment.outcome != Level.WARN]
    return min(failed, key=lambda moment: (_rank(moment), moment.ts), default=None)


def _rank(moment: Moment) -> int:
    match moment.kind:
        case MomentKind.ERRORS:
            return 0 if moment.outcome is None else 2
        case MomentKind.NETWORK:
            return 1
        case _:
            return 3


def describe_entry(entry: Entry) -> Moment:
    """Describe an entry of a stream as a moment."""
    match entry:
        case Step():
            kind = MomentKind.PAGES if entry.kind is ActionKind.NAVIGATE else MomentKind.ACTIONS
            return Moment(kind=kind, entry=str(entry.number), ts=entry.ts, text=entry.words)
        case ConsoleEntry():
            text = clip_line(" ".join(entry.args), MAX_TEXT) or "(empty)"
            return _describe(Stream.CONSOLE, entry, entry.seq, text, outcome=entry.level.value, count=entry.repeat)
        case NetworkEntry():
            text = f"{entry.method} {shorten_url(shorten_address(entry.url))}"
            return _describe(Stream.NETWORK, entry, entry.id, text, outcome=describe_outcome(entry))
        case ErrorEntry():
            text = clip_line(format_error(entry), MAX_TEXT) or "(no message)"
            outcome = None if entry.kind in THROWN else entry.kind.value
            return _describe(Stream.ERRORS, entry, entry.seq, text, outcome=outcome, count=entry.count)
        case ActionEntry():
            raise TypeError("an action has no number; build its step")


def _describe(
    stream: Stream, entry: Entry, name: int | str, text: str, *, outcome: str | None = None, count: int = 1
) -> Moment:
    return Moment(
        kind=MomentKind(stream.value), entry=str(name), ts=entry.ts, text=text, outcome=outcome,
        failed=is_failure(entry), count=count,
    )  # fmt: skip


def describe_outcome(entry: NetworkEntry) -> str:
    """Return the status or the error of a request; `pending` if it had neither when the capture was taken."""
    if entry.error is not None:
        error = clip_line(entry.error, MAX_TEXT)
        return error if entry.status is None else f"{entry.status} {error}"
    if entry.status is not None:
        return str(entry.status)
    return "unknown" if not is_failure(entry) else "pending" if entry.duration_ms is None else "no response"


def _describe_page(ts: float, url: str | None) -> Moment:
    text = "Opened another page" if url is None else f"Opened {shorten_address(url)}"
    return Moment(kind=MomentKind.PAGES, entry=None, ts=ts, text=text)


def _find_documents(network: Sequence[NetworkEntry]) -> dict[int, str]:
    """Return the address of each document of the tab, by its index, as far as its request was recorded."""
    found: dict[int, str] = {}
    for entry in network:
        if entry.type == "document" and entry.frame is None:
            found.setdefault(entry.document, entry.url)
    return found

"""Entries of a capture as one short line each, for lists that a model reads (docs/use/agents.md, "Answer sizes").

A line begins with what the next call needs: the entry's id and its time in epoch milliseconds. It ends with the
document that the entry is of, if that isn't the first one of the capture.
"""

from collections.abc import Callable
from typing import Any

from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.captures.summaries.overview import (
    ErrorGroup,
    FailedRequest,
    clip_line,
    find_place,
    format_error,
    shorten_file,
    shorten_url,
)

MAX_TEXT = 200  # characters of a message

FORMATS: dict[type, str] = {
    ConsoleEntry: "seq ts level text (file) ×repeat [document]",
    NetworkEntry: "id ts method status-or-error url (→ redirected to) duration type size [document]",
    ErrorEntry: "seq ts message (file in function) ×count [document]",
    Step: "number. words (ts) [document]",
    ErrorGroup: "seq message (file in function) ×count",
    FailedRequest: "id method status-or-error url duration ×count",
}


def format_line(entry: Any) -> str:
    """Return an entry of a stream or an overview as a line."""
    document: int = getattr(entry, "document", 0)
    return _WRITERS[type(entry)](entry) + (f" [{document}]" if document else "")


def _format_console_line(entry: ConsoleEntry) -> str:
    text = clip_line(" ".join(entry.args), MAX_TEXT)
    place = f" ({shorten_file(entry.source)})" if entry.source else ""
    return f"{entry.seq} {int(entry.ts)} {entry.level} {text}{place}{_format_count(entry.repeat)}"


def _format_request_line(entry: NetworkEntry) -> str:
    size = "" if entry.response.bytes is None else f" {entry.response.bytes} B"
    redirects = f" → {shorten_url(entry.redirects[-1].url)}" if entry.redirects else ""
    return (
        f"{entry.id} {int(entry.ts)} {entry.method} {_format_outcome(entry)} {shorten_url(entry.url)}{redirects}"
        f"{_format_duration(entry.duration_ms)} {entry.type}{size}"
    )


def _format_error_line(entry: ErrorEntry) -> str:
    text = clip_line(format_error(entry), MAX_TEXT)
    return f"{entry.seq} {int(entry.ts)} {text}{_format_place(find_place(entry))}{_format_count(entry.count)}"


def _format_step(step: Step) -> str:
    return f"{step.number}. {step.words} ({int(step.ts)})"


def _format_error_group(group: ErrorGroup) -> str:
    return f"{group.entry} {group.message}{_format_place(group.source)}{_format_count(group.count)}"


def _format_failed_request(request: FailedRequest) -> str:
    return (
        f"{request.id} {request.method} {_format_outcome(request)} {request.url}"
        f"{_format_duration(request.duration_ms)}{_format_count(request.count)}"
    )


def _format_outcome(entry: NetworkEntry | FailedRequest) -> str:
    if entry.error is not None:
        error = clip_line(entry.error, MAX_TEXT)
        return error if entry.status is None else f"{entry.status} {error}"
    return "no response" if entry.status is None else str(entry.status)


def _format_place(place: str | None) -> str:
    return f" ({place})" if place else ""


def _format_duration(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f" {milliseconds:.0f} ms"


def _format_count(count: int) -> str:
    return f" ×{count}" if count > 1 else ""


_WRITERS: dict[type, Callable[[Any], str]] = {
    ConsoleEntry: _format_console_line,
    NetworkEntry: _format_request_line,
    ErrorEntry: _format_error_line,
    Step: _format_step,
    ErrorGroup: _format_error_group,
    FailedRequest: _format_failed_request,
}

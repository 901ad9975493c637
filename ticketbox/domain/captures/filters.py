"""Filtering the streams of a capture: by text, by time, and by what each stream has."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from ticketbox.domain.captures.capture import ConsoleEntry, Entry, ErrorEntry, Level, NetworkEntry
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.captures.streams import is_failure, list_payloads
from ticketbox.domain.core.problems import InvalidField

AROUND_MS = 5_000

E = TypeVar("E", bound=Entry)

_LEVELS = list(Level)
_STATUS = re.compile(r"[1-5](?:xx|[0-9]{2})", re.ASCII)


def filter_console(
    entries: Sequence[ConsoleEntry],
    *,
    level: Level | None = None,
    contains: str | None = None,
    around: float | None = None,
) -> list[tuple[int, ConsoleEntry]]:
    """Filter console lines; return them with their positions: of a level or higher, with a text, near a time."""
    levels = _LEVELS[_LEVELS.index(level) :] if level else _LEVELS
    matches = _make_text_filter(contains)
    return [
        (index, entry)
        for index, entry in _filter_by_time(entries, around)
        if entry.level in levels and matches((*entry.args, entry.source, entry.stack))
    ]


def filter_network(
    entries: Sequence[NetworkEntry],
    *,
    contains: str | None = None,
    failures_only: bool = False,
    status: str | None = None,
    method: str | None = None,
    host: str | None = None,
    around: float | None = None,
) -> list[tuple[int, NetworkEntry]]:
    """Filter requests; return them with their positions.

    `contains` searches the URL, the error and the bodies. `status` is exact (`404`) or a class
    (`4xx`). `host` is compared with and without its port. Raises InvalidRequest for another status.
    """
    if status is not None and not _STATUS.fullmatch(status.lower()):
        raise InvalidField("status", "expected a status such as 404, or a class such as 4xx")
    wanted = status.lower().rstrip("x") if status else ""
    matches = _make_text_filter(contains)
    return [
        (index, entry)
        for index, entry in _filter_by_time(entries, around)
        if (not failures_only or is_failure(entry))
        and (not wanted or (entry.status is not None and str(entry.status).startswith(wanted)))
        and (method is None or entry.method.lower() == method.lower())
        and (host is None or host.lower() in _list_hosts(entry.url))
        and matches((entry.url, entry.error, *(part.body for part in list_payloads(entry))))
    ]


def filter_errors(
    entries: Sequence[ErrorEntry], *, contains: str | None = None, around: float | None = None
) -> list[tuple[int, ErrorEntry]]:
    """Filter errors; return them with their positions: with a text in name, message, source or stack, near a time."""
    matches = _make_text_filter(contains)
    return [
        (index, entry)
        for index, entry in _filter_by_time(entries, around)
        if matches((entry.name, entry.message, entry.source, entry.stack))
    ]


def filter_steps(
    steps: Sequence[Step], *, contains: str | None = None, around: float | None = None
) -> list[tuple[int, Step]]:
    """Filter steps; return them with their positions: with a text in words, locators or address, near a time."""
    matches = _make_text_filter(contains)
    return [
        (index, step)
        for index, step in _filter_by_time(steps, around)
        if matches((step.words, step.url, *(step.target.selectors if step.target else ())))
    ]


def _filter_by_time(entries: Sequence[E], around: float | None) -> Iterable[tuple[int, E]]:
    return (
        (index, entry) for index, entry in enumerate(entries) if around is None or abs(entry.ts - around) <= AROUND_MS
    )


def _make_text_filter(text: str | None) -> Callable[[Iterable[str | None]], bool]:
    if not text:
        return lambda _: True
    wanted = text.casefold()
    return lambda fields: any(field and wanted in field.casefold() for field in fields)


def _list_hosts(url: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(url)
        return parts.netloc.lower().rpartition("@")[2], parts.hostname or ""
    except ValueError:
        return ()

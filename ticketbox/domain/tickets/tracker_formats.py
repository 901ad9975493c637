"""Tickets from other trackers' exports: GitHub issues' JSON, Jira's CSV, Linear's CSV (docs/operate/export-import.md).

Nothing of a file is believed to be right: what isn't the format's shape is refused with its place, and every value is
bounded as if somebody had typed it.
"""

import csv
import io
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InvalidRequest, invalid
from ticketbox.domain.tickets.records import Priority

MOST_TICKETS = 10_000
MOST_BYTES = 64 << 20
_TITLE, _TEXT, _LABEL, _LABELS = 300, 100_000, 50, 20
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_URL = re.compile(r"https?://[^\x00-\x20\x7f]{1,8000}")


class Tracker(StrEnum):
    """Where a file comes from."""

    GITHUB = "github"
    JIRA = "jira"
    LINEAR = "linear"


class Foreign(msgspec.Struct, frozen=True):
    """A ticket as another tracker had it. `state` is that tracker's word; `comments` are Markdown."""

    key: str
    title: str
    description: str
    state: str
    resolved: bool
    priority: Priority
    labels: list[str]
    url: str | None
    comments: list[str]


class _Named(msgspec.Struct):
    name: str = ""
    login: str = ""


class _Comment(msgspec.Struct):
    body: str = ""
    author: _Named | None = None
    user: _Named | None = None


class _Issue(msgspec.Struct):
    number: int
    title: str
    state: str = "open"
    body: str | None = None
    labels: list[_Named | str] = []
    url: str = ""
    html_url: str = ""
    comments: list[_Comment] | int = 0
    pull_request: dict[str, Any] | None = None


def read(tracker: Tracker, data: bytes) -> list[Foreign]:
    """Read a tracker's file. Raises InvalidRequest that says where it isn't what it should be."""
    if len(data) > MOST_BYTES:
        raise invalid("file", f"it has more than {MOST_BYTES >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid("file", f"it isn't UTF-8 (at byte {error.start})") from None
    found = _github(text) if tracker is Tracker.GITHUB else _table(tracker, text)
    if not found:
        raise invalid("file", "there are no tickets in it")
    if len(found) > MOST_TICKETS:
        raise invalid("file", f"it has more than {MOST_TICKETS:,} tickets")
    return found


def _github(text: str) -> list[Foreign]:
    """What `gh issue list --json number,title,state,body,labels,url,comments` or the REST API's issues give."""
    try:
        issues = msgspec.json.decode(text, type=list[_Issue])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise invalid("file", f"these aren't GitHub's issues: {error}") from None
    return [
        _foreign(
            key=f"#{issue.number}",
            title=issue.title,
            description=issue.body or "",
            state=issue.state.lower(),
            resolved=issue.state.lower() == "closed",
            priority="",
            labels=[label if isinstance(label, str) else label.name for label in issue.labels],
            url=issue.html_url or issue.url,
            comments=[_said(each) for each in issue.comments] if isinstance(issue.comments, list) else [],
        )
        for issue in issues
        if issue.pull_request is None
    ]


def _said(comment: _Comment) -> str:
    by = comment.author or comment.user
    return f"{by.login or by.name}:\n\n{comment.body}" if by and (by.login or by.name) else comment.body


_NEEDED = {Tracker.JIRA: ("Issue key", "Summary", "Status"), Tracker.LINEAR: ("ID", "Title", "Status")}
_DONE = {"done", "closed", "resolved", "completed", "canceled", "cancelled", "duplicate", "won't do"}


def _table(tracker: Tracker, text: str) -> list[Foreign]:
    """A CSV with a head; Jira repeats columns such as Labels and Comment."""
    csv.field_size_limit(MOST_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise invalid("file", f"this isn't CSV: {error}") from None
    head = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in _NEEDED[tracker] if name not in head]
    if missing:
        raise invalid("file", f"this isn't {tracker.capitalize()}'s CSV: there is no column {missing[0]}")
    found: list[Foreign] = []
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            raise InvalidRequest(f"file: row {number} has {len(row)} cells, and the head {len(head)}")
        cells: dict[str, list[str]] = {}
        for name, cell in zip(head, row, strict=True):
            if cell.strip():
                cells.setdefault(name, []).append(cell.strip())
        found.append(_jira(cells) if tracker is Tracker.JIRA else _linear(cells))
    return found


def _jira(cells: dict[str, list[str]]) -> Foreign:
    state = _first(cells, "Status")
    return _foreign(
        key=_first(cells, "Issue key"),
        title=_first(cells, "Summary"),
        description=_first(cells, "Description"),
        state=state,
        resolved=bool(_first(cells, "Resolution")) or state.casefold() in _DONE,
        priority=_first(cells, "Priority"),
        labels=cells.get("Labels", []),
        url="",
        comments=[_jira_said(each) for each in cells.get("Comment", [])],
    )


def _jira_said(text: str) -> str:
    """Jira writes `time;account;text`."""
    at, first, rest = text.partition(";")
    by, second, body = rest.partition(";")
    return f"{by}, {at}:\n\n{body}" if first and second else text


def _linear(cells: dict[str, list[str]]) -> Foreign:
    state = _first(cells, "Status")
    return _foreign(
        key=_first(cells, "ID"),
        title=_first(cells, "Title"),
        description=_first(cells, "Description"),
        state=state,
        resolved=bool(_first(cells, "Completed") or _first(cells, "Canceled")) or state.casefold() in _DONE,
        priority=_first(cells, "Priority"),
        labels=[label for cell in cells.get("Labels", []) for label in cell.split(",")],
        url=_first(cells, "URL"),
        comments=[],
    )


def _first(cells: dict[str, list[str]], name: str) -> str:
    return cells.get(name, [""])[0]


_PRIORITIES = {
    "highest": Priority.URGENT, "critical": Priority.URGENT, "blocker": Priority.URGENT, "urgent": Priority.URGENT,
    "high": Priority.HIGH, "major": Priority.HIGH, "medium": Priority.MEDIUM, "low": Priority.LOW,
    "minor": Priority.LOW, "lowest": Priority.LOW, "trivial": Priority.LOW,
}  # fmt: skip


def _foreign(
    *, key: str, title: str, description: str, state: str, resolved: bool, priority: str, labels: Iterable[str],
    url: str, comments: Iterable[str],
) -> Foreign:  # fmt: skip
    line = _line(key, 100)
    tidy = (_line(label, _LABEL) for label in labels)
    named = {label.casefold(): label for label in tidy if label}
    return Foreign(
        key=line,
        title=_line(title, _TITLE) or line or "Untitled",
        description=description.replace("\x00", "")[:_TEXT],
        state=_line(state, 100),
        resolved=resolved,
        priority=_PRIORITIES.get(priority.casefold(), Priority.NONE),
        labels=list(named.values())[:_LABELS],
        url=url if _URL.fullmatch(url) else None,
        comments=[said[:50_000] for text in comments if (said := text.replace("\x00", "")).strip()],
    )


def _line(text: str, most: int) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())[:most].strip()

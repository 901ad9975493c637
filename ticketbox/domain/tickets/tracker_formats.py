"""Tickets from other trackers' exports: GitHub issues' JSON, Jira's CSV, Linear's CSV (docs/operate/export-import.md).

Files are untrusted: one that doesn't have the format's shape is refused with the position, and every value is limited
as if somebody had typed it.
"""

import csv
import io
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.problems import InvalidField, InvalidRequest
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.tickets.records import Priority

MAX_TICKETS = 10_000
MAX_BYTES = 64 << 20
_MAX_TITLE, _MAX_TEXT, _MAX_LABEL, _MAX_LABELS = 300, 100_000, 50, 20
_URL = re.compile(r"https?://[^\x00-\x20\x7f]{1,8000}")


class Tracker(StrEnum):
    """Where a file comes from."""

    GITHUB = "github"
    JIRA = "jira"
    LINEAR = "linear"


class ImportedTicket(msgspec.Struct, frozen=True):
    """A ticket of another tracker. `state` is in that tracker's terms; `comments` are Markdown."""

    key: str
    title: str
    description: str
    state: str
    resolved: bool
    priority: Priority
    labels: list[str]
    url: str | None
    comments: list[str]


class _GithubName(msgspec.Struct):
    name: str = ""
    login: str = ""


class _GithubComment(msgspec.Struct):
    body: str = ""
    author: _GithubName | None = None
    user: _GithubName | None = None


class _GithubIssue(msgspec.Struct):
    number: int
    title: str
    state: str = "open"
    body: str | None = None
    labels: list[_GithubName | str] = []
    url: str = ""
    html_url: str = ""
    comments: list[_GithubComment] | int = 0
    pull_request: dict[str, Any] | None = None


def read_tickets(tracker: Tracker, data: bytes) -> list[ImportedTicket]:
    """Read a tracker's file. Raises InvalidRequest that says what is wrong and where."""
    if len(data) > MAX_BYTES:
        raise InvalidField("file", f"must be at most {MAX_BYTES >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidField("file", f"must be UTF-8 (invalid at byte {error.start})") from None
    tickets = _read_github(text) if tracker is Tracker.GITHUB else _read_csv(tracker, text)
    if not tickets:
        raise InvalidField("file", "contains no tickets")
    if len(tickets) > MAX_TICKETS:
        raise InvalidField("file", f"must have at most {MAX_TICKETS:,} tickets")
    return tickets


def _read_github(text: str) -> list[ImportedTicket]:
    """Read the output of `gh issue list --json …`, or issues of the REST API."""
    try:
        issues = msgspec.json.decode(text, type=list[_GithubIssue])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidField("file", f"these aren't GitHub's issues: {error}") from None
    return [
        _build_ticket(
            key=f"#{issue.number}",
            title=issue.title,
            description=issue.body or "",
            state=issue.state.lower(),
            resolved=issue.state.lower() == "closed",
            priority="",
            labels=[label if isinstance(label, str) else label.name for label in issue.labels],
            url=issue.html_url or issue.url,
            comments=[_format_github_comment(each) for each in issue.comments]
            if isinstance(issue.comments, list)
            else [],
        )
        for issue in issues
        if issue.pull_request is None
    ]


def _format_github_comment(comment: _GithubComment) -> str:
    by = comment.author or comment.user
    return f"{by.login or by.name}:\n\n{comment.body}" if by and (by.login or by.name) else comment.body


_REQUIRED_COLUMNS = {Tracker.JIRA: ("Issue key", "Summary", "Status"), Tracker.LINEAR: ("ID", "Title", "Status")}
_RESOLVED_STATES = {"done", "closed", "resolved", "completed", "canceled", "cancelled", "duplicate", "won't do"}


def _read_csv(tracker: Tracker, text: str) -> list[ImportedTicket]:
    """Read CSV with a header; Jira repeats columns such as Labels and Comment."""
    csv.field_size_limit(MAX_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InvalidField("file", f"this isn't CSV: {error}") from None
    head = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in _REQUIRED_COLUMNS[tracker] if name not in head]
    if missing:
        raise InvalidField("file", f"this isn't {tracker.capitalize()}'s CSV: there is no column {missing[0]}")
    tickets: list[ImportedTicket] = []
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            raise InvalidRequest(f"file: row {number} has {len(row)} cells, and the head {len(head)}")
        cells: dict[str, list[str]] = {}
        for name, cell in zip(head, row, strict=True):
            if cell.strip():
                cells.setdefault(name, []).append(cell.strip())
        tickets.append(_read_jira_row(cells) if tracker is Tracker.JIRA else _read_linear_row(cells))
    return tickets


def _read_jira_row(cells: dict[str, list[str]]) -> ImportedTicket:
    state = _get_first_cell(cells, "Status")
    return _build_ticket(
        key=_get_first_cell(cells, "Issue key"),
        title=_get_first_cell(cells, "Summary"),
        description=_get_first_cell(cells, "Description"),
        state=state,
        resolved=bool(_get_first_cell(cells, "Resolution")) or state.casefold() in _RESOLVED_STATES,
        priority=_get_first_cell(cells, "Priority"),
        labels=cells.get("Labels", []),
        url="",
        comments=[_format_jira_comment(each) for each in cells.get("Comment", [])],
    )


def _format_jira_comment(text: str) -> str:
    """Format a comment of Jira, which is `time;account;text`."""
    at, first, rest = text.partition(";")
    by, second, body = rest.partition(";")
    return f"{by}, {at}:\n\n{body}" if first and second else text


def _read_linear_row(cells: dict[str, list[str]]) -> ImportedTicket:
    state = _get_first_cell(cells, "Status")
    return _build_ticket(
        key=_get_first_cell(cells, "ID"),
        title=_get_first_cell(cells, "Title"),
        description=_get_first_cell(cells, "Description"),
        state=state,
        resolved=bool(_get_first_cell(cells, "Completed") or _get_first_cell(cells, "Canceled"))
        or state.casefold() in _RESOLVED_STATES,
        priority=_get_first_cell(cells, "Priority"),
        labels=[label for cell in cells.get("Labels", []) for label in cell.split(",")],
        url=_get_first_cell(cells, "URL"),
        comments=[],
    )


def _get_first_cell(cells: dict[str, list[str]], name: str) -> str:
    return cells.get(name, [""])[0]


_PRIORITIES = {
    "highest": Priority.URGENT, "critical": Priority.URGENT, "blocker": Priority.URGENT, "urgent": Priority.URGENT,
    "high": Priority.HIGH, "major": Priority.HIGH, "medium": Priority.MEDIUM, "low": Priority.LOW,
    "minor": Priority.LOW, "lowest": Priority.LOW, "trivial": Priority.LOW,
}  # fmt: skip


def _build_ticket(
    *, key: str, title: str, description: str, state: str, resolved: bool, priority: str, labels: Iterable[str],
    url: str, comments: Iterable[str],
) -> ImportedTicket:  # fmt: skip
    line = _clean_line(key, 100)
    tidy = (_clean_line(label, _MAX_LABEL) for label in labels)
    named = {label.casefold(): label for label in tidy if label}
    return ImportedTicket(
        key=line,
        title=_clean_line(title, _MAX_TITLE) or line or "Untitled",
        description=description.replace("\x00", "")[:_MAX_TEXT],
        state=_clean_line(state, 100),
        resolved=resolved,
        priority=_PRIORITIES.get(priority.casefold(), Priority.NONE),
        labels=list(named.values())[:_MAX_LABELS],
        url=normalize_page_address(url) if _URL.fullmatch(url) else None,
        comments=[said[:50_000] for text in comments if (said := text.replace("\x00", "")).strip()],
    )


def _clean_line(text: str, most: int) -> str:
    return " ".join(remove_unsafe(text, " ").split())[:most].strip()

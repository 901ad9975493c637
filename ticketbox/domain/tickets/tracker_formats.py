"""Tickets from other trackers' exports: GitHub issues' JSON, Jira's CSV, Linear's CSV (docs/operate/export-import.md).

Files are untrusted: one that doesn't have the format's shape is refused with the position, and every value is limited
as if somebody had typed it.
"""

import codecs
import csv
import re
from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import msgspec

from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.unsafe_characters import remove_unsafe
from ticketbox.domain.tickets.csv_rows import Cells, read_rows
from ticketbox.domain.tickets.jira_markup import convert_to_markdown
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
    """A ticket of another tracker. `state` and `assignees` are in that tracker's terms; `comments` are Markdown.

    `due_on` is None if there is no due date, or one that can't be read: `unread_due_date`.
    """

    key: str
    title: str
    description: str
    state: str
    resolved: bool
    priority: Priority
    labels: list[str]
    url: str | None
    due_on: date | None
    unread_due_date: bool
    assignees: list[str]
    comments: list[str]


class _GithubName(msgspec.Struct):
    name: str = ""
    login: str = ""


class _GithubComment(msgspec.Struct):
    body: str = ""
    author: _GithubName | None = None
    user: _GithubName | None = None
    gh_created_at: str = msgspec.field(name="createdAt", default="")
    created_at: str = ""


class _GithubIssue(msgspec.Struct):
    number: int
    title: str
    state: str = "open"
    body: str | None = None
    labels: list[_GithubName | str] = []
    assignees: list[_GithubName] = []
    url: str = ""
    html_url: str = ""
    comments: list[_GithubComment] | int = 0
    pull_request: dict[str, Any] | None = None


def read_tickets(tracker: Tracker, data: bytes) -> list[ImportedTicket]:
    """Read a tracker's file. Raises InvalidRequest that says what is wrong and where."""
    if len(data) > MAX_BYTES:
        raise InvalidField("file", f"must be at most {MAX_BYTES >> 20} MiB")
    text = _decode_text(data)
    tickets = _read_github(text) if tracker is Tracker.GITHUB else _read_csv(tracker, text)
    if not tickets:
        raise InvalidField("file", "contains no tickets")
    if len(tickets) > MAX_TICKETS:
        raise InvalidField("file", f"must have at most {MAX_TICKETS:,} tickets")
    return tickets


def _decode_text(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 with its mark, which PowerShell 5 writes."""
    is_utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return normalize_text(data.decode("utf-16" if is_utf_16 else "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidField("file", f"must be UTF-8, or UTF-16 with a mark (invalid at byte {error.start})") from None


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
            assignees=[each.login or each.name for each in issue.assignees],
            comments=[_format_github_comment(each) for each in issue.comments]
            if isinstance(issue.comments, list)
            else [],
        )
        for issue in issues
        if issue.pull_request is None
    ]


def _format_github_comment(comment: _GithubComment) -> str:
    by = comment.author or comment.user
    return _format_comment(by.login or by.name if by else "", comment.gh_created_at or comment.created_at, comment.body)


def _format_comment(author: str, at: str, body: str) -> str:
    """Put who wrote a comment, and when, above it."""
    byline = ", ".join(filter(None, [_clean_line(author, 100), _clean_line(at, 50)]))
    return f"{byline}:\n\n{body}" if byline else body


_REQUIRED_COLUMNS = {Tracker.JIRA: ("Issue key", "Summary", "Status"), Tracker.LINEAR: ("ID", "Title", "Status")}
_RESOLVED_STATES = {"done", "closed", "resolved", "completed", "canceled", "cancelled", "duplicate", "won't do"}


# Jira shows `Unresolved` for an empty resolution, and some exports contain it.
_UNRESOLVED = {"", "unresolved", "none", "-"}


def _read_csv(tracker: Tracker, text: str) -> list[ImportedTicket]:
    """Read CSV with a header; Jira repeats columns such as Labels and Comment."""
    csv.field_size_limit(MAX_BYTES)
    rows = read_rows(text, _REQUIRED_COLUMNS[tracker], tracker.capitalize())
    return [_read_jira_row(cells) if tracker is Tracker.JIRA else _read_linear_row(cells) for cells in rows]


def _read_jira_row(cells: Cells) -> ImportedTicket:
    state = _get_first_cell(cells, "Status")
    return _build_ticket(
        key=_get_first_cell(cells, "Issue key"),
        title=_get_first_cell(cells, "Summary"),
        description=convert_to_markdown(_get_first_cell(cells, "Description")),
        state=state,
        resolved=_get_first_cell(cells, "Resolution").casefold() not in _UNRESOLVED
        or state.casefold() in _RESOLVED_STATES,
        priority=_get_first_cell(cells, "Priority"),
        labels=cells.get("labels", []),
        url="",
        due_date=_get_first_cell(cells, "Due date"),
        assignees=cells.get("assignee", []),
        comments=[_format_jira_comment(each) for each in cells.get("comment", [])],
    )


def _format_jira_comment(text: str) -> str:
    """Format a comment of Jira, which is `time;account;text`."""
    at, first, rest = text.partition(";")
    by, second, body = rest.partition(";")
    if not (first and second):
        return convert_to_markdown(text)
    return _format_comment(by, at, convert_to_markdown(body))


def _read_linear_row(cells: Cells) -> ImportedTicket:
    state = _get_first_cell(cells, "Status")
    return _build_ticket(
        key=_get_first_cell(cells, "ID"),
        title=_get_first_cell(cells, "Title"),
        description=_get_first_cell(cells, "Description"),
        state=state,
        resolved=bool(_get_first_cell(cells, "Completed") or _get_first_cell(cells, "Canceled"))
        or state.casefold() in _RESOLVED_STATES,
        priority=_get_first_cell(cells, "Priority"),
        labels=[label for cell in cells.get("labels", []) for label in cell.split(",")],
        url=_get_first_cell(cells, "URL"),
        due_date=_get_first_cell(cells, "Due date"),
        assignees=cells.get("assignee", []),
        comments=[],
    )


def _get_first_cell(cells: Cells, name: str) -> str:
    return cells.get(name.lower(), [""])[0]


_DATE_FORMATS = ("%Y-%m-%d", "%d/%b/%y", "%d/%b/%Y", "%a %b %d %Y")
_TIME = re.compile(r"[ T]\d{1,2}:\d\d.*", re.DOTALL)


def _read_date(text: str) -> date | None:
    """Read a day as Jira and Linear write it, whatever the time: 2026-02-01, 01/Feb/26 or Sun Feb 01 2026."""
    day = _TIME.sub("", text).strip()
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(day, form).date()  # noqa: DTZ007 (a day has no time zone)
        except ValueError:
            continue
    return None


_PRIORITIES = {
    "highest": Priority.URGENT, "critical": Priority.URGENT, "blocker": Priority.URGENT, "urgent": Priority.URGENT,
    "high": Priority.HIGH, "major": Priority.HIGH, "medium": Priority.MEDIUM, "low": Priority.LOW,
    "minor": Priority.LOW, "lowest": Priority.LOW, "trivial": Priority.LOW,
}  # fmt: skip


def _build_ticket(
    *, key: str, title: str, description: str, state: str, resolved: bool, priority: str, labels: Iterable[str],
    url: str, comments: Iterable[str], due_date: str = "", assignees: Iterable[str] = (),
) -> ImportedTicket:  # fmt: skip
    line = _clean_line(key, 100)
    tidy = (_clean_line(label, _MAX_LABEL) for label in labels)
    named = {label.casefold(): label for label in tidy if label}
    due_on = _read_date(due_date)
    return ImportedTicket(
        key=line,
        title=_clean_line(title, _MAX_TITLE) or line or "Untitled",
        description=description.replace("\x00", "")[:_MAX_TEXT],
        state=_clean_line(state, 100),
        resolved=resolved,
        priority=_PRIORITIES.get(priority.casefold(), Priority.NONE),
        labels=list(named.values())[:_MAX_LABELS],
        url=normalize_page_address(url) if _URL.fullmatch(url) else None,
        due_on=due_on,
        unread_due_date=due_date != "" and due_on is None,
        assignees=[person for each in assignees if (person := _clean_line(each, 254))],
        comments=[said[:50_000] for text in comments if (said := text.replace("\x00", "")).strip()],
    )


def _clean_line(text: str, most: int) -> str:
    return " ".join(remove_unsafe(text, " ").split())[:most].strip()

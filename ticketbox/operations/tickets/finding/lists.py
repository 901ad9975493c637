"""Listing tickets, with filters."""

from collections.abc import Callable
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import format_rfc3339, to_epoch_ms
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.tickets.fields import FIELDS, PROPERTIES, TicketField, find_presence
from ticketbox.domain.tickets.records import Priority, Sort, Status, Ticket
from ticketbox.operations.core.content import Content, render_csv
from ticketbox.operations.core.inputs import Label, normalize_labels
from ticketbox.operations.core.lookups import ColumnId, CompanyId, ProjectId, Reference
from ticketbox.operations.core.names import (
    check_labels,
    explain_empty_list,
    resolve_column_id,
    resolve_company_id,
    resolve_project_id,
    resolve_user_id,
    resolve_view_id,
)
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.core.visibility import find_visible_row
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import lists
from ticketbox.store.tickets.lists import TicketFilter
from ticketbox.store.tickets.saved_filters import load_saved_filters


class StatusFilter(StrEnum):
    """Which tickets a list or a look-up includes."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    ALL = "all"

    @property
    def statuses(self) -> tuple[Status, ...]:
        """The statuses that the filter includes."""
        return tuple(Status) if self is StatusFilter.ALL else (Status(self.value),)


TicketStatus = Annotated[StatusFilter, Meta(description="`active` by default.")]

_UNASSIGNED = "none"
MOST_COUNTED = 1_000


class TicketPage(Page[Ticket], frozen=True):
    """`total` is how many tickets the whole list has; 1,000 means that many or more."""

    total: int | UnsetType = UNSET


class TicketQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Filters of a list of tickets, and its order."""

    company_id: CompanyId | None = None
    project_id: ProjectId | None = None
    view: (
        Annotated[
            Reference,
            Meta(description="A saved view's id or name: its project, filters and order, unless others are given."),
        ]
        | None
    ) = None
    column_id: (
        Annotated[list[ColumnId], Meta(min_length=1, max_length=20, description="Ids or names of columns.")] | None
    ) = None
    status: TicketStatus = StatusFilter.ACTIVE
    assignee: (
        Annotated[
            list[Reference],
            Meta(
                min_length=1,
                max_length=20,
                description="Members' ids, email addresses or names, `me`, or `none`.",
            ),
        ]
        | None
    ) = None
    label: Annotated[list[Label], Meta(min_length=1, max_length=20, description="Labels.")] | None = None
    has_labels: Annotated[bool, Meta(description="With labels, or without.")] | None = None
    priority: Annotated[list[Priority], Meta(min_length=1, description="Priorities.")] | None = None
    resolved: Annotated[bool, Meta(description="Resolved, or unresolved.")] | None = None
    ready: Annotated[bool, Meta(description="Only tickets that claim_next_ticket could claim, most urgent first.")] = (
        False
    )
    updated_since: (
        Annotated[
            datetime,
            Meta(tz=True, description="Only those updated since then, in RFC 3339.", examples=["2026-11-01T09:00:00Z"]),
        ]
        | None
    ) = None
    due_before: Annotated[date, Meta(description="Only those due before this day.")] | None = None
    has_due_date: Annotated[bool, Meta(description="With a due date, or without.")] | None = None
    overdue: Annotated[bool, Meta(description="Only unresolved tickets past their due date, in UTC.")] = False
    sort: Annotated[Sort, Meta(description="`-` means descending; `position` requires one column_id.")] = (
        Sort.UPDATED_DOWN
    )
    limit: Limit = 50
    cursor: Cursor | None = None


class ListTickets(TicketQuery, frozen=True):
    """Returns tickets that match all the given filters. Several values of a filter are alternatives."""

    count: Annotated[bool, Meta(description="Also count them, up to 1,000: `total`.")] = False


@operation(
    "list_tickets",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets",
    inline=True,
    tool=Tool(
        "List tickets",
        "Use this to list the tickets on a board or assigned to a user. To search for words, use search_tickets.",
        {"project_id": "Webshop", "assignee": ["me"], "status": "active"},
        tool_set="core",
        unlisted=("company_id", "has_labels", "has_due_date", "count"),
    ),
)
def list_tickets(tx: Read, actor: Actor, args: ListTickets) -> TicketPage:
    """List the tickets that the caller can see.

    Archived tickets are listed only with status `archived` or `all`.
    """
    page, wanted = _load_page(tx, actor, args)
    total = lists.count_tickets(tx, actor.viewer, wanted, MOST_COUNTED) if args.count else UNSET
    return TicketPage(page.items, page.next_cursor, page.note, total)


def _load_page(tx: Read, actor: Actor, args: TicketQuery) -> tuple[Page[Ticket], TicketFilter]:
    """Load a page of the tickets that the caller can see; an empty one says why."""
    check_labels(tx, actor, args.label or [], "label")
    args = _apply_view(tx, actor, args)
    if args.sort is Sort.POSITION and len(args.column_id or ()) != 1:
        raise InvalidField("sort", "sorting by position requires one column_id")
    company, project, columns, assignees = _resolve_filters(tx, actor, args)
    wanted = TicketFilter(
        statuses=args.status.statuses,
        sort=args.sort,
        company=company,
        project=project,
        columns=columns,
        assignees=assignees,
        unassigned=_UNASSIGNED in (args.assignee or ()),
        labels=tuple(normalize_labels(args.label or [])),
        priorities=tuple(dict.fromkeys(args.priority or ())),
        resolved=False if args.overdue and args.resolved is None else args.resolved,
        presence=find_presence(args),
        due_before=_find_first_day_after(tx, args),
        ready=args.ready,
        in_ready_order=args.ready and args.sort is Sort.UPDATED_DOWN,
        updated_since=None if args.updated_since is None else to_epoch_ms(args.updated_since),
    )
    after = decode_cursor(actor, args, lists.get_cursor_shape(wanted))
    page = build_page(actor, args, lists.list_tickets(tx, actor.viewer, wanted, after, args.limit + 1))
    if page.items or after is not None:
        return page, wanted
    note = explain_empty_list(tx, actor, company=company, project=project, column=columns, user=assignees)
    return msgspec.structs.replace(page, note=note), wanted


class ExportTickets(TicketQuery, frozen=True):
    """The filters and the order of `list_tickets`."""


@operation(
    "export_tickets", scope=Scope.READ, budget=Budget.READ, rest="GET /tickets.csv", media=("text/csv",)
)  # fmt: skip
def export_tickets(tx: Read, actor: Actor, args: ExportTickets) -> Content:
    """List a page of tickets as CSV, with times in UTC. `X-Next-Cursor` has the next page's cursor."""
    page, _ = _load_page(tx, actor, args)
    return render_tickets(page)


def _show(*fields: TicketField) -> dict[str, Callable[[Ticket], str | None]]:
    return {field.name: lambda ticket, field=field: field.format(getattr(ticket, field.name)) for field in fields}


_SHOWN = _show(*FIELDS)
_COLUMNS: dict[str, Callable[[Ticket], str | None]] = {
    "key": lambda ticket: ticket.key,
    "title": _SHOWN["title"],
    "status": lambda ticket: ticket.status,
    "resolved": _SHOWN["resolved"],
    "project": lambda ticket: ticket.project,
    "column": lambda ticket: ticket.column,
    "assignees": lambda ticket: ", ".join(person.name for person in ticket.assignees),
    **_show(*PROPERTIES),
    "created_at": lambda ticket: ticket.created.at,
    "created_by": lambda ticket: ticket.created.user.name,
    "updated_at": lambda ticket: ticket.updated.at,
    "updated_by": lambda ticket: ticket.updated.user.name,
    "archived_at": lambda ticket: ticket.archived and ticket.archived.at,
    "comments": lambda ticket: str(ticket.comment_count),
    "source_url": _SHOWN["source_url"],
    "url": lambda ticket: ticket.url,
    "id": lambda ticket: ticket.id,
    "description": _SHOWN["description"],
}


def render_tickets(page: Page[Ticket]) -> Content:
    """Render a page of tickets as CSV."""
    rows = ([show(ticket) for show in _COLUMNS.values()] for ticket in page.items)
    return render_csv("tickets.csv", list(_COLUMNS), rows, page.next_cursor)


def _apply_view(tx: Read, actor: Actor, args: TicketQuery) -> TicketQuery:
    """Fill in what the view says and the caller doesn't. Raises InvalidRequest for a view that the caller can't see."""
    if args.view is None:
        return args
    project = None if args.project_id is None else resolve_project_id(tx, actor, args.project_id)
    home, saved = load_saved_filters(tx, resolve_view_id(tx, actor, args.view, project))
    defaults = {field.name: field.default for field in msgspec.structs.fields(TicketQuery)}
    given = {name for name, default in defaults.items() if getattr(args, name) != default}
    if given & {"label", "has_labels"}:
        given |= {"label", "has_labels"}
    filters = {
        name: value
        for name, value in msgspec.structs.asdict(saved.filters).items()
        if name not in given and value != []
    }
    if "sort" not in given and saved.sort not in {None, Sort.POSITION}:
        filters["sort"] = saved.sort
    return msgspec.structs.replace(args, project_id=home, **filters)


def _find_first_day_after(tx: Read, args: TicketQuery) -> str | None:
    """Return the first day on which tickets needn't be due to be listed."""
    days = [] if args.due_before is None else [args.due_before.isoformat()]
    if args.overdue:
        days.append(format_rfc3339(tx.now)[:10])
    return min(days, default=None)


def _resolve_filters(
    tx: Read, actor: Actor, args: TicketQuery
) -> tuple[str | None, str | None, tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the company, project, columns and assignees; a column's name is one of the project, if given.

    Raises InvalidRequest for names.
    """
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    project = None if args.project_id is None else resolve_project_id(tx, actor, args.project_id)
    columns = args.column_id or []
    home = None if project is None else find_visible_row(tx, actor.viewer, "project", project)
    if project is None or home is not None:
        columns = [resolve_column_id(tx, actor, each, None if home is None else home.project) for each in columns]
    people = [each for each in args.assignee or () if each != _UNASSIGNED]
    assignees = [resolve_user_id(tx, actor, each, field="assignee") for each in people]
    return company, project, tuple(dict.fromkeys(columns)), tuple(dict.fromkeys(assignees))

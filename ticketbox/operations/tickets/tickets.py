"""Listing, creating and editing tickets."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.captures.fingerprints import fingerprint_page
from ticketbox.domain.core.clock import to_epoch_ms
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import ApprovalRequired, InvalidField, InvalidRequest, NotFound, TicketArchived
from ticketbox.domain.core.scopes import Scope
from ticketbox.domain.tickets.records import Priority, Status, Ticket
from ticketbox.operations.core.inputs import Branch, Label, Labels, Markdown, Title, Url, normalize_labels
from ticketbox.operations.core.lookups import (
    ColumnId,
    CompanyId,
    Key,
    ProjectId,
    Reference,
    TicketId,
    Version,
    find_writable,
    find_writable_column,
)
from ticketbox.operations.core.names import (
    explain_empty_list,
    resolve_column_id,
    resolve_company_id,
    resolve_project_id,
    resolve_user_id,
)
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_mentioned
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placing import choose_column, place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow, find_visible_row
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import lists, positions, similar, tickets
from ticketbox.store.tickets.lists import Sort, TicketFilter
from ticketbox.store.tickets.tickets import NewTicket


class StatusFilter(StrEnum):
    """Which tickets a list or a look-up includes."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    ALL = "all"

    @property
    def statuses(self) -> tuple[Status, ...]:
        """The statuses that the filter includes."""
        return tuple(Status) if self is StatusFilter.ALL else (Status(self.value),)


TicketStatus = Annotated[StatusFilter, Meta(description="`active` (the default), `archived` or `all`.")]

_UNASSIGNED = "none"


class ListTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Returns tickets that match all the given filters."""

    company_id: CompanyId | None = None
    project_id: ProjectId | None = None
    column_id: ColumnId | None = None
    status: TicketStatus = StatusFilter.ACTIVE
    assignee: (
        Annotated[
            Reference,
            Meta(description="A member's id, email address or name, `me`, or `none` for unassigned tickets."),
        ]
        | None
    ) = None
    label: Annotated[Label, Meta(description="Only tickets with this label, ignoring case.")] | None = None
    priority: Priority | None = None
    resolved: Annotated[bool, Meta(description="Only resolved tickets, or only unresolved ones.")] | None = None
    ready: Annotated[bool, Meta(description="Only tickets that claim_next_ticket could claim.")] = False
    updated_since: (
        Annotated[datetime, Meta(tz=True, description="Only tickets updated since this time, in RFC 3339.")] | None
    ) = None
    sort: Annotated[Sort, Meta(description="`-` means descending; `position` requires column_id.")] = Sort.UPDATED_DOWN
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_tickets",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets",
    brief=True,
    tool=Tool(
        "List tickets",
        "Use this to list the tickets on a board or assigned to a user. To search for words, use search_tickets.",
        {"project_id": "Webshop", "assignee": "me", "status": "active"},
        core=True,
    ),
)
def list_tickets(tx: Read, actor: Actor, args: ListTickets) -> Page[Ticket]:
    """List the tickets that the caller can see.

    Archived tickets are listed only with status `archived` or `all`.
    """
    if args.sort is Sort.POSITION and args.column_id is None:
        raise InvalidField("sort", "sorting by position requires column_id")
    company, project, column, assignee = _resolve_filters(tx, actor, args)
    wanted = TicketFilter(
        statuses=args.status.statuses,
        sort=args.sort,
        company=company,
        project=project,
        column=column,
        assignee=assignee,
        unassigned=args.assignee == _UNASSIGNED,
        label=None if args.label is None else args.label.strip(),
        priority=args.priority,
        resolved=args.resolved,
        ready=args.ready,
        updated_since=None if args.updated_since is None else to_epoch_ms(args.updated_since),
    )
    after = decode_cursor(actor, args, lists.count_sort_keys(wanted.sort))
    page = build_page(actor, args, lists.list_tickets(tx, actor.viewer, wanted, after, args.limit + 1))
    if page.items or after is not None:
        return page
    note = explain_empty_list(tx, actor, company=company, project=project, column=column, user=assignee)
    return msgspec.structs.replace(page, note=note)


def _resolve_filters(tx: Read, actor: Actor, args: ListTickets) -> tuple[str | None, ...]:
    """Return the ids of the company, project, column and assignee; a column's name is one of the project, if given.

    Raises InvalidRequest for names.
    """
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    project = None if args.project_id is None else resolve_project_id(tx, actor, args.project_id)
    column, assignee = args.column_id, args.assignee
    home = None if project is None else find_visible_row(tx, actor.viewer, "project", project)
    if column is not None and (project is None or home is not None):
        column = resolve_column_id(tx, actor, column, None if home is None else home.project)
    if assignee == _UNASSIGNED:
        assignee = None
    elif assignee is not None:
        assignee = resolve_user_id(tx, actor, assignee, field="assignee")
    return company, project, column, assignee


class CreateTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ticket is added at the top of the given column, or of the project's first column."""

    title: Title
    project_id: (
        Annotated[ProjectId, Meta(description="A project's id, name or key. Required without column_id.")] | None
    ) = None
    column_id: ColumnId | None = None
    description: Markdown = ""
    priority: Priority = Priority.NONE
    labels: Labels = []
    source_url: Url | None = None
    branch: Branch | None = None
    idempotency_key: Key | None = None


@operation(
    "create_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets",
    refuses=(NotFound,),
    creates=True,
    tool=Tool(
        "Create a ticket",
        "Use this for a bug or task without a ticket. Look for similar tickets first.",
        {"project_id": "Webshop", "title": "The cart stays empty", "priority": "high"},
        core=True,
    ),
)
def create_ticket(tx: Write, actor: Actor, args: CreateTicket) -> Ticket:
    """Create a ticket at the top of a column."""
    row, column = resolve_target(tx, actor, args.project_id, args.column_id)
    new = NewTicket(
        project=row.project,
        column=column,
        position=positions.find_top_position(tx, column),
        title=args.title.strip(),
        description=args.description,
        priority=args.priority,
        labels=normalize_labels(args.labels),
        source_url=args.source_url,
        branch=args.branch,
    )
    return insert_ticket(tx, actor, row, new)[1]


def resolve_target(tx: Read, actor: Actor, project_id: str | None, column_id: str | None) -> tuple[VisibleRow, int]:
    """Find the project and the column (its key) for a new ticket.

    Raises InvalidRequest if neither is given or the column isn't in the project, and NotFound or Forbidden.
    """
    if column_id is None and project_id is None:
        raise InvalidField("project_id", "project_id or column_id is required")
    if column_id is None:
        row = find_writable(tx, actor, "project", project_id or "")
        first = columns.find_first_column(tx, row.project)
        if first is None:
            raise NotFound("column")
        return row, first
    home = None if project_id is None else find_writable(tx, actor, "project", project_id).project
    row = find_writable_column(tx, actor, column_id, home)
    return row, row.key


def insert_ticket(tx: Write, actor: Actor, row: VisibleRow, new: NewTicket) -> tuple[VisibleRow, Ticket]:
    """Store a new ticket and its event. Returns the ticket's row and the ticket."""
    key, public_id = tickets.insert_ticket(tx, new, bylines.ensure_byline(tx, actor))
    if new.source_url is not None:
        similar.insert_fingerprints(tx, key, filter(None, [fingerprint_page(new.source_url)]))
    ticket_row = VisibleRow(key, row.project, row.company, row.role, within=True)
    record_ticket_event(tx, actor, ticket_row, "ticket.created", title=new.title)
    notify_mentioned(tx, actor, ticket_row, new.description)
    return ticket_row, load_ticket(tx, actor, public_id)


class UpdateTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that you leave out don't change."""

    ticket_id: TicketId
    title: Title | UnsetType = UNSET
    description: Markdown | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    resolved: (
        Annotated[
            bool,
            Meta(description="Moves the ticket to the top of the first column of kind `done`, or `todo` for false."),
        ]
        | UnsetType
    ) = UNSET
    expected_version: Version | None = None


@operation(
    "update_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PATCH /tickets/{ticket_id}",
    refuses=(TicketArchived, ApprovalRequired),
    tool=Tool(
        "Update a ticket",
        "Use this to correct a ticket; to report what you did, use add_comment.",
        {"ticket_id": "t-4k7m2q9x", "resolved": True, "labels": ["checkout"]},
        idempotent=True,
        core=True,
    ),
)
def update_ticket(tx: Write, actor: Actor, args: UpdateTicket) -> Ticket:
    """Change a ticket's title, description, priority or labels, or mark it resolved or unresolved."""
    fields = {
        name: value
        for name in ("title", "description", "priority", "labels", "resolved")
        if (value := getattr(args, name)) is not UNSET
    }
    if not fields:
        raise InvalidRequest("nothing to change; send title, description, priority, labels or resolved")
    if "title" in fields:
        fields["title"] = fields["title"].strip()
    if "labels" in fields:
        fields["labels"] = normalize_labels(fields["labels"])
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    before = load_ticket(tx, actor, state.id)
    changes = {name: value for name, value in fields.items() if getattr(before, name) != value}
    target = None if args.resolved is UNSET else choose_column(tx, row, state, resolved=args.resolved)
    if not changes and target is None:
        return before
    if "resolved" in changes:
        check_gates(tx, actor, state, resolves=changes["resolved"])
    tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
    if changes:
        plain = {name: value for name, value in changes.items() if name != "labels"}
        tickets.update_ticket(tx, row.key, tickets.TicketChanges(**plain))
        if "labels" in changes:
            tickets.set_labels(tx, row.key, changes["labels"])
        logged = {
            name: {"from": getattr(before, name), "to": value}
            for name, value in changes.items()
            if name != "description"
        }
        record_ticket_event(tx, actor, row, "ticket.updated", fields=sorted(changes), changes=logged)
    if target is not None:
        state = tickets.load_state(tx, row.key)
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))
    ticket = load_ticket(tx, actor, before.id)
    notify_mentioned(tx, actor, row, changes.get("description", ""), before.description)
    return ticket

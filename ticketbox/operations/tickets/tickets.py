"""Creating and editing tickets."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.captures.fingerprints import fingerprint_page
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import MAX_BULK, Budget
from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.problems import (
    ApprovalRequired,
    CrossCompanyMove,
    InsufficientScope,
    InvalidField,
    InvalidRequest,
    NotFound,
    TicketArchived,
)
from ticketbox.domain.tickets.fields import FIELDS
from ticketbox.domain.tickets.records import Priority, Status, Ticket
from ticketbox.operations.core.inputs import Branch, DueDate, Labels, Markdown, Title, Url, normalize_labels
from ticketbox.operations.core.lookups import (
    ColumnId,
    Key,
    ProjectId,
    TicketId,
    UserId,
    Version,
    find_writable,
    find_writable_column,
)
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_mentioned
from ticketbox.operations.tickets.assignments import change_assignees, find_member
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placement.archiving import put_back, take_off_board
from ticketbox.operations.tickets.placement.moves import find_target_column, move_to
from ticketbox.operations.tickets.placement.placing import choose_column, place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.companies import columns, labels
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import watchers
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import assignments, positions, tickets
from ticketbox.store.tickets.search import similar
from ticketbox.store.tickets.tickets import NewTicket, TicketState


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
    due_on: DueDate | None = None
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
        tool_set="core",
    ),
)
def create_ticket(tx: Write, actor: Actor, args: CreateTicket) -> Ticket:
    """Create a ticket at the top of a column."""
    row, column = resolve_target(tx, actor, args.project_id, args.column_id)
    new = NewTicket(
        project=row.project,
        column=column,
        position=positions.find_top_position(tx, column),
        **_normalize_fields(args),
    )
    return insert_ticket(tx, actor, row, new)[1]


_NORMALIZERS: dict[str, Callable[[Any], Any]] = {
    "title": str.strip,
    "labels": normalize_labels,
    "due_on": date.isoformat,
    "source_url": normalize_page_address,
}


def _normalize_fields(args: msgspec.Struct) -> dict[str, Any]:
    """Return the ticket's fields in an input that are set, as they are stored."""
    given = msgspec.structs.asdict(args)
    values = {field.name: given[field.name] for field in FIELDS if given.get(field.name, UNSET) is not UNSET}
    return {
        name: _NORMALIZERS[name](value) if name in _NORMALIZERS and value is not None else value
        for name, value in values.items()
    }


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


def insert_ticket(
    tx: Write, actor: Actor, row: VisibleRow, new: NewTicket, *, notifies: bool = True, watches: bool = True
) -> tuple[VisibleRow, Ticket]:
    """Store a new ticket and its event, and notify those whom it mentions; the caller watches it.

    Returns the ticket's row and the ticket.
    """
    new = msgspec.structs.replace(new, labels=labels.ensure_labels(tx, row.company, new.labels))
    key, public_id = tickets.insert_ticket(tx, new, bylines.ensure_byline(tx, actor))
    if new.source_url is not None:
        similar.insert_fingerprints(tx, key, filter(None, [fingerprint_page(new.source_url)]))
    ticket_row = VisibleRow(key, row.project, row.company, row.role, within=True)
    if watches:
        watchers.add_watchers(tx, key, [actor.user])
    record_ticket_event(tx, actor, ticket_row, "ticket.created", title=new.title)
    if notifies:
        notify_mentioned(tx, actor, ticket_row, new.description)
    return ticket_row, load_ticket(tx, actor, public_id)


Assignees = Annotated[
    list[UserId], Meta(max_length=MAX_BULK, description="All of them; requires the scope `tickets:assign`.")
]


class UpdateTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that you leave out don't change."""

    ticket_id: TicketId
    title: Title | UnsetType = UNSET
    description: Markdown | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    due_on: Annotated[DueDate | None, Meta(description="null removes it.")] | UnsetType = UNSET
    column: Annotated[ColumnId, Meta(description="Move to the end of this column.")] | UnsetType = UNSET
    resolved: (
        Annotated[
            bool,
            Meta(description="Moves the ticket to the top of the first column of kind `done`, or `todo` for false."),
        ]
        | UnsetType
    ) = UNSET
    assignees: Assignees | UnsetType = UNSET
    status: Annotated[Status, Meta(description="Archive or restore it.")] | UnsetType = UNSET
    expected_version: Version | None = None


_CHANGED = tuple(name for name in UpdateTicket.__struct_fields__ if name not in {"ticket_id", "expected_version"})


@operation(
    "update_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PATCH /tickets/{ticket_id}",
    refuses=(TicketArchived, ApprovalRequired, CrossCompanyMove),
    tool=Tool(
        "Update a ticket",
        "Use this to change a ticket; to report what you did, use add_comment.",
        {"ticket_id": "WEB-42", "column": "Review", "assignees": ["me"], "labels": ["checkout"]},
        idempotent=True,
        tool_set="core",
    ),
)
def update_ticket(tx: Write, actor: Actor, args: UpdateTicket) -> Ticket:
    """Edit, move, resolve, assign, archive or restore a ticket, in one step."""
    given = {name for name in _CHANGED if getattr(args, name) is not UNSET}
    if not given:
        raise InvalidRequest(f"nothing to change; send {', '.join(_CHANGED[:-1])} or {_CHANGED[-1]}")
    if args.assignees is not UNSET and Scope.TICKETS_ASSIGN not in actor.scopes:
        raise InsufficientScope(Scope.TICKETS_ASSIGN)
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version, archived="status" in given)
    if state.is_archived and args.status is Status.ACTIVE:
        put_back(tx, actor, row, state)
        state = tickets.load_state(tx, row.key)
    elif state.is_archived and len(given) > 1:
        raise TicketArchived
    _edit_ticket(tx, actor, row, state, args)
    if args.column is not UNSET:
        row = _move_ticket(tx, actor, row, args.column, args.resolved)
    state = tickets.load_state(tx, row.key)
    if args.assignees is not UNSET:
        wanted = [find_member(tx, actor, row, each, "assignees") for each in args.assignees]
        present = assignments.list_assignees(tx, row.key)
        change_assignees(tx, actor, row, state, wanted, [user for user in present if user not in wanted])
    if args.status is Status.ARCHIVED and not state.is_archived:
        take_off_board(tx, actor, row, tickets.load_state(tx, row.key))
    return load_ticket(tx, actor, state.id)


def _edit_ticket(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, args: UpdateTicket) -> None:
    """Change the fields of a ticket, and place it where `resolved` means. Raises ApprovalRequired."""
    resolved = args.resolved if args.column is UNSET else UNSET  # else the column decides
    fields = _normalize_fields(args)
    if resolved is UNSET:
        fields.pop("resolved", None)
    if "labels" in fields:
        fields["labels"] = labels.ensure_labels(tx, row.company, fields["labels"])
    before = load_ticket(tx, actor, state.id)
    changes = {name: value for name, value in fields.items() if getattr(before, name) != value}
    target = None if resolved is UNSET else choose_column(tx, row, state, resolved=resolved)
    if not changes and target is None:
        return
    if "resolved" in changes:
        check_gates(tx, actor, state, resolves=changes["resolved"])
    tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
    if changes:
        tickets.update_ticket(tx, row.key, **changes)
        logged = {
            name: {"from": getattr(before, name), "to": value}
            for name, value in changes.items()
            if name != "description"
        }
        record_ticket_event(tx, actor, row, "ticket.updated", fields=sorted(changes), changes=logged)
    if target is not None:
        state = tickets.load_state(tx, row.key)
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))
    notify_mentioned(tx, actor, row, changes.get("description", ""), before.description)


def _move_ticket(tx: Write, actor: Actor, row: VisibleRow, column_id: str, resolved: bool | UnsetType) -> VisibleRow:
    """Move a ticket to the end of a column, unless it is there; return its row there.

    Raises ApprovalRequired, CrossCompanyMove, and InvalidRequest if the column contradicts `resolved`.
    """
    column = find_target_column(tx, actor, row, column_id, "column")
    state = tickets.load_state(tx, row.key)
    if column.key != state.column:
        move_to(tx, actor, row, state, column, positions.find_end_position(tx, column.key))
        state = tickets.load_state(tx, row.key)
    if resolved is not UNSET and resolved != state.resolved:
        raise InvalidField("resolved", "the column decides whether the ticket is resolved; send only one of the two")
    return VisibleRow(row.key, column.project, column.company, column.role, within=True)

"""Moving one or many tickets between columns."""

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import MAX_BULK, Budget
from ticketbox.domain.core.problems import (
    ApprovalRequired,
    CrossCompanyMove,
    InvalidField,
    NotFound,
    Problem,
    RateLimited,
    TicketArchived,
)
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.core.lookups import ColumnId, TicketId, Version, find_writable, resolve_ticket_id
from ticketbox.operations.core.meter import Meter
from ticketbox.operations.core.names import is_column_id, resolve_column_id
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placement.placing import place_ticket
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import positions, tickets
from ticketbox.store.tickets.tickets import TicketState


class MoveTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Use at most one of `before` and `after`. Without them, the ticket moves to the end of the column."""

    ticket_id: TicketId
    column_id: ColumnId
    before: Annotated[TicketId, Meta(description="Place it directly before this ticket of the column.")] | None = None
    after: Annotated[TicketId, Meta(description="Place it directly after this ticket of the column.")] | None = None
    expected_version: Version | None = None


@operation(
    "move_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/move",
    refuses=(CrossCompanyMove, TicketArchived, ApprovalRequired),
    tool=Tool(
        "Move a ticket",
        "Use this when the state of the work changes.",
        {"ticket_id": "WEB-42", "column_id": "Done"},
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def move_ticket(tx: Write, actor: Actor, args: MoveTicket) -> Ticket:
    """Move a ticket to a column of any project in the same company, or within its column.

    In a column of kind `done` the ticket is resolved; leaving it reopens the ticket.
    """
    if args.before is not None and args.after is not None:
        raise InvalidField("after", "use before or after, not both")
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    column = find_target_column(tx, actor, row, args.column_id)
    position = _choose_position(tx, actor, column.key, state, args.before, args.after)
    return move_to(tx, actor, row, state, column, position)


def find_target_column(
    tx: Write, actor: Actor, ticket: VisibleRow, column_id: str, field: str = "column_id"
) -> VisibleRow:
    """Find the column to move to, by its id or by its name in the ticket's project.

    Raises CrossCompanyMove first, even if the caller can't see the column.
    """
    column_id = resolve_column_id(tx, actor, column_id, ticket.project, field)
    company = columns.find_company_of_column(tx, column_id)
    if company is not None and company != ticket.company:
        raise CrossCompanyMove
    return find_writable(tx, actor, "column", column_id)


def _choose_position(
    tx: Write, actor: Actor, column: int, state: TicketState, before: str | None, after: str | None
) -> int:
    anchor = before if before is not None else after
    if anchor is None:
        return positions.find_end_position(tx, column)
    field = "before" if before is not None else "after"
    neighbour = positions.find_in_column(tx, column, resolve_ticket_id(tx, actor, anchor))
    if neighbour is None:
        raise InvalidField(field, "this ticket isn't in the column")
    if neighbour.key == state.key:
        raise InvalidField(field, "a ticket can't be placed before or after itself")
    return positions.allocate_position(tx, column, neighbour, state.key, after=before is None)


def move_to(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, column: VisibleRow, position: int) -> Ticket:
    """Move a ticket to a position in a column. Raises ApprovalRequired."""
    tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
    place_ticket(tx, actor, state, column, position)
    return load_ticket(tx, actor, state.id)


TicketIds = Annotated[
    list[TicketId], Meta(min_length=1, max_length=MAX_BULK, description="1 to 50 tickets, without duplicates.")
]


class BulkError(msgspec.Struct, frozen=True):
    """The error for one ticket of a bulk call. `code` is that of a problem document."""

    status: int
    code: str
    detail: str
    retry_after: int | None


class BulkResult(msgspec.Struct, frozen=True):
    """The result for one ticket of a bulk call."""

    ticket_id: str
    ok: bool
    error: BulkError | None


class BulkResults(msgspec.Struct, frozen=True):
    """One result for each ticket, in the order of the call."""

    results: list[BulkResult]


def apply_to_each(
    tx: Write, actor: Actor, meter: Meter, ticket_ids: list[str], change: Callable[[str], Ticket]
) -> BulkResults:
    """Apply a change to each ticket; each costs one write.

    An error for one ticket doesn't affect the others. If the budget is used up, the remaining tickets get the error
    rate_limited, each with the time after which it and those before it would succeed, and the changes before are kept.
    Raises InvalidRequest for a duplicate ticket, before any change.
    """
    ids = [resolve_ticket_id(tx, actor, text) or text for text in ticket_ids]
    if len(set(ids)) < len(ids):
        raise InvalidField("ticket_ids", "duplicate ticket in the list")
    results: list[BulkResult] = []
    postponed = 0
    for index, public_id in enumerate(ids):
        try:
            if index:
                meter.charge(postponed)  # the first ticket was charged with the call
            tx.run_step(lambda each=public_id: change(each))
        except Problem as problem:
            if isinstance(problem, RateLimited):
                postponed += 1
            wait = problem.retry_after if isinstance(problem, RateLimited) else None
            error = BulkError(problem.status, problem.code, problem.detail, wait)
            results.append(BulkResult(public_id, ok=False, error=error))
        else:
            results.append(BulkResult(public_id, ok=True, error=None))
    return BulkResults(results)


class BulkMoveTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The tickets move to the end of the column, in the given order."""

    ticket_ids: TicketIds
    column_id: ColumnId


@operation(
    "bulk_move_tickets",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/bulk-move",
    refuses=(NotFound,),
    tool=Tool(
        "Move many tickets",
        "Use this instead of many calls.",
        {"ticket_ids": ["WEB-42", "WEB-57"], "column_id": "Done"},
        tool_set="core",
    ),
)
def bulk_move_tickets(tx: Write, actor: Actor, args: BulkMoveTickets, meter: Meter) -> BulkResults:
    """Move up to 50 tickets to the end of a column. Each ticket succeeds or fails separately."""
    if is_column_id(args.column_id) and columns.find_company_of_column(tx, args.column_id) is None:
        raise NotFound("column")

    def move(public_id: str) -> Ticket:
        row, state = find_writable_ticket(tx, actor, public_id)
        column = find_target_column(tx, actor, row, args.column_id)
        return move_to(tx, actor, row, state, column, positions.find_end_position(tx, column.key))

    return apply_to_each(tx, actor, meter, args.ticket_ids, move)

"""Archiving and restoring tickets."""

import msgspec

from ticketbox.domain.companies.records import ColumnKind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import ApprovalRequired, NotFound
from ticketbox.domain.tickets.records import Status, Ticket
from ticketbox.operations.core.lookups import TicketId, Version
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.recording import record_change
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import positions, tickets
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work.sessions import end_open_session


class ArchiveTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the ticket is already archived, this changes nothing."""

    ticket_id: TicketId
    expected_version: Version | None = None


class ArchivedOrRestored(Ticket, frozen=True):
    """A ticket, and whether the call changed it."""

    changed: bool
    note: str


@operation(
    "archive_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/archive",
    refuses=(ApprovalRequired,),
    tool=Tool(
        "Archive a ticket",
        "Use this for a ticket that nobody needs. To resolve one, use update_ticket.",
        {"ticket_id": "WEB-42"},
        destructive=True,
        idempotent=True,
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def archive_ticket(tx: Write, actor: Actor, args: ArchiveTicket) -> ArchivedOrRestored:
    """Remove a ticket from its board. After that, lists and reads return it only with status `archived` or `all`.

    An agent can archive an unresolved ticket only where it could resolve it.
    """
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version, archived=True)
    if state.status is Status.ARCHIVED:
        return _build_answer(load_ticket(tx, actor, state.id), changed=False, note="the ticket was already archived")
    return _build_answer(take_off_board(tx, actor, row, state), changed=True, note="the ticket is archived")


def take_off_board(tx: Write, actor: Actor, row: VisibleRow, state: TicketState) -> Ticket:
    """Archive an active ticket, and end the work on it. Raises ApprovalRequired."""
    check_gates(tx, actor, state, resolves=True)
    byline = bylines.ensure_byline(tx, actor)
    tickets.archive_ticket(tx, row.key, byline)
    end_open_session(tx, row, byline)
    return record_change(tx, actor, row, state.id, "ticket.archived")


class RestoreTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the ticket is already active, this changes nothing."""

    ticket_id: TicketId
    expected_version: Version | None = None


@operation(
    "restore_ticket",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/restore",
    refuses=(ApprovalRequired,),
    tool=Tool(
        "Restore a ticket",
        "Use this when an archived ticket needs work again.",
        {"ticket_id": "WEB-42"},
        idempotent=True,
        tool_set="core",
        unlisted=("expected_version",),
    ),
)
def restore_ticket(tx: Write, actor: Actor, args: RestoreTicket) -> ArchivedOrRestored:
    """Restore an archived ticket to its previous column and position.

    If the column was deleted, the ticket is added at the end of the project's first column.
    """
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version, archived=True)
    if state.status is Status.ACTIVE:
        return _build_answer(load_ticket(tx, actor, state.id), changed=False, note="the ticket was already active")
    return _build_answer(put_back(tx, actor, row, state), changed=True, note="the ticket is back on its board")


def put_back(tx: Write, actor: Actor, row: VisibleRow, state: TicketState) -> Ticket:
    """Restore an archived ticket. Raises ApprovalRequired, and NotFound if its project has no column."""
    column, position = state.column, state.position
    if column is None:
        column = columns.find_first_column(tx, state.project)
        if column is None:
            raise NotFound("column")
        position = positions.find_end_position(tx, column)
    if columns.load_kind(tx, column) is ColumnKind.DONE:
        check_gates(tx, actor, state, resolves=True)
    tickets.restore_ticket(tx, row.key, column, position)
    resolved = tickets.load_state(tx, row.key).resolved
    data = {} if resolved == state.resolved else {"changes": {"resolved": {"from": state.resolved, "to": resolved}}}
    return record_change(tx, actor, row, state.id, "ticket.restored", **data)


def _build_answer(ticket: Ticket, *, changed: bool, note: str) -> ArchivedOrRestored:
    return ArchivedOrRestored(**msgspec.structs.asdict(ticket), changed=changed, note=note)

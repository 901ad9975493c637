"""Putting a ticket into a column, which decides whether it is resolved (docs/use/tickets.md, "Status")."""

from typing import Any

from ticketbox.domain.companies.records import ColumnKind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import positions, tickets
from ticketbox.store.tickets.tickets import TicketState


def place_ticket(tx: Write, actor: Actor, state: TicketState, column: VisibleRow, position: int) -> None:
    """Move a ticket to a position in a column, and record it.

    The event's `changes` has `resolved` if that changed with the column. Raises ApprovalRequired.
    """
    origin = None if state.column is None else columns.load_column_id(tx, state.column)
    resolved = positions.place_ticket(tx, state.key, column.project, column.key, position)
    if column.key != state.column:
        check_gates(tx, actor, state, resolves=resolved, target=column.project)
    moved = VisibleRow(state.key, column.project, column.company, column.role, within=True)
    data: dict[str, Any] = {"from": {"column_id": origin}, "to": {"column_id": columns.load_column_id(tx, column.key)}}
    if resolved != state.resolved:
        data["changes"] = {"resolved": {"from": state.resolved, "to": resolved}}
    record_ticket_event(tx, actor, moved, "ticket.moved", **data)


def resolve_ticket(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, *, resolved: bool) -> None:
    """Resolve or reopen a ticket, move it to the column that this means, and record both. Raises ApprovalRequired."""
    target = choose_column(tx, row, state, resolved=resolved)
    if resolved != state.resolved:
        check_gates(tx, actor, state, resolves=resolved)
        tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
        tickets.update_ticket(tx, row.key, resolved=resolved)
        changes = {"resolved": {"from": state.resolved, "to": resolved}}
        record_ticket_event(tx, actor, row, "ticket.updated", fields=["resolved"], changes=changes)
    if target is not None:
        state = tickets.load_state(tx, row.key)
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))


def choose_column(tx: Write, row: VisibleRow, state: TicketState, *, resolved: bool) -> VisibleRow | None:
    """Choose the column that a ticket moves to when it is resolved or reopened; None if it stays where it is."""
    kind = None if state.column is None else columns.load_kind(tx, state.column)
    wanted = ColumnKind.DONE if resolved else ColumnKind.TODO
    if kind is wanted or not (resolved or state.resolved):
        return None
    key = columns.find_first_of_kind(tx, state.project, wanted)
    return None if key is None else VisibleRow(key, row.project, row.company, row.role, within=True)

"""What happens to a ticket when work on it is done: it moves to a column, or is resolved."""

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import InvalidField
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.placement.placing import choose_column, place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import positions, tickets
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work.questions import Outcome


def apply_outcome(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, outcome: Outcome) -> None:
    """Move a ticket to the top of a column, and resolve or reopen it.

    Raises ApprovalRequired, and InvalidRequest if the column and `resolved` contradict each other.
    """
    if outcome.column is not None and outcome.column != state.column:
        column = VisibleRow(outcome.column, row.project, row.company, row.role, within=True)
        place_ticket(tx, actor, state, column, positions.find_top_position(tx, column.key))
        state = tickets.load_state(tx, row.key)
    if outcome.resolved is None or outcome.resolved == state.resolved:
        return
    target = choose_column(tx, row, state, resolved=outcome.resolved)
    if target is None:
        check_gates(tx, actor, state, resolves=outcome.resolved)
        tickets.update_ticket(tx, row.key, resolved=outcome.resolved)
        changes = {"resolved": {"from": state.resolved, "to": outcome.resolved}}
        record_ticket_event(tx, actor, row, "ticket.updated", fields=["resolved"], changes=changes)
    elif outcome.column is not None:
        raise InvalidField("resolved", "the column decides whether the ticket is resolved; send only one of the two")
    else:
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))

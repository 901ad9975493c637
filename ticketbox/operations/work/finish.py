"""Finishing work: comment, move or resolve the ticket and release the claim (docs/use/work-sessions.md, "Finish")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.scopes import Scope
from ticketbox.domain.tickets.records import Ticket, WorkState
from ticketbox.operations.core.inputs import CommentBody
from ticketbox.operations.core.lookups import ColumnId, TicketId, Version, find_writable_column
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_of_comment
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.placing import choose_column, place_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.work.leases import LEASE_REFUSALS, Lease, require_lease
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import comments, positions, tickets
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work import sessions


class FinishWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without `column` and `resolved`, the ticket stays where it is."""

    ticket_id: TicketId
    lease: Lease
    comment: Annotated[CommentBody, Meta(description="The cause, the change, and how you checked it.")] | None = None
    column: Annotated[ColumnId, Meta(description="Move to this column of the project: its id or name.")] | None = None
    resolved: Annotated[bool, Meta(description="Whether the ticket is done.")] | None = None
    expected_version: Version | None = None


@operation(
    "finish_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/finish",
    refuses=LEASE_REFUSALS,
    tool=Tool(
        "Finish work on a ticket",
        "Use this when your work is done. It releases the claim.",
        {"ticket_id": "t-4k7m2q9x", "lease": "lease_…", "comment": "Fixed: …", "column": "Review"},
        core=True,
    ),
)
def finish_work(tx: Write, actor: Actor, args: FinishWork) -> Ticket:
    """Comment on a ticket, move or resolve it, and end your work, in one step."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version)
    session = require_lease(tx, actor, state, args.lease)
    byline = bylines.ensure_byline(tx, actor)
    tickets.mark_updated(tx, row.key, byline)
    if args.comment is not None:
        comment = comments.load_comment(tx, comments.insert_comment(tx, row.key, args.comment, byline))
        record_ticket_event(tx, actor, row, "comment.created", comment_id=comment.id)
        notify_of_comment(tx, actor, row, args.comment)
    if args.column is not None:
        column = find_writable_column(tx, actor, args.column, row.project, "column")
        if column.key != state.column:
            place_ticket(tx, actor, state, column, positions.find_top_position(tx, column.key))
    if args.resolved is not None:
        _set_resolved(tx, actor, row, tickets.load_state(tx, row.key), args)
    sessions.end_session(tx, session, WorkState.DONE, byline)
    record_ticket_event(tx, actor, row, "ticket.work_finished", session_id=session.id, run=session.run)
    return load_ticket(tx, actor, state.id)


def _set_resolved(tx: Write, actor: Actor, row: VisibleRow, state: TicketState, args: FinishWork) -> None:
    """Resolve or reopen a ticket, as update_ticket does. Raises InvalidRequest if the given column says otherwise."""
    assert args.resolved is not None
    if state.resolved == args.resolved:
        return
    target = choose_column(tx, row, state, resolved=args.resolved)
    if target is None:
        tickets.update_ticket(tx, row.key, tickets.TicketChanges(resolved=args.resolved))
        changes = {"resolved": {"from": state.resolved, "to": args.resolved}}
        record_ticket_event(tx, actor, row, "ticket.updated", fields=["resolved"], changes=changes)
    elif args.column is not None:
        raise InvalidField("resolved", "the column decides whether the ticket is resolved; send only one of the two")
    else:
        place_ticket(tx, actor, state, target, positions.find_top_position(tx, target.key))

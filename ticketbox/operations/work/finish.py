"""Finishing work: comment, move or resolve the ticket and release the claim (docs/use/work-sessions.md, "Finish")."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import ApprovalRequired, InvalidField, ProofRequired
from ticketbox.domain.tickets.records import Ticket, WorkState
from ticketbox.domain.work.criteria import find_missing_evidence
from ticketbox.operations.core.inputs import CommentBody
from ticketbox.operations.core.lookups import ColumnId, Version, find_writable_column
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_of_comment
from ticketbox.operations.tickets.gates import check_gates
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.work.approvals import is_asking_to_be_done, request_done_approval
from ticketbox.operations.work.leases import LEASE_REFUSALS, Lease, LeasedTicketId, choose_ticket_id, require_lease
from ticketbox.operations.work.outcomes import apply_outcome
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import comments, tickets
from ticketbox.store.work import criteria, sessions
from ticketbox.store.work.questions import Outcome


class FinishWork(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Send `column` or `resolved`, or `release`."""

    ticket_id: LeasedTicketId = UNSET
    lease: Lease
    comment: Annotated[CommentBody, Meta(description="The cause, the change, and how you checked it.")] | None = None
    column: Annotated[ColumnId, Meta(description="Move to this column of the project: its id or name.")] | None = None
    resolved: Annotated[bool, Meta(description="Whether the ticket is done.")] | None = None
    release: Annotated[bool, Meta(description="Leave the ticket where it is, for the next run.")] = False
    expected_version: Version | None = None


class FinishedWork(Ticket, frozen=True):
    """The ticket, and whether the work has ended. If not, a person must accept first that the ticket is done."""

    finished: bool
    note: str


@operation(
    "finish_work",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/finish",
    refuses=(*LEASE_REFUSALS, ApprovalRequired),
    tool=Tool(
        "Finish work on a ticket",
        "Use this when your work is done, with `column`, `resolved` or `release`. It releases the claim.",
        {"lease": "lease_…", "comment": "Fixed: …", "column": "Review"},
        tool_set="core",
        unlisted=("ticket_id", "expected_version"),
    ),
)
def finish_work(tx: Write, actor: Actor, args: FinishWork) -> FinishedWork:
    """Comment on a ticket, move or resolve it, and end your work, in one step.

    If the project requires that a person accepts tickets as done, this comments and asks for it. The work stays open
    until they decide.
    """
    ticket_id = choose_ticket_id(args.ticket_id, args.lease)
    row, state = find_writable_ticket(tx, actor, ticket_id, args.expected_version)
    session = require_lease(tx, actor, state, args.lease)
    check_gates(tx, actor, state, resolves=False)
    if is_asking_to_be_done(tx, session.key):
        raise ApprovalRequired("you have asked a person to accept this ticket; call wait_for_answer for the decision")
    if args.column is None and args.resolved is None and not args.release:
        detail = (
            "say what becomes of the ticket: send `column`, or `resolved: true`, or `release: true` to leave it here"
        )
        raise InvalidField("column", detail, valid=[each.name for _, each in columns.list_columns(tx, row.project)])
    byline = bylines.ensure_byline(tx, actor)
    tickets.mark_updated(tx, row.key, byline)
    if args.comment is not None:
        comment = comments.load_comment(tx, comments.insert_comment(tx, row.key, args.comment, byline))
        record_ticket_event(tx, actor, row, "comment.created", comment_id=comment.id)
        notify_of_comment(tx, actor, row, args.comment)
    column = None if args.column is None else find_writable_column(tx, actor, args.column, row.project, "column").key
    outcome = Outcome(column, args.resolved)
    try:
        tx.run_step(lambda: apply_outcome(tx, actor, row, state, outcome))
    except ProofRequired:
        raise
    except ApprovalRequired:
        request_done_approval(tx, actor, row, session, outcome)
        return _build_answer(load_ticket(tx, actor, state.id), finished=False)
    sessions.end_session(tx, session, WorkState.DONE, byline)
    record_ticket_event(tx, actor, row, "ticket.work_finished", session_id=session.id, run=session.run)
    lacks = find_missing_evidence(criteria.list_criteria(tx, row.key))
    return _build_answer(load_ticket(tx, actor, state.id), finished=True, lacks=lacks)


def _build_answer(ticket: Ticket, *, finished: bool, lacks: Sequence[str] = ()) -> FinishedWork:
    proof = f"; these criteria lack proof: {'; '.join(lacks)}" if lacks else ""
    note = (
        f"your work has ended{proof}"
        if finished
        else (
            "in this project a person decides when a ticket is done, and has been asked; call wait_for_answer for the "
            "decision, or leave it to them"
        )
    )
    return FinishedWork(**msgspec.structs.asdict(ticket), finished=finished, note=note)

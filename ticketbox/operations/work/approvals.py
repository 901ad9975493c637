"""Requests of a run for approval, and a person's decision (docs/use/work-sessions.md, "Gates")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import QuestionClosed, TicketArchived
from ticketbox.domain.events.records import Reason
from ticketbox.domain.tickets.records import WorkState
from ticketbox.domain.work.criteria import find_missing_evidence
from ticketbox.domain.work.records import Decision, PlanItem, QuestionKind, WorkSession
from ticketbox.operations.core.inputs import Text
from ticketbox.operations.core.lookups import QuestionId, WorkSessionId, find_writable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.events.notify import notify_of_question
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.work.outcomes import apply_outcome
from ticketbox.operations.work.questions import build_closed_error
from ticketbox.store.companies import columns, projects
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets
from ticketbox.store.work import criteria, questions, session_lists, sessions
from ticketbox.store.work.questions import CRITERIA_HEADING, NO_OUTCOME, NewQuestion, Outcome
from ticketbox.store.work.sessions import SessionState

# A run usually ends when it asks to be done, so its claim lasts until a person has had time to decide.
DECISION_MS = 7 * 24 * 60 * MINUTE
# What remains for the run to continue after its work was declined.
CONTINUE_MS = 60 * MINUTE


def check_plan(tx: Write, actor: Actor, row: VisibleRow, session: SessionState, plan: list[PlanItem]) -> None:
    """Ask people to approve an agent's plan and proposed criteria, where a gate requires it, unless they approved them.

    While a question of the session is open, the plan waits for it.
    """
    if not (actor.is_agent and projects.load_gates(tx, row.project).plan_approval):
        return
    text = "\n".join(["Approve this plan?", *(f"{place}. {item.text}" for place, item in enumerate(plan, 1))])
    proposed = [each.text for each in criteria.list_criteria(tx, row.key) if each.proposed]
    is_approved = not proposed and questions.has_approved_plan(tx, session.key, text)
    sessions.set_plan_approval(tx, session.key, needed=not is_approved)
    newest = questions.find_newest_question(tx, session.key)
    waits = newest is not None and newest.kind is QuestionKind.QUESTION and newest.answer is None
    if is_approved and newest is not None and newest.kind is QuestionKind.PLAN and newest.answer is None:
        questions.answer_question(tx, newest.id, Decision.WITHDRAWN.value, bylines.ensure_byline(tx, actor))
    if plan and not is_approved and not waits:
        if proposed:
            text += CRITERIA_HEADING + "\n".join(f"- {each}" for each in proposed)
        _request(tx, actor, row, session, QuestionKind.PLAN, text)


def request_done_approval(tx: Write, actor: Actor, row: VisibleRow, session: SessionState, outcome: Outcome) -> None:
    """Ask people to accept that a ticket is done. The claim lasts until they have had time to decide."""
    what = "resolve the ticket"
    if outcome.column is not None:
        what = f"move the ticket to “{columns.load_column(tx, outcome.column).name}”"
    lacks = "".join(f"\n{each}" for each in find_missing_evidence(criteria.list_criteria(tx, row.key)))
    text = f"Accept this work and {what}?" + (f"\n\nCriteria without proof:{lacks}" if lacks else "")
    _request(tx, actor, row, session, QuestionKind.DONE, text, outcome)
    sessions.renew_session(tx, session, tx.now + DECISION_MS)


def _request(
    tx: Write, actor: Actor, row: VisibleRow, session: SessionState, kind: QuestionKind, text: str,
    outcome: Outcome = NO_OUTCOME,
) -> None:  # fmt: skip
    """Ask, unless the same is asked already; an open question or another request is withdrawn."""
    byline = bylines.ensure_byline(tx, actor)
    before = questions.find_newest_question(tx, session.key)
    if before is not None and before.answer is None:
        if (before.kind, before.question) == (kind, text):
            return
        questions.answer_question(tx, before.id, Decision.WITHDRAWN.value, byline)
    choices = [Decision.APPROVED.value, Decision.DECLINED.value]
    request = questions.insert_question(tx, NewQuestion(session.key, text, choices, byline, kind, outcome))
    record_ticket_event(
        tx, actor, row, "ticket.approval_requested", session_id=session.id, question_id=request.id,
        approval=kind.value, question=text,
    )  # fmt: skip
    notify_of_question(tx, row, actor.user, Reason.APPROVAL)


def is_asking_to_be_done(tx: Read, session: int) -> bool:
    """Whether nobody has decided yet a session's request that its ticket is done."""
    newest = questions.find_newest_question(tx, session)
    return newest is not None and newest.kind is QuestionKind.DONE and newest.answer is None


class DecideApproval(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Decides the open request of a work session."""

    session_id: WorkSessionId
    approve: Annotated[bool, Meta(description="Whether you approve the plan, or accept the work.")]
    note: Annotated[Text, Meta(min_length=1, description="Why, for the agent.")] | None = None
    question_id: Annotated[QuestionId, Meta(description="Decide only if this is the open request.")] | None = None


@operation(
    "decide_approval",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="POST /work-sessions/{session_id}/approval",
    refuses=(TicketArchived, QuestionClosed),
    example={"session_id": "wrk_7f2m9x4k1q8d", "approve": False, "note": "Keep the old endpoint for one release"},
)
def decide_approval(tx: Write, actor: Actor, args: DecideApproval) -> WorkSession:
    """Approve or decline what an agent asks for: its plan, or that its ticket is done.

    Approving a plan lets the agent go on. Accepting the work moves or resolves the ticket and ends the session;
    declining it lets the agent continue.
    """
    row = find_writable(tx, actor, "work session", args.session_id)
    session = sessions.load_state(tx, row.key)
    ticket = tickets.load_state(tx, session.ticket)
    if ticket.is_archived:
        raise TicketArchived
    if args.question_id is not None:
        find_writable(tx, actor, "question", args.question_id)
    newest = questions.find_newest_question(tx, session.key)
    if newest is None or newest.kind is QuestionKind.QUESTION or args.question_id not in {None, newest.id}:
        raise QuestionClosed("the agent doesn't ask for this approval", answer=None)
    if newest.answer is not None:
        raise build_closed_error(newest)
    if not session.is_current(tx.now):
        raise QuestionClosed("the work that this request belongs to has ended", answer=None)
    decision = Decision.APPROVED if args.approve else Decision.DECLINED
    byline = bylines.ensure_byline(tx, actor)
    questions.answer_question(tx, newest.id, decision.value, byline, args.note)
    ticket_row = VisibleRow(session.ticket, row.project, row.company, row.role, row.within)
    record_ticket_event(
        tx, actor, ticket_row, f"ticket.{decision.value}", session_id=session.id, question_id=newest.id,
        approval=newest.kind.value, note=args.note,
    )  # fmt: skip
    if newest.kind is QuestionKind.DONE:
        if args.approve:
            tickets.mark_updated(tx, session.ticket, byline)
            apply_outcome(tx, actor, ticket_row, ticket, _load_outcome(tx, ticket_row, newest.id))
            sessions.end_session(tx, session, WorkState.DONE, byline)
            record_ticket_event(tx, actor, ticket_row, "ticket.work_finished", session_id=session.id, run=session.run)
        else:
            sessions.limit_claim(tx, session, tx.now + CONTINUE_MS)
    elif args.approve:
        _, _, listed = newest.question.partition(CRITERIA_HEADING)
        criteria.agree_to_criteria(tx, session.ticket, [line.removeprefix("- ") for line in listed.splitlines()])
        sessions.set_plan_approval(tx, session.key, needed=False)
    return session_lists.load_session(tx, session.key)


def _load_outcome(tx: Read, ticket: VisibleRow, question_id: str) -> Outcome:
    """Load what a person accepts: a column that the ticket's project still has, or else that it is resolved."""
    outcome = questions.load_outcome(tx, question_id)
    if any(key == outcome.column for key, _ in columns.list_columns(tx, ticket.project)):
        return Outcome(outcome.column, None)
    return Outcome(None, True)

"""Questions of a run to people: ask, wait for the answer, answer (docs/use/work-sessions.md, "Questions")."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import (
    Conflict,
    Forbidden,
    InvalidField,
    NotFound,
    QuestionClosed,
    TicketArchived,
)
from ticketbox.domain.events.records import Reason
from ticketbox.domain.tickets.records import Status, WorkState
from ticketbox.domain.work.records import QuestionKind, WorkQuestion
from ticketbox.operations.core.inputs import Line, Text
from ticketbox.operations.core.live.listeners import Subscription
from ticketbox.operations.core.live.waiting import DEFAULT_WAIT_SECONDS, NothingYet, WaitSeconds
from ticketbox.operations.core.lookups import QuestionId, find_readable_ticket, find_writable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.events.notify import notify_of_question
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.work.leases import (
    LEASE_REFUSALS,
    Lease,
    LeasedTicketId,
    LeaseMinutes,
    build_lease_error,
    choose_ticket_id,
    find_session,
    require_lease,
)
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets
from ticketbox.store.work import questions, sessions
from ticketbox.store.work.questions import NewQuestion

Choice = Annotated[str, Meta(min_length=1, max_length=200), Line]


# The events after which a waiting run has an answer, or no lease any more.
_WAKING = frozenset({
    "ticket.question_answered", "ticket.approved", "ticket.declined", "ticket.archived", "ticket.work_stopped",
    "ticket.work_stale",
})  # fmt: skip


class AskHuman(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One question at a time. Asking the same again returns the same question."""

    ticket_id: LeasedTicketId = UNSET
    lease: Lease
    question: Annotated[Text, Meta(min_length=1, description="What you need to know, and why.")]
    choices: Annotated[list[Choice], Meta(max_length=10, description="The possible answers. Default: any text.")] = []
    lease_minutes: LeaseMinutes = 60


@operation(
    "ask_human",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/work/questions",
    refuses=(*LEASE_REFUSALS, Conflict),
    tool=Tool(
        "Ask a person",
        "Use this when you need a decision that isn't yours. It returns immediately; then call wait_for_answer.",
        {"lease": "lease_…", "question": "Drop support for v1?", "choices": ["Yes", "No"]},
        idempotent=True,
        tool_set="core",
        unlisted=("ticket_id", "lease_minutes"),
    ),
)
def ask_human(tx: Write, actor: Actor, args: AskHuman) -> WorkQuestion:
    """Ask the people of a ticket a question, and renew the claim. They are notified."""
    row, state = find_writable_ticket(tx, actor, choose_ticket_id(args.ticket_id, args.lease))
    session = require_lease(tx, actor, state, args.lease)
    choices = list(dict.fromkeys(choice.strip() for choice in args.choices))
    if len(choices) == 1:
        raise InvalidField("choices", "send at least two different choices, or none")
    sessions.renew_session(tx, session, tx.now + args.lease_minutes * MINUTE)
    asked = questions.find_newest_question(tx, session.key)
    if asked is not None and asked.answer is None:
        if (asked.question, asked.choices) == (args.question, choices):
            return asked
        raise Conflict(f"your question {asked.id} has no answer yet; wait for it before you ask another")
    new = NewQuestion(session.key, args.question, choices, bylines.ensure_byline(tx, actor))
    question = questions.insert_question(tx, new)
    record_ticket_event(
        tx, actor, row, "ticket.question_asked", session_id=session.id, question_id=question.id,
        question=args.question, choices=choices,
    )  # fmt: skip
    notify_of_question(tx, row, actor.user, Reason.QUESTION)
    return question


class WaitForAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The newest question or request for approval of your session."""

    ticket_id: LeasedTicketId = UNSET
    lease: Lease
    wait_seconds: WaitSeconds = 0


@operation(
    "wait_for_answer",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/work/answer",
    refuses=LEASE_REFUSALS,
    waits=True,
    tool=Tool(
        "Wait for an answer",
        "Use this after ask_human or a request for approval, until there is an `answer`. It doesn't renew the claim.",
        {"lease": "lease_…", "wait_seconds": 50},
        defaults={"wait_seconds": DEFAULT_WAIT_SECONDS},
        tool_set="core",
    ),
)
def wait_for_answer(tx: Read, actor: Actor, args: WaitForAnswer) -> WorkQuestion:
    """Return your question or request for approval with its answer; if there is none yet, wait for it."""
    row = find_readable_ticket(tx, actor, choose_ticket_id(args.ticket_id, args.lease))
    state = tickets.load_state(tx, row.key)
    if state.status is Status.ARCHIVED:
        raise TicketArchived
    session = find_session(tx, actor, state, args.lease)
    question = None if session is None else questions.find_newest_question(tx, session.key)
    if session is None or not session.is_current(tx.now):
        if question is not None and question.kind is QuestionKind.DONE and question.answer is not None:
            return question  # the person who accepted the ticket ended the work
        raise build_lease_error(tx, actor, state, session)
    if question is None:
        raise NotFound("question", "you have asked no question; call ask_human first")
    if question.answer is None:
        raise NothingYet(question, Subscription(_WAKING, ticket=row.key))
    return question


class AnswerQuestion(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If the question has choices, the answer must be one of them."""

    question_id: QuestionId
    answer: Annotated[Text, Meta(min_length=1)]


@operation(
    "answer_question",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /questions/{question_id}/answer",
    refuses=(TicketArchived, QuestionClosed),
    example={"question_id": "qst_5d8x1v6b2g7h", "answer": "Yes"},
)
def answer_question(tx: Write, actor: Actor, args: AnswerQuestion) -> WorkQuestion:
    """Answer the question of a run. Tokens of the person whose run asked can't answer it."""
    row = find_writable(tx, actor, "question", args.question_id)
    state = questions.load_question_state(tx, row.key)
    if tickets.load_state(tx, state.ticket).status is Status.ARCHIVED:
        raise TicketArchived
    if actor.is_agent and actor.user == state.user:
        raise Forbidden("a token of the person whose run asks can't answer; a person answers it in the web app")
    question = questions.load_question(tx, row.key)
    if question.kind is not QuestionKind.QUESTION:
        raise Forbidden("this is a request for approval; a person decides it in the web app")
    if question.answer is not None:
        raise build_closed_error(question)
    if state.session_state == WorkState.DONE:
        raise QuestionClosed("the work that this question belongs to has ended", answer=None)
    answer = args.answer.strip()
    if not answer:
        raise InvalidField("answer", "must not be empty")
    if question.choices and answer not in question.choices:
        raise InvalidField("answer", f"“{answer}” isn't one of the choices", valid=question.choices)
    answered = questions.answer_question(tx, question.id, answer, bylines.ensure_byline(tx, actor))
    ticket = VisibleRow(state.ticket, row.project, row.company, row.role, row.within)
    record_ticket_event(
        tx, actor, ticket, "ticket.question_answered",
        session_id=question.session_id, question_id=question.id, answer=answer,
    )  # fmt: skip
    return answered


def build_closed_error(question: WorkQuestion) -> QuestionClosed:
    """Return the problem for a question that was answered."""
    assert question.answered is not None
    token = question.answered.token_label
    who = question.answered.user.name + (f" with {token}" if token else "")
    return QuestionClosed(
        f"{who} answered this question: {question.answer}", answer=question.answer, answered=question.answered
    )

"""Acceptance criteria: what must be true before a ticket is done (docs/use/criteria.md)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Forbidden, InvalidField, InvalidRequest, TicketArchived
from ticketbox.domain.work.criteria import Criterion, CriterionState, EvidenceKind, Grade
from ticketbox.operations.core.inputs import Line, Text
from ticketbox.operations.core.lookups import CriterionId, Key, TicketId, find_readable_ticket, find_writable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event, record_update
from ticketbox.operations.work.approvals import check_plan
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets
from ticketbox.store.work import criteria, sessions
from ticketbox.store.work.criteria import NewEvidence

MAX_CRITERIA = 50

CriterionText = Annotated[str, Meta(min_length=1, max_length=500), Line]


class ListCriteria(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Criteria of archived tickets can be read too."""

    ticket_id: TicketId


class CriterionList(msgspec.Struct, frozen=True):
    """The criteria of a ticket, oldest first."""

    criteria: list[Criterion]


@operation("list_criteria", scope=Scope.READ, budget=Budget.READ, rest="GET /tickets/{ticket_id}/criteria")
def list_criteria(tx: Read, actor: Actor, args: ListCriteria) -> CriterionList:
    """List a ticket's acceptance criteria with their evidence."""
    return CriterionList(criteria.list_criteria(tx, find_readable_ticket(tx, actor, args.ticket_id).key))


class AddCriterion(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A token proposes the criterion; a person agrees to it with the agent's plan, or by changing or accepting it."""

    ticket_id: TicketId
    text: CriterionText
    idempotency_key: Key | None = None


@operation(
    "add_criterion",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/criteria",
    refuses=(TicketArchived,),
    creates=True,
)
def add_criterion(tx: Write, actor: Actor, args: AddCriterion) -> Criterion:
    """Add an acceptance criterion to a ticket."""
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    (added,) = insert_criteria(tx, actor, row, [args.text])
    ask_about_criteria(tx, actor, row)
    return _load_criterion(tx, row.key, added)


def insert_criteria(tx: Write, actor: Actor, row: VisibleRow, texts: list[str]) -> list[str]:
    """Insert criteria that a ticket doesn't have yet, and return their ids. Raises InvalidRequest for too many."""
    if len(criteria.list_criteria(tx, row.key)) + len(texts) > MAX_CRITERIA:
        raise InvalidRequest(f"a ticket has at most {MAX_CRITERIA} criteria")
    byline = bylines.ensure_byline(tx, actor)
    added = [criteria.insert_criterion(tx, row.key, text.strip(), byline, proposed=actor.is_agent) for text in texts]
    for criterion_id, text in zip(added, texts, strict=True):
        record_update(tx, actor, row, "criterion.added", criterion_id=criterion_id, text=text.strip())
    return added


def propose_criteria(tx: Write, actor: Actor, row: VisibleRow, texts: list[str]) -> None:
    """Insert the criteria of a plan that a ticket lacks; texts are compared without case."""
    known = {each.text.casefold() for each in criteria.list_criteria(tx, row.key)}
    new = {text.strip().casefold(): text for text in texts if text.strip().casefold() not in known}
    insert_criteria(tx, actor, row, list(new.values()))


def ask_about_criteria(tx: Write, actor: Actor, row: VisibleRow) -> None:
    """Ask people again to approve the plan of the caller's run, if a gate requires it, after its criteria changed."""
    session = sessions.find_open_session(tx, row.key)
    if session is not None and session.is_current(tx.now) and session.user == actor.user:
        check_plan(tx, actor, row, session, sessions.load_plan(tx, session))


class UpdateCriterion(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Evidence for another text, and from before a criterion was reopened, is stale. Only people send `state`."""

    criterion_id: CriterionId
    text: CriterionText | UnsetType = UNSET
    state: Annotated[CriterionState, Meta(description="`waived` or `open`; evidence decides `met`.")] | UnsetType = (
        UNSET
    )


@operation(
    "update_criterion",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="PATCH /criteria/{criterion_id}",
    refuses=(TicketArchived,),
    example={"criterion_id": "crt_7f2m9x4k1q8d", "text": "The total has the discount"},
)
def update_criterion(tx: Write, actor: Actor, args: UpdateCriterion) -> Criterion:
    """Change a criterion's text, waive it, or open it again. Tokens change only the text of proposed criteria."""
    key, row, before = find_criterion(tx, actor, args.criterion_id)
    if args.text is UNSET and args.state is UNSET:
        raise InvalidRequest("nothing to change: send `text` or `state`")
    if args.state is CriterionState.MET:
        raise InvalidField("state", "add evidence, or accept the criterion in the web app")
    if actor.is_agent and args.state is not UNSET:
        raise Forbidden("a person waives or reopens a criterion in the web app")
    _check_proposed(actor, before)
    text = UNSET if args.text is UNSET or args.text.strip() == before.text else args.text.strip()
    state = CriterionState.OPEN if text is not UNSET and args.state is UNSET else args.state
    criteria.update_criterion(
        tx, key, text=text, state=state, proposed=before.proposed and actor.is_agent,
        opened=state is CriterionState.OPEN,
    )  # fmt: skip
    after = _load_criterion(tx, row.key, before.id)
    changed = {} if text is UNSET else {"from": before.text}
    decided = {} if args.state is UNSET else {"state": after.state.value}
    record_update(tx, actor, row, "criterion.changed", criterion_id=before.id, text=after.text, **changed, **decided)
    ask_about_criteria(tx, actor, row)
    return after


class RemoveCriterion(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Its evidence is deleted as well."""

    criterion_id: CriterionId


@operation(
    "remove_criterion",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="DELETE /criteria/{criterion_id}",
    refuses=(TicketArchived,),
)
def remove_criterion(tx: Write, actor: Actor, args: RemoveCriterion) -> None:
    """Remove a criterion from its ticket. Tokens remove only proposed criteria."""
    key, row, before = find_criterion(tx, actor, args.criterion_id)
    _check_proposed(actor, before)
    criteria.delete_criterion(tx, key)
    record_update(tx, actor, row, "criterion.removed", criterion_id=before.id, text=before.text)
    ask_about_criteria(tx, actor, row)


class AcceptCriterion(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Adds evidence of the grade `accepted`."""

    criterion_id: CriterionId
    note: Annotated[Text, Meta(description="What you looked at.")] = ""


@operation(
    "accept_criterion",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="POST /criteria/{criterion_id}/accept",
    refuses=(TicketArchived,),
)
def accept_criterion(tx: Write, actor: Actor, args: AcceptCriterion) -> Criterion:
    """Accept that a criterion is met, because you looked."""
    key, row, before = find_criterion(tx, actor, args.criterion_id)
    byline = bylines.ensure_byline(tx, actor)
    new = NewEvidence(
        criterion=key, kind=EvidenceKind.STATEMENT, grade=Grade.ACCEPTED, text=args.note.strip(), byline=byline
    )
    evidence_id = criteria.insert_evidence(tx, new)
    criteria.update_criterion(tx, key, state=CriterionState.MET, proposed=False)
    record_evidence(tx, actor, row, before, evidence_id, new)
    return _load_criterion(tx, row.key, before.id)


def record_evidence(
    tx: Write, actor: Actor, row: VisibleRow, criterion: Criterion, evidence_id: str, new: NewEvidence
) -> None:
    """Record the event of new evidence. The state can change, so the ticket's version increases."""
    tickets.mark_updated(tx, row.key, new.byline)
    record_ticket_event(
        tx, actor, row, "evidence.added", criterion_id=criterion.id, evidence_id=evidence_id, criterion=criterion.text,
        kind=new.kind.value, grade=new.grade.value, passed=new.passed, commit=new.commit,
    )  # fmt: skip


def find_criterion(tx: Read, actor: Actor, criterion_id: str) -> tuple[int, VisibleRow, Criterion]:
    """Find a criterion that the caller may change, with its key and its ticket.

    Raises NotFound, Forbidden and TicketArchived.
    """
    row = find_writable(tx, actor, "criterion", criterion_id)
    ticket = criteria.load_ticket_key(tx, row.key)
    if tickets.load_state(tx, ticket).is_archived:
        raise TicketArchived
    ticket_row = VisibleRow(ticket, row.project, row.company, row.role, row.within)
    return row.key, ticket_row, _load_criterion(tx, ticket, criterion_id)


def _load_criterion(tx: Read, ticket: int, criterion_id: str) -> Criterion:
    return next(each for each in criteria.list_criteria(tx, ticket) if each.id == criterion_id)


def _check_proposed(actor: Actor, criterion: Criterion) -> None:
    if actor.is_agent and not criterion.proposed:
        raise Forbidden("people have agreed to this criterion; ask a person to change it, or propose another one")

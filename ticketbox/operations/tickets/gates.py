"""Gates: what an agent can't do to a ticket before a person approves it (docs/use/work-sessions.md, "Gates")."""

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import ApprovalRequired, ProofRequired
from ticketbox.domain.work.criteria import find_missing_evidence
from ticketbox.domain.work.records import QuestionKind
from ticketbox.domain.work.verifications import find_missing_proof
from ticketbox.store.companies import projects
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work import criteria, questions, sessions, verifications


def check_gates(tx: Read, actor: Actor, ticket: TicketState, *, resolves: bool, target: int | None = None) -> None:
    """Refuse an agent's change of a ticket that a person must approve, or that evidence must prove, first.

    `resolves` says that the ticket is resolved or archived, `target` is the key of the project that it moves to. Raises
    ApprovalRequired and ProofRequired.
    """
    if not actor.is_agent:
        return
    asked = {ticket.project, target or ticket.project} if resolves else {ticket.project}
    if ticket.resolved:
        asked.remove(ticket.project)  # it has passed those gates
    gates = [projects.load_gates(tx, key) for key in asked]
    if any(each.plan_approval for each in gates) and (missing := _find_missing_plan(tx, actor, ticket)):
        raise ApprovalRequired(
            f"in this project a person approves the plan before an agent moves or closes a ticket: {missing}"
        )
    if not resolves:
        return
    for verifiers in [each.verifiers for each in gates if each.verification]:
        proofs = verifications.list_proofs(tx, ticket.key, verifiers)
        if missing := find_missing_proof(proofs, verifications.find_reopened_at(tx, ticket.key)):
            whose = "" if verifiers == "[]" else " (only verifications by its verifiers count)"
            raise ProofRequired(f"this project requires proof of the fix{whose}: {missing}")
    for verifiers in [each.verifiers for each in gates if each.criteria]:
        listed = criteria.list_criteria(tx, ticket.key)
        if lacks := find_missing_evidence(listed, msgspec.json.decode(verifiers, type=list[str])):
            raise ProofRequired(
                "this project requires proof of each criterion; run `ticketbox prove`, or ask a person to accept or "
                f"waive it: {'; '.join(lacks)}"
            )
    if any(each.done_approval for each in gates):
        raise ApprovalRequired(
            "in this project a person decides when a ticket is done: start work, then call finish_work with your lease "
            "and `resolved` or `column` to ask for it"
        )


def _find_missing_plan(tx: Read, actor: Actor, ticket: TicketState) -> str | None:
    """Say what an agent lacks of an approved plan; None if it lacks nothing.

    A git hook has no plan: it closes tickets unless a run's plan isn't approved.
    """
    session = sessions.find_open_session(tx, ticket.key)
    is_hook = not actor.credential
    if session is None or not session.is_current(tx.now):
        return None if is_hook else "start work on it and report your plan with report_progress"
    if session.user != actor.user and not is_hook:
        return "somebody else is working on it; wait until their claim ends, then start work and report your plan"
    if not session.needs_plan_approval and questions.has_approved_plan(tx, session.key):
        return None
    newest = questions.find_newest_question(tx, session.key)
    if newest is None or newest.kind is not QuestionKind.PLAN:
        return "report your plan with report_progress"
    if newest.answer is None:
        return "your plan waits for their decision; call wait_for_answer"
    return "your plan isn't the one that they approved; report it, or another one, with report_progress"

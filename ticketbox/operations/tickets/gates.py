"""Gates: what an agent can't do to a ticket before a person approves it (docs/use/work-sessions.md, "Gates")."""

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import ApprovalRequired, VerificationRequired
from ticketbox.domain.work.verifications import is_fix_proven
from ticketbox.store.companies import projects
from ticketbox.store.file.database import Read
from ticketbox.store.tickets.tickets import TicketState
from ticketbox.store.work import sessions, verifications


def check_gates(tx: Read, actor: Actor, ticket: TicketState, *, resolves: bool, target: int | None = None) -> None:
    """Refuse an agent's change of a ticket's column or status that a person must approve first.

    `target` is the key of the project that the ticket moves to. Raises ApprovalRequired and VerificationRequired.
    """
    if not actor.is_agent:
        return
    session = sessions.find_open_session(tx, ticket.key)
    if session is not None and session.is_current(tx.now) and session.needs_plan_approval:
        raise ApprovalRequired(
            "a person must approve the plan of the work on this ticket first: report the plan with report_progress, "
            "then call wait_for_answer"
        )
    if not resolves:
        return
    asked = {ticket.project, target or ticket.project}
    if ticket.resolved:
        asked.remove(ticket.project)  # it has passed those gates
    gates = [projects.load_gates(tx, key) for key in asked]
    if any(each.verification for each in gates) and not is_fix_proven(
        verifications.list_proofs(tx, ticket.key), verifications.find_reopened_at(tx, ticket.key)
    ):
        raise VerificationRequired(
            "this project requires proof of the fix: run `ticketbox verify` on a commit with the bug, which says "
            "reproduced, then on the commit with the fix, which must say gone; the newest verification counts"
        )
    if any(each.done_approval for each in gates):
        raise ApprovalRequired(
            "in this project a person decides when a ticket is done: start work, then call finish_work with your lease "
            "and `resolved` or `column` to ask for it"
        )

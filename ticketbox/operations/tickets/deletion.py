"""Deleting tickets (docs/use/tickets.md, "Delete")."""

import msgspec

from ticketbox.domain.core.access.policy import Actor, require_role
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict
from ticketbox.operations.core.lookups import TicketId, Version
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.lookups import find_writable_ticket, load_ticket
from ticketbox.store.captures import deletion
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets


class DeleteTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone. Archive the ticket first."""

    ticket_id: TicketId
    expected_version: Version | None = None


@operation(
    "delete_ticket", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /tickets/{ticket_id}",
    refuses=(Conflict,),
)  # fmt: skip
def delete_ticket(tx: Write, actor: Actor, args: DeleteTicket) -> None:
    """Delete an archived ticket with everything in it. Requires the role admin.

    Its content is overwritten, and its history deleted. One event keeps who deleted which ticket.
    """
    row, state = find_writable_ticket(tx, actor, args.ticket_id, args.expected_version, archived=True)
    require_role(row.role, Role.ADMIN)
    if not state.is_archived:
        raise Conflict("only an archived ticket can be deleted; archive it first")
    key = load_ticket(tx, actor, state.id).key
    deletion.delete_contents_of_ticket(tx, row.key)
    tickets.delete_ticket(tx, row.key, state.id)
    record_company_event(tx, actor, "ticket.deleted", row.company, row.project, ticket_id=state.id, key=key)

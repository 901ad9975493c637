"""Counting how often the bug of a ticket was seen (docs/use/failing-tests.md)."""

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import TicketArchived
from ticketbox.operations.core.lookups import Key, TicketId
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets


class AddOccurrence(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ticket's version stays the same."""

    ticket_id: TicketId
    idempotency_key: Key | None = None


class Occurrence(msgspec.Struct, frozen=True):
    """A ticket whose bug was seen again, and how often by now."""

    ticket_id: str
    occurrences: int
    resolved: bool


@operation(
    "add_occurrence",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/occurrences",
    refuses=(TicketArchived,),
    creates=True,
)
def add_occurrence(tx: Write, actor: Actor, args: AddOccurrence) -> Occurrence:
    """Count that the bug of a ticket was seen again."""
    row, state = find_writable_ticket(tx, actor, args.ticket_id)
    count = tickets.count_occurrence(tx, row.key)
    record_ticket_event(tx, actor, row, "ticket.occurred", occurrences=count)
    return Occurrence(state.id, count, state.resolved)

"""Recording events about tickets, in the transaction of the change."""

from typing import Any

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.tickets.lookups import load_ticket
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.events import events
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets


def record_ticket_event(tx: Write, actor: Actor, row: VisibleRow, type_: str, **data: Any) -> None:
    """Record an event about a ticket that doesn't change the ticket itself, such as a new comment."""
    events.record_event(tx, type_, bylines.ensure_byline(tx, actor), row.company, row.project, row.key, **data)


def record_change(tx: Write, actor: Actor, row: VisibleRow, public_id: str, type_: str, **data: Any) -> Ticket:
    """Increase a ticket's version, record the event, and return the changed ticket."""
    record_update(tx, actor, row, type_, **data)
    return load_ticket(tx, actor, public_id)


def record_update(tx: Write, actor: Actor, row: VisibleRow, type_: str, **data: Any) -> None:
    """Increase a ticket's version, and record the event."""
    tickets.mark_updated(tx, row.key, bylines.ensure_byline(tx, actor))
    record_ticket_event(tx, actor, row, type_, **data)

"""Writing down what happened, beside the change itself."""

from typing import Any

from ticketbox.domain.policy import Actor
from ticketbox.domain.records import Ticket
from ticketbox.operations.lookups import shown
from ticketbox.store import bylines, events, tickets
from ticketbox.store.database import Write
from ticketbox.store.visible import Found


def ticket_event(tx: Write, actor: Actor, found: Found, type_: str, **data: Any) -> None:
    """Record an event about a ticket that leaves the ticket itself as it was, such as a comment."""
    events.record(tx, type_, bylines.of(tx, actor), found.company, found.project, found.key, **data)


def changed(tx: Write, actor: Actor, found: Found, public_id: str, type_: str, **data: Any) -> Ticket:
    """Give a ticket its next version, record the event, and return the ticket as it is now."""
    tickets.touch(tx, found.key, bylines.of(tx, actor))
    ticket_event(tx, actor, found, type_, **data)
    return shown(tx, actor, public_id)


def company_event(
    tx: Write,
    actor: Actor,
    type_: str,
    company: int,
    project: int | None = None,
    credential: int | None = None,
    **data: Any,
) -> None:
    """Record an event about a company, its projects, members or tokens."""
    byline = bylines.of(tx, actor)
    events.record(tx, type_, byline, company, project, credential=credential, **data)

"""Presence: who else has a ticket open in the web app now (docs/use/web-app.md, "Ticket page")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.records import Person
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import TicketId, find_readable, find_readable_ticket, resolve_ticket_id
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.events.events import StreamName
from ticketbox.store.events import watchers
from ticketbox.store.file.database import Read


class UpdatePresence(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The tab with this event stream has the ticket open, or no longer. Repeat it every 15 seconds."""

    ticket_id: TicketId
    stream: StreamName
    present: Annotated[bool, Meta(description="False when the tab leaves the ticket.")] = True


class Viewers(msgspec.Struct, frozen=True):
    """The other people who have a ticket open now, the first hundred."""

    viewers: list[Person]


async def record_presence(services: Services, actor: Actor, args: UpdatePresence, _: RequestContext) -> set[int]:
    """Record the report and return the keys of the ticket's other viewers. Raises NotFound."""

    def find_ticket(tx: Read) -> tuple[int, str]:
        public_id = resolve_ticket_id(tx, actor, args.ticket_id)
        return find_readable(tx, actor, "ticket", public_id).key, public_id

    ticket, public_id = await services.read(find_ticket, actor.fair_share)
    presence, tab = services.listeners.presence, (actor.credential, args.stream)
    if args.present:
        presence.enter(tab, actor.user, ticket, public_id)
    else:
        presence.leave(tab, ticket)
    return presence.list_users(ticket) - {actor.user}


@operation(
    "update_presence", scope=Access.SESSION, budget=Budget.READ, rest="PUT /tickets/{ticket_id}/presence",
    prepare=record_presence,
)  # fmt: skip
def update_presence(tx: Read, actor: Actor, args: UpdatePresence, users: set[int]) -> Viewers:
    """Report that a tab of the web app has a ticket open, and return who else has.

    When that changes, the tab's event stream sends a message of type `presence`. An entry ends with the stream, and
    after 40 seconds without a report.
    """
    ticket = find_readable_ticket(tx, actor, args.ticket_id)
    return Viewers(watchers.list_readers(tx, ticket.key, users))

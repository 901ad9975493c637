"""Finding tickets that look like one, or like what somebody is about to report (docs/use/search.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.fingerprints import Fingerprint, fingerprint_message, fingerprint_page
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.core.scopes import Scope
from ticketbox.domain.tickets.records import Likeness, Resemblance, SimilarTicket
from ticketbox.operations.core.inputs import Text, Url
from ticketbox.operations.core.lookups import TicketId, find_readable_ticket
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.tickets import StatusFilter, TicketStatus
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import similar, tickets
from ticketbox.store.tickets.similar import SimilarMatch


class FindSimilarTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Give a ticket, or a page's address, or an error's message; address and error may go together."""

    ticket_id: TicketId | None = None
    url: Annotated[Url, Meta(description="A page's address; ids in its path are left open.")] | None = None
    error: Annotated[Text, Meta(description="`TypeError: cart is undefined`; the first line counts.")] | None = None
    status: TicketStatus = StatusFilter.ACTIVE
    limit: Annotated[int, Meta(ge=1, le=50, description="How many tickets at the most.")] = 10


class SimilarTickets(msgspec.Struct, frozen=True):
    """Tickets that look alike, most alike first. `bounded`: time ran out, and there may be more than these."""

    items: list[SimilarTicket]
    bounded: bool


@operation(
    "find_similar_tickets",
    scope=Scope.READ,
    budget=Budget.READ,
    rest=("GET /tickets/{ticket_id}/similar", "GET /similar"),
    tool=Tool(
        "Find similar tickets",
        "Use this before creating a ticket, or to find duplicates of one; archived ones tell how it was fixed before.",
        {"error": "TypeError: cart is undefined", "url": "https://shop.example/orders/1729", "status": "all"},
    ),
)
def find_similar_tickets(tx: Read, actor: Actor, args: FindSimilarTickets) -> SimilarTickets:
    """Find tickets with the same error, the same message or the same page, and say which.

    Figures, ids and hashes don't count when they are compared.
    """
    key, prints = _fingerprints_to_compare(tx, actor, args)
    found, whole = similar.find_similar(tx, actor.viewer, prints, args.status.statuses, key)
    kept = found[: args.limit]
    shown = tickets.list_tickets_by_keys(tx, actor.viewer, [each.key for each in kept])
    items = [
        SimilarTicket(**msgspec.structs.asdict(ticket), reasons=_list_reasons(each))
        for each, ticket in zip(kept, shown, strict=True)
    ]
    return SimilarTickets(items, bounded=not whole)


def _fingerprints_to_compare(tx: Read, actor: Actor, args: FindSimilarTickets) -> tuple[int, list[Fingerprint]]:
    """The key of the ticket that was asked for, if any, and the fingerprints to look for. Raises InvalidRequest."""
    if args.ticket_id is not None:
        if args.url is not None or args.error is not None:
            raise InvalidField("ticket_id", "give a ticket, or url and error, not both")
        key = find_readable_ticket(tx, actor, args.ticket_id).key
        return key, similar.list_fingerprints(tx, key)
    if args.url is None and args.error is None:
        raise InvalidField("url", "give url or error")
    prints: list[Fingerprint] = []
    for field, text, made in (("error", args.error, fingerprint_message), ("url", args.url, fingerprint_page)):
        found = None if text is None else made(text)
        if found is not None:
            prints.append(found)
        elif text is not None:
            raise InvalidField(field, "there is nothing in it to compare")
    return 0, prints


def _list_reasons(alike: SimilarMatch) -> list[Resemblance]:
    """Each once: where the error is the same, so is its message."""
    told = {each.label for each in alike.prints if each.likeness is Likeness.ERROR}
    order = list(Likeness)
    return [
        Resemblance(each.likeness, each.label)
        for each in sorted(alike.prints, key=lambda each: order.index(each.likeness))
        if each.likeness is not Likeness.MESSAGE or each.label not in told
    ]

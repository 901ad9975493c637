"""Finding tickets that are similar to a ticket, a page or an error (docs/use/search.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.fingerprints import Fingerprint, fingerprint_message, fingerprint_page
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField, NotFound
from ticketbox.domain.tickets.records import Similarity, SimilarityReason, SimilarTicket
from ticketbox.operations.core.inputs import Text, Title, Url
from ticketbox.operations.core.lookups import CompanyId, TicketId, find_membership, find_readable_ticket
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.finding.lists import StatusFilter, TicketStatus
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import records
from ticketbox.store.tickets.search import similar, similar_titles
from ticketbox.store.tickets.search.similar import SimilarMatch


class FindSimilarTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Send a ticket, or one or more of a URL, an error message and a title."""

    ticket_id: TicketId | None = None
    url: Annotated[Url, Meta(description="A page's URL; ids in its path are ignored.")] | None = None
    error: (
        Annotated[
            Text,
            Meta(description="An error message; only its first line is compared."),
        ]
        | None
    ) = None
    title: Annotated[Title, Meta(description="A title; similar ones share words.")] | None = None
    company_id: CompanyId | None = None
    status: TicketStatus = StatusFilter.ACTIVE
    limit: Annotated[int, Meta(ge=1, le=50, description="The maximum number of tickets.")] = 10


class SimilarTickets(msgspec.Struct, frozen=True):
    """Similar tickets, best match first. `bounded` says that the time limit was reached and some may be missing."""

    items: list[SimilarTicket]
    bounded: bool


@operation(
    "find_similar_tickets",
    scope=Scope.READ,
    budget=Budget.READ,
    rest=("GET /tickets/{ticket_id}/similar", "GET /similar"),
    refuses=(NotFound,),
    tool=Tool(
        "Find similar tickets",
        "Use this before creating a ticket, or to find duplicates. Archived tickets can show earlier fixes.",
        {"error": "TypeError: cart is undefined", "url": "https://shop.example/orders/1729", "status": "all"},
        tool_set="core",
        unlisted=("company_id",),
    ),
)
def find_similar_tickets(tx: Read, actor: Actor, args: FindSimilarTickets) -> SimilarTickets:
    """Find tickets with the same error, message or page, or a similar title, and the reasons for each match.

    Numbers, ids and hashes are ignored in the comparison.
    """
    key, fingerprints = _collect_fingerprints(tx, actor, args)
    company = None if args.company_id is None else find_membership(actor, args.company_id).company
    statuses = args.status.statuses
    matches, complete = similar.find_similar(tx, actor.viewer, fingerprints, statuses, company, key)
    if args.title is not None:
        titled, finished = similar_titles.find_similar_titles(tx, actor.viewer, args.title, statuses, company)
        matches, complete = similar.merge_matches(matches, titled), complete and finished
    best = matches[: args.limit]
    listed = records.list_tickets_by_keys(tx, actor.viewer, [each.key for each in best])
    items = [
        SimilarTicket(**msgspec.structs.asdict(ticket), reasons=_list_reasons(each))
        for each, ticket in zip(best, listed, strict=True)
    ]
    return SimilarTickets(items, bounded=not complete)


def _collect_fingerprints(tx: Read, actor: Actor, args: FindSimilarTickets) -> tuple[int, list[Fingerprint]]:
    """Return the ticket's key (0 without a ticket) and the fingerprints to search for. Raises InvalidRequest."""
    if args.ticket_id is not None:
        if args.url is not None or args.error is not None or args.title is not None:
            raise InvalidField("ticket_id", "send ticket_id, or url, error and title, not both")
        key = find_readable_ticket(tx, actor, args.ticket_id).key
        return key, similar.list_fingerprints(tx, key)
    if args.url is None and args.error is None and args.title is None:
        raise InvalidField("url", "url, error or title is required")
    fingerprints: list[Fingerprint] = []
    for field, text, fingerprint in (("error", args.error, fingerprint_message), ("url", args.url, fingerprint_page)):
        fingerprint_of_text = None if text is None else fingerprint(text)
        if fingerprint_of_text is not None:
            fingerprints.append(fingerprint_of_text)
        elif text is not None:
            raise InvalidField(field, "this has no words to compare")
    return 0, fingerprints


def _list_reasons(alike: SimilarMatch) -> list[SimilarityReason]:
    """Return the reasons of a match, without the messages of equal errors."""
    errors = {each.label for each in alike.prints if each.similarity is Similarity.ERROR}
    order = list(Similarity)
    return [
        SimilarityReason(each.similarity, each.label)
        for each in sorted(alike.prints, key=lambda each: order.index(each.similarity))
        if each.similarity is not Similarity.MESSAGE or each.label not in errors
    ]

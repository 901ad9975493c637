"""Finding tickets by words."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.limits import Budget
from ticketbox.domain.policy import Actor
from ticketbox.domain.problems import invalid
from ticketbox.domain.records import Ticket
from ticketbox.domain.scopes import Scope
from ticketbox.operations.lookups import Id
from ticketbox.operations.paging import Cursor, Limit, Page, page, resume
from ticketbox.operations.registry import Tool, operation
from ticketbox.operations.tickets import StatusFilter, statuses
from ticketbox.store import ticket_lists
from ticketbox.store.database import Read
from ticketbox.store.ticket_lists import Filter, Sort


class Search(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The text is looked for as it stands, in any case of ASCII letters."""

    q: Annotated[
        str,
        Meta(
            min_length=2,
            max_length=200,
            pattern=r"^[^\x00-\x1f\x7f]*$",
            description="Words as they stand in a title, description or comment.",
            examples=["cart stays empty"],
        ),
    ]
    company_id: Id | None = None
    project_id: Id | None = None
    status: StatusFilter = "active"
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "search",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /search",
    tool=Tool(
        "Search tickets",
        "Use this to find tickets by words in their titles, descriptions and comments.",
        {"q": "cart stays empty"},
        name="search_tickets",
    ),
)
def search(tx: Read, actor: Actor, args: Search) -> Page[Ticket]:
    """Find the tickets whose title, description or comments hold a text, newest first."""
    if len(args.q.strip()) < 2:
        raise invalid("q", "give at least two letters")
    wanted = Filter(
        statuses=statuses(args.status),
        sort=Sort.CREATED_DOWN,
        company=args.company_id,
        project=args.project_id,
        text=args.q.strip(),
    )
    after = resume(actor, args)
    return page(actor, args, ticket_lists.listed(tx, actor.viewer, wanted, after, args.limit + 1))

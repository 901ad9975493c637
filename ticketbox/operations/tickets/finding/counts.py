"""Counts of open tickets, for the web app's sidebar."""

import time

import msgspec

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.core.lookups import CompanyId, find_membership
from ticketbox.operations.core.registry import operation
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import open_counts, saved_filters

MOST_COUNTED = 100
MOST_VIEWS = 100
SECONDS_PER_COUNT = 0.02
SECONDS_PER_CALL = 0.1


class ViewCount(msgspec.Struct, frozen=True):
    """The open tickets of a saved view, up to 100; null if counting them takes too long."""

    view_id: str
    open: int | None


class TicketCounts(msgspec.Struct, frozen=True):
    """The open tickets that are assigned to the caller, up to 100 or null, and those of saved views."""

    assigned: int | None
    views: list[ViewCount]


class CountTickets(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The views are those of the company. Assigned tickets are counted in all companies, as the app lists them."""

    company_id: CompanyId


@operation(
    "count_tickets", scope=Access.SESSION, budget=Budget.READ, rest="GET /companies/{company_id}/ticket-counts"
)  # fmt: skip
def count_tickets(tx: Read, actor: Actor, args: CountTickets) -> TicketCounts:
    """Count open tickets for the web app's sidebar: those assigned to the caller, and those of each saved view.

    Open tickets are active and unresolved. A count is null if it would take longer than 20 ms, or the call longer than
    100 ms. Only the 100 oldest views are counted.
    """
    end = time.monotonic() + SECONDS_PER_CALL
    company = find_membership(actor, args.company_id).company
    assigned = open_counts.count_assigned(tx, actor.viewer, MOST_COUNTED, _choose_deadline(end))
    views = [
        ViewCount(view, open_counts.count_of_view(tx, actor.viewer, project, filters, MOST_COUNTED, deadline))
        for view, project, filters in saved_filters.list_filters(tx, actor.viewer, company, MOST_VIEWS)
        for deadline in [_choose_deadline(end)]
    ]
    return TicketCounts(assigned, views)


def _choose_deadline(end: float) -> float:
    return min(time.monotonic() + SECONDS_PER_COUNT, end)

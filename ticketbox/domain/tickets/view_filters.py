"""The filters of tickets that a saved view keeps."""

import msgspec

from ticketbox.domain.tickets.records import Priority


class ViewFilters(msgspec.Struct, frozen=True):
    """Filters of list_tickets. An empty list or null filters nothing."""

    assignee: list[str]
    label: list[str]
    priority: list[Priority]
    has_labels: bool | None
    resolved: bool | None
    has_due_date: bool | None
    overdue: bool

"""The fields that people set on a ticket, each declared once.

A field's column, changes, order, filter, and its text in CSV and on the command line derive from this list. The records
and inputs that have it (`Ticket`, `CreateTicket`, `UpdateTicket`, `NewTicket`, `ViewFilters`) are written out, so that
they can be read and checked; tests/domain/tickets/test_fields.py compares them with the list.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ticketbox.domain.core.hidden_text import clean_title
from ticketbox.domain.tickets.records import PRIORITIES, Priority
from ticketbox.domain.tickets.title_words import build_title_key


class SortKey(msgspec.Struct, frozen=True):
    """How lists are sorted by a field: the name of the order, and the column that has it.

    `build` computes the column from the value where SQLite doesn't.
    """

    name: str
    column: str
    is_text: bool = False
    build: Callable[[Any], Any] | None = None


class TicketField(msgspec.Struct, frozen=True):
    """A field of a ticket: `name` is its name in records, inputs, events and CSV, and its column's.

    `to_column` and `from_column` convert its value to that of its column, and back, if they differ. `filter` is the
    name of the filter for tickets with or without a value. `phrase` presents a value among the properties of a ticket;
    a field without a phrase is no property. `none` is the value, besides null and an empty list, that says nothing.
    """

    name: str
    to_column: Callable[[Any], Any] | None = None
    from_column: Callable[[Any], Any] | None = None
    sort: SortKey | None = None
    filter: str | None = None
    phrase: str | None = None
    none: str = ""

    def format(self, value: str | int | list[str] | None) -> str:
        """Return a value, that of a record or of its JSON, as text."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)

    def describe(self, value: Any) -> str:
        """Return a value as one of a ticket's properties, or "" if it says nothing."""
        text = self.format(value)
        return "" if self.phrase is None or text in {"", self.none} else self.phrase.format(text)


FIELDS = (
    TicketField(
        "title", to_column=clean_title, sort=SortKey("title", "title_key", is_text=True, build=build_title_key)
    ),
    TicketField("description"),
    TicketField("resolved", from_column=bool),
    TicketField(
        "priority",
        to_column=PRIORITIES.index,
        from_column=PRIORITIES.__getitem__,
        sort=SortKey("priority", "priority"),
        phrase="{} priority",
        none=Priority.NONE,
    ),
    TicketField(
        "labels",
        to_column=lambda labels: msgspec.json.encode(labels).decode(),
        from_column=msgspec.json.Decoder(list[str]).decode,
        filter="has_labels",
        phrase="{}",
    ),
    TicketField("due_on", sort=SortKey("due", "due_day"), filter="has_due_date", phrase="due {}"),
    TicketField("branch", phrase="branch {}"),
    TicketField("source_url"),
)
PROPERTIES = tuple(field for field in FIELDS if field.phrase is not None)
SORT_KEYS = {field.sort.name: field.sort for field in FIELDS if field.sort is not None}
PRESENCE_FILTERS = {field.filter: field for field in FIELDS if field.filter is not None}


def convert_to_columns(values: dict[str, Any]) -> dict[str, Any]:
    """Convert the values of fields to those of their columns, with the columns that lists are sorted by."""
    columns: dict[str, Any] = {}
    for field in FIELDS:
        if field.name in values:
            value = values[field.name]
            columns[field.name] = value if field.to_column is None else field.to_column(value)
            if field.sort is not None and field.sort.build is not None:
                columns[field.sort.column] = field.sort.build(columns[field.name])
    return columns


class ViewFilters(msgspec.Struct, frozen=True):
    """The filters of list_tickets that a saved view keeps. An empty list or null filters nothing."""

    assignee: list[str]
    label: list[str]
    priority: list[Priority]
    has_labels: bool | None
    resolved: bool | None
    has_due_date: bool | None
    overdue: bool


def find_presence(filters: msgspec.Struct) -> dict[str, bool]:
    """Find the filters that are set for tickets with or without a value of a field."""
    return {name: value for name in PRESENCE_FILTERS if (value := getattr(filters, name)) is not None}

"""The fields of a ticket are in every record and input that needs them (ticketbox/domain/tickets/fields.py)."""

from typing import Any

import msgspec
import pytest

from ticketbox.domain.companies.views import ViewField
from ticketbox.domain.tickets.fields import FIELDS, PRESENCE_FILTERS, PROPERTIES, SORT_KEYS, ViewFilters
from ticketbox.domain.tickets.records import Sort, Ticket
from ticketbox.operations.companies.views import FiltersInput
from ticketbox.operations.tickets.finding.lists import ListTickets
from ticketbox.operations.tickets.tickets import CreateTicket, UpdateTicket
from ticketbox.store.tickets.tickets import NewTicket

NAMES = {field.name for field in FIELDS}
SET_LATER = {"resolved"}  # by the column
SET_ONCE = {"branch", "source_url"}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Ticket, NAMES),
        (CreateTicket, NAMES - SET_LATER),
        (NewTicket, NAMES - SET_LATER),
        (UpdateTicket, NAMES - SET_ONCE),
    ],
)
def test_records_have_the_fields_of_the_list(record: type[msgspec.Struct], expected: set[str]) -> None:
    assert set(record.__struct_fields__) & NAMES == expected


def test_inputs_change_nothing_that_is_not_in_the_list() -> None:
    arguments = {"project_id", "column_id", "idempotency_key", "ticket_id", "expected_version"}
    arguments |= {"column", "assignees", "status"}  # what other operations also change
    assert {*CreateTicket.__struct_fields__, *UpdateTicket.__struct_fields__} - arguments == NAMES


@pytest.mark.parametrize("filters", [ListTickets, FiltersInput, ViewFilters])
def test_filters_exist_wherever_tickets_are_filtered(filters: type[msgspec.Struct]) -> None:
    assert set(PRESENCE_FILTERS) <= set(filters.__struct_fields__)


def test_views_keep_only_filters_of_lists() -> None:
    assert FiltersInput.__struct_fields__ == ViewFilters.__struct_fields__
    assert set(ViewFilters.__struct_fields__) <= set(ListTickets.__struct_fields__)


def test_views_can_show_every_property_but_the_branch() -> None:
    names = {field.name if field.sort is None else field.sort.name for field in PROPERTIES}
    assert names - set(ViewField) == {"branch"}


def test_every_order_by_a_field_can_be_asked_for() -> None:
    others = {"created", "updated", "position"}
    assert {sort.removeprefix("-") for sort in Sort} == {*SORT_KEYS, *others}


@pytest.mark.parametrize(
    ("name", "value", "text", "phrase"),
    [
        ("priority", "high", "high", "high priority"),
        ("priority", "none", "none", ""),
        ("labels", ["cart", "ui"], "cart, ui", "cart, ui"),
        ("labels", [], "", ""),
        ("due_on", "2026-12-24", "2026-12-24", "due 2026-12-24"),
        ("due_on", None, "", ""),
        ("resolved", True, "true", ""),
    ],
)
def test_values_are_written_as_text(name: str, value: Any, text: str, phrase: str) -> None:
    (field,) = (field for field in FIELDS if field.name == name)
    assert (field.format(value), field.describe(value)) == (text, phrase)

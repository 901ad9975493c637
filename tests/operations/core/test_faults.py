"""What a refusal of invalid input says: all faults, and what would be accepted."""

from typing import Any

import pytest

from ticketbox.domain.core.problems import InvalidRequest
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.dispatch import decode_arguments


def refuse(operation: str, **given: Any) -> InvalidRequest:
    """The refusal of this input."""
    with pytest.raises(InvalidRequest) as refused:
        decode_arguments(load_registry()[operation], given)
    return refused.value


def test_all_faults_of_a_call_are_named() -> None:
    problem = refuse("create_ticket", title="", priority="critical", colour="red", labels="ui")
    faults = {error.field: error.message for error in problem.extra["errors"]}
    assert list(faults) == ["title", "priority", "colour", "labels"]
    assert faults["title"] == "must not be empty"
    assert faults["priority"] == "must be one of none, low, medium, high, urgent"
    assert faults["labels"] == "expected `array`, got `str`"
    assert problem.detail == "; ".join(f"{field}: {message}" for field, message in faults.items())
    assert "valid" not in problem.extra


def test_missing_fields_are_named_beside_wrong_ones() -> None:
    problem = refuse("add_comment", text="Seen")
    assert [error.field for error in problem.extra["errors"]] == ["text", "ticket_id", "body"]


def test_unknown_field_says_the_accepted_names_and_the_nearest() -> None:
    problem = refuse("get_error", capture_id="cap_1", entry=1, capture="x")
    assert problem.detail == "capture: unknown field; did you mean capture_id?; accepted: capture_id, entry"
    assert problem.extra["valid"] == ["capture_id", "entry"]


def test_accepted_names_are_listed_once() -> None:
    problem = refuse("get_error", capture_id="cap_1", entry=1, one=1, two=2)
    assert problem.detail.count("accepted:") == 1


def test_enum_says_its_values() -> None:
    problem = refuse("list_tickets", status="open")
    assert problem.detail == "status: must be one of active, archived, all"
    assert problem.extra["valid"] == ["active", "archived", "all"]


def test_value_in_a_list_says_its_values_and_place() -> None:
    problem = refuse("get_ticket", ticket_id="t-4k7m2q9x", include=["capture", "pictures"])
    assert problem.detail == "include[1]: must be one of capture, comments, history, verifications, criteria"


def test_wrong_format_shows_an_example() -> None:
    assert refuse("get_network", capture_id="c", status="bad").detail.endswith(
        "invalid characters or format; an example: 4xx"
    )


def test_number_of_faults_is_bounded() -> None:
    problem = refuse("get_error", **{f"x{number}": 1 for number in range(500)})
    assert len(problem.extra["errors"]) == 20
    assert len(problem.detail) < 2_000


def test_only_the_first_unknown_field_has_a_suggestion() -> None:
    problem = refuse("get_error", capture_id="cap_1", entry=1, captur=1, entri=2)
    assert problem.detail.count("did you mean") == 1

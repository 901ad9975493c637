"""Identifiers in the names of branches."""

import pytest

from ticketbox.domain.core.ids import find_ticket_in_branch


@pytest.mark.parametrize(
    ("branch", "ticket"),
    [
        ("fix/WEB-42-gift-card", "WEB-42"),
        ("t-4k7m2q9x-empty-cart", "t-4k7m2q9x"),
        ("ann/t-4k7m2q9x", "t-4k7m2q9x"),
        ("A1-7", "A1-7"),
        ("fix-2", None),
        ("2026-11-22", None),
        ("XWEBSHOP-42", None),
        ("WEB-0", None),
        ("WEB-42a", None),
        ("main", None),
        ("", None),
    ],
)
def test_branch_names_a_ticket(branch: str, ticket: str | None) -> None:
    assert find_ticket_in_branch(branch) == ticket

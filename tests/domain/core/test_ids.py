"""Identifiers of tickets: what names one, on its own, in the name of a branch, and in a text."""

import pytest

from ticketbox.domain.core.ids import (
    TicketKey,
    find_ticket_in_branch,
    find_tickets_in_text,
    is_foreign_address,
    parse_ticket_reference,
)

NOT_KEYS = [
    "WEB-0", "WEB-00", "WEB-01", "WEB-0042", "WEB-1234567890", "WEB--1", "WEB-+1", "WEB-\u0661", "W-1", "LONGER-1",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "ticket"),
    [
        ("t-4k7m2q9x", "t-4k7m2q9x"),
        (" T-4K7M2Q9X ", "t-4k7m2q9x"),
        ("WEB-42", TicketKey("WEB", 42)),
        ("web-100", TicketKey("WEB", 100)),
        ("#WEB-42", TicketKey("WEB", 42)),
        ("Q2-999999999", TicketKey("Q2", 999_999_999)),
        ("https://tickets.example/t/WEB-42", TicketKey("WEB", 42)),
        ("https://tickets.example/path/tickets/web-42/?tab=1#top", TicketKey("WEB", 42)),
        ("https://tickets.example/tickets/t-4k7m2q9x", "t-4k7m2q9x"),
        ("https://tickets.example/projects/WEB-42", None),
        ("WEB-42 and more", None),
        ("WEB", None),
        ("", None),
    ],
)
def test_reference_is_an_id_a_key_or_a_url(text: str, ticket: str | TicketKey | None) -> None:
    assert parse_ticket_reference(text) == ticket


@pytest.mark.parametrize("text", NOT_KEYS)
def test_key_has_one_spelling_of_its_number(text: str) -> None:
    """A number begins with 1, without zeros in front."""
    for each in (text, text.lower(), f"https://tickets.example/tickets/{text}"):
        assert parse_ticket_reference(each) is None
    assert find_ticket_in_branch(f"fix/{text}") is None
    assert find_tickets_in_text(f"Fix {text} and WEB-7") == ["WEB-7"]


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


def test_address_of_a_ticket_is_foreign_unless_it_is_below_the_public_url() -> None:
    public = "https://Tickets.example.org/team"
    for text in ("WEB-1", "t-4k7m2q9x", "cart", "HTTPS://tickets.example.org:443/team/tickets/web-1?tab=2"):
        assert not is_foreign_address(text, public), text
    for text in (
        "https://other.example/team/tickets/WEB-1",
        "https://tickets.example.org/tickets/WEB-1",
        "https://tickets.example.org:8443/team/tickets/WEB-1",
        "https://tickets.example.org:x/team/tickets/WEB-1",
        "https://ann@evil.example/team/tickets/t-4k7m2q9x",
    ):
        assert is_foreign_address(text, public), text
    assert not is_foreign_address("http://127.0.0.1:8420/tickets/WEB-1", "http://localhost:8420")

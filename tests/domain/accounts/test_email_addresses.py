"""Email addresses that look alike are the same, or refused."""

import msgspec
import pytest

from ticketbox.domain.accounts.email_addresses import fold_address
from ticketbox.operations.companies.invitations import CreateInvitation
from ticketbox.operations.reports.preparation import CreateReport


def test_only_ascii_letters_are_folded() -> None:
    assert fold_address(" Ann@Example.ORG ") == "ann@example.org"
    assert fold_address("\u212aim@example.org") == "\u212aim@example.org"  # the sign of Kelvin


@pytest.mark.parametrize(
    "address",
    ["ann@example.org\u200b", "\u212aim@example.org", "\u0430nn@example.org", "a@x.example, b@x.example", "a@x,b@x"],
)
def test_address_with_invisible_or_other_letters_is_refused(address: str) -> None:
    for shape, more in ((CreateInvitation, {"company_id": "co_1"}), (CreateReport, {"key": "pub_1", "title": "x"})):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({**more, "email": address}, shape)


def test_report_has_no_name_that_reorders_text() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"key": "pub_1", "title": "x", "name": "\u202ennA"}, CreateReport)
    assert msgspec.convert({"key": "pub_1", "title": "x"}, CreateReport).email == ""

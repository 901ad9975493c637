"""What the operator sets about an identity provider, and what its tokens say about a person."""

from typing import Any

import jwt
import pytest

from ticketbox.domain.accounts.id_tokens import InvalidIdToken, TokenExpectation, UnknownKey, verify_id_token
from ticketbox.domain.accounts.identity_provider import (
    GroupRole,
    ProviderSettings,
    parse_email_domain,
    parse_group_role,
    parse_issuer,
    read_identity,
)
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.problems import InvalidField

ISSUER = "https://login.example.org"
SETTINGS = ProviderSettings(issuer=ISSUER, client_id="ticketbox", client_secret="hush", name="Example")


def test_group_can_contain_what_separates_company_and_role() -> None:
    parsed = parse_group_role("cn=staff,dc=acme:eu=co_1:admin")
    assert parsed == GroupRole("cn=staff,dc=acme:eu", "co_1", Role.ADMIN)


@pytest.mark.parametrize("text", ["", "staff", "staff=co_1", "=co_1:member", "staff=:member", "staff=co_1:root"])
def test_incomplete_role_of_a_group_is_refused(text: str) -> None:
    with pytest.raises(InvalidField):
        parse_group_role(text)


@pytest.mark.parametrize("text", ["", "example", "a b.org", "example.org/x", "*.example.org"])
def test_text_that_is_no_domain_is_refused(text: str) -> None:
    with pytest.raises(InvalidField):
        parse_email_domain(text)


@pytest.mark.parametrize(
    "text", ["login.example.org", "ftp://x", "https://", "https://x?y", "https://u@x", "https://["]
)
def test_text_that_is_no_issuer_is_refused(text: str) -> None:
    with pytest.raises(InvalidField):
        parse_issuer(text)


def test_secret_is_in_no_traceback() -> None:
    assert "hush" not in repr(SETTINGS)


def test_highest_role_of_several_groups_counts_in_each_company() -> None:
    roles = tuple(map(parse_group_role, ["a=co_1:member", "b=co_1:admin", "c=co_1:viewer", "a=co_2:viewer"]))
    settings = ProviderSettings(issuer=ISSUER, client_id="x", name="x", roles=roles)
    assert settings.find_roles(frozenset({"a", "b", "c"})) == {"co_1": Role.ADMIN, "co_2": Role.VIEWER}
    assert settings.find_roles(frozenset({"c", "A"})) == {"co_1": Role.VIEWER, "co_2": None}


@pytest.mark.parametrize(
    ("sent", "is_verified"),
    [(True, True), ("true", True), (False, False), (None, False), (1, False), ("yes", False), ([True], False)],
)
def test_address_is_verified_only_if_the_provider_says_so(sent: Any, is_verified: bool) -> None:
    claims = {"sub": "1", "email": "Ann@Example.org", "email_verified": sent}
    identity = read_identity(claims, SETTINGS)
    assert (identity.email, identity.is_verified) == ("ann@example.org", is_verified)


@pytest.mark.parametrize("email", [None, 1, "", "ann", "a b@example.org", f"{'a' * 250}@example.org"])
def test_text_that_is_no_address_is_neither_used_nor_verified(email: Any) -> None:
    identity = read_identity({"sub": "1", "email": email, "email_verified": True}, SETTINGS)
    assert (identity.email, identity.is_verified, identity.name != "") == ("", False, True)


def test_unsigned_token_and_unknown_key_are_refused() -> None:
    expected = TokenExpectation(ISSUER, "ticketbox", "n")
    for token in ("", "x.y.z", jwt.encode({"sub": "1"}, "", algorithm="none"), jwt.encode({}, "k" * 32, "HS256")):
        with pytest.raises(InvalidIdToken) as refused:
            verify_id_token(token, [], expected)
        assert not isinstance(refused.value, UnknownKey)  # so that no keys are fetched for it

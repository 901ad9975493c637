"""Which identities of reporters are accepted (docs/use/reports.md#signed-identity)."""

import base64
import json
from typing import Any

import jwt
import pytest

from ticketbox.domain.core.problems import InvalidField
from ticketbox.domain.reports.identity import MAX_SECONDS, verify_identity

NOW = 1_800_000_000
SECRET, OLD = "s" * 42, "o" * 42
NESTED = b'{"sub":"4711","exp":0,"more":' + b"[" * 1500 + b"]" * 1500 + b"}"
ANN: dict[str, Any] = {"sub": "4711", "exp": NOW + 60, "name": "Ann", "email": "ann@example.org"}


def sign(claims: Any, secret: str = SECRET) -> str:
    """Sign claims, or any text, which a library refuses to sign."""
    text = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return jwt.PyJWS().encode(text, secret, algorithm="HS256")


def verify(token: str) -> str:
    """Verify an identity at that time; return the person's id."""
    return verify_identity(token, (SECRET, OLD), NOW * 1000).sub


@pytest.mark.parametrize("claims", [
    {}, {"exp": NOW - 59}, {"exp": NOW + 0.5}, {"exp": NOW + MAX_SECONDS}, {"nbf": NOW + 59}, {"iss": "shop"},
    {"name": "Zo\u00eb"},
])  # fmt: skip
def test_signed_claims_are_accepted(claims: dict[str, Any]) -> None:
    assert verify(sign({**ANN, **claims})) == "4711"


def test_both_secrets_are_accepted_and_no_other() -> None:
    assert verify(sign(ANN, OLD)) == "4711"
    for secrets in ((), (SECRET,)):
        with pytest.raises(InvalidField):
            verify_identity(sign(ANN, OLD), secrets, NOW * 1000)


def test_unsigned_and_changed_tokens_are_refused() -> None:
    head, claims, signature = sign(ANN).split(".")
    other = base64.urlsafe_b64encode(json.dumps({**ANN, "sub": "1"}).encode()).decode().rstrip("=")
    refused = [
        f"{head}.{other}.{signature}", f"{head}.{claims}.", f"{head}.{claims}", f"{claims}.{head}.{signature}",
        jwt.encode(ANN, "", algorithm="none"), jwt.encode(ANN, SECRET * 2, algorithm="HS512"),
        jwt.encode(ANN, SECRET, headers={"crit": ["x"]}), "x", "..", "", "4711", "\N{SNOWMAN}", "\x00",
    ]  # fmt: skip
    for token in refused:
        with pytest.raises(InvalidField, match="signed with HS256"):
            verify(token)


@pytest.mark.parametrize(("claims", "words"), [
    ({"exp": NOW - 60}, "has expired"), ({"exp": NOW + MAX_SECONDS + 61}, "at most 24 hours"),
    ({"exp": 1e300}, "at most 24 hours"), ({"nbf": NOW + 61}, "isn't valid yet"),
    *[(each, "claims") for each in (
        {"sub": ""}, {"sub": 4711}, {"sub": "x" * 256}, {"sub": "a\nb"}, {"exp": "soon"}, {"exp": None},
        {"name": ["Ann"]}, {"name": "a\x00b"}, {"email": "x" * 255},
    )],
])  # fmt: skip
def test_wrong_claims_are_refused(claims: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidField, match=words):
        verify(sign({**ANN, **claims}))


@pytest.mark.parametrize(
    "text", [b"[]", b"null", b"{", b'{"sub":"4711"}', b"\xff", b"[" * 2000, NESTED, b'{"sub":"\xed\xa0\x80"}']
)
def test_what_is_signed_may_be_anything(text: bytes) -> None:
    with pytest.raises(InvalidField, match="claims"):
        verify(sign(text))

"""No planted secret survives redaction, wherever and however deep it stands."""

import json
import string
from typing import Any
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.streams import encode_stream
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    ErrorKind,
    Frame,
    Level,
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
)
from ticketbox.domain.captures.redaction.redactor import Redactor, redact_text

ALPHANUMERIC = string.ascii_letters + string.digits
KEYS = st.sampled_from(sorted(str.split(
    """password Password user_password newPassword passwd token access_token refreshToken X-Auth-Token secret
    client_secret api_key apiKey API-KEY authorization Authorization session sessionId cvv cardNumber ssn
    credentials private_key csrf_token otp"""
)))  # fmt: skip
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
PROSE = st.text(string.ascii_letters + string.digits + " .,:;!?()[]{}<>/\\'\"=&%-_#@\n", max_size=30)


def opaque(length: int) -> st.SearchStrategy[str]:
    """Random characters with digits among them, that nothing else in a document looks like."""
    return st.text(ALPHANUMERIC, min_size=length, max_size=length).map(lambda text: f"Q7{text}9Z")


@st.composite
def tokens(draw: st.DrawFn) -> tuple[str, str]:
    """A token with a known shape, and the part of it that must not survive."""
    body = draw(opaque(36))
    jwt = f"eyJhbGciOiJIUzI1NiJ9.eyJ{body}.{draw(opaque(20))}"
    shapes = [
        f"ghp_{body}", f"gho_{body}", f"github_pat_{body}", f"glpat-{body}", f"xoxb-{body}", f"AIza{body}",
        f"sk_live_{body}", f"rk_live_{body}", f"npm_{body}", f"Bearer {body}", f"bearer {body}", jwt,
    ]  # fmt: skip
    shape = draw(st.sampled_from(shapes))
    return shape, body


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    """JSON with a secret under a secret key, at any depth, among other things."""
    secret = draw(opaque(12))
    value: Any = draw(st.sampled_from([secret, [secret], {"value": secret}, {"a": ["}", '"', secret]}, "\\" + secret]))
    node: Any = {draw(KEYS): value}
    for _ in range(draw(st.integers(0, 4))):
        around = draw(st.dictionaries(PLAIN, PLAIN | st.integers() | st.none(), max_size=2))
        match draw(st.integers(0, 3)):
            case 0:
                node = [*around.values(), node]
            case 1:
                node = {**around, "data": node, "z": 1}
            case 2:
                node = {"data": node, **around}
            case _:
                node = {"text": json.dumps(node), "z": 1}
    return node, secret


def plant_secret(text: str) -> list[tuple[str, Any, list[Any]]]:
    part = {"headers": {"referer": text, "x-other": text, "cookie": text}, "body": text}
    return [
        ("console", Redactor(), [ConsoleEntry(seq=1, ts=1, level=Level.LOG, args=["a", text], stack=text)]),
        ("network", Redactor(), [
            NetworkEntry(
                id="r", ts=1, method="GET", url=text, status=200, type="fetch", duration_ms=1, error=text,
                request=NetworkRequest(**part), response=NetworkResponse(**part),
            )
        ]),
        ("errors", Redactor(), [
            ErrorEntry(
                seq=1, ts=1, kind=ErrorKind.ERROR, message=text, stack=text, source=text,
                frames=[Frame(url=text, function=text)],
            )
        ]),
    ]  # fmt: skip


def assert_gone(text: str, secret: str) -> None:
    for stream, redactor, entries in plant_secret(text):
        assert secret.encode() in encode_stream(entries)
        getattr(redactor, f"redact_{stream}")(entries)
        assert secret.encode() not in encode_stream(entries)
        assert redactor.counts.total > 0


@given(tokens(), PROSE, PROSE)
@settings(max_examples=100, deadline=None)
def test_token_in_any_text(token: tuple[str, str], before: str, after: str):
    shape, secret = token
    text = f"{before} {shape} {after}"
    assert secret in text
    assert_gone(text, secret)


@given(documents(), st.booleans(), st.integers(0, 40))
@settings(max_examples=120, deadline=None)
def test_secret_key_in_json(document: tuple[Any, str], ascii_only: bool, missing: int):
    node, secret = document
    text = json.dumps(node, ensure_ascii=ascii_only)
    assert_gone(text, secret)
    cut = text[: max(len(text) - missing, text.find(secret) + len(secret))]
    assert_gone(cut, secret)


@given(KEYS, opaque(12), st.lists(st.tuples(PLAIN, PLAIN), max_size=3), st.integers(0, 3), st.booleans())
@settings(max_examples=100, deadline=None)
def test_secret_parameter(key: str, secret: str, others: list[tuple[str, str]], place: int, nested: bool):
    pairs = [(quote(name, safe=""), quote(value, safe="")) for name, value in others]
    pairs.insert(place, (key, secret))
    query = "&".join(f"{name}={value}" for name, value in pairs)
    assert_gone(query, secret)
    address = f"https://shop.example/a?{query}#top"
    assert_gone(f"fetch failed: {address}", secret)
    if nested:
        assert_gone(f"https://h/login?next={quote(address, safe='')}&b=1", secret)


@given(opaque(12), st.sampled_from(["https", "wss", "postgres", "redis"]), PROSE)
@settings(max_examples=100, deadline=None)
def test_credentials_in_a_url(secret: str, scheme: str, before: str):
    assert_gone(f"{before} {scheme}://ann:{secret}@db.example/x", secret)


@given(PROSE, PROSE)
@settings(max_examples=100, deadline=None)
def test_own_secret_in_any_text(before: str, after: str):
    secret = generate_secret()
    assert_gone(f"{before}{secret} {after}", secret[4:])


@given(st.lists(PROSE | PLAIN | KEYS | st.sampled_from(["=", ":", '"', '{"', "}", "[redacted]", "\\", "%22"])))
@settings(max_examples=200, deadline=None)
def test_redaction_is_idempotent(parts: list[str]):
    once, _ = redact_text("".join(parts))
    assert redact_text(once) == (once, 0)

"""Codes of authenticator apps, with the vectors of the RFC."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from ticketbox.domain.accounts import totp

RFC_SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (20000000000, "353130")],
)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    """The last six of the eight digits in RFC 6238, appendix B."""
    assert totp.compute_code(RFC_SECRET, seconds // 30) == code
    assert totp.find_step(RFC_SECRET, code, seconds * 1000, 0) == seconds // 30


@pytest.mark.parametrize(("steps", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_clock_may_be_wrong_by_one_step(steps: int, accepted: bool) -> None:
    now = 1_000_000 * totp.STEP_MS
    code = totp.compute_code(RFC_SECRET, 1_000_000 + steps)
    assert (totp.find_step(RFC_SECRET, code, now, 0) == 1_000_000 + steps) is accepted


def test_code_of_the_last_step_or_an_earlier_one_is_refused() -> None:
    code = totp.compute_code(RFC_SECRET, 1_000_000)
    assert totp.find_step(RFC_SECRET, code, 1_000_000 * totp.STEP_MS, 999_999) == 1_000_000
    assert totp.find_step(RFC_SECRET, code, 1_000_000 * totp.STEP_MS, 1_000_000) is None
    assert totp.find_step(RFC_SECRET, code, 1_000_000 * totp.STEP_MS, 1_000_001) is None


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "\u0083\U0001f600ä"])
def test_text_that_is_no_code_is_refused(code: str) -> None:
    assert totp.find_step(RFC_SECRET, code, 1_000_000 * totp.STEP_MS, 0) is None


def test_address_for_apps_names_server_and_account() -> None:
    uri = urlsplit(totp.build_totp_uri(RFC_SECRET, "ann+x@example.org", "ticketbox (tickets.example.org)"))
    assert (uri.scheme, uri.netloc) == ("otpauth", "totp")
    assert uri.path == "/ticketbox%20%28tickets.example.org%29:ann%2Bx@example.org"
    assert parse_qs(uri.query) == {
        "secret": ["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"],
        "issuer": ["ticketbox (tickets.example.org)"],
    }


def test_recovery_codes_have_eighty_bits_and_are_read_in_any_form() -> None:
    codes = totp.generate_recovery_codes()
    assert len(set(codes)) == totp.RECOVERY_CODES
    assert all(re.fullmatch(r"([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}", code) for code in codes)
    assert totp.normalize_code(f" {codes[0].upper().replace('-', ' ')} ") == codes[0].replace("-", "")
    assert not any(totp.is_totp_code(totp.normalize_code(code)) for code in codes)
    assert totp.is_totp_code(totp.normalize_code("287 082"))

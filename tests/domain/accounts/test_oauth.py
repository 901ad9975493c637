"""The rules of OAuth that need no server (RFC 6749, 7636, 8252)."""

import pytest

from ticketbox.domain.accounts.oauth import (
    add_response_parameters,
    build_form_source,
    find_redirect_problem,
    format_host,
    is_metadata_address,
    is_on_this_machine,
    matches_challenge,
    matches_redirect,
    sanitize_name,
)


def test_pkce_example_of_rfc_7636() -> None:
    """The example of its appendix B."""
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    assert matches_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge)
    assert not matches_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl", challenge)
    assert not matches_challenge(challenge, challenge)


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example/callback",
        "https://app.example:8443/cb?a=1",
        "http://localhost/",
        "http://127.0.0.1:7777/cb",
        "http://127.9.9.9/cb",
        "http://[::1]:1/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://publisher.extension",
        "com.example.app:/callback",
        "https://abcdefghijklmnop.chromiumapp.org/",
    ],
)
def test_allowed_redirect_uris(address: str) -> None:
    assert find_redirect_problem(address) is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "callback",
        *(f"{scheme}:x" for scheme in ("smb", "ms-word", "ms-settings", "itms-services", "jnlp", "chrome-search")),
        "/callback",
        "//app.example/",
        "https://",
        "https:///callback",
        "http://app.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://10.0.0.1/cb",
        "http://0.0.0.0/cb",
        "http://2130706433/cb",
        "https://user@app.example/cb",
        "https://app.example/cb#fragment",
        "https://app.example/cb#",
        "https://app.example:port/cb",
        "https://app.example:99999/cb",
        "https://app.example;form-action/cb",
        "https://app.example,x/cb",
        "https://app example/cb",
        "https://app.example/\r\nSet-Cookie: a=b",
        "https://app.example\\@evil.example/",
        "https://äpp.example/",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "blob:https://app.example/1",
        "view-source:https://app.example/",
        "https://app.example/" + "x" * 2_000,
    ],
)
def test_rejected_redirect_uris(address: str) -> None:
    assert find_redirect_problem(address) is not None


def test_only_a_loopback_port_may_differ() -> None:
    known = "http://127.0.0.1:33418/cb?a=1"
    for asked in ("http://127.0.0.1/cb?a=1", "http://127.0.0.1:1/cb?a=1", known):
        assert matches_redirect(known, asked)
    for asked in (
        "http://127.0.0.1:1/cb",
        "http://127.0.0.1:1/cb?a=2",
        "http://127.0.0.1:1/CB?a=1",
        "http://localhost:33418/cb?a=1",
        "http://[::1]:33418/cb?a=1",
        "https://127.0.0.1:33418/cb?a=1",
        "http://127.0.0.1:99999/cb?a=1",
        "http://127.0.0.1:33418@evil.example/cb?a=1",
        "http://127.0.0.1:1/cb?a=1#x",
        "http://127.0.0.1:1\n/cb?a=1",
    ):
        assert not matches_redirect(known, asked)
    assert matches_redirect("http://[::1]:5/cb", "http://[::1]:6/cb")
    assert not matches_redirect("https://app.example:1/cb", "https://app.example:2/cb")


def test_names_become_one_harmless_line() -> None:
    assert sanitize_name("  Claude\u202e\n\u0000\u2028 Code ", "x") == "Claude Code"
    assert sanitize_name("\u200b\u202e", "app.example") == "app.example"
    assert sanitize_name(None, "app.example") == "app.example"
    assert len(sanitize_name("é" * 500, "x")) == 100


def test_redirect_target_in_words_and_in_the_policy() -> None:
    shown = {
        "https://app.example:8443/cb": ("app.example:8443", "https://app.example:8443", False),
        "http://127.0.0.1:7/cb": ("127.0.0.1:7", "http://127.0.0.1:7", True),
        "http://[::1]:7/cb": ("[::1]:7", "http:", True),
        "cursor://x/cb": ("cursor:", "cursor:", True),
    }
    for address, expected in shown.items():
        assert (format_host(address), build_form_source(address), is_on_this_machine(address)) == expected
    assert (
        add_response_parameters("https://a.example/?b=1", code="x y", state=None) == "https://a.example/?b=1&code=x+y"
    )


def test_document_url() -> None:
    assert is_metadata_address("https://app.example/client.json")
    assert is_metadata_address("https://app.example:8443/a/b?c=1")
    for wrong in (
        "http://app.example/client.json",
        "HTTPS://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example/a/../b",
        "https://app.example/./b",
        "https://app.example/a#b",
        "https://user@app.example/a",
        "https:///a",
        "app_12345678",
    ):
        assert not is_metadata_address(wrong), wrong

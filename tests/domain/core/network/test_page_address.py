"""What is stored of the address of a page."""

import pytest

from ticketbox.domain.core.network.page_address import normalize_page_address


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example?q=1", "https://shop.example?q=1"),
        ("https://shop.example/a//b?next=//x\\y#\\", "https://shop.example/a//b?next=//x\\y#\\"),
        ("HTTP://[::1]:8080/cart", "http://[::1]:8080/cart"),
        ("https://shop.example//evil.example/own", "https://shop.example/evil.example/own"),
        ("https://shop.example/\\evil.example/own", "https://shop.example/evil.example/own"),
        ("https://shop.example\\\\evil.example\\own", "https://shop.example/evil.example/own"),
        ("https://shop.example/\t/evil.example", "https://shop.example/evil.example"),
        ("https://user:password@shop.example/cart", "https://shop.example/cart"),
        ("https://user@evil@shop.example/@me", "https://shop.example/@me"),
        ("https:shop.example/cart", "https://shop.example/cart"),
        ("https:\\/shop.example", "https://shop.example"),
        ("file:///home/ann/index.html", "file:///home/ann/index.html"),
        ("file:////evil/share\\x", "file:///evil/share/x"),
        ("file://server/share", "file://server/share"),
    ],
)
def test_address_has_no_login_and_its_path_names_no_host(sent: str, stored: str) -> None:
    assert normalize_page_address(sent) == stored
    assert normalize_page_address(stored) == stored


@pytest.mark.parametrize(
    "sent",
    ["", "shop.example", "//shop.example", "javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x",
     "vbscript:x", "about:blank", "chrome://version", "blob:https://shop.example/1", "https://", "https:///?x",
     "https://user@", "https://shop.example:port/", "https://[bad/", "https://a b/", "ftp://x/"],
)  # fmt: skip
def test_text_without_a_page_is_no_address(sent: str) -> None:
    assert normalize_page_address(sent) is None


def test_long_text_takes_linear_time() -> None:
    for text in (
        "https://" + "@" * 65_000,
        "https:" + "/" * 65_000,
        "https://x" + "\\" * 65_000,
        "file:" + "@" * 65_000,
    ):
        normalize_page_address(text)

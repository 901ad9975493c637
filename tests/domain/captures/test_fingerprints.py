"""Fingerprints: alike in what matters, whatever figures, ids and builds say."""

import time

import msgspec
import pytest

from ticketbox.domain.captures.capture import ErrorEntry, ErrorKind, Frame
from ticketbox.domain.captures.fingerprints import (
    MAX_ERRORS,
    find_main_error,
    fingerprint_errors,
    fingerprint_message,
    fingerprint_page,
)
from ticketbox.domain.tickets.records import FrequentError, Similarity


def error(message: str, *frames: tuple[str, str], name: str = "TypeError", source: str | None = None) -> ErrorEntry:
    taken = [Frame(url=url, function=function, line=number, column=1) for number, (url, function) in enumerate(frames)]
    return ErrorEntry(seq=1, ts=1, kind=ErrorKind.ERROR, message=message, name=name, frames=taken, source=source)


def values(entry: ErrorEntry) -> dict[Similarity, int]:
    return {each.similarity: each.value for each in fingerprint_errors([entry])}


def test_location_is_function_and_file_without_line_host_and_build() -> None:
    one = values(error("x", ("https://shop.example/assets/app-6f1c2d.js?v=1", "load")))
    two = values(error("x", ("http://localhost:5173/static/app-91be07.js", "other"), ("https://a/b.js", "load")))
    same = values(error("x", ("https://staging.example/app-0aa1b7.js", "load")))
    assert one[Similarity.ERROR] == same[Similarity.ERROR]
    assert one[Similarity.ERROR] != two[Similarity.ERROR]
    assert one[Similarity.MESSAGE] == two[Similarity.MESSAGE]


def test_source_is_the_location_without_frames() -> None:
    one = values(error("x", source="https://shop.example/app-6f1c2d.js:10:4"))
    assert one == values(error("x", source="https://shop.example/app-91be07.js:99:1"))
    assert set(one) == {Similarity.ERROR, Similarity.MESSAGE}
    assert set(values(error("x"))) == {Similarity.MESSAGE}


def test_main_error_is_named_by_what_tells_it_apart() -> None:
    assert find_main_error([]) is None
    assert find_main_error([error("x is undefined"), error("no", name="Error")]) == FrequentError("TypeError", 1)
    gone = error("Cart is gone\nafter a minute", name="Error")
    assert find_main_error([gone, error("x"), gone]) == FrequentError("Cart is gone", 2)
    missing = msgspec.structs.replace(error("an image is missing", name=""), kind=ErrorKind.RESOURCE, count=9)
    assert find_main_error([missing, error("x")]) == FrequentError("TypeError", 1)
    assert find_main_error([missing]) == FrequentError("an image is missing", 9)
    assert find_main_error([error("word " * 30, name="")]) == FrequentError("word " * 11 + "word…", 1)
    assert find_main_error([error("", name="Error"), error("", name="")]) == FrequentError("Error", 2)


def test_name_counts_once_and_empty_message_not_at_all() -> None:
    assert values(error("x is undefined")) == values(error("TypeError: x is undefined"))
    assert fingerprint_errors([error("", name="")]) == []


def test_number_of_fingerprints_is_bounded() -> None:
    many = [error("word" * number) for number in range(1, 200)]
    assert len(fingerprint_errors(many)) <= 2 * MAX_ERRORS


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://shop.example/orders/1729?tab=2#top", "shop.example/orders/*"),
        ("https://user@Shop.Example:8443/orders/1729/", "shop.example:8443/orders/*"),
        ("https://shop.example/", "shop.example"),
        ("https://shop.example/u/5f0c1e3a-77c4-4a51-9a58-0f1f3f4f7c11/edit", "shop.example/u/*/edit"),
        ("https://shop.example/c/9f8a7b6c5d", "shop.example/c/*"),
        ("https://tickets.example/tickets/t-4k7m2q9x", "tickets.example/tickets/*"),
        ("https://app.example/#/orders/17?x=1", "app.example/#/orders/*"),
        ("https://shop.example/checkout-button", "shop.example/checkout-button"),
    ],
)
def test_page_fingerprint_is_host_and_path_without_ids(url: str, label: str) -> None:
    fingerprint = fingerprint_page(url)
    assert fingerprint is not None
    assert fingerprint.label == label


@pytest.mark.parametrize("url", ["about:blank", "data:text/html,x", "https://[bad", "", "nothing"])
def test_invalid_page_has_no_fingerprint(url: str) -> None:
    assert fingerprint_page(url) is None


@pytest.mark.parametrize(
    ("text", "alike", "label"),
    [
        ("a1-" * 100_000, "5f0c1e3a77c44a51-", "x/*"),
        ("0x" * 100_000, "5f0c1e3a77c44a51", "x/*"),
        ("http://" * 50_000, "https://shop.example/cart", "x/" + "http://" * 29),
        ("-" * 200_000, "-" * 300, "x/" + "-" * 198),
        ("1," * 100_000, "7,", "x/" + "1," * 99),
        ("aA1_" * 60_000, "5f0c1e3a77c44a51", "x/*"),
    ],
)
def test_hostile_text_has_the_fingerprint_of_a_short_one_and_a_short_label(text: str, alike: str, label: str) -> None:
    """It is read up to a bound, within which the patterns take linear time."""
    start = time.process_time()
    message, page = fingerprint_message(text), fingerprint_page(f"https://x/{text}")
    of_error = fingerprint_errors([error(text, (text, text))])
    assert time.process_time() - start < 0.5
    expected = fingerprint_message(alike)
    assert message is not None
    assert expected is not None
    assert (message.value, message.label) == (expected.value, text[:200])
    assert page is not None
    assert page.label == label[:200]
    assert {each.similarity: each.label for each in of_error} == dict.fromkeys(
        (Similarity.ERROR, Similarity.MESSAGE), f"TypeError: {text}"[:200]
    )

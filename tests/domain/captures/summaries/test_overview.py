"""The overview of a capture: errors in groups, failed requests, and their lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from ticketbox.domain.captures.capture import ErrorEntry, ErrorKind, Frame, NetworkEntry
from ticketbox.domain.captures.error_text import format_error
from ticketbox.domain.captures.fields import Redirect
from ticketbox.domain.captures.summaries.lines import format_line
from ticketbox.domain.captures.summaries.overview import group_errors, group_failed_requests, shorten_url

URL = "https://h.example/api/cart"
PLACE = "(/assets/app-5f0c1e3a.js:14:4 in render)"
ERROR_TEXTS = json.loads(Path(__file__).parents[1].joinpath("error_texts.json").read_text("utf-8"))


def fault(seq: int, message: str, **given: Any) -> ErrorEntry:
    frames = [Frame(url="https://h.example/assets/app-5f0c1e3a.js?v=2", function="render", line=seq, column=4)]
    return ErrorEntry(seq=seq, ts=seq, kind=ErrorKind.ERROR, message=message, name="TypeError", frames=frames, **given)


def request(
    number: int, url: str = "https://h.example/api/cart", status: int | None = 500, **given: Any
) -> NetworkEntry:
    return NetworkEntry(
        id=f"r{number}", ts=number, method="GET", url=url, status=status, type="fetch", duration_ms=31.4, **given
    )


def test_errors_that_differ_only_in_numbers_are_one_group_with_their_count() -> None:
    first, second = group_errors([fault(1, "Item 17 gone", count=3), fault(2, "x is null"), fault(3, "Item 4 gone")])
    assert (first.entry, first.count, first.first_ts, first.last_ts) == (1, 4, 1, 3)
    assert (second.entry, second.count) == (2, 1)


def test_fingerprint_of_the_browser_decides_about_a_group() -> None:
    same = group_errors([fault(1, "a", fingerprint="f"), fault(2, "b", fingerprint="f")])
    assert [group.count for group in same] == [2]
    assert len(group_errors([fault(1, "a", fingerprint="f"), fault(2, "a", fingerprint="g")])) == 2


def test_failed_requests_with_one_address_and_outcome_are_one_group() -> None:
    entries = [request(1, "https://h.example/a?x=1"), request(2, status=200), request(3, "https://h.example/a?x=2"),
               request(4, "https://h.example/a", status=404)]  # fmt: skip
    assert [(group.id, group.count, group.status) for group in group_failed_requests(entries)] == [
        ("r1", 2, 500),
        ("r4", 1, 404),
    ]


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (fault(14, "cart\nis null", count=3), f"14 14 TypeError: cart is null {PLACE} ×3"),
        (request(7), "r7 7 GET 500 https://h.example/api/cart 31 ms fetch"),
        (
            request(7, document=2, redirects=[Redirect(302, "https://h.example/sign-in")]),
            f"r7 7 GET 500 {URL} → https://h.example/sign-in 31 ms fetch [2]",
        ),
        (fault(1, "x", document=1), "1 1 TypeError: x (/assets/app-5f0c1e3a.js:1:4 in render) [1]"),
        (request(8, status=None, error="net::ERR_FAILED"), f"r8 8 GET net::ERR_FAILED {URL} 31 ms fetch"),
        (group_failed_requests([request(7), request(9)])[0], "r7 GET 500 https://h.example/api/cart 31 ms ×2"),
        (group_errors([fault(14, "x")])[0], f"14 TypeError: x {PLACE}"),
    ],
)
def test_line_has_what_the_next_call_needs(entry: Any, line: str) -> None:
    assert format_line(entry) == line


def test_long_address_loses_its_query_first() -> None:
    assert shorten_url("https://h/path?" + "q" * 300) == "https://h/path?" + "q" * 144 + "…"
    assert shorten_url("https://h/" + "p" * 300 + "?q") == "https://h/" + "p" * 149 + "…"


@pytest.mark.parametrize(("name", "message", "text"), ERROR_TEXTS)
def test_error_is_its_class_and_message_as_in_the_web_app(name: str, message: str, text: str) -> None:
    assert format_error(ErrorEntry(seq=1, ts=1, kind=ErrorKind.ERROR, message=message, name=name)) == text

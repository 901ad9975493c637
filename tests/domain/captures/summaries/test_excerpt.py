"""The cut of a capture for a small context."""

import copy
from typing import Any

import msgspec
import pytest

from tests.support.streams import decode_stream, encode_stream
from ticketbox.domain.captures.actions import ActionEntry, ActionKind, ActionTarget
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    ErrorKind,
    Frame,
    Level,
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    Stream,
)
from ticketbox.domain.captures.fields import LINE
from ticketbox.domain.captures.streams import is_failure
from ticketbox.domain.captures.summaries.excerpt import CaptureExcerpt, build_excerpt, write_entry
from ticketbox.domain.core.access.tokens import estimate_tokens

HEADERS = {f"x-header-{n}": "value" * 4 for n in range(20)}


def lines(count: int, text: str = "rendered the list of items") -> list[ConsoleEntry]:
    return [
        ConsoleEntry(seq=n, ts=n * 10, level=Level.LOG, args=[f"{n} {text}"], stack="at f (a.js:1)\n" * 3)
        for n in range(count)
    ]


def requests(count: int, failed: frozenset[int] = frozenset(), body: str = "ok") -> list[NetworkEntry]:
    return [
        NetworkEntry(
            id=f"r{n}", ts=n * 10, method="GET", url=f"https://h/api/{n}", status=500 if n in failed else 200,
            type="fetch", duration_ms=5, request=NetworkRequest(headers=dict(HEADERS)),
            response=NetworkResponse(headers=dict(HEADERS), body=body, bytes=len(body), mime="text/plain"),
        )
        for n in range(count)
    ]  # fmt: skip


def faults(count: int, at: int = 0, message: str = "x is undefined") -> list[ErrorEntry]:
    frames = [Frame(url="https://h/app.js", function="f", line=n, column=1) for n in range(30)]
    return [
        ErrorEntry(seq=n, ts=at + n, kind=ErrorKind.ERROR, message=message, stack="at f (a.js)\n" * 30, frames=frames)
        for n in range(count)
    ]


def clicks(count: int) -> list[ActionEntry]:
    """Clicks, and as many scrolls between them."""
    target = ActionTarget(role="button", name="Add another item to the order")
    return [
        ActionEntry(seq=n, ts=n * 10, kind=ActionKind.SCROLL if n % 2 else ActionKind.CLICK, target=target)
        for n in range(count)
    ]


def measure(chosen: CaptureExcerpt) -> int:
    """The tokens of an excerpt, as tools write it."""
    parts = (
        chosen.error_groups, chosen.failed_requests, chosen.errors, chosen.network, chosen.console, chosen.actions,
    )  # fmt: skip
    return sum(estimate_tokens(write_entry(entry)) for part in parts for entry in part.items)


def cut(*streams: Any, budget: int = 6_000) -> CaptureExcerpt:
    chosen = build_excerpt(*streams, capture_id="cap_1", budget_tokens=budget)
    assert measure(chosen) <= budget
    for stream in Stream:
        part = getattr(chosen, stream)
        assert part.total == part.omitted + len(part.items)
        if stream is not Stream.ACTIONS:  # its items are steps
            assert decode_stream(stream, encode_stream(part.items)) == part.items
    return chosen


def test_small_capture_is_complete():
    console, network, errors = lines(3), [], faults(1)
    errors[0].frames = []
    chosen = cut(console, network, errors)
    assert (chosen.console.items, chosen.errors.items) == (console, errors)
    assert [part.next for part in (chosen.console, chosen.network, chosen.errors)] == [None] * 3
    assert chosen.console.omitted == chosen.errors.shortened == 0


def test_empty_capture():
    chosen = cut([], [], [])
    assert (chosen.network.items, chosen.network.total, chosen.network.next) == ([], 0, None)


def test_errors_failed_requests_and_lines_around_them_come_first():
    chosen = cut(lines(2_000), requests(500, frozenset({300, 301})), faults(2, at=10_000))
    assert (len(chosen.errors.items), chosen.error_groups.items[0].count) == (1, 2)
    assert [request.id for request in chosen.failed_requests.items] == ["r300", "r301"]
    assert {"r300", "r301"} <= {entry.id for entry in chosen.network.items}
    seqs = [entry.seq for entry in chosen.console.items]
    assert 1_000 in seqs
    assert all(500 <= seq <= 1_500 for seq in seqs)
    assert seqs == sorted(seqs)


def test_steps_before_the_failure_are_kept_with_their_numbers():
    chosen = cut(lines(2_000), requests(500, frozenset(range(100, 200))), faults(40, at=3_000), clicks(1_000))
    assert chosen.actions is not msgspec.UNSET
    assert chosen.actions.next == 'get_actions(capture_id="cap_1")'
    steps = chosen.actions.items
    assert len(steps) > 10
    assert [step.number for step in steps] == sorted(step.number for step in steps)
    assert all(step.kind is ActionKind.CLICK and step.number == step.seq + 1 for step in steps)
    assert min(abs(step.ts - 3_000) for step in steps) == 0


def test_rest_says_how_to_get_it():
    chosen = cut(lines(2_000), requests(500), faults(1))
    assert chosen.console.total == 2_000
    assert chosen.console.omitted == 2_000 - len(chosen.console.items) > 0
    assert chosen.console.next == 'get_console(capture_id="cap_1")'
    assert chosen.network.next == 'get_network(capture_id="cap_1")'


def test_many_errors_leave_room_for_failed_requests_and_lines():
    chosen = cut(lines(500), requests(50, frozenset({7})), faults(3_000))
    assert chosen.errors.items[0].seq == 0
    assert "r7" in {entry.id for entry in chosen.network.items}
    assert chosen.console.items


def test_each_kind_of_failure_gets_its_share():
    chosen = cut(lines(500), requests(500, frozenset(range(500))), faults(500))
    parts = (chosen.failed_requests, chosen.network, chosen.console)
    shares = [sum(estimate_tokens(write_entry(entry)) for entry in part.items) for part in parts]
    assert shares[0] > 6_000 * 0.6
    assert shares[1] > 6_000 * 0.05
    assert shares[2] > 6_000 * 0.05
    assert (chosen.error_groups.total, chosen.error_groups.items[0].count) == (1, 500)
    assert chosen.errors.items[0].seq == 0


def test_newest_lines_are_kept_without_an_error():
    chosen = cut(lines(2_000), [], [])
    assert chosen.console.items[-1].seq == 1_999


def test_console_failures_replace_missing_errors():
    console = lines(2_000)
    console[700].level = Level.ERROR
    assert 700 in {entry.seq for entry in cut(console, requests(100), []).console.items}


def test_long_strings_are_shortened_visibly_and_the_original_is_kept():
    console, network, errors = lines(1, "y" * 100_000), requests(1, frozenset({0}), "z" * 16_000), faults(1)
    errors[0].message = "m" * 100_000
    before = copy.deepcopy((console, network, errors))
    chosen = cut(console, network, errors)
    assert (console, network, errors) == before
    (line,), (request,), (fault,) = chosen.console.items, chosen.network.items, chosen.errors.items
    assert line.truncated
    assert line.args[0].endswith("more characters]")
    assert fault.message.startswith("mmm")
    assert fault.message.endswith("more characters]")
    assert request.response.body is not None
    assert "more characters]" in request.response.body
    assert chosen.console.shortened == chosen.network.shortened == chosen.errors.shortened == 1


def test_marker_counts_what_is_missing():
    (line,) = cut(lines(1, "y" * 99_998), [], []).console.items
    kept, mark = line.args[0].split("… [")
    assert len(kept) + int(mark.split()[0].replace(",", "")) == 100_000


def test_headers_are_kept_only_for_failed_requests():
    chosen = cut([], requests(2, frozenset({1})), [])
    ordinary, failed = chosen.network.items
    assert ordinary.request.headers == ordinary.response.headers == {}
    assert is_failure(failed)
    assert failed.response.headers == HEADERS


@pytest.mark.parametrize("budget", range(12_290, 12_390, 10))
def test_shortened_field_keeps_its_bound(budget: int):
    errors = faults(1)
    errors[0].name = "n" * LINE
    assert "more characters]" in cut([], [], errors, budget=budget).errors.items[0].name


@pytest.mark.parametrize("budget", [0, 50, 200, 1_000, 6_000, 250_000])
def test_every_budget_is_respected(budget: int):
    chosen = build_excerpt(lines(300), requests(100), faults(20), capture_id="c", budget_tokens=budget)
    assert measure(chosen) <= budget
    if budget == 250_000:
        assert chosen.console.omitted == chosen.errors.omitted == 0


def test_same_input_yields_the_same_excerpt():
    streams = lines(900), requests(300, frozenset({5, 60})), faults(40, at=2_000)
    assert cut(*streams) == cut(*copy.deepcopy(streams))

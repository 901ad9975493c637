"""The verdict on what a reproduction observed."""

from typing import Any

import msgspec
import pytest

from ticketbox.domain.captures.fingerprints import fingerprint_message
from ticketbox.domain.captures.reproduction.expectations import Expectations
from ticketbox.domain.captures.reproduction.verdict import (
    Observation,
    explain_rounds,
    judge_round,
    judge_rounds,
    list_console,
    weigh_verdict,
)
from ticketbox.domain.tickets.records import Verdict

BUG = {"name": "TypeError", "message": "Cannot read properties of null (reading 'amount')", "stack": ""}
OTHER = {"name": "ReferenceError", "message": "cart is not defined", "stack": ""}
FAILED = {"method": "GET", "url": "https://api.shop.example/carts/1729?x=1", "status": 500, "error": None}


def expect(
    errors: tuple[dict[str, str], ...] = (), requests: tuple[dict[str, Any], ...] = (), console: tuple[str, ...] = ()
) -> Expectations:
    """What a capture expects."""

    def fingerprint(error: dict[str, str]) -> str:
        found = fingerprint_message(f"{error['name']}: {error['message']}")
        assert found is not None
        return f"{found.value:014x}"

    listed = [
        {"name": each["name"], "message": each["message"], "fingerprint": fingerprint(each), "count": 1}
        for each in errors
    ]
    given = {
        "capture_id": "cap_1", "ticket_id": "t-1", "page": "https://shop.example/cart", "errors": listed,
        "failed_requests": requests, "console_errors": console, "steps": [], "wait_ms": 1_000, "missing": [],
    }  # fmt: skip
    return msgspec.convert(given, Expectations)


def observe(**given: Any) -> Observation:
    """What a run saw."""
    nothing = {
        "reached": True, "stopped_at": None, "errors": [], "failed_requests": [], "console_errors": [],
        "screenshot": None,
    }  # fmt: skip
    return msgspec.convert({**nothing, **given}, Observation)


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ({"errors": [BUG]}, "reproduced"),
        ({"errors": [OTHER, BUG]}, "reproduced"),
        ({"errors": [{**BUG, "message": f"Uncaught TypeError: {BUG['message']}"}]}, "reproduced"),
        ({}, "gone"),
        ({"errors": [OTHER]}, "different_error"),
        ({"reached": False, "stopped_at": 2}, "not_reached"),
        ({"reached": False, "stopped_at": 2, "errors": [OTHER]}, "not_reached"),
        ({"reached": False, "stopped_at": 2, "errors": [BUG]}, "reproduced"),
        ({"failed_requests": [FAILED], "console_errors": ["oh no"]}, "gone"),  # the errors decide
        ({"diverged": True}, "not_reached"),
        ({"diverged": True, "errors": [OTHER]}, "not_reached"),
        ({"diverged": True, "errors": [BUG]}, "reproduced"),
        ({"outdated": True, "errors": [BUG]}, "not_reached"),
        ({"outdated": True, "errors": [OTHER]}, "not_reached"),
        ({"outdated": True}, "gone"),
        ({"recognized": True, "errors": [OTHER]}, "reproduced"),
        ({"recognized": True, "reached": False, "stopped_at": 2}, "reproduced"),
    ],
)
def test_capture_with_errors_is_compared_by_them(seen: dict[str, Any], verdict: str) -> None:
    expected = expect((BUG,), (FAILED,), ("oh no",))
    assert judge_round(expected, observe(**seen)) == verdict


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ({"console_errors": ["Order 12 is lost"]}, "reproduced"),  # numbers differ each time
        ({"console_errors": ["Order is late"]}, "gone"),
        ({"failed_requests": [FAILED]}, "gone"),
        ({"errors": [OTHER]}, "different_error"),
        ({"reached": False, "stopped_at": 1, "console_errors": ["Order 12 is lost"]}, "not_reached"),
        ({"recognized": True, "console_errors": ["Order is late"]}, "reproduced"),
    ],
)
def test_capture_without_errors_is_compared_by_its_console(seen: dict[str, Any], verdict: str) -> None:
    assert judge_round(expect((), (FAILED,), ("Order 7 is lost",)), observe(**seen)) == verdict


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "reproduced"),
        ({"url": "http://localhost:3000/carts/4104"}, "reproduced"),  # host and ids differ
        ({"method": "POST"}, "gone"),
        ({"status": 404}, "gone"),
        ({"url": "http://localhost:3000/orders/4104"}, "gone"),
    ],
)
def test_failed_requests_decide_last(change: dict[str, Any], verdict: str) -> None:
    assert judge_round(expect((), (FAILED,)), observe(failed_requests=[{**FAILED, **change}])) == verdict


def test_failure_that_any_body_gets_decides_nothing() -> None:
    seen = observe(failed_requests=[FAILED], console_errors=["oh no"], uncertain=True)
    assert judge_round(expect((), (FAILED,)), seen) == "not_reached"
    assert judge_round(expect((), (FAILED,), ("oh no",)), seen) == "reproduced"  # the page itself failed, too
    assert judge_round(expect((), (FAILED,)), observe(uncertain=True)) == "gone"


def test_different_rounds_are_flaky() -> None:
    assert judge_rounds([Verdict.GONE] * 3) is Verdict.GONE
    assert judge_rounds([Verdict.GONE, Verdict.REPRODUCED, Verdict.GONE]) is Verdict.FLAKY
    assert judge_rounds([Verdict.GONE, Verdict.NOT_REACHED]) is Verdict.FLAKY


def test_console_of_a_verification_begins_with_the_errors_of_the_page() -> None:
    seen = observe(errors=[BUG, BUG], console_errors=["oh no"])
    assert list_console(seen) == [f"TypeError: {BUG['message']}", "oh no"]


def test_run_whose_test_failed_itself_says_nothing() -> None:
    for seen in ({}, {"errors": [BUG]}, {"errors": [BUG], "recognized": True}, {"reached": False}):
        assert judge_round(expect(errors=(BUG,)), observe(broken=True, reason="no answer", **seen)) == "not_reached"


def test_request_that_the_run_refused_proves_nothing() -> None:
    failed = {**FAILED, "status": None, "error": "net::ERR_FAILED"}
    for error, verdict in (("net::ERR_FAILED", "reproduced"), ("net::ERR_BLOCKED_BY_CLIENT.Inspector", "gone")):
        seen = observe(failed_requests=[{**failed, "error": error}])
        assert judge_round(expect(requests=(failed,)), seen) == verdict


def test_captured_text_that_is_no_address_equals_none() -> None:
    expected = expect(requests=({**FAILED, "url": "https://[bad"},))
    assert judge_round(expected, observe(failed_requests=[FAILED])) == "gone"


def test_bug_that_is_gone_is_unproven_until_a_run_has_seen_it() -> None:
    assert weigh_verdict(Verdict.GONE, is_proven=False) is Verdict.UNPROVEN
    assert weigh_verdict(Verdict.GONE, is_proven=True) is Verdict.GONE
    assert weigh_verdict(Verdict.REPRODUCED, is_proven=False) is Verdict.REPRODUCED


def test_rounds_say_why_they_were_not_reached_or_differed() -> None:
    def explain(verdict: Verdict, *rounds: tuple[Verdict, str | None]) -> str | None:
        seen = [observe(reason=reason) for _, reason in rounds]
        return explain_rounds(verdict, [each for each, _ in rounds], seen)

    stopped = (Verdict.NOT_REACHED, "no button")
    assert explain(Verdict.NOT_REACHED, stopped, stopped) == "no button"
    assert explain(Verdict.GONE, (Verdict.GONE, None)) is None
    assert "no run has reproduced this capture" in (explain(Verdict.UNPROVEN, (Verdict.GONE, None)) or "")
    assert explain(Verdict.FLAKY, (Verdict.GONE, None), stopped) == "round 1 gone, round 2 not reached (no button)"

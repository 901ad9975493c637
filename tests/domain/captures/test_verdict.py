"""The verdict on a reproduction: of a round, as its test judges it, and of all rounds."""

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.extension.node import run_module
from ticketbox.domain.captures.fingerprints import fingerprint_message
from ticketbox.domain.captures.reproduction.verdict import (
    Observation,
    explain_rounds,
    judge_rounds,
    list_console,
    weigh_verdict,
)
from ticketbox.domain.tickets.records import Verdict

FOLDER = Path(__file__).parent
MESSAGES = json.loads(FOLDER.joinpath("browser_messages.json").read_text())
ALIKE = json.loads(FOLDER.joinpath("alike_messages.json").read_text())
BUG, OTHER = "TypeError: Cannot read properties of null (reading 'amount')", "ReferenceError: cart is not defined"
FAILED = {"method": "GET", "url": "https://api.shop.example/carts/1729?x=1", "status": 500, "error": None}
PLACE = {"files": ["https://shop.example/app-6f1c2d.js", "src/cart.ts"], "function": "HTMLButtonElement.pay", "line": 7}
STOPPED: dict[str, Any] = {"obstacle": {"number": 2, "reason": "no button"}}

Json = dict[str, Any]


def read_error(text: str, *frames: Json) -> Json:
    """An error as the recorder writes it."""
    name, _, message = text.partition(": ")
    return {"name": name, "message": message, "frames": frames}


def frame(url: str, function: str | None, line: int = 1) -> Json:
    return {"url": url, "function": function, "line": line}


def expect(*errors: str, **given: Any) -> Json:
    """What a capture has."""
    nothing: Json = {"console_errors": [], "failed_requests": [], "background": [], "place": None, "browser": None}
    return {**nothing, "errors": [read_error(each) for each in errors], **given}


def see(*errors: str | Json, printed: tuple[str, ...] = (), **given: Any) -> Json:
    """What a run saw."""
    nothing: Json = {"failed_requests": [], "diverged": False, "outdated": False, "uncertain": False}
    listed = [each if isinstance(each, dict) else read_error(each) for each in errors]
    texts = [{"text": each, "frames": []} for each in printed]
    return {**nothing, "errors": listed, "printed": texts, **given}


def judge(*cases: tuple[Json, Json]) -> list[Json]:
    """Judge runs."""
    return run_module("domain/captures/judge_failures.mjs", cases)


def check(expected: Json, *cases: tuple[Json, str]) -> None:
    found = [each["verdict"] for each in judge(*((expected, seen) for seen, _ in cases))]
    assert found == [verdict for _, verdict in cases]


def test_capture_with_an_error_is_compared_by_it() -> None:
    check(
        expect(BUG),
        (see(BUG), "reproduced"),
        (see(OTHER, BUG), "reproduced"),
        (see(read_error(f"TypeError: Uncaught {BUG}")), "reproduced"),
        (see(), "gone"),
        (see(OTHER), "different_error"),
        (see(**STOPPED), "not_reached"),
        (see(OTHER, **STOPPED), "not_reached"),
        (see(BUG, **STOPPED), "reproduced"),
        (see(failed_requests=[FAILED], printed=("oh no",)), "gone"),
        (see(diverged=True), "not_reached"),
        (see(OTHER, diverged=True), "not_reached"),
        (see(BUG, diverged=True), "reproduced"),
        (see(BUG, outdated=True), "not_reached"),
        (see(OTHER, outdated=True), "not_reached"),
        (see(outdated=True), "gone"),
        (see("TypeError: Cannot read properties of null (reading 'Sample')", replaced=["Sample"]), "reproduced"),
        (see(BUG, broken={"number": 1, "reason": "the page crashed"}), "not_reached"),
    )


def test_capture_without_errors_is_compared_by_its_console() -> None:
    check(
        expect(console_errors=["Order 7 is lost"]),
        (see(printed=("Order 12 is lost",)), "reproduced"),  # numbers differ each time
        (see(printed=("Order is late",)), "gone"),
        (see(failed_requests=[FAILED]), "gone"),
        (see(OTHER), "different_error"),
        (see(printed=("Order 12 is lost",), **STOPPED), "not_reached"),
    )


def test_failed_requests_decide_last() -> None:
    refused = {**FAILED, "status": None, "error": "net::ERR_BLOCKED_BY_CLIENT.Inspector"}
    check(
        expect(failed_requests=[FAILED]),
        (see(failed_requests=[FAILED]), "reproduced"),
        (see(failed_requests=[{**FAILED, "url": "http://localhost:3000/carts/4104"}]), "reproduced"),
        (see(failed_requests=[{**FAILED, "method": "POST"}]), "gone"),
        (see(failed_requests=[{**FAILED, "status": 404}]), "gone"),
        (see(failed_requests=[{**FAILED, "url": "http://localhost:3000/orders/4104"}]), "gone"),
        (see(failed_requests=[{**FAILED, "url": "https://[bad"}]), "gone"),
        (see(failed_requests=[FAILED], uncertain=True), "not_reached"),
        (see(uncertain=True), "gone"),
    )
    check(expect(failed_requests=[{**FAILED, "status": None}]), (see(failed_requests=[refused]), "gone"))


def test_background_of_the_capture_and_notices_of_the_browser_are_no_other_error() -> None:
    notice = "Error: ResizeObserver loop completed with undelivered notifications."
    check(expect(BUG, background=[OTHER]), (see(OTHER, notice), "gone"), (see("Error: no stock"), "different_error"))


def test_same_message_of_the_browser_in_another_function_is_another_error() -> None:
    here, there = frame("http://localhost/app-91be07.js", "pay"), frame("http://localhost/app-91be07.js", "refund")
    elsewhere, unnamed = frame("http://localhost/cart.ts", "t"), frame("http://localhost/main.js", None)
    check(
        expect(BUG, place=PLACE),
        (see(read_error(BUG, here)), "reproduced"),
        (see(read_error(BUG, there)), "different_error"),
        (see(read_error(BUG, elsewhere)), "reproduced"),
        (see(read_error(BUG, unnamed)), "reproduced"),
    )
    check(expect("Error: no stock", place=PLACE), (see(read_error("Error: no stock", there)), "reproduced"))


def test_every_message_of_firefox_is_recognized_in_the_words_of_chromium() -> None:
    here = frame("http://localhost/cart.ts", "pay")
    cases = [
        (expect(firefox, place=PLACE, browser="Firefox 140"), see(read_error(chromium, here)))
        for chromium, firefox in MESSAGES
    ]
    differing = [pair for pair, each in zip(MESSAGES, judge(*cases), strict=True) if each["verdict"] != "reproduced"]
    assert differing == []


def test_other_mistakes_and_places_stay_different_errors_in_a_capture_of_firefox() -> None:
    there = frame("http://localhost/cart.ts", "refund")

    missing = 'TypeError: can\'t access property "amount", cart.card is null'
    fetch = ("TypeError: NetworkError when attempting to fetch resource.", "TypeError: Failed to fetch")
    json_text = "SyntaxError: JSON.parse: unexpected character at line 1 column 1 of the JSON data"
    cases: list[tuple[str, Json | None, Json, str]] = [
        (missing, None, see(BUG), "reproduced"),
        (missing, None, see(BUG.replace("amount", "total")), "different_error"),
        (missing, None, see(BUG.replace("null", "undefined")), "different_error"),
        (missing, PLACE, see(read_error(BUG, there)), "different_error"),
        ("Error: no stock", None, see("Error: no card"), "different_error"),
        (fetch[0], PLACE, see(read_error(fetch[1], there)), "different_error"),
        (fetch[0], PLACE, see(fetch[1]), "different_error"),  # nothing says where it was
        (json_text, None, see('SyntaxError: "<!doctype "... is not valid JSON'), "reproduced"),
        (json_text, None, see("SyntaxError: Unexpected end of JSON input"), "different_error"),
    ]
    found = judge(
        *((expect(text, place=place, browser="Firefox 140"), seen) for text, place, seen, _ in cases),
    )
    assert [each["verdict"] for each in found] == [verdict for *_, verdict in cases]
    assert "Firefox 140, which words errors in another way" in found[1]["reason"]


def test_printed_error_of_firefox_is_compared_with_what_is_printed_before_it() -> None:
    printed = "Can't pay: TypeError: can't access property \"amount\", card is null\npay@http://localhost/cart.ts:7:1"
    check(
        expect(console_errors=[printed], browser="Firefox 140"),
        (see(printed=(f"Can't pay: {BUG}\n    at pay",)), "reproduced"),
        (see(printed=(f"Can't refund: {BUG}",)), "different_error"),
        (see(printed=("Order is late",)), "gone"),
    )


def test_python_and_the_test_agree_on_which_messages_are_alike() -> None:
    cases = [(expect(f"Error: {one}"), see(f"Error: {two}")) for one, two, _ in ALIKE]
    for (one, two, alike), found in zip(ALIKE, judge(*cases), strict=True):
        first, second = fingerprint_message(one), fingerprint_message(two)
        assert first is not None
        assert second is not None
        assert (first.value == second.value) == alike, (one, two)
        assert (found["verdict"] == "reproduced") == alike, (one, two)


def test_run_that_stopped_also_names_another_error() -> None:
    alone, both = judge((expect(BUG), see(**STOPPED)), (expect(BUG), see(OTHER, **STOPPED)))
    assert (alone["stopped_at"], alone["reason"]) == (2, "no button")
    assert both["reason"] == f"no button; there is another error: {OTHER}"


def observe(verdict: str, reason: str | None = None, **given: Any) -> Observation:
    """What a round saw."""
    nothing = {"stopped_at": None, "errors": [], "console_errors": [], "screenshot": None}
    return msgspec.convert({**nothing, "verdict": verdict, "reason": reason, **given}, Observation)


def test_different_rounds_are_flaky() -> None:
    gone, reproduced, stopped = observe("gone"), observe("reproduced"), observe("not_reached")
    assert judge_rounds([gone] * 3) is Verdict.GONE
    assert judge_rounds([gone, reproduced, gone]) is Verdict.FLAKY
    assert judge_rounds([gone, stopped]) is Verdict.FLAKY


def test_console_of_a_verification_begins_with_the_errors_of_the_page() -> None:
    error = read_error(BUG)
    assert list_console(observe("reproduced", errors=[error, error], console_errors=["oh no"])) == [BUG, "oh no"]


def test_bug_that_is_gone_is_unproven_until_a_run_has_seen_it() -> None:
    assert weigh_verdict(Verdict.GONE, is_proven=False) is Verdict.UNPROVEN
    assert weigh_verdict(Verdict.GONE, is_proven=True) is Verdict.GONE
    assert weigh_verdict(Verdict.REPRODUCED, is_proven=False) is Verdict.REPRODUCED


def test_rounds_say_why_they_were_not_reached_or_differed() -> None:
    gone, stopped = observe("gone"), observe("not_reached", "no button")
    assert explain_rounds(Verdict.NOT_REACHED, [stopped, stopped]) == "no button"
    assert explain_rounds(Verdict.GONE, [gone]) is None
    assert "no run has reproduced this capture" in (explain_rounds(Verdict.UNPROVEN, [gone]) or "")
    assert explain_rounds(Verdict.FLAKY, [gone, stopped]) == "round 1 gone, round 2 not reached (no button)"

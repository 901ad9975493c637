"""The files of a reproduction: the test's steps, what it looks for, and what the capture lacks."""

import io
import json
import zipfile
from typing import Any

import msgspec
import pytest

from ticketbox.domain.captures.actions import ActionEntry, ActionTarget
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    Health,
    HealthReason,
    HealthStatus,
    NetworkEntry,
    Page,
    Redaction,
    StreamHealth,
)
from ticketbox.domain.captures.environment import ColorScheme, Environment, Size, StorageNames, StoredAtStart
from ticketbox.domain.captures.records import Capture, CaptureBug
from ticketbox.domain.captures.reproduction.circumstances import write_circumstances
from ticketbox.domain.captures.reproduction.locators import find_place, quote, write_locator
from ticketbox.domain.captures.reproduction.pack import Recording, build_files, compress_files
from ticketbox.domain.tickets.records import FailureStream, StreamCounts

PAGE = "https://shop.example/cart?id=7"
OK = StreamHealth(HealthStatus.OK)
PAY: dict[str, Any] = {"role": "button", "name": "Pay", "selectors": ['role=button[name="Pay"]', "#pay"]}
CODE: dict[str, Any] = {"role": "textbox", "name": "Code", "selectors": ['[placeholder="Your \\"code\\""]', "input"]}


def build_recording(
    actions: list[dict[str, Any]] | None = None,
    network: list[dict[str, Any]] | None = None,
    errors: list[dict[str, Any]] | None = None,
    console: list[dict[str, Any]] | None = None,
    **changes: Any,
) -> Recording:
    def convert(entries: list[dict[str, Any]] | None, kind: Any) -> Any:
        common = {"ts": 1_000} if kind is NetworkEntry else {"seq": 1, "ts": 1_000}
        return [msgspec.convert({**common, **each}, kind) for each in entries or []]

    capture = Capture(
        id="cap_1b4e7h0k3n6q",
        ticket_id="t-4k7m2q9x",
        captured_at="2026-11-21T09:30:00.000Z",
        page=Page(PAGE),
        environment=Environment(viewport=Size(800, 600)),
        health=changes.pop("health", Health(OK, OK, OK, OK)),
        redaction=Redaction(),
        counts=StreamCounts(0, 0, 0, 0, 0),
        external=False,
        confirmed=None,
        bug=changes.pop("bug", None),
        assets=[],
        expectations=changes.pop("expectations", []),
    )
    return Recording(
        capture=capture,
        captured_at=1_000,
        key="WEB-42",
        title=changes.get("title", "Paying fails"),
        console=convert(console, ConsoleEntry),
        network=convert(network, NetworkEntry),
        errors=convert(errors, ErrorEntry),
        actions=convert(actions, ActionEntry),
    )


def read_files(**streams: Any) -> dict[str, str]:
    return {file.name: file.data.decode() for file in build_files(build_recording(**streams), "1.0")}


def call(status: int | None = 200, **response: Any) -> dict[str, Any]:
    url = "https://api.shop.example/pay"
    return {"id": "r1", "method": "POST", "url": url, "type": "fetch", "status": status, "duration_ms": 5,
            "response": response}  # fmt: skip


def test_steps_become_code_under_their_words() -> None:
    actions = [
        {"kind": "navigate", "url": PAGE, "ts": 0},
        {"kind": "input", "target": CODE, "value_kind": "email", "ts": 100},
        {"kind": "key", "key": "Enter", "target": CODE, "ts": 200},
        {"kind": "click", "target": PAY, "ts": 210},
        {"kind": "submit", "target": {"selectors": ["form"]}, "ts": 215},
        {"kind": "navigate", "url": "https://shop.example/done", "ts": 300},
        {"kind": "click", "target": PAY, "repeat": 3, "ts": 9_000},
        {"kind": "key", "key": "Ctrl+S", "ts": 9_100},
        {"kind": "click", "target": PAY, "synthetic": True, "ts": 9_200},
        {"kind": "scroll", "ts": 9_250},
        {"kind": "navigate", "url": "https://other.example/", "ts": 9_300},
        {"kind": "change", "target": PAY, "value_kind": "option", "ts": 9_400},
        {"kind": "navigate", "url": "https://shop.example/late", "ts": 30_000},
        {"kind": "click", "target": CODE, "value_kind": "private", "ts": 40_000},
        {"kind": "navigate", "url": "https://shop.example/#/done", "ts": 40_100},
        {"kind": "navigate", "url": "https://shop.example/late", "value_kind": "back", "ts": 42_000},
    ]
    lines = [line for line in read_files(actions=actions)["reproduce.spec.ts"].splitlines() if line]
    assert lines == [
        "import { test } from '@playwright/test';",
        "import { replayCapture } from './reproduction.js';",
        "test.use({",
        "  viewport: { width: 800, height: 600 },",
        "});",
        "test('Paying fails', async ({ page }, testInfo) => {",
        "  const { open, arrive, step, choose, finish } = await replayCapture(page, testInfo);",
        "  // 1. Opened /cart?id=7",
        "  await step(1, () => open('/cart?id=7'));",
        "  // 2. Typed an email address into “Code”: a sample of the same kind",
        "  await step(2, page.getByPlaceholder('Your \"code\"', { exact: true }), (it) => it.fill('person@example.org'));",  # noqa: E501
        "  // 3. Pressed Enter in “Code”",
        "  await step(3, page.getByPlaceholder('Your \"code\"', { exact: true }), (it) => it.press('Enter'));",
        "  // 4. Clicked button “Pay” (by the key)",
        "  // 5. Submitted element form (by the step before)",
        "  // 6. Opened /done",
        "  await step(6, () => arrive('/done'));",
        "  // 7. Clicked button “Pay”, 3 times",
        "  await step(7, page.getByRole('button', { name: 'Pay', exact: true }), (it) => it.click({ clickCount: 3 }));",
        "  // 8. Pressed Ctrl+S",
        "  await step(8, () => page.keyboard.press('Control+s'));",
        "  // 9. Clicked button “Pay” (by a script)",
        "  // 11. Opened / (another site; not repeated)",
        "  // 12. Selected an option in “Pay”: which one isn't recorded",
        "  await step(12, page.getByRole('button', { name: 'Pay', exact: true }), (it) => choose(it));",
        "  // 13. Opened /late",
        "  await step(13, () => open('/late'));",
        "  // 14. Clicked a private field",
        "  // 15. Opened /#/done",
        "  await step(14, page.getByPlaceholder('Your \"code\"', { exact: true }), (it) => it.click());",
        "  await step(15, () => arrive('/#/done'));",
        "  // 16. Went back to /late",
        "  await step(16, () => page.goBack());",
        "  // The capture has no failure to look for. Add what must be true to the end of the test.",
        "  await finish();",
        "});",
    ]


CARD: dict[str, Any] = {"text": "Oak", "selectors": ['li:text-is("Oak")', "#oak"]}
ACTS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "click", "button": "right"}, "it.click({ button: 'right' })"),
    ({"kind": "click", "key": "Ctrl+Shift"}, "it.click({ modifiers: ['Control', 'Shift'] })"),
    ({"kind": "click", "repeat": 2}, "it.dblclick()"),
    ({"kind": "click", "point": [12, 30]}, "it.click({ position: { x: 12, y: 30 } })"),
    ({"kind": "hover"}, "it.hover()"),
    ({"kind": "drag", "to": PAY}, "drag(it, page.getByRole('button', { name: 'Pay', exact: true }))"),
    ({"kind": "drag", "to": {"selectors": ["#b"]}, "point": [1, 2], "to_point": [3, 4]},
     "drag(it, page.locator('#b'), [1, 2], [3, 4])"),
    ({"kind": "key", "key": "J"}, "it.press('j')"),
    ({"kind": "key", "key": "Shift+J"}, "it.press('Shift+J')"),
    ({"kind": "key", "key": "?"}, "it.press('?')"),
    ({"kind": "key", "key": "Space"}, "it.press('Space')"),
    ({"kind": "scroll", "to_point": [0, 900]}, "it.evaluate((it) => it.scrollTo(0, 900))"),
    ({"kind": "change", "value_kind": "file", "field": {"accept": "image/*,.pdf"}}, "attach(it, 'sample.png')"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "code"), ACTS)
def test_what_a_person_did_is_repeated(action: dict[str, Any], code: str) -> None:
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {**action, "target": CARD, "ts": 6_000}]
    files = read_files(actions=actions, network=[{**call(), "ts": 6_100}])
    assert code in files["reproduce.spec.ts"].replace("\n", "").replace("    ", "")
    assert json.loads(files["expected.json"])["steps"][1]["place"] == "#oak"


def test_page_is_scrolled_as_far_as_it_was_although_it_grows_meanwhile() -> None:
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {"kind": "scroll", "to_point": [0, 900], "ts": 6_000}]
    spec = read_files(actions=actions, network=[{**call(), "ts": 6_100}])["reproduce.spec.ts"]
    assert "const { open, step, scroll, finish } = await replayCapture(page, testInfo);" in spec
    assert "  await step(2, () => scroll(0, 900));" in spec


@pytest.mark.parametrize(
    ("cause", "code"),
    [({"kind": "navigate", "url": PAGE}, "page.goBack()"), ({"kind": "click", "target": PAY}, "arrive('/?id=7')")],
)
def test_page_goes_back_on_its_own_only_after_what_a_person_did_in_it(cause: dict[str, Any], code: str) -> None:
    back = {"kind": "navigate", "url": "https://shop.example/?id=7", "value_kind": "back", "ts": 6_100}
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {**cause, "ts": 6_000}, back]
    assert f"await step(3, () => {code});" in read_files(actions=actions)["reproduce.spec.ts"]


@pytest.mark.parametrize("action", [{"kind": "key"}, {"kind": "drag", "to": None}])
def test_step_that_is_only_partly_known_is_unknown(action: dict[str, Any]) -> None:
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {**action, "target": PAY, "ts": 500}]
    assert [each["number"] for each in json.loads(read_files(actions=actions)["expected.json"])["unknown"]] == [2]


def test_dialogs_are_answered_by_the_step_that_opens_them() -> None:
    entered = {"value_kind": "text 1–10", "traits": ["digit"]}
    actions = [
        {"kind": "click", "target": PAY, "ts": 1_000},
        {"kind": "dialog", "dialog": "confirm", "accepted": True, "ts": 1_010},
        {"kind": "dialog", "dialog": "prompt", "accepted": True, **entered, "ts": 1_020},
        {"kind": "dialog", "dialog": "alert", "accepted": False, "ts": 1_030},
    ]  # fmt: skip
    spec = read_files(actions=actions)["reproduce.spec.ts"]
    assert """
  // 1. Clicked button “Pay”
  // 2. Accepted a confirmation
  // 3. Answered a prompt
  // 4. Closed an alert
  answer('accept');
  answer('accept', '1234');
  answer('dismiss');
  await step(1, page.getByRole('button', { name: 'Pay', exact: true }), (it) => it.click());
""" in spec  # fmt: skip
    assert "const { open, answer, step, finish }" in spec


def test_window_that_was_resized_begins_with_its_first_size() -> None:
    resize = {"kind": "resize", "point": [900, 700], "to_point": [400, 700], "ts": 2_000}
    spec = read_files(actions=[resize], network=[{**call(), "ts": 2_100}])["reproduce.spec.ts"]
    assert "viewport: { width: 900, height: 700 }," in spec
    assert "await step(1, () => page.setViewportSize({ width: 400, height: 700 }));" in spec
    assert "step(1," not in read_files(actions=[resize])["reproduce.spec.ts"]  # nothing followed


def test_form_that_was_submitted_is_expected() -> None:
    click, submit = {"kind": "click", "target": PAY, "ts": 1_000}, {"kind": "submit", "ts": 1_010}
    errors = [{"kind": "error", "name": "TypeError", "message": "no card", "ts": 1_020}]
    assert json.loads(read_files(actions=[click, submit], errors=errors)["expected.json"])["submits"] is True
    later = [click, submit, {**click, "ts": 1_015}]
    assert json.loads(read_files(actions=later, errors=errors)["expected.json"])["submits"] is False


def test_test_is_named_after_the_bug_where_the_ticket_has_the_title_of_the_page() -> None:
    errors = [{"kind": "error", "name": "TypeError", "message": "no card", "ts": 1_020}]
    spec = read_files(title="", actions=[{"kind": "click", "target": PAY}], errors=errors)["reproduce.spec.ts"]
    assert "test('TypeError: no card after: Clicked button “Pay”'" in spec


def test_steps_after_the_failure_are_left_out() -> None:
    pay = {"kind": "click", "target": PAY}
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {**pay, "ts": 2_000}, {**pay, "ts": 8_000}]
    errors = [{"kind": "error", "name": "TypeError", "message": "no card", "ts": 6_000}]
    files = read_files(actions=actions, errors=errors)
    closing = "  // Step 3 came after the failure.\n  // Fails if this happens again: TypeError: no card\n"
    assert closing in files["reproduce.spec.ts"]
    assert "It looks for:\n\n- TypeError: no card\n" in files["README.md"]
    expected = json.loads(files["expected.json"])
    assert [(step["number"], step["place"]) for step in expected["steps"]] == [(1, None), (2, "#pay")]
    assert (expected["wait_ms"], expected["acted_at"], expected["failed_at"]) == (5_000, 2_000, 6_000)


@pytest.mark.parametrize(
    ("times", "wait_ms", "is_late"),
    [
        ([900], 1_000, False),
        ([1_000, 9_000], 1_000, False),  # the same failure twice
        ([9_000, 90_000], 9_000, False),
        ([90_000], 90_000, True),
    ],
)
def test_failure_is_waited_for_as_long_as_it_took(times: list[int], wait_ms: int, is_late: bool) -> None:
    errors = [{"kind": "error", "name": "TypeError", "message": "no card", "ts": ts} for ts in times]
    opened = read_files(actions=[{"kind": "navigate", "url": PAGE, "ts": 1_000}], errors=errors)
    unseen = read_files(network=[{**call(body="{}"), "ts": 1_000}], errors=errors)  # a capture without steps
    for files in (opened, unseen):
        expected = json.loads(files["expected.json"])
        assert expected["wait_ms"] == wait_ms
        assert any("s after the last step" in each for each in expected["missing"]) is is_late


def search(ts: int, query: str, duration: int = 10) -> dict[str, Any]:
    url = f"https://api.shop.example/products?q={query}"
    return {**call(body="[]"), "method": "GET", "url": url, "ts": ts, "duration_ms": duration}


def test_typing_that_sent_requests_is_repeated_in_parts() -> None:
    actions = [
        {"kind": "input", "target": CODE, "value_kind": "text 1–10", "ts": 100},
        {"kind": "click", "target": PAY, "ts": 2_000},
    ]
    network = [search(50, ""), search(110, "l", 800), search(300, "la"), search(400, "lamp"), search(2_010, "x")]
    files = read_files(actions=actions, network=network)
    assert "(it, part) => it.fill('Sample'.slice(0, [2, 4, 6][part]))" in " ".join(files["reproduce.spec.ts"].split())
    step, _ = json.loads(files["expected.json"])["steps"]
    assert (step["at"], step["again"], step["typed"]) == (100, [300, 400], ["Sa", "Samp", "Sample"])
    polling = [search(110, "l"), search(300, "l"), search(400, "l")]
    (step, _) = json.loads(read_files(actions=actions, network=polling)["expected.json"])["steps"]
    assert (step["again"], step["typed"]) == ([], ["Sample"])


@pytest.mark.parametrize(
    ("times", "code", "again"),
    [
        ([1_000, 1_400], "it.click()", [1_400]),  # the first answer came in between
        ([1_000, 1_005], "it.dblclick()", []),  # a double click
        ([1_000, 1_400, 1_800], "it.dblclick()", []),  # not one call for each
        ([1_000, 9_000], "it.dblclick()", []),  # the second one has another cause
    ],
)
def test_repeated_clicks_wait_for_the_answers_between_them(times: list[int], code: str, again: list[int]) -> None:
    network = [search(ts, str(ts)) for ts in times]
    files = read_files(actions=[{"kind": "click", "target": PAY, "repeat": 2, "ts": 1_000}], network=network)
    assert f"(it) => {code});" in files["reproduce.spec.ts"]
    (step,) = json.loads(files["expected.json"])["steps"]
    assert step["again"] == again


OPENED: list[dict[str, Any]] = [
    {"kind": "navigate", "url": PAGE, "ts": 0},
    {"kind": "click", "target": PAY, "ts": 2_000},
    {"kind": "click", "target": CODE, "ts": 9_000},
]
GONE_CART: dict[str, Any] = {"kind": "error", "name": "TypeError", "message": "TypeError: cart 18 is gone"}
FAILED = {"method": "POST", "url": "https://shop.example/pay", "status": 500}
PAID: dict[str, Any] = {**call(body="{}"), **FAILED, "ts": 9_100}


def print_error(ts: int, text: str) -> dict[str, Any]:
    return {"level": "error", "args": [text], "ts": ts}


@pytest.mark.parametrize(
    ("streams", "found"),
    [
        # an error says more than the console, and that more than a request
        ({"errors": [{**GONE_CART, "ts": 9_100}], "console": [print_error(9_200, "x")], "network": [PAID]}, "cart"),
        ({"console": [print_error(9_050, "lost"), {"level": "warn", "args": ["x"]}], "network": [PAID]}, "lost"),
        ({"network": [PAID, {**PAID, "type": "image", "ts": 9_300}]}, "/pay"),
        ({"network": [{**PAID, "type": "document"}]}, "/pay"),
        ({"network": [{**PAID, "type": "document", "frame": "https://shop.example/frame"}]}, None),
        # the last step with a failure led to the bug
        ({"errors": [{**GONE_CART, "ts": 2_100}], "console": [print_error(9_200, "lost")]}, "lost"),
        ({"errors": [{**GONE_CART, "ts": 2_100}]}, "cart"),
        # background: when the page was opened, also if it comes again
        ({"errors": [{**GONE_CART, "ts": 100}]}, None),
        ({"errors": [{**GONE_CART, "ts": 100}, {**GONE_CART, "ts": 9_100}]}, None),
        ({"errors": [{**GONE_CART, "ts": 100}], "console": [print_error(2_100, "lost")]}, "lost"),
        # background: by a timer, from long after a step on
        ({"console": [print_error(8_000, "poll 1"), print_error(16_000, "poll 2")]}, None),
        ({"console": [print_error(2_100, "retry 1"), print_error(8_000, "retry 2")]}, "retry 1"),
        # background: notices of the browser, resources, what another host didn't answer, what the page cancelled
        ({"errors": [{"kind": "error", "message": "ResizeObserver loop limit exceeded", "ts": 9_100}]}, None),
        ({"errors": [{"kind": "resource", "message": "logo.png", "ts": 9_100}]}, None),
        ({"network": [{**PAID, "url": "https://stats.example/pay", "status": None, "error": "failed"}]}, None),
        ({"network": [{**PAID, "status": None, "error": "aborted"}]}, None),
        ({"network": [{**PAID, "status": None, "error": "Failed to fetch"}]}, "/pay"),
    ],
)  # fmt: skip
def test_one_failure_is_the_bug(streams: dict[str, Any], found: str | None) -> None:
    files = read_files(actions=OPENED, **streams)
    expected = json.loads(files["expected.json"])
    looked_for = [*expected["errors"], *expected["failed_requests"], *expected["console_errors"]]
    assert len(looked_for) == (found is not None)
    assert found is None or found in str(looked_for[0])
    assert any("no failure to look for" in each for each in expected["missing"]) is (found is None)


@pytest.mark.parametrize(
    ("stream", "streams", "found"),
    [
        (FailureStream.ERRORS, {"errors": [{**GONE_CART, "ts": 100, "seq": 7}]}, "cart"),
        (FailureStream.CONSOLE, {"console": [{**print_error(100, "lost"), "seq": 7}]}, "lost"),
        (
            FailureStream.NETWORK,
            {"network": [{**PAID, "id": "7", "url": "https://stats.example/hit", "status": None, "error": "failed"}]},
            "/hit",
        ),
        (FailureStream.NETWORK, {"network": [{**PAID, "id": "7", "type": "image", "ts": 9_300}]}, "/pay"),
    ],
)
def test_chosen_failure_is_the_bug_although_it_is_background(
    stream: FailureStream, streams: dict[str, Any], found: str
) -> None:
    later = {"errors": [{**GONE_CART, "ts": 9_400, "message": "TypeError: something else"}]}
    streams = {**streams, "errors": [*streams.get("errors", []), *later["errors"]]}
    recording = build_recording(OPENED, bug=CaptureBug(stream, "7", "", None), **streams)
    files = {file.name: file.data.decode() for file in build_files(recording, "1.0")}
    expected = json.loads(files["expected.json"])
    (looked_for,) = [*expected["errors"], *expected["failed_requests"], *expected["console_errors"]]
    assert found in str(looked_for)
    assert expected["bug"] == {"stream": stream, "entry": "7"}


def test_page_that_fails_when_it_is_opened_is_the_bug_if_nothing_was_done_since() -> None:
    reloaded = [*OPENED, {"kind": "navigate", "url": PAGE, "ts": 20_000}]
    for actions, ts in ((OPENED[:1], 100), (reloaded, 20_100)):
        files = read_files(actions=actions, errors=[{**GONE_CART, "ts": ts, "count": 2}])
        (error,) = json.loads(files["expected.json"])["errors"]
        assert (error["name"], error["message"], error["count"]) == ("TypeError", "cart 18 is gone", 2)


@pytest.mark.parametrize(
    ("streams", "words"),
    [
        ({}, "no steps, so the test only opens the page: capture the bug again"),
        ({"health": Health(OK, OK, OK, StreamHealth(HealthStatus.DISABLED, HealthReason.POLICY))},
         "set `capture_policy.actions` to `on`"),
        ({"network": [call(omitted_reason="policy")]}, "1 of 1 API answers have no complete body: the project's"),
        ({"network": [{**call(422, body="{}"), "request": {"omitted_reason": "policy"}}]},
         "What was sent with the request that failed isn't in the capture"),
        ({"network": [call(body="{", omitted_reason="limit")]}, "they were longer than what a capture keeps"),
        ({"network": [call(), call(204)]}, "1 of 2 API answers have no body: the client didn't send them"),
        ({"health": Health(OK, StreamHealth(HealthStatus.PARTIAL, HealthReason.LATE_START), OK)},
         "The recording began after the page had loaded."),
        ({"actions": [{"kind": "click"}]}, "Steps without a known element: 1."),
        ({"actions": [{"kind": "input", "value_kind": "private"}]}, "What was typed isn't recorded"),
        ({}, "no failure to look for"),
    ],
)  # fmt: skip
def test_pack_says_what_is_missing(streams: dict[str, Any], words: str) -> None:
    files = read_files(**streams)
    (sentence,) = [each for each in json.loads(files["expected.json"])["missing"] if words in each]
    assert f"- {sentence}\n" in files["README.md"]


@pytest.mark.parametrize(
    ("failed_at", "health", "unknown"),
    [
        (3_000, Health(OK, OK, OK), []),
        (30_000, Health(OK, OK, OK), [1]),
        (3_000, Health(OK, StreamHealth(HealthStatus.PARTIAL, HealthReason.LATE_START), OK), [1]),
    ],
)
def test_capture_without_steps_is_gone_only_if_loading_the_page_failed(
    failed_at: int, health: Health, unknown: list[int]
) -> None:
    errors = [{"kind": "error", "name": "TypeError", "message": "no card", "ts": failed_at}]
    expected = json.loads(read_files(errors=errors, network=[call(body="{}")], health=health)["expected.json"])
    assert [each["number"] for each in expected["unknown"]] == unknown
    assert any("never says that the bug is gone" in each for each in expected["missing"]) is bool(unknown)


def test_step_with_an_unknown_element_is_listed() -> None:
    actions = [{"kind": "navigate", "url": PAGE, "ts": 0}, {"kind": "click", "ts": 500}]
    expected = json.loads(read_files(actions=actions)["expected.json"])
    assert expected["unknown"] == [{"number": 2, "at": 500.0, "place": None, "again": [], "typed": []}]
    assert [each["number"] for each in expected["steps"]] == [1]


def test_complete_capture_lacks_nothing() -> None:
    files = read_files(
        actions=[{"kind": "navigate", "url": PAGE}, {"kind": "click", "target": PAY}],
        network=[call(500, body="{}"), call(204), call(bytes=0)],
    )
    assert json.loads(files["expected.json"])["missing"] == []
    assert "lacks" not in files["README.md"]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ({**PAY, "test_id": "pay", "selectors": ['[data-testid="pay"]', *PAY["selectors"]]},
         "page.getByRole('button', { name: 'Pay', exact: true })"),
        ({"test_id": "pay", "selectors": ['[data-testid="pay"]', "#pay"]}, "page.getByTestId('pay')"),
        ({"test_id": "pay", "selectors": ['[data-cy="pay"]']}, "page.locator('[data-cy=\"pay\"]')"),
        ({"role": "generic", "name": "x", "selectors": ['role=generic[name="x"]']},
         "page.locator('role=generic[name=\"x\"]')"),
        ({**PAY, "selectors": ['x-card >> role=button[name="Pay"]']},
         "page.locator('x-card >> role=button[name=\"Pay\"]')"),
        ({**PAY, "selectors": ['role=button[name="[redacted]"]', "#pay"]}, "page.locator('#pay')"),
        ({"role": "button", "name": "Pay"}, "page.getByRole('button', { name: 'Pay', exact: true }).first()"),
        ({"text": "it's"}, """page.getByText("it's", { exact: true }).first()"""),
        ({"role": "textbox"}, None),
        ({"role": "link", "name": "42 likes in 2026", "selectors": ['role=link[name="42 likes in 2026"]', "#likes"]},
         "page.locator('#likes')"),
        ({"text": "11", "selectors": ['button:text-is("11")']}, "page.locator('button:text-is(\"11\")')"),
        ({"name": "Photo", "selectors": ['internal:label="Photo"s', "#p"]},
         "page.getByLabel('Photo', { exact: true })"),
    ],
)  # fmt: skip
def test_best_locator_is_by_role(target: dict[str, Any], code: str | None) -> None:
    assert write_locator(msgspec.convert(target, ActionTarget)) == code


def test_element_in_a_frame_is_found_in_it() -> None:
    target = msgspec.convert({"selectors": ["#pay"]}, ActionTarget)
    locator = write_locator(target, "https://pay.example/form?x=1")
    assert locator == "page.frameLocator('iframe[src*=\"/form\"]').locator('#pay')"
    assert find_place(target, "https://pay.example/form?x=1") is None
    nested = write_locator(target, "about:blank", ["#left", "iframe >> nth=1"])
    assert nested == "page.frameLocator('#left').frameLocator('iframe >> nth=1').locator('#pay')"
    for hostile in ('https://x/a"] >> #b', "https://x/a\\", "https://x/a b", "https://[bad", "javascript:1"):
        assert write_locator(target, hostile) in (
            "page.frameLocator('iframe').locator('#pay')", "page.frameLocator('iframe[src*=\"1\"]').locator('#pay')",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "place"),
    [
        ("#pay", "#pay"),
        ("#cart > li:nth-of-type(2) > button", "#cart > li:nth-of-type(2) > button"),
        ('role=button[name="Pay"]', None),
        ('p:text-is("Total")', None),
        ("#host >> button", None),
        ("#[redacted]", None),
    ],
)
def test_only_a_path_in_the_document_is_a_place(selector: str, place: str | None) -> None:
    assert find_place(msgspec.convert({"selectors": [selector]}, ActionTarget), None) == place


def test_place_of_a_named_element_is_expected() -> None:
    actions = [{"kind": "click", "target": PAY}, {"kind": "click", "target": {"selectors": ["#pay"]}}]
    expected = json.loads(read_files(actions=actions)["expected.json"])
    assert [step["place"] for step in expected["steps"]] == ["#pay", None]


def test_hostile_texts_stay_texts() -> None:
    title = "x'); process.exit(); // \\\u2028\n*/ ${'a'}"
    name = "'); alert(1); ('\r\n// \u2029"
    files = read_files(title=title, actions=[{"kind": "click", "target": {"role": "button", "name": name}}])
    spec = files["reproduce.spec.ts"]
    assert """test("x'); process.exit(); // \\\\\\u2028\\n*/ ${'a'}", async""" in spec
    assert not {"\u2028", "\u2029", "\r"} & set(spec)
    starts = ("  //", "  await", "  const", "    1,", "    page.", "    (it", "  );", "import", "test", "}", "  view")
    assert all(line.startswith(starts) for line in spec.split("\n") if line)
    assert quote("a\\'b\"") == "'a\\\\\\'b\"'"


def test_secrets_in_a_title_are_redacted() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert all(token not in text for text in read_files(title=f"Fails with {token}").values())


def test_archive_is_the_same_each_time() -> None:
    files = build_files(build_recording(), "1.0")
    archive = compress_files(files)
    assert archive == compress_files(files)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == {file.name: file.data for file in files}


def test_circumstances_of_the_capture_become_options_of_the_test() -> None:
    environment = Environment(
        viewport=Size(390, 844), dpr=3, language="de-AT", timezone="Asia/Tokyo", color_scheme=ColorScheme.DARK,
        reduced_motion=True, touch=True,
    )  # fmt: skip
    assert write_circumstances(environment) == [
        "test.use({",
        "  viewport: { width: 390, height: 844 },",
        "  deviceScaleFactor: 3,",
        "  hasTouch: true,",
        "  locale: 'de-AT',",
        "  timezoneId: 'Asia/Tokyo',",
        "  colorScheme: 'dark',",
        "  contextOptions: { reducedMotion: 'reduce' },",
        "});",
        "",
    ]


def test_circumstances_that_a_browser_refuses_are_left_out() -> None:
    hostile = "UTC' }); process.exit(0); ({ x: '"
    environment = Environment(viewport=Size(0, 800), dpr=90, language=hostile, timezone=hostile, touch=False)
    assert write_circumstances(environment) == []
    assert write_circumstances(Environment(timezone="Etc/Unknown", language="de_DE", dpr=1)) == []


def test_clock_starts_with_the_recording() -> None:
    actions = [{"kind": "navigate", "url": PAGE, "ts": 1_764_237_600_000}]
    network = [{**call(body="{}"), "ts": 1_764_237_599_000}]
    expected = json.loads(read_files(actions=actions, network=network)["expected.json"])
    assert expected["began"] == 1_764_237_599_000


def test_stored_values_are_there_before_the_step_that_opens_the_page() -> None:
    opened = {"kind": "navigate", "url": PAGE}
    actions = [{**opened, "ts": 0}, {**opened, "ts": 50_000, "document": 1}, {**opened, "ts": 90_000, "document": 3}]
    start = [
        StoredAtStart(0, {"theme": "dark"}, {}, ["sid"]),
        StoredAtStart(2, {"token": "aaa"}, {}, ["sid"]),  # signed in in another tab
        StoredAtStart(4, {"late": "1"}, {}, []),
    ]
    recording = build_recording(actions=actions)
    environment = Environment(storage=StorageNames(start=start))
    capture = msgspec.structs.replace(recording.capture, environment=environment)
    files = {each.name: each.data for each in build_files(msgspec.structs.replace(recording, capture=capture), "1.0")}
    expected = json.loads(files["expected.json"])
    assert [(each["before"], each["local"]) for each in expected["storage"]] == [
        (0, {"theme": "dark"}), (3, {"token": "aaa"}),
    ]  # fmt: skip
    assert any("The page had cookies (sid)." in each for each in expected["missing"])


ACTED: list[dict[str, Any]] = [
    {"kind": "navigate", "url": PAGE, "ts": 0},
    {"kind": "click", "target": PAY, "ts": 10_000},
]


@pytest.mark.parametrize(
    ("network", "errors", "faults", "needs"),
    [
        ([call(500)], [], [500], True),
        ([call(200) | {"error": "GraphQL errors (Pay)"}], [], [200], True),
        ([call(422)], [], [422], False),  # the page may have sent something wrong
        ([call(500) | {"url": "https://other.example/pay"}], [], [], False),
        ([call(500) | {"type": "document"}], [], [], False),  # pages come from the server anyway
        ([call(500), call(422)], [11_000], [500], False),  # an error of the page, which a 500 led to
        ([call(500) | {"ts": 5_000}], [11_000], [], False),
        ([call(200)], [11_000], [], False),
    ],
)  # fmt: skip
def test_faults_of_the_server_are_named(
    network: list[dict[str, Any]], errors: list[float], faults: list[int], needs: bool
) -> None:
    thrown = [{"ts": ts, "kind": "error", "name": "TypeError", "message": "no total"} for ts in errors]
    called = [{"ts": 10_100} | each for each in network]
    files = read_files(actions=ACTED, network=called, errors=thrown)
    expected = json.loads(files["expected.json"])
    assert ([each["status"] for each in expected["faults"]], expected["needs_server"]) == (faults, needs)
    assert ("writes too" in files["README.md"]) == bool(faults)

"""What the test of a reproduction expects of the page, and the verdict on what it shows."""

import json
import re
from typing import Any

import msgspec
import pytest

from tests.domain.captures.test_reproduction import build_recording
from tests.domain.captures.test_verdict import BUG, STOPPED, check, expect, judge, see
from ticketbox.domain.captures.actions import ActionTarget
from ticketbox.domain.captures.expectations import SentExpectation, describe_expectation
from ticketbox.domain.captures.records import CaptureBug, Expectation
from ticketbox.domain.captures.reproduction.pack import build_files
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.records import By, Person
from ticketbox.domain.tickets.records import FailureStream

BY = By(Person("usr_1", "Ann"), None, None, Via.WEB, "2026-11-21T09:30:00.000Z")
TOTAL = {"name": "Total", "test_id": "total", "selectors": ["[data-testid=total]", "#cart > p"]}
WORDS = "“Total” should be “80.00 €”; it was “40.00 €”"
ERROR = {"kind": "error", "name": "TypeError", "message": "no cart", "ts": 1_000}
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ARGUMENTS = rf"(?:(?:{_TEXT}|[0-9]+|\{{(?: name: {_TEXT},)? exact: true \}})(?:, )?)*"
_LOCATOR = rf"page(?:\.\w+\({_ARGUMENTS}\))*"
ALLOWED = re.compile(
    rf"  await (?:(?:open|arrive)\({_ARGUMENTS}\)|finish\(\)|page\.clock\.install\(\{{ time: new Date\({_TEXT}\) \}}\)"
    rf"|expect\({_LOCATOR}\)(?:\.not)?\.\w+\((?:{_LOCATOR}|{_ARGUMENTS})\));"
)


def build(confirmed: bool = True, **fields: Any) -> Expectation:
    sent = msgspec.convert({"is": "text", "target": TOTAL, **fields}, SentExpectation)
    given = {name: getattr(sent, name) for name in SentExpectation.__struct_fields__}
    given["at"] = sent.at or 2_000
    return Expectation(
        id="exp_1",
        capture_id="cap_1",
        **given,
        words=describe_expectation(sent),
        by=BY,
        confirmed=BY if confirmed else None,
    )


def read_files(*expectations: Expectation, **streams: Any) -> dict[str, str]:
    recording = build_recording(expectations=list(expectations), **streams)
    return {file.name: file.data.decode() for file in build_files(recording, "1.0")}


def write(**fields: Any) -> str | None:
    """The line of the test that checks an expectation."""
    spec = read_files(build(**fields))["reproduce.spec.ts"]
    lines = [line.strip() for line in spec.splitlines() if "await expect(" in line]
    return lines[0].removeprefix("await ").removesuffix(";") if lines else None


@pytest.mark.parametrize(
    "own",
    ['p:has-text("40.00 €")', "[title='40.00 €']", 'p:has-text("40.00 \\"€")', 'p:has-text("a") >> text="40.00 €'],
)
def test_element_is_found_without_a_selector_that_has_its_text(own: str) -> None:
    seen = '40.00 "€' if "\\" in own else "40.00 €"
    line = write(target={"selectors": [own, "#cart > p"]}, seen=seen, right="80.00 €")
    assert line == "expect(page.locator('#cart > p')).toHaveText('80.00 €')"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"seen": "40.00 €", "right": "80.00 €"}, "expect(page.getByTestId('total')).toHaveText('80.00 €')"),
        ({"seen": "40.00 €"}, "expect(page.getByTestId('total')).not.toHaveText('40.00 €')"),
        ({"is": "value", "right": "it's"}, """expect(page.getByTestId('total')).toHaveValue("it's")"""),
        ({"is": "count", "seen": "2", "right": "03"}, "expect(page.getByTestId('total')).toHaveCount(3)"),
        ({"is": "attribute", "name": "alt", "right": "x"},
         "expect(page.getByTestId('total')).toHaveAttribute('alt', 'x')"),
        ({"is": "visible"}, "expect(page.getByTestId('total')).toBeVisible()"),
        ({"is": "visible", "other": {"selectors": ["#a"]}},
         "expect(page.getByTestId('total')).toBeVisibleNear(page.locator('#a'))"),
        ({"is": "absent"}, "expect(page.getByTestId('total')).toBeHidden()"),
        ({"is": "enabled"}, "expect(page.getByTestId('total')).toBeEnabled()"),
        ({"is": "disabled"}, "expect(page.getByTestId('total')).toBeDisabled()"),
        ({"is": "checked"}, "expect(page.getByTestId('total')).toBeChecked()"),
        ({"is": "checked", "right": "false"}, "expect(page.getByTestId('total')).not.toBeChecked()"),
        ({"is": "fits"}, "expect(page.getByTestId('total')).toFit()"),
        ({"is": "inside"}, "expect(page.getByTestId('total')).toBeInside()"),
        ({"is": "inside", "other": {"selectors": ["#a"]}},
         "expect(page.getByTestId('total')).toBeInside(page.locator('#a'))"),
        ({"is": "apart", "other": {"selectors": ["#a"]}},
         "expect(page.getByTestId('total')).toBeApartFrom(page.locator('#a'))"),
        ({"is": "same_as", "other": {"selectors": ["#a"]}},
         "expect(page.getByTestId('total')).toHaveTextOf(page.locator('#a'))"),
        ({"is": "url", "target": None, "right": "https://shop.example/done?a=1"},
         "expect(page).toHaveURL('/done?a=1')"),
        ({"is": "title", "target": None, "seen": "undefined"}, "expect(page).not.toHaveTitle('undefined')"),
        ({"right": "[redacted]"}, None),
    ],
)  # fmt: skip
def test_expectation_becomes_a_check_of_playwright(fields: dict[str, Any], code: str | None) -> None:
    assert write(**fields) == code


@pytest.mark.parametrize(
    ("target", "subject"),
    [
        ({"role": "button", "name": "Sve", "text": "Sve", "selectors": ['role=button[name="Sve"]', "#save"]},
         "page.locator('#save')"),
        ({"text": "Sve", "selectors": ['button:text-is("Sve")', "form > button"]}, "page.locator('form > button')"),
        ({"role": "status", "name": "State", "text": "Sve", "selectors": ['role=status[name="State"]']},
         "page.getByRole('status', { name: 'State', exact: true })"),
        ({"role": "button", "name": "Sve"}, None),
        ({"text": "Sve"}, None),
        ({"role": "button", "name": " Sve  now", "selectors": ["internal:label=\"Sve now\"s"]}, None),
    ],
)  # fmt: skip
def test_locator_of_a_text_never_has_the_text_itself(target: dict[str, Any], subject: str | None) -> None:
    written = write(target=target, seen="Sve", right="Save")
    assert written == (subject and f"expect({subject}).toHaveText('Save')")
    shown = write(target=target, **{"is": "visible"})
    assert shown is not None


def test_what_cannot_be_checked_is_said() -> None:
    unlocated = build(target={"text": "Sve"}, seen="Sve", right="Save")
    files = read_files(unlocated, build(seen="40.00 €", right="80.00 €"))
    expected = json.loads(files["expected.json"])
    assert [each["seen"] for each in expected["expectations"]] == ["40.00 €", "Sve"]
    assert any("The record doesn't say what to check" in each for each in expected["missing"])
    assert "(the record doesn't say what to check; add it here)" in files["reproduce.spec.ts"]


def test_confirmed_expectations_are_the_bug() -> None:
    right = build(seen="40.00 €", right="80.00 €")
    files = read_files(right, errors=[ERROR])
    expected = json.loads(files["expected.json"])
    assert (expected["errors"], expected["bug"]) == ([], None)
    assert expected["expectations"] == [
        {"id": "exp_1", "is": "text", "name": None, "seen": "40.00 €", "right": "80.00 €", "words": WORDS}
    ]
    assert expected["background"] == ["TypeError: no cart"]
    assert f"  // {WORDS}\n  await expect(" in files["reproduce.spec.ts"]
    assert f"- {WORDS}" in files["README.md"]
    proposed = json.loads(read_files(build(confirmed=False, seen="1", right="2"), errors=[ERROR])["expected.json"])
    assert (len(proposed["errors"]), proposed["expectations"]) == (1, [])
    chosen = CaptureBug(FailureStream.ERRORS, "1", "TypeError: no cart", BY)
    both = json.loads(read_files(right, errors=[ERROR], bug=chosen)["expected.json"])
    assert (len(both["errors"]), len(both["expectations"]), both["bug"]["entry"]) == (1, 1, "1")


def test_person_takes_time_to_say_what_is_wrong() -> None:
    click = {"kind": "click", "target": {"selectors": ["#pay"]}, "ts": 1_000}
    later = {"kind": "click", "target": {"selectors": ["#other"]}, "ts": 70_000}
    expected = json.loads(read_files(build(right="2", at=60_000), actions=[click, later])["expected.json"])
    assert (expected["failed_at"], expected["wait_ms"], len(expected["steps"])) == (6_000, 6_000, 1)


HOSTILE = "x'); process.exit(); // \\\u2028\n*/ ${'a'} `"


@pytest.mark.parametrize(
    "fields",
    [
        {"seen": HOSTILE, "right": HOSTILE + "1"},
        {"right": "</script><script>alert(1)</script>"},
        {"target": {"test_id": HOSTILE, "selectors": [f"[data-testid={HOSTILE}]"]}, "right": "1"},
        {"target": {"role": "button", "name": HOSTILE}, "is": "visible"},
        {"target": {"selectors": [HOSTILE], "role": HOSTILE, "name": "__proto__"}, "is": "absent"},
        {"frame": HOSTILE, "frame_path": [HOSTILE], "is": "fits"},
        {"is": "apart", "other": {"selectors": [HOSTILE]}},
        {"is": "attribute", "name": "__proto__", "right": HOSTILE},
        {"is": "url", "target": None, "right": "javascript:alert(1)"},
        {"is": "url", "target": None, "right": HOSTILE},
    ],
)
def test_hostile_expectation_stays_a_literal(fields: dict[str, Any]) -> None:
    spec = read_files(build(**fields))["reproduce.spec.ts"]
    assert not {"\u2028", "\u2029", "\r"} & set(spec)
    body = [
        line
        for line in spec.split("\n")
        if line.startswith("  ") and not line.startswith(("  //", "  const", "  view"))
    ]
    joined = "\n".join(body).replace("(\n    ", "(").replace(",\n  )", ")").replace(",\n    ", ", ")
    for line in joined.split("\n"):
        assert ALLOWED.fullmatch(re.sub(r"step\(\d+, \(\) => (.*)\);", r"\1;", line)), line


def look(holds: bool = False, problem: str | None = None, seen: str | None = None) -> dict[str, Any]:
    return {"holds": holds, "problem": problem, "seen": seen}


def wish(**fields: Any) -> dict[str, Any]:
    return {"is": "text", "name": None, "seen": "40", "right": "80", "words": "W", **fields}


def test_page_is_judged_by_what_it_shows() -> None:
    expected = expect(expectations=[wish()])
    check(
        expected,
        (see(checks=[look(holds=True)]), "gone"),
        (see(checks=[look(seen="40")]), "reproduced"),
        (see(checks=[look(seen="50")]), "different_error"),
        (see(checks=[look(problem="the element isn't there")]), "not_reached"),
        (see(checks=[]), "not_reached"),
        (see(checks=[look(seen="40")], **STOPPED), "not_reached"),
        (see(checks=[look(seen="40")], broken={"number": 1, "reason": "no"}), "not_reached"),
        (see(checks=[look(seen="40")], outdated=True), "not_reached"),
        (see(checks=[look(seen="50")], outdated=True), "not_reached"),
        (see(checks=[look(holds=True)], outdated=True), "gone"),
        (see(BUG, checks=[look(holds=True)]), "different_error"),
        (see(BUG, checks=[look(seen="40")]), "reproduced"),
        (see(checks=[look(holds=True)], diverged=True), "not_reached"),
    )
    (third,) = judge((expected, see(checks=[look(seen="50")])))
    assert third["reason"] == "W: it is “50”"


@pytest.mark.parametrize(
    ("fields", "seen", "verdict"),
    [
        ({"is": "visible", "seen": None, "right": None}, look(), "reproduced"),
        ({"is": "fits", "seen": "Contin", "right": None}, look(), "reproduced"),
        ({"is": "checked", "seen": None, "right": None}, look(), "reproduced"),
        ({"is": "count", "seen": "2", "right": "3"}, look(seen="0"), "not_reached"),
        ({"is": "count", "seen": "0", "right": "3"}, look(seen="0"), "reproduced"),
        ({"is": "attribute", "name": "alt"}, look(seen=None), "different_error"),
        ({"is": "same_as", "right": None, "seen": None}, look(seen="9"), "reproduced"),
        ({"is": "text", "right": None}, look(seen="40"), "reproduced"),
    ],
)
def test_each_aspect_has_its_verdict(fields: dict[str, Any], seen: dict[str, Any], verdict: str) -> None:
    check(expect(expectations=[wish(**fields)]), (see(checks=[seen]), verdict))


def test_bug_is_gone_only_if_all_of_it_is() -> None:
    two = expect(BUG, expectations=[wish(), wish(words="V")])
    right, wrong, third, lost = look(holds=True), look(seen="40"), look(seen="50"), look(problem="no")
    check(
        two,
        (see(checks=[right, right]), "gone"),
        (see(checks=[right, wrong]), "reproduced"),
        (see(checks=[third, wrong]), "reproduced"),
        (see(checks=[lost, wrong]), "reproduced"),
        (see(checks=[third, right]), "different_error"),
        (see(checks=[third, lost]), "not_reached"),
        (see(checks=[right]), "not_reached"),
        (see(BUG, checks=[right, right]), "reproduced"),
    )


@pytest.mark.parametrize(
    ("fields", "is_fault"),
    [
        ({"seen": "Jon Smth", "right": "Jon Smith"}, True),
        ({"is": "value", "seen": "Jon  Smth"}, True),
        ({"seen": "Jon Smth", "right": "Ann Lee"}, False),  # an answer has it, so the page chose wrongly
        ({"seen": "40", "right": "80"}, False),  # a number may be anything
        ({"seen": "Jon", "right": "Jon Smith"}, False),
        ({"is": "same_as", "other": {"selectors": ["#sum"]}, "seen": "Jon Smth"}, False),
    ],
)
def test_wrong_text_of_an_answer_is_a_fault_of_the_server(fields: dict[str, Any], is_fault: bool) -> None:
    body = {"body": '{"people": [{"name": "Jon Smth", "age": "40"}, {"name": "Ann Lee"}]}'}
    calls = [
        {
            "id": f"r{number}",
            "ts": 900,
            "duration_ms": 5,
            "method": "GET",
            "url": url,
            "status": 200,
            "type": "fetch",
            "response": body,
        }
        for number, url in enumerate(["https://api.shop.example/people", "https://elsewhere.example/people"])
    ]
    files = read_files(build(**fields), network=calls)
    faults = [each["url"] for each in json.loads(files["expected.json"])["faults"]]
    assert faults == (["https://api.shop.example/people"] if is_fault else [])


def test_target_type_is_that_of_actions() -> None:
    assert isinstance(build(right="1").target, ActionTarget)

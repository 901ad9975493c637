"""What people say is wrong on a page: which of it makes sense, and the sentence that says it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ticketbox.domain.captures.expectations import (
    SentExpectation,
    describe_expectation,
    find_fault,
    normalize_expectation,
)

CORPUS = json.loads(Path(__file__).with_name("expectations.json").read_text())
TOTAL = {"name": "Total", "selectors": ["#total"]}


def send(**fields: Any) -> SentExpectation:
    return msgspec.convert(fields, SentExpectation)


@pytest.mark.parametrize(("fields", "words"), CORPUS)
def test_expectation_is_said_in_a_sentence(fields: dict[str, Any], words: str) -> None:
    assert describe_expectation(msgspec.convert(fields, SentExpectation)) == words


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"is": "text", "seen": "1", "right": "2"}, "target"),
        ({"is": "text", "target": {"role": "button"}, "seen": "1", "right": "2"}, "target"),
        ({"is": "url", "target": TOTAL, "seen": "/a", "right": "/b"}, "target"),
        ({"is": "text", "target": TOTAL}, "right"),
        ({"is": "text", "target": TOTAL, "seen": "1", "right": "1"}, "right"),
        ({"is": "visible", "target": TOTAL, "right": "1"}, "right"),
        ({"is": "checked", "target": TOTAL, "right": "yes"}, "right"),
        ({"is": "count", "target": TOTAL, "right": "many"}, "right"),
        ({"is": "count", "target": TOTAL, "right": "-1"}, "right"),
        ({"is": "attribute", "target": TOTAL, "right": "x"}, "name"),
        ({"is": "text", "name": "alt", "target": TOTAL, "right": "x"}, "name"),
        ({"is": "apart", "target": TOTAL}, "other"),
        ({"is": "same_as", "target": TOTAL, "other": TOTAL}, "other"),
        ({"is": "same_as", "target": TOTAL, "other": {"role": "button"}}, "other"),
        ({"is": "fits", "target": TOTAL, "other": {"name": "Sum", "selectors": ["#sum"]}}, "other"),
    ],
)
def test_what_no_page_can_be_right_about_is_refused(fields: dict[str, Any], field: str) -> None:
    fault = find_fault(msgspec.convert(fields, SentExpectation))
    assert fault is not None
    assert fault.field == field


@pytest.mark.parametrize("fields", [fields for fields, _ in CORPUS if fields.get("target", {}).get("selectors")])
def test_what_makes_sense_is_accepted(fields: dict[str, Any]) -> None:
    assert find_fault(msgspec.convert(fields, SentExpectation)) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"is": "constructor", "target": TOTAL},
        {"is": "text", "target": TOTAL, "right": "x" * 2_001},
        {"is": "text", "target": TOTAL, "right": "\0"},
        {"is": "text", "target": TOTAL, "__proto__": {"right": "1"}},
        {"is": "text", "target": {**TOTAL, "selectors": ["a"] * 11}, "right": "1"},
        {"is": "attribute", "name": "x onclick=", "target": TOTAL, "right": "1"},
        {"is": "inside", "target": TOTAL, "frame_path": ["a"] * 11},
    ],
)
def test_hostile_expectation_is_refused_by_its_types(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, SentExpectation)


def test_white_space_is_folded_as_the_test_compares_it() -> None:
    sent = msgspec.convert(
        {"is": "text", "target": TOTAL, "seen": " 40.00\u00a0 €\n", "right": "80\u200b"}, SentExpectation
    )
    normalize_expectation(sent)
    assert (sent.seen, sent.right) == ("40.00 €", "80")
    value = msgspec.convert({"is": "value", "target": TOTAL, "seen": " 1 ", "right": "1"}, SentExpectation)
    normalize_expectation(value)
    assert value.seen == " 1 "

"""Samples: what a field accepts, of the class of what was typed."""

import re
from typing import Any

import msgspec
import pytest

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.reproduction.patterns import write_match
from ticketbox.domain.captures.reproduction.samples import choose_file, choose_sample

SAMPLES: list[tuple[dict[str, Any], str]] = [
    ({"value_kind": "text 1–10"}, "Sample"),
    ({"value_kind": "text 1–10", "traits": ["letter", "digit"]}, "Sample1"),
    ({"value_kind": "text 1–10", "traits": ["digit"]}, "1234"),
    ({"value_kind": "text 1–10", "traits": ["digit", "negative"]}, "-1"),
    ({"value_kind": "text 1–10", "traits": ["digit", "above_100"]}, "250"),
    ({"value_kind": "text 11–50", "traits": ["letter"]}, "A-sample-of-a-text"),
    ({"value_kind": "text 1–10", "field": {"max_length": 3}}, "Sam"),
    ({"value_kind": "text 1–10", "field": {"min_length": 8}}, "SampleSa"),
    ({"value_kind": "text 1–10", "field": {"pattern": "[A-Z]{3}-[0-9]{4}"}}, "AAA-1111"),
    ({"value_kind": "text 1–10", "field": {"pattern": "(?=.*x).*"}}, "Sample"),
    ({"value_kind": "private", "field": {"input_mode": "numeric", "max_length": 4}}, "1234"),
    ({"value_kind": "private", "field": {"min_length": 20}}, "private-Value-1priva"),
    ({"value_kind": "email", "field": {"pattern": ".+@acme\\.example"}}, "a@acme.example"),
    ({"value_kind": "number"}, "1"),
    ({"value_kind": "number", "field": {"min": "1900", "max": "2100"}}, "1900"),
    ({"value_kind": "number", "field": {"min": "0.25", "step": "0.5"}}, "1.25"),
    ({"value_kind": "number", "traits": ["digit", "above_100"], "field": {"max": "120"}}, "120"),
    ({"value_kind": "number", "traits": ["digit", "negative"], "field": {"step": "any"}}, "-1"),
    ({"value_kind": "range", "field": {"max": "10"}}, "8"),
    ({"value_kind": "range", "field": {"min": "1", "max": "5"}}, "4"),
    ({"value_kind": "range"}, "75"),
    ({"value_kind": "date", "field": {"min": "2026-12-01"}}, "2026-12-01"),
    ({"value_kind": "time", "field": {"max": "09:30"}}, "09:30"),
    ({"value_kind": "empty", "field": {"min_length": 5}}, ""),
]  # fmt: skip


def entry(fields: dict[str, Any]) -> ActionEntry:
    return msgspec.convert({"seq": 1, "ts": 1, "kind": "input", **fields}, ActionEntry)


@pytest.mark.parametrize(("fields", "sample"), SAMPLES)
def test_sample_obeys_its_field(fields: dict[str, Any], sample: str) -> None:
    assert choose_sample(entry(fields)) == sample


@pytest.mark.parametrize(
    ("accept", "name"),
    [
        ("", "sample.txt"), ("image/*", "sample.png"), (".csv,text/csv", "sample.csv"), ("text/csv", "sample.txt"),
        ("application/pdf", "sample.pdf"), ("application/vnd.ms-excel", "sample.pdf"),
        (".../x,.doc", "sample.doc"),
    ],
)  # fmt: skip
def test_sample_file_is_one_that_the_field_accepts(accept: str, name: str) -> None:
    assert choose_file(entry({"kind": "change", "value_kind": "file", "field": {"accept": accept}})) == name


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{5}(-\d{4})?", r"[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,4}$", r"[^@\s]+", r"(?:DE|FR)\d{2}",
        r"\+?[0-9 ]{7,15}", r"^\w+\/\w*$", r"(?<year>\d{4})", r"[\]x-]{2}",
    ],
)  # fmt: skip
def test_text_matches_its_pattern(pattern: str) -> None:
    text = write_match(pattern, 8)
    assert text is not None
    assert re.fullmatch(pattern.replace("?<", "?P<"), text)


@pytest.mark.parametrize(
    "pattern", ["(?!a)b", "(a", "[a", "*", "a{", "a{x}", r"(a)\1", "((a{99}){99}){99}", "(" * 5_000, "[]"]
)
def test_pattern_that_is_not_understood_has_no_text(pattern: str) -> None:
    assert write_match(pattern) is None

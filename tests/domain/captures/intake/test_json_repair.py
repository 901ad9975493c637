"""Broken text from pages is repaired, and valid text is unchanged."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ticketbox.domain.captures.intake.json_repair import repair_json


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb'"a\u0000b"', "a\ufffdb"),
        (rb'"\ud83d"', "\ufffd"),
        (rb'"\uDE00 \uD83D"', "\ufffd \ufffd"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\\ud83d \\u0000"', r"\ud83d \u0000"),
        (rb'"\\\ud83d"', "\\\ufffd"),
    ],
)
def test_broken_text_is_replaced(body: bytes, text: str) -> None:
    assert msgspec.json.decode(repair_json(body)) == text


@pytest.mark.long
@settings(deadline=None)  # a busy machine is slow at times
@given(st.text())
def test_valid_text_is_unchanged(text: str) -> None:
    body = json.dumps(text.replace("\0", "")).encode()
    assert repair_json(body) == body


@settings(deadline=None)  # a busy machine is slow at times
@given(st.text(st.characters(categories=["Cs", "Ll", "Cc"])))
def test_any_text_a_browser_can_produce_is_read(text: str) -> None:
    read = msgspec.json.decode(repair_json(json.dumps(text).encode()))
    assert "\0" not in read
    assert not any("\ud800" <= letter <= "\udfff" for letter in read)

"""Actions as numbered steps in words. The extension's tests use the same examples."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.filters import filter_steps
from ticketbox.domain.captures.steps import MAX_NAME, build_steps, describe_action
from ticketbox.domain.captures.summaries.lines import format_line

EXAMPLES = json.loads(Path(__file__).with_name("steps.json").read_text("utf-8"))


def action(**fields: Any) -> ActionEntry:
    return msgspec.convert({"seq": 1, "ts": 1_000, "kind": "click", **fields}, ActionEntry)


@pytest.mark.parametrize(("fields", "words"), EXAMPLES)
def test_action_is_described_in_words(fields: dict[str, Any], words: str) -> None:
    assert describe_action(action(**fields)) == words


def test_long_names_are_cut() -> None:
    words = describe_action(action(target={"role": "button", "name": "x" * 4_000}))
    assert words == f"Clicked button “{'x' * (MAX_NAME - 1)}…”"


def test_steps_are_numbered_and_found_by_text_and_time() -> None:
    steps = build_steps(
        [
            action(kind="navigate", url="https://shop.example/cart"),
            action(ts=9_000, target={"role": "button", "name": "Pay", "selectors": ["#pay"]}),
        ]
    )
    assert [format_line(step) for step in steps] == ["1. Opened /cart (1000)", "2. Clicked button “Pay” (9000)"]
    assert [index for index, _ in filter_steps(steps, contains="PAY")] == [1]
    assert [index for index, _ in filter_steps(steps, contains="shop.example")] == [0]
    assert [index for index, _ in filter_steps(steps, contains="#pay")] == [1]
    assert [index for index, _ in filter_steps(steps, around=10_000)] == [1]


@pytest.mark.parametrize(
    "fields",
    [
        {"value_kind": "hunter2!"},
        {"value_kind": "text hunter2"},
        {"value_kind": "Secret"},
        {"key": "h"},
        {"key": "Ctrl+"},
        {"key": "AKIAIOSFODNN7EXAMPLE"},
        {"value": "hunter2"},
        {"target": {"value": "hunter2"}},
        {"target": {"selectors": ["#a"] * 11}},
        {"kind": "swipe"},
        {"field": {"value": "hunter2"}},
        {"traits": ["hunter2"]},
        {"dialog": "hunter2"},
        {"to": {"value": "hunter2"}},
        {"to_point": [1, 2, 3]},
        {"repeat": 0},
    ],
)
def test_values_and_unknown_fields_are_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        action(**fields)

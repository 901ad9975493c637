"""The timeline of a capture. The web app's tests use the same example."""

import json
from pathlib import Path
from typing import Any

import msgspec

from tests.support.large_capture import build_streams
from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import ConsoleEntry, ErrorEntry, NetworkEntry
from ticketbox.domain.captures.timeline.moments import Moment, MomentKind, find_first_failure, merge_streams
from ticketbox.domain.captures.timeline.selection import (
    DEFAULT_TOKENS,
    choose_center,
    format_moment,
    select_moments,
)
from ticketbox.domain.core.access.tokens import estimate_tokens

EXAMPLE = json.loads(Path(__file__).with_name("timeline.json").read_text("utf-8"))


def merge(streams: dict[str, Any]) -> list[Moment]:
    return merge_streams(
        msgspec.convert(streams.get("console", []), list[ConsoleEntry]),
        msgspec.convert(streams.get("network", []), list[NetworkEntry]),
        msgspec.convert(streams.get("errors", []), list[ErrorEntry]),
        msgspec.convert(streams.get("actions", []), list[ActionEntry]),
    )


def name_moment(moment: Moment) -> str:
    kind = MomentKind.ACTIONS if moment.kind is MomentKind.PAGES else moment.kind
    return f"{kind} {moment.entry}"


def test_streams_are_merged_as_in_the_web_app() -> None:
    merged = merge(EXAMPLE)
    entries = [moment for moment in merged if moment.entry is not None]
    expected = [(name, text, "failed" in marks) for name, text, *marks in EXAMPLE["moments"]]
    assert [(name_moment(each), each.text, each.failed) for each in entries] == expected
    failure = find_first_failure(merged)
    assert failure is not None
    assert name_moment(failure) == EXAMPLE["first_failure"]


def test_each_new_document_begins_a_page() -> None:
    pages = [moment.text for moment in merge(EXAMPLE) if moment.kind is MomentKind.PAGES]
    assert pages == ["Opened /cart", "Opened /pay", "Opened /thanks?order=7"]
    unknown = merge({"console": [{**EXAMPLE["console"][0], "document": number} for number in (0, 3)]})
    assert [moment.text for moment in unknown] == ["started now", "Opened another page", "started now"]


def test_warnings_of_the_console_are_no_first_failure() -> None:
    assert find_first_failure(merge({"console": EXAMPLE["console"][:3]})) is None
    assert choose_center(merge({"console": EXAMPLE["console"][:3]})) == 7_100
    assert choose_center([]) == 0


def test_lines_name_the_entry_for_the_next_call() -> None:
    merged = {name_moment(each): each for each in merge(EXAMPLE) if each.entry is not None}
    assert format_moment(merged["network r4"], 900) == "5500 +4.6s network r4 GET /b net::ERR_FAILED"
    assert format_moment(merged["console 2"], 900) == "4000 +3.1s console 2 warn price missing ×3"
    assert format_moment(merged["network r3"], 900) == "5000 +4.1s network r3 GET /a.js unknown"
    assert format_moment(merged["network r6"], 900) == "9700 +8.8s network r6 GET /slow pending"


def test_selection_has_failures_and_steps_before_the_rest() -> None:
    streams = build_streams()
    steps = [
        {
            "seq": n,
            "ts": 1_795_253_000_000 + 500 * n,
            "kind": "click",
            "target": {"role": "button", "name": f"Item {n}"},
        }
        for n in range(5)
    ]
    merged = merge({**streams, "actions": steps})
    start = merged[0].ts
    chosen = select_moments(merged, start, choose_center(merged), DEFAULT_TOKENS)
    assert estimate_tokens("\n".join(format_moment(each, start) for each in chosen)) <= DEFAULT_TOKENS
    assert [each.ts for each in chosen] == sorted(each.ts for each in chosen)
    last = msgspec.structs.replace(chosen[-1], omitted_before=0)
    assert sum(each.omitted_before + 1 for each in chosen) == merged.index(last) + 1 > len(chosen)
    kinds = [each.kind for each in chosen]
    assert kinds.count(MomentKind.ACTIONS) == 5
    assert kinds.count(MomentKind.ERRORS) >= 20
    assert MomentKind.CONSOLE in kinds
    everything = select_moments(merged[:30], start, start, 10_000)
    assert [each.text for each in everything] == [each.text for each in merged[:30]]
    assert {each.omitted_before for each in everything} == {0}

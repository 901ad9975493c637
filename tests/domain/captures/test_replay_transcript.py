"""A replay in words."""

import time
from typing import Any

from ticketbox.domain.captures.replay.transcript import describe_replay
from ticketbox.domain.captures.replay.transcript_lines import (
    DEFAULT_TOKENS,
    TranscriptLine,
    format_transcript_line,
    merge_lines,
    select_lines,
)
from ticketbox.domain.captures.timeline.moments import Moment, MomentKind
from ticketbox.domain.core.access.tokens import estimate_tokens

Json = dict[str, Any]
START = 1_760_000_000_000


def text(key: int, content: str) -> Json:
    return {"type": 3, "id": key, "textContent": content}


def element(key: int, tag: str, *children: Json, **attributes: Any) -> Json:
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return {"type": 2, "id": key, "tagName": tag, "attributes": named, "childNodes": list(children)}


CART = element(
    2, "html",
    element(3, "head", element(4, "style", text(5, "h1 { color: red }"))),
    element(
        6, "body",
        element(10, "h1", text(11, "Your cart")),
        element(12, "input", placeholder="Code"),
        element(13, "button", element(14, "span", text(15, "Pay")), type="button"),
        element(16, "ul", element(17, "li", text(18, "Lamp")), element(19, "li", text(20, "Table"))),
        element(21, "p", text(22, "Loading"), hidden=True),
        element(23, "p", text(24, "Free shipping"), style="display: none"),
    ),
)  # fmt: skip


def begin(tree: Json = CART) -> list[Json]:
    root = {"type": 0, "id": 1, "childNodes": [tree]}
    return [
        {"type": 4, "timestamp": START, "data": {"href": "https://shop.example/cart", "width": 9, "height": 9}},
        {"type": 2, "timestamp": START, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}},
    ]


def mutate(at: int, **lists: list[Json]) -> Json:
    empty: Json = {"texts": [], "attributes": [], "removes": [], "adds": []}
    return {"type": 3, "timestamp": START + at, "data": {"source": 0, **empty, **lists}}


def add(parent: int, node: Json, following: int | None = None) -> Json:
    return {"parentId": parent, "nextId": following, "node": node}


def remove(parent: int, key: int) -> Json:
    return {"parentId": parent, "id": key}


def describe(*events: Json) -> list[str]:
    changes = describe_replay([*begin(), *events])
    return [f"{int(each.ts - START)} {each.text}" for each in changes[1:]]


def test_first_line_is_the_page_without_what_is_hidden() -> None:
    (first,) = describe_replay(begin())
    assert first.text == "Your cart [Code] Pay Lamp Table"
    moved = mutate(0, texts=[{"id": 11, "value": "Cart"}])  # before the part that is stored
    later = mutate(1_500, texts=[{"id": 15, "value": "Paid"}])
    assert describe(moved, later) == ["1500 button “Pay” → “Paid”"]
    assert describe_replay([*begin(), moved, later])[0].text.startswith("Cart [Code]")
    assert describe_replay(begin(element(2, "html")))[0].text == "An empty page"


def test_changes_of_a_second_are_one_line() -> None:
    assert describe(
        mutate(1_000, texts=[{"id": 11, "value": "Cart"}]),
        mutate(1_400, texts=[{"id": 11, "value": "Total: NaN"}]),
        mutate(1_500, attributes=[{"id": 13, "attributes": {"disabled": ""}}]),
        {"type": 3, "timestamp": START + 1_600, "data": {"source": 4, "width": 400, "height": 300}},
        mutate(2_000, texts=[{"id": 11, "value": "Total: 5"}]),
        mutate(2_100, attributes=[{"id": 13, "attributes": {"disabled": None}}]),
    ) == [
        "1000 heading “Your cart” → “Total: NaN”; button “Pay” disabled; window resized to 400×300",
        "2000 heading “Total: NaN” → “Total: 5”; button “Pay” enabled",
    ]  # fmt: skip


def test_what_appears_and_goes_is_named_with_all_of_its_text() -> None:
    alert = [add(6, element(30, "div", role="alert")), add(30, element(31, "b")), add(31, text(32, "Card declined"))]
    assert describe(
        mutate(1_000, adds=alert),
        mutate(2_000, removes=[remove(6, 30)]),
        mutate(3_000, removes=[remove(16, 17), remove(16, 19)]),
        mutate(
            4_000, adds=[add(16, element(40 + 2 * each, "li", text(41 + 2 * each, f"Row {each}"))) for each in range(5)]
        ),
        mutate(5_000, attributes=[{"id": 21, "attributes": {"hidden": None}}]),
        mutate(6_000, attributes=[{"id": 21, "attributes": {"style": {"display": ["none", "important"]}}}]),
        mutate(6_500, attributes=[{"id": 21, "attributes": {"style": {"color": "red"}}}]),
        mutate(6_600, attributes=[{"id": 23, "attributes": {"style": {"color": "red"}}}]),
        mutate(7_000, attributes=[{"id": 23, "attributes": {"style": {"display": False}}}]),
    ) == [
        "1000 appeared: alert “Card declined”",
        "2000 gone: “Card declined”",
        "3000 gone: “Lamp”, “Table”",
        "4000 appeared: item “Row 0”, “Row 1”, “Row 2” and 2 more",
        "5000 appeared: “Loading”",
        "6000 gone: “Loading”",
        "7000 appeared: “Free shipping”",
    ]


def test_what_is_built_again_or_moved_is_no_change() -> None:
    again = element(17, "li", text(18, "Lamp"))
    assert describe(
        mutate(1_000, removes=[remove(16, 17)], adds=[add(16, again)]),
        mutate(2_000, removes=[remove(10, 11)], adds=[add(10, text(50, "Your cart"))]),
        mutate(3_000, adds=[add(6, element(51, "div", text(52, "Wait")))]),
        mutate(3_500, removes=[remove(6, 51)]),
    ) == []  # fmt: skip
    new = text(53, "Your order")
    assert describe(mutate(1_000, removes=[remove(10, 11)], adds=[add(10, new)])) == [
        "1000 heading “Your cart” → “Your order”"
    ]


def test_changes_of_unknown_nodes_are_ignored() -> None:
    unknown: Json = {"attributes": [{"id": 99, "attributes": {"disabled": ""}}], "removes": [remove(98, 99)]}
    assert describe(mutate(1_000, texts=[{"id": 99, "value": "x"}], adds=[add(98, text(97, "x"))], **unknown)) == []


def moment(at: int, kind: MomentKind, words: str, **more: Any) -> Moment:
    return Moment(kind=kind, entry="1", ts=START + at, text=words, **more)


def test_lines_are_merged_by_time_after_the_page() -> None:
    changes = describe_replay([*begin(), mutate(4_200, texts=[{"id": 11, "value": "NaN"}])])
    moments = [
        moment(-60_000, MomentKind.ACTIONS, "Opened /"),
        moment(4_100, MomentKind.ACTIONS, "Clicked button “Pay”"),
        moment(4_300, MomentKind.ERRORS, "TypeError: no total", failed=True, count=2),
        moment(4_400, MomentKind.CONSOLE, "debug"),
        moment(9_900, MomentKind.NETWORK, "GET /late", outcome="200"),
    ]
    lines = merge_lines(changes, moments, START, START + 5_000)
    assert [format_transcript_line(each) for each in lines] == [
        "0s screen Your cart [Code] Pay Lamp Table",
        "4s actions 1 Clicked button “Pay”",
        "4s screen heading “Your cart” → “NaN”",
        "4s errors 1 TypeError: no total ×2",
    ]


def test_busy_page_fits_the_budget_and_keeps_what_went_wrong() -> None:
    changes = describe_replay(
        begin()
        + [mutate(each * 100, texts=[{"id": 11, "value": f"Total of the order: {each} EUR"}]) for each in range(300)]
    )
    assert len(changes) == 31  # the page, and a line for each second
    moments = [moment(each * 50, MomentKind.NETWORK, f"GET /api/items/{each}", outcome="200") for each in range(600)]
    moments += [moment(15_000, MomentKind.ERRORS, "TypeError: no total", failed=True)]
    moments += [moment(each * 1_000, MomentKind.ACTIONS, f"Clicked button “{each}”") for each in range(30)]
    lines = merge_lines(changes, moments, START, START + 30_000)
    chosen = select_lines(lines, DEFAULT_TOKENS)
    assert sum(estimate_tokens(format_transcript_line(each)) for each in chosen) <= DEFAULT_TOKENS
    kinds = [each.kind.value for each in chosen]
    assert kinds[0] == "screen"
    assert "errors" in kinds
    assert kinds.count("screen") > 10
    assert sum(each.omitted_before + 1 for each in chosen) <= len(lines)
    assert _is_sorted(chosen)


def _is_sorted(lines: list[TranscriptLine]) -> bool:
    return [each.ts for each in lines[1:]] == sorted(each.ts for each in lines[1:])


def build_buttons(count: int, first: int, name: str) -> list[Json]:
    return [element(first + 2 * i, "button", text(first + 2 * i + 1, f"{name}{i}")) for i in range(count)]


def test_many_siblings_are_described_in_linear_time() -> None:
    count = 15_000
    events = begin(element(2, "body", *build_buttons(count, 10, "old ")))
    removes = [{"parentId": 2, "id": 10 + 2 * i} for i in range(count)]
    adds = [{"parentId": 2, "nextId": None, "node": node} for node in build_buttons(count, 100_000, "new ")]
    started = time.process_time()
    changes = describe_replay([*events, mutate(1_500, removes=removes, adds=adds)])
    assert time.process_time() - started < 2
    assert changes[-1].text.startswith("appeared: button “new 0”, “new 1”, “new 2” and 14,997 more; gone: “old 0”")


def test_page_on_which_every_change_looks_at_all_of_it_is_described_in_part() -> None:
    events = begin(element(2, "body", *(element(10 + i, "i") for i in range(15_000))))
    changes = [{"id": 2, "attributes": {"disabled": str(number)}} for number in range(2_000)]
    started = time.process_time()
    described = describe_replay([*events, mutate(1_500, attributes=changes)])
    assert time.process_time() - started < 5
    assert described[-1].text == "more changes than can be described"


def test_element_inside_one_of_the_same_id_is_described() -> None:
    assert describe_replay(begin(element(2, "body", element(2, "p", text(3, "Hello")))))[0].text == "Hello"
    moved = mutate(1_500, adds=[{"parentId": 14, "nextId": None, "node": element(13, "b")}])  # into its own child
    assert describe_replay([*begin(), moved])

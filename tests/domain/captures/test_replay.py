"""Replays: what is stored of what was sent, and what is removed from it."""

import gzip
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from ticketbox.domain.captures.capture import HealthReason, HealthStatus, ReplayHealth
from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.replay import replay
from ticketbox.domain.captures.replay.css import remove_loads

Json = dict[str, Any]
START = 1_795_253_400_000
SECRET = "Zq9xW7vK2mP4sT8u"
_ids = itertools.count(1_000)


def text(content: str, **more: Any) -> Json:
    return {"type": 3, "id": next(_ids), "textContent": content, **more}


def element(tag: str, *children: Json, **attributes: Any) -> Json:
    return {"type": 2, "id": next(_ids), "tagName": tag, "attributes": attributes, "childNodes": list(children)}


def begin(*nodes: Json, at: float = START, size: tuple[int, int] = (800, 600)) -> list[Json]:
    """The page's size and a full snapshot."""
    body = element("html", element("body", *nodes))
    root = {
        "type": 0,
        "id": 1,
        "childNodes": [{"type": 1, "id": 2, "name": "html", "publicId": "", "systemId": ""}, body],
    }
    href = f"https://shop.example/?token={SECRET}"
    return [
        {"type": 4, "timestamp": at, "data": {"href": href, "width": size[0], "height": size[1]}},
        {"type": 2, "timestamp": at, "data": {"node": root, "initialOffset": {"left": 0, "top": 0}}},
    ]


def mutate(at: float = START + 100, **changes: Any) -> Json:
    lists: Json = {"texts": [], "attributes": [], "adds": [], "removes": []}
    return {"type": 3, "timestamp": at, "data": {"source": 0, **lists, **changes}}


def increment(source: int, at: float = START + 100, **data: Any) -> Json:
    return {"type": 3, "timestamp": at, "data": {"source": source, **data}}


def store(sent: list[Json] | bytes, seconds: int = 30, health: Any = UNSET) -> tuple[list[Json], Any]:
    body = sent if isinstance(sent, bytes) else gzip.compress(json.dumps(sent).encode())
    read = replay.read_replay(body, seconds, health, Redactor(), ProcessorTime(5))
    return json.loads(read.events or b"[]"), read.health


def find_nodes(value: Any, tag: str) -> list[Json]:
    """All elements of a tag in anything that is stored."""
    if isinstance(value, list):
        return [node for each in value for node in find_nodes(each, tag)]
    if not isinstance(value, dict):
        return []
    return [value] * (value.get("tagName") == tag) + [node for each in value.values() for node in find_nodes(each, tag)]


def test_what_runs_or_loads_is_removed() -> None:
    style = element("style", text("@import 'https://evil.example/1'; a { background: url(https://evil.example/2) }"))
    label = text("Pay")
    hostile = [
        element("script", text("steal('https://evil.example/3')"), src="https://evil.example/4"),
        element("a", text("Go"), href="javascript:steal()", onclick="steal()", ping="https://evil.example/5"),
        element("img", src="https://evil.example/6", srcset="https://evil.example/7 2x", onerror="steal()"),
        element("iframe", src="https://evil.example/8", srcdoc="<script>steal()</script>"),
        element("object", data="https://evil.example/9"),
        element("meta", content="0;url=https://evil.example/10", **{"http-equiv": "refresh"}),
        element("link", rel="stylesheet", href="https://evil.example/11"),
        element(
            "link", rel="stylesheet", href="https://evil.example/12", _cssText="b{color:red;src:url(//evil.example)}"
        ),
        element("p", style="background: u\\72l('https://evil.example/13')"),
        element("form", element("button", formaction="https://evil.example/14"), action="javascript:steal()"),
        element("video", src="https://evil.example/15", poster="https://evil.example/16", autoplay=True),
        element("base", href="https://evil.example/17"),
        element("input", type="image", src="https://evil.example/18"),
        element("body", background="https://evil.example/19"),
        element(
            "x-a",
            **{"data-x": "java\tscript:steal()"},
            title="ja\nvascript:steal()",
            rr_dataURL="https://evil.example/20",
        ),
        {**element("use", **{"xlink:href": "data:image/svg+xml,steal()"}), "isSVG": True},
        {**element("animate", attributeName="href", values="javascript:steal()"), "isSVG": True},
        {**element("rect", fill="url(https://evil.example/21)", mask="url(#own)"), "isSVG": True},
        {**element("feImage", href="https://evil.example/22"), "isSVG": True},
        element("embed", src=5, href=True, rr_dataURL=5),
        style,
        label,
    ]
    added = {"parentId": style["id"], "nextId": None, "node": text("port 'elsewhere'; @im")}
    events = [
        *begin(*hostile),
        mutate(
            adds=[added, {"parentId": 1, "nextId": None, "node": element("script", src="//evil.example")}],
            texts=[{"id": style["childNodes"][0]["id"], "value": "@import '//evil.example'"}],
            attributes=[
                {"id": label["id"], "attributes": {"src": "//evil.example", "onclick": "steal()", "HREF": "//evil"}},
                {"id": label["id"], "attributes": {
                    "style": {"background": "URL( //evil.example )", "color": ["red", "important"]}}},
                {"id": hostile[0]["id"], "attributes": {"src": "//evil.example"}},
            ],
        ),
        increment(8, adds=[{"rule": "@import '//evil.example'", "index": 0}], id=3,
                  replaceSync="a{b:image-set('//evil.example' 1x)}"),
        increment(13, id=3, index=[0], set={"property": "background", "value": "url(//evil.example)", "priority": "x"}),
        increment(15, id=3, styleIds=[1], styles=[{"styleId": 1, "rules": [{"rule": "a{b:url(//evil.example)}"}]}]),
        increment(9, id=3, property="drawImage", args=["//evil.example"]),
        increment(10, family="x", fontSource="url(//evil.example)", buffer=False),
        {"type": 5, "timestamp": START + 100, "data": {"tag": "x", "payload": "//evil.example"}},
        {"type": 6, "timestamp": START + 100, "data": {"plugin": "x", "payload": "//evil.example"}},
    ]  # fmt: skip
    stored, health = store(events)
    kept = json.dumps(stored)
    for trace in (
        "steal",
        "evil.example/",
        "url(/",
        "//evil.example)",
        "@import",
        "script:",
        "onclick",
        "srcdoc",
        "data:",
    ):
        assert trace not in kept.replace("image-set('//evil.example'", ""), trace
    assert "no-image-set(" in kept
    assert "url(#own)" in kept
    for tag in ("script", "object", "embed", "meta", "link", "base", "animate"):
        assert not find_nodes(stored, tag), tag
    assert find_nodes(stored, "a")[0]["attributes"] == {"href": "#"}
    assert find_nodes(stored, "img")[0]["attributes"] == find_nodes(stored, "iframe")[0]["attributes"] == {}
    assert stored[2]["data"]["attributes"][1]["attributes"] == {
        "style": {"background": "none", "color": ["red", "important"]}
    }
    assert {event["data"].get("source") for event in stored if event["type"] == 3} == {0, 8, 13, 15}
    assert health == ReplayHealth(HealthStatus.OK, captured=len(stored), length=100)


def test_style_sheet_that_loads_after_the_snapshot_is_shown() -> None:
    sheet, icon = element("link", rel="stylesheet", href="/shop.css"), element("link", rel="icon", href="/icon.svg")
    loaded = {"rel": "stylesheet", "_cssText": "b { color: red; background: url(//evil.example) }"}
    changes = [{"id": each["id"], "attributes": loaded} for each in (sheet, icon)]
    stored, _ = store([*begin(sheet, icon), mutate(attributes=changes)])
    (style,) = find_nodes(stored, "style")
    assert style == {**sheet, "tagName": "style", "attributes": {"rel": "stylesheet"}}
    changed = {each["id"]: each["attributes"] for each in stored[2]["data"]["attributes"]}
    assert changed[icon["id"]] == {}
    assert changed[sheet["id"]] == {"rel": "stylesheet", "_cssText": "b { color: red; background: none }"}


def test_mark_of_the_player_forms_no_token() -> None:
    mark = "/* rr_split */"
    css = f"{mark}@imp{mark}ort 'http://evil.example/a'; b {{ background: u{mark}rl(//evil.example/b) }}"
    stored, _ = store(begin(element("style", text("b {}"), _cssText=css)))
    assert mark not in str(stored)
    assert "@import" not in str(stored).replace(mark, "")
    assert "url(//" not in str(stored).replace(mark, "")


def test_two_texts_of_a_style_never_form_a_token() -> None:
    style = element("style", text("a{background:u"), text("rl(//evil.example)}@im"), text("port 'elsewhere'"))
    nodes = find_nodes(store(begin(style))[0], "style")[0]["childNodes"]
    assert all(node["textContent"].startswith("\n") for node in nodes)


@pytest.mark.parametrize("css", [
    "url(x", "URL(//e)", "u\\72 l(//e)", "\\75\\52\\4c(//e)", "url( '//e' )", 'url("//e")',
    "url('a\\')//e')", "src('//e')",
    "image-set('//e' 1x)", "-webkit-image-set('//e' 1x)", "cross-fade(url(//e), red)", "@import '//e'", "@IMPORT//e;",
    "@im@import x;port '//e'", "uurl(x)rl(//e)", "@\\69mport '//e'", "\\url(//e)",
    "url(#a url(//e)", "url(\"#a)url(//e)",
])  # fmt: skip
def test_css_that_loads_is_found(css: str) -> None:
    clean = f" {remove_loads(css)}".lower()
    for loading in (" url(", "\\", " src(", " image-set(", " -webkit-image-set(", " cross-fade(", "@import"):
        assert loading not in clean.replace("(url(", "( url("), clean


@pytest.mark.parametrize("css", [
    "a { color: red }", ".sm\\:flex { content: '\\f101' }", "rect { fill: url(#g); mask: url('#m') }",
    "@media (min-width: 1px) {}",
    "a { width: calc(1px + 2px); background: linear-gradient(red, blue) }", ".my-url-src { --x: var(--y) }",
])  # fmt: skip
def test_css_that_loads_nothing_stays(css: str) -> None:
    assert remove_loads(css) == css


def test_secrets_and_values_of_fields_are_removed() -> None:
    area = element("textarea", text("hunter2 in the notes"), value="hunter2")
    heading = text("Welcome")
    events = [
        *begin(
            element("input", type="password", value="hunter2"),
            element("button", type="submit", value="Send"),
            area,
            element("p", heading, title=f"Bearer {SECRET}", **{"data-api-key": "hunter2"}),
        ),
        mutate(
            texts=[
                {"id": area["childNodes"][0]["id"], "value": "hunter2"},
                {"id": heading["id"], "value": f"token={SECRET}"},
            ],
            attributes=[{"id": 5, "attributes": {"value": "hunter2", "aria-label": f"password={SECRET}"}}],
        ),
        increment(5, id=5, text="hunter2 and a longer text", isChecked=False),
    ]  # fmt: skip
    stored, _ = store(events)
    kept = json.dumps(stored)
    assert "hunter2" not in kept
    assert SECRET not in kept
    assert stored[-1]["data"]["text"] == "*" * 10
    assert find_nodes(stored, "button")[0]["attributes"]["value"] == "Send"
    assert kept.count("[redacted]") >= 4


def test_value_beside_its_label_is_removed() -> None:
    labels = element("dl", element("dt", text("Password:")), text("\n"), element("dd", text("hunter2x")))
    stored, _ = store(begin(labels, element("p", text("Order 4711a"))))
    assert "hunter2x" not in json.dumps(stored)
    assert "Order 4711a" in json.dumps(stored)


def test_replay_begins_with_the_last_snapshot_that_is_early_enough() -> None:
    events = [*begin(at=START), *begin(element("main"), at=START + 30_000), *begin(element("nav"), at=START + 60_000)]
    events += [increment(3, at=START + 65_000, id=1, x=0, y=9)]
    for seconds, count, tag in ((30, 5, "main"), (60, 7, "html")):
        stored, _ = store(events, seconds)
        assert len(stored) == count
        assert find_nodes(stored[1], tag)
        assert stored[0]["timestamp"] == START + 65_000 - seconds * 1000  # the state at the beginning
        assert stored[-1]["timestamp"] == START + 65_000


def test_replay_is_no_longer_than_the_page_was_open() -> None:
    stored, _ = store([*begin(at=START), mutate(at=START + 5_000)], 120)
    assert stored[-1]["timestamp"] - stored[0]["timestamp"] == 5_000


def test_events_out_of_order_or_of_another_form_are_dropped() -> None:
    odd = [
        increment(3, at=START - 5, id=1, x=0, y=0),
        increment(0, texts="no list"),
        increment(1, positions=[1, 2]),
        mutate(adds=[{"parentId": 1, "node": {"type": 9, "id": 7}}]),
        increment(13, styleId=1, index=[0], set={"property": "--gap", "value": ["4"]}),
        {"type": 3, "timestamp": "soon", "data": {}},
    ]
    stored, health = store([*begin(), *odd, mutate()])
    assert len(stored) == 3
    assert health == ReplayHealth(HealthStatus.PARTIAL, HealthReason.ERROR, 3, len(odd), 100)


def test_declarations_are_kept_whose_value_a_page_set_as_a_number() -> None:
    values = [4, 0, 0.23, None, "1px"]
    changes = [increment(13, styleId=1, index=[0], set={"property": "--gap", "value": each}) for each in values]
    stored, health = store([*begin(), *changes])
    assert [each["data"]["set"]["value"] for each in stored[2:]] == ["4", "0", "0.23", "", "1px"]
    assert health.status == HealthStatus.OK


DEEP = begin()
DEEP[1]["data"]["node"] = "DEEP"


def pack(data: Any) -> bytes:
    return gzip.compress(data if isinstance(data, bytes) else json.dumps(data).encode())


MALFORMED: dict[str, Callable[[], bytes]] = {
    "a cut list": lambda: b"[1, 2",
    "an object": lambda: b"{}",
    "no events": lambda: b"[]",
    "cut gzip": lambda: pack(begin())[:-20],
    "no snapshot": lambda: json.dumps([mutate(), mutate()]).encode(),
    "another version's form": lambda: json.dumps([{"t": 2, "d": {}}, {"t": 3}]).encode(),
    "elements without a name": lambda: json.dumps(begin()).replace('"tagName"', '"tag"').encode(),
    "a deep tree": lambda: json.dumps(DEEP).replace('"DEEP"', '{"childNodes":[' * 3_000 + "]}" * 3_000).encode(),
}
OVER_A_LIMIT: dict[str, Callable[[], bytes]] = {
    "changes": lambda: pack([*begin(), *[mutate(texts=[{"id": 1, "value": ""}] * 100)] * 10_000]),
    "bytes that expand": lambda: pack(b"[" + b" " * replay.MAX_INFLATED + b"]"),
    "bytes": lambda: b"[" + b" " * replay.MAX_SENT + b"]",
    "numbers": lambda: pack(b"[" + b"1," * replay.MAX_COMMAS + b"1,1]"),
    "texts": lambda: pack(b"[" + b'"",' * (replay.MAX_QUOTES // 2) + b'""]'),
    "a repeated key": lambda: pack(json.dumps(begin(text(""))).replace("{", "{" + '"a":[{},{}],' * 40_000, 1).encode()),
    "objects": lambda: pack([*begin(), mutate(removes=[[]] * replay.MAX_OBJECTS)]),
    "events": lambda: json.dumps(
        [*begin(), *[{"type": 0, "timestamp": START, "data": 0}] * replay.MAX_EVENTS]
    ).encode(),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_replay_is_left_out(kind: str) -> None:
    assert store(MALFORMED[kind]()) == ([], ReplayHealth(HealthStatus.BLOCKED, HealthReason.ERROR))


@pytest.mark.parametrize("kind", OVER_A_LIMIT)
def test_replay_over_a_limit_is_left_out(kind: str) -> None:
    assert store(OVER_A_LIMIT[kind]()) == ([], ReplayHealth(HealthStatus.BLOCKED, HealthReason.LIMIT))


def test_replay_that_takes_too_long_is_left_out() -> None:
    sent = json.dumps(begin(*[element("p", text("x" * 50)) for _ in range(3_000)])).encode()
    read = replay.read_replay(sent, 30, UNSET, Redactor(), ProcessorTime(0.001))
    assert (read.events, read.health) == (b"", ReplayHealth(HealthStatus.BLOCKED, HealthReason.LIMIT))


def test_clients_account_of_a_replay_stays() -> None:
    late = ReplayHealth(HealthStatus.PARTIAL, HealthReason.LATE_START, captured=99, length=99)
    stored = ReplayHealth(HealthStatus.PARTIAL, HealthReason.LATE_START, 3, length=100)
    assert store([*begin(), mutate()], health=late)[1] == stored
    assert store(b"", health=late)[1] == ReplayHealth(HealthStatus.PARTIAL, HealthReason.LATE_START)
    slow = ReplayHealth(HealthStatus.BLOCKED, HealthReason.SLOWDOWN)
    assert store(b"", health=slow) == ([], slow)
    assert store(b"") == ([], UNSET)
    assert store(begin(), seconds=0)[1] == ReplayHealth(HealthStatus.DISABLED, HealthReason.POLICY)

"""The HAR export, against a schema of HAR 1.2 written from the format's description."""

import json
from typing import Any

import jsonschema
import pytest

from ticketbox.domain.captures.capture import NetworkEntry, NetworkRequest, NetworkResponse, OmittedReason, Page
from ticketbox.domain.captures.fields import Redirect
from ticketbox.domain.captures.har import encode_har

STRING = {"type": "string"}
SIZE = {"type": "integer", "minimum": -1}
OPTIONAL_TIME = {"type": "number", "minimum": -1}
TIME = {"type": "number", "minimum": 0}
MOMENT = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$",
}


def build_har(page: Page, captured_at: float, entries: list[NetworkEntry], version: str) -> dict[str, Any]:
    """The document that a HAR file contains."""
    return json.loads(encode_har(page, captured_at, entries, version))


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these members and none but custom ones besides."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {}), "comment": STRING},
        "patternProperties": {"^_": {}},
        "required": list(required),
        "additionalProperties": False,
    }


def many(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


PAIRS = many(record({"name": STRING, "value": STRING}))
COOKIES = many(record({"name": STRING, "value": STRING}))
PARAMS = many(record({"name": STRING}, {"value": STRING, "fileName": STRING, "contentType": STRING}))
MESSAGE = {"httpVersion": STRING, "cookies": COOKIES, "headers": PAIRS, "headersSize": SIZE, "bodySize": SIZE}
POST = record({"mimeType": STRING}, {"text": STRING, "params": PARAMS}) | {"not": {"required": ["text", "params"]}}
REQUEST = record({**MESSAGE, "method": STRING, "url": STRING, "queryString": PAIRS}, {"postData": POST})
CONTENT = record({"size": SIZE, "mimeType": STRING}, {"compression": SIZE, "text": STRING, "encoding": STRING})
RESPONSE = record(
    {
        **MESSAGE,
        "status": {"type": "integer"},
        "statusText": STRING,
        "content": CONTENT,
        "redirectURL": STRING,
    }
)
TIMINGS = record(
    {"send": TIME, "wait": TIME, "receive": TIME},
    {"blocked": OPTIONAL_TIME, "dns": OPTIONAL_TIME, "connect": OPTIONAL_TIME, "ssl": OPTIONAL_TIME},
)
ENTRY = record(
    {
        "startedDateTime": MOMENT, "time": TIME, "request": REQUEST, "response": RESPONSE,
        "cache": record({}, {"beforeRequest": {}, "afterRequest": {}}), "timings": TIMINGS,
    },
    {"pageref": STRING, "serverIPAddress": STRING, "connection": STRING},
)  # fmt: skip
PAGE = record(
    {
        "startedDateTime": MOMENT, "id": STRING, "title": STRING,
        "pageTimings": record({}, {"onContentLoad": OPTIONAL_TIME, "onLoad": OPTIONAL_TIME}),
    }
)  # fmt: skip
TOOL = record({"name": STRING, "version": STRING})
HAR = {
    **record({"log": record({"version": {"const": "1.2"}, "creator": TOOL, "entries": many(ENTRY)},
                            {"browser": TOOL, "pages": many(PAGE)})}),
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}  # fmt: skip

SHOP = Page(url="https://shop.example/cart", title="Cart")


def entry(**more: Any) -> NetworkEntry:
    fields: dict[str, Any] = {
        "id": "r1", "ts": 1_760_000_000_123.9, "method": "GET", "url": "https://h/a?x=1&y=&x=%20z#f",
        "status": 200, "type": "fetch", "duration_ms": 12.5, **more,
    }  # fmt: skip
    return NetworkEntry(**fields)


POSTED = entry(
    method="POST",
    status_text="Found",
    status=302,
    request=NetworkRequest(headers={"Content-Type": "application/json"}, body='{"a":1}', bytes=7),
    response=NetworkResponse(headers={"Location": "/next"}, body="moved", bytes=5, mime="text/plain"),
)
FAILED = entry(id="r2", status=None, error="net::ERR_FAILED", duration_ms=None, initiator="https://h/app.js")
ODD = entry(
    url="http://[broken?q",
    ts=0,
    response=NetworkResponse(omitted_reason=OmittedReason.BINARY, headers={"content-type": "image/png"}),
)


@pytest.mark.parametrize("entries", [[], [entry()], [POSTED], [FAILED], [ODD], [POSTED, FAILED, ODD]])
def test_valid_against_har_1_2(entries: list[NetworkEntry]):
    jsonschema.validate(build_har(SHOP, 1_760_000_009_000, entries, "1.0"), HAR)


def test_schema_can_reject():
    document = build_har(SHOP, 0, [POSTED], "1.0")
    for spoil in (
        lambda e: e["timings"].update(wait=-1),
        lambda e: e.pop("cache"),
        lambda e: e["request"].update(postData={"text": "x"}),
        lambda e: e.update(error="unprefixed"),
        lambda e: e.update(startedDateTime="yesterday"),
    ):
        spoiled = build_har(SHOP, 0, [POSTED], "1.0")
        spoil(spoiled["log"]["entries"][0])
        assert spoiled != document
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoiled, HAR)


def test_request_and_response():
    (entries,) = build_har(SHOP, 1_760_000_009_000, [POSTED], "1.0")["log"]["entries"]
    assert entries["startedDateTime"] == "2025-10-09T08:53:20.123Z"
    assert entries["request"]["queryString"] == [
        {"name": "x", "value": "1"},
        {"name": "y", "value": ""},
        {"name": "x", "value": " z"},
    ]
    assert entries["request"]["postData"] == {"mimeType": "application/json", "text": '{"a":1}'}
    assert entries["response"]["content"] == {"size": 5, "mimeType": "text/plain", "text": "moved"}
    assert entries["response"]["redirectURL"] == "/next"
    assert entries["response"]["statusText"] == "Found"


def test_each_redirect_is_a_separate_entry():
    redirects = [Redirect(302, "https://h/b"), Redirect(307, "https://h/c")]
    sent = entry(method="POST", type="document", redirects=redirects)
    document = build_har(SHOP, 0, [sent], "1.0")
    jsonschema.validate(document, HAR)
    hops = [(e["_id"], e["request"], e["response"]) for e in document["log"]["entries"]]
    facts = [(i, q["method"], q["url"][:11], r["status"], r["redirectURL"]) for i, q, r in hops]
    assert facts == [
        ("r1-1", "POST", "https://h/a", 302, "https://h/b"),
        ("r1-2", "GET", "https://h/b", 307, "https://h/c"),
        ("r1", "GET", "https://h/c", 200, ""),
    ]
    two = build_har(SHOP, 0, [sent, entry(ts=1, document=1)], "1.0")
    assert two["log"]["pages"][0]["_url"] == "https://h/c"


def test_time_is_the_sum_of_known_timings():
    for entries in build_har(SHOP, 0, [POSTED, FAILED], "1.0")["log"]["entries"]:
        assert entries["time"] == sum(value for value in entries["timings"].values() if value != -1)


def test_unknown_values_are_marked():
    (entries,) = build_har(SHOP, 0, [FAILED], "1.0")["log"]["entries"]
    assert entries["_error"] == "net::ERR_FAILED"
    assert entries["_initiator"] == "https://h/app.js"
    assert entries["response"]["status"] == 0
    assert entries["response"]["content"]["size"] == entries["request"]["headersSize"] == -1
    (odd,) = build_har(SHOP, 0, [ODD], "1.0")["log"]["entries"]
    assert odd["response"]["content"] == {"size": -1, "mimeType": "image/png", "_omittedReason": "binary"}
    assert "_error" not in odd


def test_entries_are_ordered_by_start():
    log = build_har(SHOP, 1_760_000_009_000, [POSTED, ODD], "1.0")["log"]
    assert [entries["startedDateTime"][:4] for entries in log["entries"]] == ["1970", "2025"]
    assert log["pages"][0]["startedDateTime"].startswith("1970")
    assert log["creator"] == {"name": "ticketbox", "version": "1.0"}


def test_title_that_resembles_the_document_changes_nothing() -> None:
    page = Page("https://shop.example/", title='"entries":[]}}')
    log = build_har(page, 0, [FAILED], "1.0")["log"]
    assert log["pages"][0]["title"] == page.title
    assert len(log["entries"]) == 1


def test_each_document_of_the_tab_is_a_page():
    before = entry(url="https://shop.example/form", type="document", ts=1_000)
    advert = entry(url="https://ads.example/", type="document", frame="https://ads.example/", ts=900)
    after = entry(url="https://shop.example/cart", type="document", document=1, ts=2_000)
    document = build_har(SHOP, 3_000, [advert, before, after], "1.0")
    jsonschema.validate(document, HAR)
    pages = [(each["id"], each["_url"]) for each in document["log"]["pages"]]
    assert pages == [("page_1", "https://shop.example/form"), ("page_2", "https://shop.example/cart")]
    assert [each["pageref"] for each in document["log"]["entries"]] == ["page_1", "page_1", "page_2"]
    assert document["log"]["pages"][1]["title"] == "Cart"

"""The network stream as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/).

What wasn't captured is -1 or empty, as the format requires. Custom fields begin with an underscore.
Cookies are never captured, so their lists are empty.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec.structs import replace

from ticketbox.domain.captures.capture import (
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    OmittedReason,
    Page,
    SocketMessage,
)
from ticketbox.domain.core.clock import format_rfc3339

_encoder = msgspec.json.Encoder()


def encode_har(page: Page, captured_at_ms: float, entries: Sequence[NetworkEntry], version: str) -> bytes:
    """Encode the document, one entry at a time, so that other threads run in between.

    `version` is ticketbox's version.
    """
    times: list[float] = []
    documents: dict[int, tuple[float, str]] = {}
    for entry in entries:
        times.append(entry.ts)
        started, url = documents.get(entry.document, (entry.ts, ""))
        if not url and entry.type == "document" and entry.frame is None:
            url = entry.redirects[-1].url if entry.redirects else entry.url
        documents[entry.document] = (min(started, entry.ts), url)
    listed = sorted(range(len(times)), key=times.__getitem__)
    document = _build_document(page, documents or {0: (captured_at_ms, "")}, captured_at_ms, version)
    head, mark, end = _encoder.encode(document).rpartition(b'"entries":[')
    parts = (_encoder.encode(each) for index in listed for each in _build_entries(entries[index]))
    return b"".join((head, mark, b",".join(parts), end))


def _build_document(
    page: Page, documents: dict[int, tuple[float, str]], captured_at_ms: float, version: str
) -> dict[str, Any]:
    """Build the document without its entries. `documents`: when each document of the tab began, and its address."""
    pages: list[dict[str, Any]] = [
        {
            "startedDateTime": format_rfc3339(int(started)),
            "id": _name_page(index),
            "title": url,
            "pageTimings": {"onContentLoad": -1, "onLoad": -1},
            "_url": url,
        }
        for index, (started, url) in sorted(documents.items())
    ]
    # the last one is the captured page
    pages[-1] |= {
        "title": page.title or page.url,
        "_url": page.url,
        "_capturedDateTime": format_rfc3339(int(captured_at_ms)),
    }
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "ticketbox", "version": version},
            "pages": pages,
            "entries": [],
        }
    }


def _name_page(document: int) -> str:
    return f"page_{document + 1}"


def _build_entries(entry: NetworkEntry) -> Iterable[dict[str, Any]]:
    """Build an entry for each redirect of a request and for its last answer, as browsers do."""
    for index, redirect in enumerate(entry.redirects):
        answer = NetworkResponse(headers={"location": redirect.url})
        yield _build_entry(
            replace(
                entry, id=f"{entry.id}-{index + 1}", status=redirect.status, status_text="", response=answer,
                duration_ms=None, error=None,
            )
        )  # fmt: skip
        # a browser follows these with GET (Fetch, 4.4)
        is_get = redirect.status == 303 or (redirect.status in (301, 302) and entry.method == "POST")
        entry = replace(entry, url=redirect.url, method="GET" if is_get and entry.method != "HEAD" else entry.method)
    yield _build_entry(entry)


def _build_entry(entry: NetworkEntry) -> dict[str, Any]:
    known = {
        "_id": entry.id,
        "_resourceType": entry.type,
        "_initiator": entry.initiator,
        "_error": entry.error,
        "_frame": entry.frame,
    }
    duration = entry.duration_ms or 0
    return {
        "pageref": _name_page(entry.document),
        "startedDateTime": format_rfc3339(int(entry.ts)),
        "time": duration,
        "request": _build_request(entry),
        "response": _build_response(entry),
        "cache": {},
        # only the total is known; send, wait and receive must not be -1
        "timings": {
            "blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": duration, "receive": 0
        },
        "_fromCache": entry.from_cache,
        **({"_webSocketMessages": [_build_message(each) for each in entry.messages]} if entry.messages else {}),
        **{name: value for name, value in known.items() if value is not None},
    }  # fmt: skip


def _build_message(message: SocketMessage) -> dict[str, Any]:
    """Build a message as Chrome writes those of WebSockets."""
    return {
        "type": "send" if message.sent else "receive",
        "time": message.ts / 1000,
        "opcode": 2 if message.omitted_reason is OmittedReason.BINARY else 1,
        "data": message.body or "",
        "_bytes": message.bytes,
        **({"_event": message.event} if message.event else {}),
        **({"_omittedReason": message.omitted_reason} if message.omitted_reason else {}),
    }


def _build_request(entry: NetworkEntry) -> dict[str, Any]:
    part = entry.request
    request: dict[str, Any] = {
        "method": entry.method,
        "url": entry.url,
        "httpVersion": "unknown",
        "cookies": [],
        "headers": _build_pairs(part.headers.items()),
        "queryString": _build_pairs(_parse_query(entry.url)),
        "headersSize": -1,
        "bodySize": -1 if part.bytes is None else part.bytes,
        **_build_omitted_reason(part),
    }
    if part.body is not None:
        request["postData"] = {"mimeType": _find_header(part.headers, "content-type"), "text": part.body}
    return request


def _build_response(entry: NetworkEntry) -> dict[str, Any]:
    part = entry.response
    content: dict[str, Any] = {
        "size": -1 if part.bytes is None else part.bytes,
        "mimeType": part.mime or _find_header(part.headers, "content-type"),
        **_build_omitted_reason(part),
    }
    if part.body is not None:
        content["text"] = part.body
    return {
        "status": entry.status or 0,
        "statusText": entry.status_text,
        "httpVersion": "unknown",
        "cookies": [],
        "headers": _build_pairs(part.headers.items()),
        "content": content,
        "redirectURL": _find_header(part.headers, "location"),
        "headersSize": -1,
        "bodySize": -1 if part.bytes is None else part.bytes,
    }


def _build_pairs(items: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in items]


def _parse_query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []


def _find_header(headers: dict[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _build_omitted_reason(part: NetworkRequest | NetworkResponse) -> dict[str, str]:
    return {"_omittedReason": part.omitted_reason} if part.omitted_reason else {}

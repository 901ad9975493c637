"""Reading HAR 1.2 files of browsers and of Playwright (http://www.softwareishard.com/blog/har-12-spec/)."""

import base64
import binascii
from collections.abc import Callable
from datetime import datetime

import msgspec

from ticketbox.domain.captures.capture import (
    NetworkEntry,
    NetworkRequest,
    NetworkResponse,
    OmittedReason,
    Stream,
)
from ticketbox.domain.captures.fields import LINE
from ticketbox.domain.captures.imports.recording import (
    ImportProblem,
    Recording,
    UnreadableEntry,
    clip_body,
    clip_text,
    clip_url,
    describe_browser,
    is_text,
    read_headers,
)

_LATEST = 253_402_300_799_999  # the year 9999
_TYPES = {"css": "stylesheet", "js": "script", "html": "document"}  # what Firefox and Safari call them


class HarPair(msgspec.Struct):
    """A header."""

    name: str = ""
    value: str = ""


class HarBody(msgspec.Struct, rename={"size": "size", "mime": "mimeType", "file": "_file", "digest": "_sha1"}):
    """A body: its text, or the file of a trace that has it."""

    size: float = -1
    mime: str = ""
    text: str | None = None
    encoding: str | None = None
    file: str | None = None
    digest: str | None = None


class HarRequest(msgspec.Struct, rename={"body": "postData", "body_size": "bodySize"}):
    """What was sent."""

    method: str = "GET"
    url: str = ""
    headers: list[HarPair] = msgspec.field(default_factory=list[HarPair])
    body: HarBody | None = None
    body_size: float = -1


class HarResponse(msgspec.Struct, rename={"text": "statusText", "failure": "_failureText", "error": "_error"}):
    """What came back."""

    status: float = 0
    text: str = ""
    headers: list[HarPair] = msgspec.field(default_factory=list[HarPair])
    content: HarBody = msgspec.field(default_factory=HarBody)
    failure: str | None = None
    error: str | None = None


class HarEntry(msgspec.Struct, rename={"started": "startedDateTime", "type": "_resourceType", "cached": "_fromCache"}):
    """A request and its response."""

    started: str
    request: HarRequest
    response: HarResponse
    time: float = -1
    type: str | None = None
    cached: object = None


class _HarPage(msgspec.Struct, rename={"url": "_url"}):
    title: str = ""
    url: str = ""


class _HarLog(msgspec.Struct):
    entries: list[HarEntry]
    pages: list[_HarPage] = msgspec.field(default_factory=list[_HarPage])


class _Har(msgspec.Struct):
    log: _HarLog


BodyReader = Callable[[str], bytes | None]


def read_har(data: bytes) -> Recording:
    """Read a HAR file. Raises ImportProblem if it isn't one."""
    try:
        log = msgspec.json.decode(data, type=_Har).log
    except (msgspec.DecodeError, RecursionError) as error:
        raise ImportProblem(f"the file isn't a HAR file: {error}") from None
    if not log.entries:
        raise ImportProblem("the HAR file has no requests")
    recording = Recording(Stream.NETWORK)
    for entry in log.entries:
        recording.add(build_request(entry))
    documents = [entry.request.url for entry in log.entries if _find_type(entry) == "document"]
    page = log.pages[-1] if log.pages else _HarPage()
    addresses = [page.url, page.title if "://" in page.title else "", *documents[-1:], log.entries[0].request.url]
    recording.page_url = next(filter(None, addresses))
    recording.page_title = "" if "://" in page.title else page.title
    recording.environment.browser = find_browser(log.entries[0])
    return recording


def find_browser(entry: HarEntry) -> str | None:
    """Return the name and version of the browser that sent a request."""
    return next((describe_browser(each.value) for each in entry.request.headers if is_user_agent(each)), None)


def is_user_agent(header: HarPair) -> bool:
    """Whether a header names the browser."""
    return header.name.lower() == "user-agent"


def build_request(entry: HarEntry, read_file: BodyReader = lambda _: None) -> NetworkEntry:
    """Build an entry of the stream `network`. `read_file` reads the beginning of a body that is a file of a trace.

    Raises UnreadableEntry.
    """
    sent, answer = entry.request, entry.response
    status = int(answer.status) if 100 <= answer.status <= 599 else None
    failure = answer.failure or answer.error
    request = NetworkRequest(headers=_read_pairs(sent.headers), bytes=_read_size(sent.body_size))
    if sent.body is not None:
        request.body, request.omitted_reason = _read_body(sent.body, read_file)
    content = answer.content
    response = NetworkResponse(headers=_read_pairs(answer.headers), bytes=_read_size(content.size))
    response.mime = content.mime[:LINE] or None
    if status is not None:
        response.body, response.omitted_reason = _read_body(content, read_file)
    return NetworkEntry(
        id="r",
        ts=read_time(entry.started),
        method=sent.method[:32] or "GET",
        url=clip_url(sent.url),
        status=status,
        type=_find_type(entry)[:32],
        duration_ms=entry.time if 0 <= entry.time <= 1e12 else None,
        request=request,
        response=response,
        status_text=answer.text[:LINE],
        error=None if status is not None else clip_text(failure or "no response", LINE),
        from_cache=bool(entry.cached),
    )


def read_time(text: str) -> float:
    """Return a time in epoch milliseconds. Raises UnreadableEntry."""
    try:
        ms = datetime.fromisoformat(text).timestamp() * 1_000
    except (ValueError, OverflowError, OSError):
        ms = -1
    if not 0 <= ms <= _LATEST:
        raise UnreadableEntry(f"the file has a time that isn't one: {text[:40]!r}")
    return ms


def _find_type(entry: HarEntry) -> str:
    """Return what a request is for; Firefox and Safari leave it to the response."""
    if entry.type:
        return _TYPES.get(entry.type, entry.type)
    kind = entry.response.content.mime.partition(";")[0].strip()
    if kind == "text/html":
        return "document"
    return "image" if kind.startswith("image/") else "other"


def _read_pairs(pairs: list[HarPair]) -> dict[str, str]:
    return read_headers([(each.name, each.value) for each in pairs])


def _read_size(size: float) -> int | None:
    return int(size) if 0 <= size <= 2**53 - 1 else None


def _read_body(body: HarBody, read_file: BodyReader) -> tuple[str | None, OmittedReason | None]:
    """Return the body's text, and why it isn't there or is cut."""
    name = body.file or (f"resources/{body.digest}" if body.digest else None)
    if not body.text and name is None:
        return None, None if not body.size > 0 else OmittedReason.UNAVAILABLE
    if not is_text(body.mime):
        return None, OmittedReason.BINARY
    text = body.text
    if not text and name is not None:
        data = read_file(name)
        if data is None:
            return None, OmittedReason.UNAVAILABLE
        text = data.decode("utf-8", "replace")
    elif body.encoding == "base64":
        try:
            text = base64.b64decode(text or "", validate=True).decode("utf-8", "replace")
        except binascii.Error:
            return None, OmittedReason.UNAVAILABLE
    kept, cut = clip_body(text or "")
    return kept, OmittedReason.LIMIT if cut else None

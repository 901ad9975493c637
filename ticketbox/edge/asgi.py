"""ASGI types, and functions to read headers, bodies and queries within limits."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from ticketbox.domain.core.problems import InvalidRequest, PayloadTooLarge, RequestTimeout

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class ClientGone(Exception):
    """The client disconnected before its request was complete."""


_HEADERS_BY_NAME = "ticketbox.headers"


def list_header_values(scope: Scope, name: bytes) -> list[str]:
    """Return all values of a header as text."""
    return [value.decode("latin-1") for value in group_headers(scope).get(name, ())]


def get_header(scope: Scope, name: bytes) -> str | None:
    """Return the first value of a header, without surrounding white space; None if it is missing."""
    values = group_headers(scope).get(name)
    return None if values is None else values[0].decode("latin-1").strip()


def group_headers(scope: Scope) -> dict[bytes, list[bytes]]:
    """Group the headers by name, once for each request, because about a dozen are read."""
    headers: dict[bytes, list[bytes]] | None = scope.get(_HEADERS_BY_NAME)
    if headers is None:
        headers = scope[_HEADERS_BY_NAME] = {}
        for name, value in scope["headers"]:
            if name in headers:
                headers[name].append(value)
            else:
                headers[name] = [value]
    return headers


def list_accepted_encodings(scope: Scope) -> set[str]:
    """Return the content codings that the client lists and doesn't exclude (RFC 9110, 12.5.3)."""
    encodings: set[str] = set()
    for line in list_header_values(scope, b"accept-encoding"):
        for part in line.split(","):
            name, _, weight = part.partition(";")
            if re.fullmatch(r"\s*q=0(\.0{0,3})?\s*", weight, re.IGNORECASE) is None:
                encodings.add(name.strip().lower())
    return encodings


def has_body(scope: Scope) -> bool:
    """Whether the request has a body."""
    return (
        get_header(scope, b"content-length") not in {None, "0"} or get_header(scope, b"transfer-encoding") is not None
    )


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected. The request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def discard_body(receive: Receive, max_bytes: int, seconds: float) -> None:
    """Read and discard the rest of a body, up to a size and a time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while max_bytes > 0:
                message = await receive()
                if not message.get("more_body", False):
                    return
                max_bytes -= len(message["body"])


async def read_chunks(scope: Scope, receive: Receive, max_bytes: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield the body's parts as they arrive, within a size and a time.

    Raises PayloadTooLarge (before reading, if Content-Length exceeds the limit), RequestTimeout if the whole body takes
    longer than `seconds`, and ClientGone.
    """
    _check_content_length(scope, max_bytes)
    room, more = max_bytes, True
    try:
        async with asyncio.timeout(seconds):
            while more:
                part, more = await _read_part(receive, room, max_bytes)
                room -= len(part)
                if part:
                    yield part
    except TimeoutError:
        raise _build_timeout_error(seconds) from None


async def read_body(scope: Scope, receive: Receive, max_bytes: int, seconds: float) -> bytes:
    """Read the whole body, within a size and a time. Raises the same as `read_chunks`."""
    return b"".join([part async for part in read_chunks(scope, receive, max_bytes, seconds)])


def _check_content_length(scope: Scope, max_bytes: int) -> None:
    declared = get_header(scope, b"content-length")
    if declared is not None and (not declared.isdigit() or int(declared) > max_bytes):
        raise _build_size_error(max_bytes)


async def _read_part(receive: Receive, room: int, max_bytes: int) -> tuple[bytes, bool]:
    """Read the next part of a body; also return whether more follows."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    part: bytes = message.get("body", b"")
    if len(part) > room:
        raise _build_size_error(max_bytes)
    return part, message.get("more_body", False)


def _build_size_error(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body may have up to {max_bytes:,} bytes")


def _build_timeout_error(seconds: float) -> RequestTimeout:
    return RequestTimeout(f"the body didn't arrive within {seconds:.0f} s")


def parse_query(scope: Scope) -> dict[str, str]:
    """Return the query's parameters. Raises InvalidRequest if one is repeated or can't be decoded."""
    raw: bytes = scope["query_string"]
    if not raw:
        return {}
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise InvalidRequest("the query isn't valid UTF-8, percent-encoded") from None
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise InvalidRequest(f"the query has several values of {name}")
        parameters[name] = value
    return parameters

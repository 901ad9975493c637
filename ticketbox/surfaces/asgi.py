"""The little of ASGI that the surfaces share: types, headers, bounded bodies."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from ticketbox.domain.problems import InvalidRequest, PayloadTooLarge, RequestTimeout

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class ClientGone(Exception):
    """The client went away before its request was whole; there is nobody to answer."""


def headers_named(scope: Scope, name: bytes) -> list[str]:
    """Every value of a header, as text."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def header(scope: Scope, name: bytes) -> str | None:
    """The first value of a header, stripped of white space."""
    for key, value in scope["headers"]:
        if key == name:
            return value.decode("latin-1").strip()
    return None


def encodings(scope: Scope) -> set[str]:
    """The content codings that the client names and doesn't rule out (RFC 9110, 12.5.3)."""
    found: set[str] = set()
    for line in headers_named(scope, b"accept-encoding"):
        for part in line.split(","):
            name, _, weight = part.partition(";")
            if re.fullmatch(r"\s*q=0(\.0{0,3})?\s*", weight, re.IGNORECASE) is None:
                found.add(name.strip().lower())
    return found


def has_body(scope: Scope) -> bool:
    """Whether a body comes with the request."""
    return header(scope, b"content-length") not in {None, "0"} or header(scope, b"transfer-encoding") is not None


async def drain(receive: Receive, most: int, seconds: float) -> None:
    """Read and drop what still arrives of a body, up to a size and a time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while most > 0:
                message = await receive()
                if not message.get("more_body", False):
                    return
                most -= len(message["body"])


async def chunks(scope: Scope, receive: Receive, most: int, seconds: float) -> AsyncIterator[bytes]:
    """The body's parts as they arrive, within a size and a time.

    Raises PayloadTooLarge, before reading where Content-Length already says so, RequestTimeout for a body
    that takes longer than `seconds` as a whole, and ClientGone.
    """
    declared = header(scope, b"content-length")
    if declared is not None and (not declared.isdigit() or int(declared) > most):
        raise PayloadTooLarge(f"the body may have up to {most:,} bytes")
    received = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                part: bytes = message.get("body", b"")
                received += len(part)
                if received > most:
                    raise PayloadTooLarge(f"the body may have up to {most:,} bytes")
                if part:
                    yield part
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        raise RequestTimeout(f"the body didn't arrive within {seconds:.0f} s") from None


async def whole_body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body, within a size and a time. Raises as `chunks` does."""
    parts = [part async for part in chunks(scope, receive, most, seconds)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


def query(scope: Scope) -> dict[str, str]:
    """The query's parameters. Raises InvalidRequest for a repeated or undecodable one."""
    raw: bytes = scope["query_string"]
    if not raw:
        return {}
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise InvalidRequest("the query isn't valid UTF-8, percent-encoded") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise InvalidRequest(f"{name} stands twice in the query")
        found[name] = value
    return found

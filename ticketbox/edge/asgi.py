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


# Set by the server: reports whether the request's body has arrived, so that no wait is needed.
BODY_IS_HERE = "ticketbox.body_is_here"
_NAMED = "ticketbox.headers"


def list_header_values(scope: Scope, name: bytes) -> list[str]:
    """Return all values of a header as text."""
    return [value.decode("latin-1") for value in _group_headers(scope).get(name, ())]


def header(scope: Scope, name: bytes) -> str | None:
    """Return the first value of a header, without surrounding white space; None if it is missing."""
    values = _group_headers(scope).get(name)
    return None if values is None else values[0].decode("latin-1").strip()


def _group_headers(scope: Scope) -> dict[bytes, list[bytes]]:
    """Group the headers by name, once for each request, because about a dozen are read."""
    found: dict[bytes, list[bytes]] | None = scope.get(_NAMED)
    if found is None:
        found = scope[_NAMED] = {}
        for name, value in scope["headers"]:
            if name in found:
                found[name].append(value)
            else:
                found[name] = [value]
    return found


def list_accepted_encodings(scope: Scope) -> set[str]:
    """Return the content codings that the client lists and doesn't exclude (RFC 9110, 12.5.3)."""
    found: set[str] = set()
    for line in list_header_values(scope, b"accept-encoding"):
        for part in line.split(","):
            name, _, weight = part.partition(";")
            if re.fullmatch(r"\s*q=0(\.0{0,3})?\s*", weight, re.IGNORECASE) is None:
                found.add(name.strip().lower())
    return found


def has_body(scope: Scope) -> bool:
    """Whether the request has a body."""
    return header(scope, b"content-length") not in {None, "0"} or header(scope, b"transfer-encoding") is not None


async def drain(receive: Receive, most: int, seconds: float) -> None:
    """Read and discard the rest of a body, up to a size and a time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while most > 0:
                message = await receive()
                if not message.get("more_body", False):
                    return
                most -= len(message["body"])


async def chunks(scope: Scope, receive: Receive, most: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield the body's parts as they arrive, within a size and a time.

    Raises PayloadTooLarge (before reading, if Content-Length exceeds the limit), RequestTimeout if the whole body takes
    longer than `seconds`, and ClientGone.
    """
    _refuse_declared(scope, most)
    room, more = most, True
    try:
        async with asyncio.timeout(seconds):
            while more:
                part, more = await _part(receive, room, most)
                room -= len(part)
                if part:
                    yield part
    except TimeoutError:
        raise _too_slow(seconds) from None


async def whole_body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes:
    """Read the whole body, within a size and a time. Raises the same as `chunks`.

    Most bodies arrive with the head; for them a generator and a timeout would cost more than the reading.
    """
    _refuse_declared(scope, most)
    if _is_here(scope):
        return (await _part(receive, most, most))[0]
    try:
        async with asyncio.timeout(seconds):
            parts, room, more = list[bytes](), most, True
            while more:
                part, more = await _part(receive, room, most)
                room -= len(part)
                parts.append(part)
            return b"".join(parts)
    except TimeoutError:
        raise _too_slow(seconds) from None


def _is_here(scope: Scope) -> bool:
    known: Callable[[], bool] | None = scope.get("extensions", {}).get(BODY_IS_HERE)
    return known is not None and known()


def _refuse_declared(scope: Scope, most: int) -> None:
    declared = header(scope, b"content-length")
    if declared is not None and (not declared.isdigit() or int(declared) > most):
        raise _too_large(most)


async def _part(receive: Receive, room: int, most: int) -> tuple[bytes, bool]:
    """Read the next part of a body; also return whether more follows."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    part: bytes = message.get("body", b"")
    if len(part) > room:
        raise _too_large(most)
    return part, message.get("more_body", False)


def _too_large(most: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body may have up to {most:,} bytes")


def _too_slow(seconds: float) -> RequestTimeout:
    return RequestTimeout(f"the body didn't arrive within {seconds:.0f} s")


def query(scope: Scope) -> dict[str, str]:
    """Return the query's parameters. Raises InvalidRequest if one is repeated or can't be decoded."""
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
            raise InvalidRequest(f"{name} is repeated in the query")
        found[name] = value
    return found

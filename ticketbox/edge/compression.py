"""Compress answers for clients that accept gzip (docs/operate/security.md, "Compression").

Only answers marked with `allow_compression` are compressed.
"""

import asyncio
import zlib

from ticketbox.edge.asgi import Message, Scope, Send, header, list_accepted_encodings

LEAST_BYTES = 1_000
_LEVEL = 1  # a sixth of the bytes; level 6 takes three times as long for a fifth less
_LONG_BYTES = 100_000  # takes about a millisecond; larger bodies are compressed in another thread
_KINDS = (b"application/json", b"text/csv", b"text/html")
_OWN_PAGES = {None, "same-origin", "none"}


def allow_compression(scope: Scope) -> None:
    """Mark the answer as free of secrets, so that its compressed length can't reveal one (BREACH)."""
    scope["may_pack"] = True


def packing(scope: Scope, send: Send) -> Send:
    """Return a `send` that compresses answers that are marked and large enough.

    Answers with an ETag aren't compressed: the tag identifies these bytes (RFC 9110, 8.8.3.3), and clients send it in
    If-Match. Requests from other sites' pages aren't either, because such a page can submit guesses and measure.
    """
    held: Message | None = None

    async def pack(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            if not _is_worth_it(scope, message):
                await send(message)
                return
            message["headers"] = [*message["headers"], (b"vary", b"accept-encoding")]
            if "gzip" in list_accepted_encodings(scope) and header(scope, b"sec-fetch-site") in _OWN_PAGES:
                held = message
            else:
                await send(message)
        elif held is None:
            await send(message)
        else:
            start, held = held, None
            if not message.get("more_body", False):
                body: bytes = message["body"]
                long = len(body) > _LONG_BYTES
                message["body"] = await asyncio.to_thread(_gzip, body) if long else _gzip(body)
                start["headers"] = [
                    *(each for each in start["headers"] if each[0] != b"content-length"),
                    (b"content-length", str(len(message["body"])).encode()),
                    (b"content-encoding", b"gzip"),
                ]
            await send(start)
            await send(message)

    return pack


def _is_worth_it(scope: Scope, start: Message) -> bool:
    if "may_pack" not in scope or start["status"] != 200 or scope["method"] == "HEAD":
        return False
    headers = dict(start["headers"])
    return (
        int(headers.get(b"content-length", 0)) >= LEAST_BYTES
        and headers[b"content-type"].startswith(_KINDS)
        and headers.keys().isdisjoint({b"etag", b"set-cookie", b"content-encoding"})
    )


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()

"""Answers compressed on their way out, where the client takes gzip (docs/operate/security.md, "Compression").

A surface says of its answer that it may be: nothing is compressed unless somebody thought about what is in it.
"""

import asyncio
import zlib

from ticketbox.edge.asgi import Message, Scope, Send, header, list_accepted_encodings

LEAST_BYTES = 1_000
_LEVEL = 1  # a sixth of the bytes; 6 takes three times as long for a fifth less
_LONG_BYTES = 100_000  # takes about a millisecond; what takes longer leaves the event loop's thread
_KINDS = (b"application/json", b"text/csv", b"text/html")
_OWN_PAGES = {None, "same-origin", "none"}


def allow_compression(scope: Scope) -> None:
    """Say that the answer to this request holds no secret, so that its length may tell of what is in it."""
    scope["may_pack"] = True


def packing(scope: Scope, send: Send) -> Send:
    """A `send` that compresses answers which may be and are worth it.

    An answer with an ETag goes out as it is: the tag names just these bytes (RFC 9110, 8.8.3.3), and comes back in
    If-Match. What another site's page asks for is never compressed, since that page may try guesses and listen.
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

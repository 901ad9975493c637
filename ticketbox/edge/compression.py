"""Compress answers for clients that accept gzip (docs/operate/security.md, "Compression").

Only answers marked with `allow_compression` are compressed.
"""

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ticketbox.domain.core.thread_priority import lower_priority
from ticketbox.edge.asgi import Message, Scope, Send, get_header, list_accepted_encodings

MIN_BYTES = 1_000
_LEVEL = 1  # a sixth of the bytes; level 6 takes three times as long for a fifth less
_LONG_BYTES = 100_000  # takes about a millisecond; larger bodies are compressed in another thread
_KINDS = (b"application/json", b"text/csv", b"text/html")
_OWN_PAGES = {None, "same-origin", "none"}
_threads = ThreadPoolExecutor(2, "compression", lower_priority)


def allow_compression(scope: Scope) -> None:
    """Mark the answer as free of secrets, so that its compressed length can't reveal one (BREACH)."""
    scope["allows_compression"] = True


def wrap_send(scope: Scope, send: Send) -> Send:
    """Return a `send` that compresses answers that are marked and large enough.

    Answers with an ETag aren't compressed: the tag identifies these bytes (RFC 9110, 8.8.3.3), and clients send it in
    If-Match. Requests from other sites' pages aren't either, because such a page can submit guesses and measure.
    """
    delayed_start: Message | None = None
    compress: Callable[[bytes, bool], bytes] | None = None

    async def send_compressed(message: Message) -> None:
        nonlocal delayed_start, compress
        if message["type"] == "http.response.start":
            if not _is_compressible(scope, message):
                await send(message)
                return
            message["headers"] = [*message["headers"], (b"vary", b"accept-encoding")]
            if "gzip" in list_accepted_encodings(scope) and get_header(scope, b"sec-fetch-site") in _OWN_PAGES:
                delayed_start = message
            else:
                await send(message)
            return
        more = message.get("more_body", False)
        start, delayed_start = delayed_start, None
        if start is not None:
            compress = _create_compressor()
        if compress is not None:
            body: bytes = message["body"]
            if len(body) > _LONG_BYTES:
                loop = asyncio.get_running_loop()
                message["body"] = await loop.run_in_executor(_threads, compress, body, not more)
            else:
                message["body"] = compress(body, not more)
        if start is not None:
            start["headers"] = [
                *(each for each in start["headers"] if each[0] != b"content-length"),
                *([] if more else [(b"content-length", str(len(message["body"])).encode())]),
                (b"content-encoding", b"gzip"),
            ]
            await send(start)
        await send(message)

    return send_compressed


def _is_compressible(scope: Scope, start: Message) -> bool:
    if "allows_compression" not in scope or start["status"] != 200 or scope["method"] == "HEAD":
        return False
    headers = dict(start["headers"])
    return (
        int(headers.get(b"content-length", 0)) >= MIN_BYTES
        and headers[b"content-type"].startswith(_KINDS)
        and headers.keys().isdisjoint({b"etag", b"set-cookie", b"content-encoding"})
    )


def _create_compressor() -> Callable[[bytes, bool], bytes]:
    """Return a function that compresses the parts of a body in order; its second argument says which is the last."""
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def compress(part: bytes, last: bool) -> bytes:
        compressed = stream.compress(part)
        return compressed + stream.flush() if last else compressed

    return compress

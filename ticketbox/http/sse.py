"""Events as they happen, as server-sent events (WHATWG HTML, "Server-sent events"; docs/use/events.md)."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import msgspec

from ticketbox.edge.asgi import Receive, Scope, Send, wait_for_disconnect
from ticketbox.operations.core.live.listeners import EventBatch

WRITE_SECONDS = 20.0
MAX_CHUNK_BYTES = 64 * 1024
# A function in the request's scope that closes the connection and discards unsent data.
ABORT = "ticketbox.abort"

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # nginx would collect the events
]
_RETRY_INTERVAL = b"retry: 2000\n\n"

_encoder = msgspec.json.Encoder()


class _SlowClientError(Exception):
    """The client doesn't read what the server sends."""


class EventStream:
    """A response that lasts until its batches end or the client disconnects."""

    def __init__(self, batches: AsyncGenerator[EventBatch]) -> None:
        self._batches = batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the batches as they arrive. Raises Problem if the first one is refused."""
        disconnected = asyncio.create_task(wait_for_disconnect(receive))
        sending = asyncio.create_task(self._send_batches(send, head=scope["method"] == "HEAD"))
        try:
            await asyncio.wait({disconnected, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and isinstance(sending.exception(), _SlowClientError):
                abort: Callable[[], None] = scope["extensions"][ABORT]
                abort()
                await disconnected
        finally:
            disconnected.cancel()
            sending.cancel()
            await asyncio.gather(disconnected, sending, return_exceptions=True)
        error = None if sending.cancelled() else sending.exception()
        if error is not None and not isinstance(error, _SlowClientError):
            raise error

    async def _send_batches(self, send: Send, *, head: bool) -> None:
        async with contextlib.aclosing(self._batches) as batches:
            first = await anext(batches)
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            if not head:
                await _send_chunk(send, _RETRY_INTERVAL)
                await _send_batch(send, first)
                async for batch in batches:
                    await _send_batch(send, batch)
        await _send_chunk(send, b"", more=False)


async def _send_batch(send: Send, batch: EventBatch) -> None:
    """Send a batch in chunks. An empty batch updates the client's last event id, and is a heartbeat."""
    waiting = bytearray(b"event: reset\ndata: {}\n\n" if batch.reset else b"")
    for ticket in sorted(batch.viewed):
        waiting += b"event: presence\ndata: %s\n\n" % _encoder.encode({"ticket_id": ticket})
    for event in batch.items:
        waiting += b"id: %s\ndata: %s\n\n" % (event.id.encode(), _encoder.encode(event))
        if len(waiting) >= MAX_CHUNK_BYTES:
            await _send_chunk(send, bytes(waiting))
            waiting.clear()
    if not batch.items:
        waiting += b":\nid: %s\n\n" % batch.last.encode()
    if waiting:
        await _send_chunk(send, bytes(waiting))


async def _send_chunk(send: Send, data: bytes, *, more: bool = True) -> None:
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            await send({"type": "http.response.body", "body": data, "more_body": more})
    except TimeoutError:
        raise _SlowClientError from None

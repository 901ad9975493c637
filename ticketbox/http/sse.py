"""Events as they happen, as server-sent events (WHATWG HTML, "Server-sent events"; docs/use/events.md)."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import msgspec

from ticketbox.edge.asgi import Receive, Scope, Send
from ticketbox.operations.core.listeners import EventBatch

WRITE_SECONDS = 20.0
MOST_AT_ONCE = 64 * 1024
# The server puts it into a request's scope: it closes the connection and drops what waits to be sent.
ABORT = "ticketbox.abort"

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),  # nginx would collect the events
]
_GREETING = b"retry: 2000\n\n"

_encoder = msgspec.json.Encoder()


class _Slow(Exception):
    """The client doesn't take what is sent."""


class EventStream:
    """An answer that goes on until its batches end or the client goes away."""

    def __init__(self, batches: AsyncGenerator[EventBatch]) -> None:
        self._batches = batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send batch after batch. Raises Problem when the first one is refused."""
        gone = asyncio.create_task(_disconnect(receive))
        talk = asyncio.create_task(self._talk(send, head=scope["method"] == "HEAD"))
        try:
            await asyncio.wait({gone, talk}, return_when=asyncio.FIRST_COMPLETED)
            if talk.done() and isinstance(talk.exception(), _Slow):
                abort: Callable[[], None] = scope["extensions"][ABORT]
                abort()
                await gone
        finally:
            gone.cancel()
            talk.cancel()
            await asyncio.gather(gone, talk, return_exceptions=True)
        error = None if talk.cancelled() else talk.exception()
        if error is not None and not isinstance(error, _Slow):
            raise error

    async def _talk(self, send: Send, *, head: bool) -> None:
        async with contextlib.aclosing(self._batches) as batches:
            first = await anext(batches)
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            if not head:
                await _send(send, _GREETING)
                await _write(send, first)
                async for batch in batches:
                    await _write(send, batch)
        await _send(send, b"", more=False)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, batch: EventBatch) -> None:
    """Send a batch in parts; an empty one moves the client's place on, and shows that somebody is there."""
    waiting = bytearray(b"event: reset\ndata: {}\n\n" if batch.reset else b"")
    for event in batch.items:
        waiting += b"id: %s\ndata: %s\n\n" % (event.id.encode(), _encoder.encode(event))
        if len(waiting) >= MOST_AT_ONCE:
            await _send(send, bytes(waiting))
            waiting.clear()
    if not batch.items:
        waiting += b":\nid: %s\n\n" % batch.last.encode()
    if waiting:
        await _send(send, bytes(waiting))


async def _send(send: Send, data: bytes, *, more: bool = True) -> None:
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            await send({"type": "http.response.body", "body": data, "more_body": more})
    except TimeoutError:
        raise _Slow from None

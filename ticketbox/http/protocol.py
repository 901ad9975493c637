"""Uvicorn's HTTP protocol with limits for the head of a request.

The only module that relies on the internals of uvicorn's protocol class. uvicorn has no setting for these limits: it
waits without end for the rest of a head, so a few hundred such clients would occupy every connection, and it buffers a
head of any size. tests/test_private_apis.py names the version that this was tested with.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ticketbox.http.sse import ABORT

HEAD_SECONDS = 20.0
MAX_HEAD = 1024 * 1024  # bytes


class LimitedHttpProtocol(HttpToolsProtocol):
    """Closes a connection whose request head takes longer than 20 seconds, and refuses a head above 1 MB."""

    _head_timer: asyncio.TimerHandle | None = None
    _in_head = False
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Parse the data, unless the head is too long; start the timer while a head is incomplete.

        One read is far smaller than the limit, so a head is never parsed past it.
        """
        self._head_bytes = self._head_bytes + len(data) if self._in_head else len(data)
        if self._head_bytes > MAX_HEAD:
            self.send_400_response("The request's head is too long.")
            return
        super().data_received(data)
        if self._in_head and self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_message_begin(self) -> None:
        """Note that a head begins, and add this server's extension to the scope."""
        self._in_head = True
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: self.transport.abort}  # type: ignore[typeddict-item]

    def on_headers_complete(self) -> None:
        """Stop the timer; the body has its own limits."""
        self._in_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a closed connection."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

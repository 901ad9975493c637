"""The HTTP server around the application: sockets, limits, a stop that lets running requests end."""

import asyncio
import contextlib
import errno
import socket
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ticketbox.edge.asgi import BODY_IS_HERE, ASGIApp
from ticketbox.http.sse import ABORT
from ticketbox.settings import Settings

BACKLOG = 2048
HEAD_SECONDS = 20.0
MAX_HEAD = 1024 * 1024
# How long a thread may keep Python to itself while another waits. A capture's redaction takes a second of a worker
# thread, and the event loop lets go at each statement of SQL: with Python's own 5 ms it would wait that long each time.
SWITCH_SECONDS = 0.0005


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes any free one. Raises OSError when the address can't be had."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def listen_locally(path: Path) -> Generator[socket.socket]:
    """Open a unix socket for a proxy on this machine, for its owner and group; it is removed afterwards.

    One that a killed server left is replaced. Raises OSError when it is in use, or can't be made.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            if listener.connect_ex(str(path)) == 0:
                raise OSError(errno.EADDRINUSE, "another server listens there")
            path.unlink()
            listener.close()
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        path.chmod(0o660)
        listener.listen(BACKLOG)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)
    finally:
        listener.close()


class _Protocol(HttpToolsProtocol):
    """Uvicorn's protocol, with bounds for the head of a request, in time and in size.

    Uvicorn waits for ever there, and a few hundred such clients would hold every connection that there is; and
    it takes whatever comes, until the memory is full.
    """

    _patience: asyncio.TimerHandle | None = None
    _in_head = False
    _held = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEAD_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Let the parser go on, unless a head has grown too long; begin to wait where one isn't whole yet.

        What is read at once is far less than a head may have.
        """
        self._held = self._held + len(data) if self._in_head else len(data)
        if self._held > MAX_HEAD:
            self.send_400_response("The request's head is too long.")
            return
        super().data_received(data)
        if self._in_head and self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()
        self.scope["extensions"] = {  # type: ignore[typeddict-item]
            ABORT: self.transport.abort,
            BODY_IS_HERE: self._has_whole_body,
        }

    def on_headers_complete(self) -> None:
        """The head is there; the body has limits of its own."""
        self._in_head = False
        self._end_patience()
        super().on_headers_complete()

    def _has_whole_body(self) -> bool:
        """Whether no more comes of the newest request's body, and so of any earlier one's."""
        return not self.cycle.more_body

    def connection_lost(self, exc: Exception | None) -> None:
        """The client went away."""
        self._end_patience()
        super().connection_lost(exc)

    def _end_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class _Server(uvicorn.Server):
    """Uvicorn's server, which says when it is ready and when it stops, and lets the process close its file
    after a signal.

    Uvicorn raises the signal once more when it is done, and SIGTERM would then end the process at once.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve; from here on a signal is an orderly stop."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more, let what runs end, and end what would go on for ever."""
        self._stopping()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take the signals that ask for a stop, and keep them."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


async def serve_until_stopped(
    application: ASGIApp,
    settings: Settings,
    listener: socket.socket,
    stop_seconds: int,
    ready: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM; running requests then have `stop_seconds` to end.

    `ready` is called once when it begins, `stopping` once when the stop does.
    """
    config = uvicorn.Config(
        application,
        http=_Protocol,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=True,
        lifespan="off",
        ws="none",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=stop_seconds,
        h11_max_incomplete_event_size=32 * 1024,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    await asyncio.shield(_Server(config, ready, stopping).serve(sockets=[listener]))

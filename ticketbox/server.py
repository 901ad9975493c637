"""The HTTP server: sockets, settings of uvicorn, and an orderly stop."""

import asyncio
import contextlib
import errno
import signal
import socket
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from ticketbox.edge.asgi import ASGIApp
from ticketbox.http.protocol import LimitedHttpProtocol
from ticketbox.settings import Settings

BACKLOG = 2048
# How long a thread may hold the interpreter while another waits. Redacting a capture occupies a worker thread for a
# second, and the event loop releases the interpreter at each SQL statement: with Python's default of 5 ms it would
# wait that long each time.
SWITCH_SECONDS = 0.0005


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 means any free port. Raises OSError when the address isn't available."""
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
def listen_on_unix_socket(path: Path) -> Generator[socket.socket]:
    """Open a unix socket for a proxy on this machine, for its owner and group, and remove it at the end.

    Replaces a socket that a killed server left behind. Raises OSError when it is in use or can't be created.
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


class _Server(uvicorn.Server):
    """Uvicorn's server, which reports when it is ready and when it stops."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve; from now on a signal is an orderly stop."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, let running requests end, and end streams."""
        self._stopping()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop at SIGINT and SIGTERM.

        Uvicorn's method raises the signal again when the server has stopped, and SIGTERM would end the process before
        its file is closed.
        """
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def serve_until_stopped(
    application: ASGIApp,
    settings: Settings,
    listener: socket.socket,
    stop_seconds: int,
    ready: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM; running requests then have `stop_seconds` to end.

    Calls `ready` once the server accepts connections, and `stopping` when the stop begins. Must run on the main thread.
    """
    config = uvicorn.Config(
        application,
        http=LimitedHttpProtocol,
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

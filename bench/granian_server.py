"""Serve an application on granian, which is no dependency of ticketbox: `uv run --group dev --with granian`."""

import asyncio
import signal
from typing import Any


async def serve_granian(application: Any, port: int) -> None:
    """Serve on embedded granian until a signal, with the same limits where it has them."""
    # only installed with `uv run --group dev --with granian`
    from granian.constants import HTTPModes, Interfaces  # pyright: ignore[reportMissingImports]
    from granian.http import HTTP1Settings  # pyright: ignore[reportMissingImports]
    from granian.server.embed import Server as Granian  # pyright: ignore[reportMissingImports]

    server = Granian(
        application, address="127.0.0.1", port=port, interface=Interfaces.ASGINL, http=HTTPModes.http1,
        websockets=False, log_enabled=False, backlog=2048,
        http1_settings=HTTP1Settings(header_read_timeout=30_000, max_buffer_size=32 * 1024),
    )  # fmt: skip
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    await server.serve()

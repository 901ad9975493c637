"""The modules that rely on internals of a dependency, each with the version that it was tested with.

There is one module for each dependency, because the layers forbid one that imports all of them. pyright refuses
private names everywhere else (`reportPrivateUsage`). After an update of a dependency: read what changed in the named
class, run these tests, and set the new version.
"""

import asyncio
import subprocess
import sys
import threading
from functools import partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from ticketbox.http import protocol
from ticketbox.http.sse import ABORT
from ticketbox.server import listen
from ticketbox.store.file.connection import Connection, connect


@pytest.mark.parametrize(
    ("dependency", "tested"),
    [
        ("aiosqlite", "0.22.1"),  # Connection._execute, Connection._conn: ticketbox/store/file/connection.py
        ("litestar", "2.25.0"),  # Litestar._get_default_plugins: ticketbox/http/framework.py
        ("uvicorn", "0.54.0"),  # the callbacks of HttpToolsProtocol: ticketbox/http/protocol.py
    ],
)
def test_the_version_is_the_one_that_was_tested(dependency: str, tested: str) -> None:
    assert version(dependency) == tested


def test_a_unit_of_work_runs_on_the_connections_thread(tmp_path: Path) -> None:
    async def run() -> tuple[str, int]:
        connection = await Connection.open(partial(connect, tmp_path / "some.db", writes=True))
        try:
            return await connection.run(
                lambda raw: (threading.current_thread().name, raw.execute("SELECT 41 + 1").fetchone()[0])
            )
        finally:
            await connection.close()

    thread, value = asyncio.run(run())
    assert value == 42
    assert thread != threading.current_thread().name


def test_the_framework_loads_no_default_plugin() -> None:
    code = (
        "import sys; from ticketbox.http.framework import Framework; app = Framework([], openapi_config=None)\n"
        "names = {type(plugin).__name__ for plugin in app.plugins}\n"
        "assert not any('Pydantic' in name or 'Attrs' in name for name in names), names\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def _describe_extension(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    text = f"{callable(scope['extensions'][ABORT])}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": text})


async def _exchange(sent: bytes) -> bytes:
    """Everything that a server with the limited protocol sends before it closes the connection."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(_describe_extension, http=protocol.LimitedHttpProtocol, log_level="error"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        async with asyncio.timeout(60):
            received = await reader.read()
        writer.close()
        return received
    finally:
        server.should_exit = True
        await serving


def test_the_protocol_can_abort_a_connection() -> None:
    assert b"\r\nTrue\r\n" in asyncio.run(_exchange(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))


def test_the_protocol_closes_a_connection_with_a_slow_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    assert asyncio.run(_exchange(b"GET / HTTP/1.1\r\nHost: x\r\n")) == b""


def test_the_protocol_refuses_a_long_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_HEAD", 1000)
    received = asyncio.run(_exchange(b"GET / HTTP/1.1\r\nX: " + b"x" * 2000))
    assert received.startswith(b"HTTP/1.1 400 ")


def test_one_package_provides_the_multipart_parser() -> None:
    assert packages_distributions()["multipart"] == ["multipart"]

"""uvicorn and granian, both embedded: speed and manners: `uv run --group dev --with granian python -m bench.servers`.

Each server runs the same small application, and a constant of the framework, in a process like the
product's own. granian is no dependency of ticketbox; without it only uvicorn is measured.
"""

import argparse
import asyncio
import contextlib
import importlib.util
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.client import get, load
from bench.machine import CLIENT_CORE, cpu_seconds, describe, memory_mb, pinned, table
from bench.serving import ROOT, Server, constant, running

STOP_SECONDS = 8


async def serve_granian(application: Any, port: int) -> None:
    """Serve on granian, embedded, with the same limits as far as it has them, until a signal."""
    # only there with `uv run --group dev --with granian`
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


async def manners(scope: Any, receive: Any, send: Any) -> None:
    """`/slow` answers after 3 s, `/gone` tells when its client goes, `/body` counts what it gets."""
    answer = b"ok"
    if scope["path"] == "/slow":
        await asyncio.sleep(3)
    elif scope["path"] == "/gone":
        while (await receive())["type"] != "http.disconnect":
            pass
        print("the client went", flush=True)
    elif scope["path"] == "/body":
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        answer = str(size).encode()
    headers = [(b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def _connect(server: Server) -> socket.socket:
    host, port = server.host.split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def _said(connection: socket.socket, seconds: float) -> str:
    """The first line of the answer, or what happens instead within a time."""
    connection.settimeout(seconds)
    try:
        data = connection.recv(65_536)
    except TimeoutError:
        return f"nothing in {seconds:.0f} s"
    except OSError:
        return "reset"
    return data.split(b"\r\n")[0].decode("latin-1") if data else "closed"


def _serve(kind: str) -> "contextlib.AbstractContextManager[Server]":
    return running(["-m", "bench.servers", "--serve", kind], ROOT)


def _ask(kind: str, text: bytes, seconds: float = 5) -> str:
    with _serve(kind) as server, _connect(server) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(text)
        return _said(connection, seconds)


def _slow_header(kind: str) -> str:
    with _serve(kind) as server, _connect(server) as connection:
        started = time.monotonic()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        said = _said(connection, 45)
        return f"{said} after {time.monotonic() - started:.0f} s"


def _graceful(kind: str) -> str:
    with _serve(kind) as server, _connect(server) as connection:
        connection.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        said = _said(connection, 12)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(15)
        return f"{said}; exit {server.process.poll()} after {time.monotonic() - started:.1f} s"


def _hanging(kind: str) -> str:
    with _serve(kind) as server, _connect(server) as connection:
        connection.sendall(b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(20)
        except subprocess.TimeoutExpired:
            server.process.kill()
            return "still there after 20 s"
        return f"exit {server.process.poll()} after {time.monotonic() - started:.1f} s"


def _disconnect(kind: str) -> str:
    with _serve(kind) as server:
        with _connect(server) as connection:
            connection.sendall(b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.3)
        started = time.monotonic()
        assert server.process.stdout is not None
        import select

        ready, _, _ = select.select([server.process.stdout], [], [], 5)
        return f"told within {time.monotonic() - started:.1f} s" if ready else "not told in 5 s"


def _body(kind: str) -> str:
    with _serve(kind) as server, _connect(server) as connection:
        connection.sendall(b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
        before = memory_mb(server.pid, "VmRSS")
        for _ in range(50):
            connection.sendall(b"x" * 1_000_000)
        said = _said(connection, 20)
        return f"{said}; {memory_mb(server.pid) - before:.0f} MB more memory"


MANNERS = {
    "request of 3 s, SIGTERM after 0.5 s": _graceful,
    "half a body, SIGTERM": _hanging,
    "header of 64 KB": lambda kind: _ask(kind, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 65_536 + b"\r\n\r\n"),
    "200 headers": lambda kind: _ask(kind, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: x\r\n" * 200 + b"\r\n"),
    "Content-Length and chunked": lambda kind: _ask(
        kind, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "no HTTP at all": lambda kind: _ask(kind, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"),
    "header never ends": _slow_header,
    "client goes away": _disconnect,
    "body of 50 MB read as it comes": _body,
}


def speed(kinds: list[str], rounds: int, seconds: float) -> list[list[object]]:
    """Rows of the table: the framework's constant on each server, in turn."""
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = {kind: stack.enter_context(constant(1_200, "constant", kind)) for kind in kinds}
        for connections in (1, 16):
            found: dict[str, list[tuple[float, float, float, float]]] = {kind: [] for kind in kinds}
            for _ in range(rounds):
                for kind, server in servers.items():
                    before = cpu_seconds(server.pid)
                    with pinned(CLIENT_CORE):
                        sample = load(server.url, [get("/constant/one", server.host, None)], connections, seconds)
                    cpu = (cpu_seconds(server.pid) - before) / sample.requests * 1e6
                    found[kind].append((sample.rate, sample.p50, sample.p99, cpu))
            for kind, runs in found.items():
                rate, p50, p99, _ = (statistics.median(column) for column in zip(*runs, strict=True))
                memory = memory_mb(servers[kind].pid, "VmRSS")
                rows.append([kind, connections, rate, p50, p99, min(run[3] for run in runs), memory])
    return rows


async def _serve_manners(kind: str) -> None:
    from ticketbox.server import listen, serve_until_stopped
    from ticketbox.settings import Settings

    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    if kind == "granian":
        listener.close()
        print(f"manners at http://127.0.0.1:{port}", flush=True)
        await serve_granian(manners, port)
    else:
        settings = Settings(db=Path("unused"), port=port, public_url=f"http://127.0.0.1:{port}")
        print(f"manners at http://127.0.0.1:{port}", flush=True)
        await serve_until_stopped(manners, settings, listener, STOP_SECONDS)


def main() -> None:
    """Measure and print, or be the measured server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", choices=["uvicorn", "granian"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7)
    given = parser.parse_args()
    if given.serve:
        import uvloop

        uvloop.install()
        asyncio.run(_serve_manners(given.serve))
        return
    kinds = ["uvicorn", *(["granian"] if importlib.util.find_spec("granian") else [])]
    print(describe() + "\n")
    head = ("server", "conn.", "requests/s", "p50 ms", "p99 ms", "CPU µs", "RSS MB")
    print(table(head, speed(kinds, given.rounds, given.seconds)) + "\n")
    rows = [[what, *(check(kind) for kind in kinds)] for what, check in MANNERS.items()]
    print(table(("what", *kinds), rows))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""uvicorn and granian, both embedded: speed, and behaviour with difficult clients.

    uv run --group dev --with granian python -m bench.http_servers

Each server runs the same small application and a constant of the framework, in a process like ticketbox's. granian is
no dependency of ticketbox; without it only uvicorn is measured.
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
from bench.granian_server import serve_granian
from bench.launch import ROOT, Server, launch, launch_constant
from bench.machine import CLIENT_CORE, cpu_seconds, describe_machine, format_table, memory_mb, pin_to_core

STOP_SECONDS = 8


async def probe(scope: Any, receive: Any, send: Any) -> None:
    """Answer `/slow` after 3 s, print when the client of `/gone` disconnects, count the bytes of `/body`."""
    content = b"ok"
    if scope["path"] == "/slow":
        await asyncio.sleep(3)
    elif scope["path"] == "/gone":
        while (await receive())["type"] != "http.disconnect":
            pass
        print("the client disconnected", flush=True)
    elif scope["path"] == "/body":
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        content = str(size).encode()
    headers = [(b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _connect(server: Server) -> socket.socket:
    host, port = server.host.split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def _read_status(connection: socket.socket, seconds: float) -> str:
    """Return the status line of the response, or what happens instead."""
    connection.settimeout(seconds)
    try:
        data = connection.recv(65_536)
    except TimeoutError:
        return f"nothing in {seconds:.0f} s"
    except OSError:
        return "reset"
    return data.split(b"\r\n")[0].decode("latin-1") if data else "closed"


def _launch(kind: str) -> "contextlib.AbstractContextManager[Server]":
    return launch(["-m", "bench.http_servers", "--serve", kind], ROOT)


def _check_request(kind: str, text: bytes, seconds: float = 5) -> str:
    with _launch(kind) as server, _connect(server) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(text)
        return _read_status(connection, seconds)


def _check_slow_header(kind: str) -> str:
    with _launch(kind) as server, _connect(server) as connection:
        started = time.monotonic()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        status = _read_status(connection, 45)
        return f"{status} after {time.monotonic() - started:.0f} s"


def _check_graceful_stop(kind: str) -> str:
    with _launch(kind) as server, _connect(server) as connection:
        connection.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        status = _read_status(connection, 12)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(15)
        return f"{status}; exit {server.process.poll()} after {time.monotonic() - started:.1f} s"


def _check_stop_during_body(kind: str) -> str:
    with _launch(kind) as server, _connect(server) as connection:
        connection.sendall(b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(20)
        except subprocess.TimeoutExpired:
            server.process.kill()
            return "still running after 20 s"
        return f"exit {server.process.poll()} after {time.monotonic() - started:.1f} s"


def _check_disconnect(kind: str) -> str:
    with _launch(kind) as server:
        with _connect(server) as connection:
            connection.sendall(b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.3)
        started = time.monotonic()
        assert server.process.stdout is not None
        import select

        ready, _, _ = select.select([server.process.stdout], [], [], 5)
        return f"noticed within {time.monotonic() - started:.1f} s" if ready else "not noticed in 5 s"


def _check_large_body(kind: str) -> str:
    with _launch(kind) as server, _connect(server) as connection:
        connection.sendall(b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
        before = memory_mb(server.pid, "VmRSS")
        for _ in range(50):
            connection.sendall(b"x" * 1_000_000)
        status = _read_status(connection, 20)
        return f"{status}; {memory_mb(server.pid) - before:.0f} MB more memory"


CHECKS = {
    "request of 3 s, SIGTERM after 0.5 s": _check_graceful_stop,
    "half a body, SIGTERM": _check_stop_during_body,
    "header of 64 KB": lambda kind: _check_request(
        kind, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 65_536 + b"\r\n\r\n"
    ),
    "200 headers": lambda kind: _check_request(kind, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: x\r\n" * 200 + b"\r\n"),
    "Content-Length and chunked": lambda kind: _check_request(
        kind, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "not HTTP": lambda kind: _check_request(kind, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"),
    "header never ends": _check_slow_header,
    "client disconnects": _check_disconnect,
    "body of 50 MB, streamed": _check_large_body,
}


def measure_speed(kinds: list[str], rounds: int, seconds: float) -> list[list[object]]:
    """Measure the framework's constant on each server; return the rows of the table."""
    rows: list[list[object]] = []
    with contextlib.ExitStack() as stack:
        servers = {kind: stack.enter_context(launch_constant(1_200, "constant", kind)) for kind in kinds}
        for connections in (1, 16):
            results: dict[str, list[tuple[float, float, float, float]]] = {kind: [] for kind in kinds}
            for _ in range(rounds):
                for kind, server in servers.items():
                    before = cpu_seconds(server.pid)
                    with pin_to_core(CLIENT_CORE):
                        sample = load(server.url, [get("/constant/one", server.host, None)], connections, seconds)
                    cpu = (cpu_seconds(server.pid) - before) / sample.requests * 1e6
                    results[kind].append((sample.rate, sample.p50, sample.p99, cpu))
            for kind, runs in results.items():
                rate, p50, p99, _ = (statistics.median(column) for column in zip(*runs, strict=True))
                memory = memory_mb(servers[kind].pid, "VmRSS")
                rows.append([kind, connections, rate, p50, p99, min(run[3] for run in runs), memory])
    return rows


async def _serve_probe(kind: str) -> None:
    from ticketbox.server import listen, serve_until_stopped
    from ticketbox.settings import Settings

    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    if kind == "granian":
        listener.close()
        print(f"probe at http://127.0.0.1:{port}", flush=True)
        await serve_granian(probe, port)
    else:
        settings = Settings(db=Path("unused"), port=port, public_url=f"http://127.0.0.1:{port}")
        print(f"probe at http://127.0.0.1:{port}", flush=True)
        await serve_until_stopped(probe, settings, listener, STOP_SECONDS)


def main() -> None:
    """Measure and print, or run as the measured server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", choices=["uvicorn", "granian"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7)
    options = parser.parse_args()
    if options.serve:
        import uvloop

        uvloop.install()
        asyncio.run(_serve_probe(options.serve))
        return
    kinds = ["uvicorn", *(["granian"] if importlib.util.find_spec("granian") else [])]
    print(describe_machine() + "\n")
    head = ("server", "conn.", "requests/s", "p50 ms", "p99 ms", "CPU µs", "RSS MB")
    print(format_table(head, measure_speed(kinds, options.rounds, options.seconds)) + "\n")
    rows = [[name, *(check(kind) for kind in kinds)] for name, check in CHECKS.items()]
    print(format_table(("check", *kinds), rows))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

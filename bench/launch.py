"""Start the servers to measure, each in a process on the server's core: ticketbox, and constants to compare it with.

`constant` is a handler of the framework that always returns the same bytes; `edge` is that handler behind ticketbox's
edge; `bare` returns the bytes without a framework. All of them run with ticketbox's server settings.
"""

import argparse
import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from bench.machine import SERVER_CORE, pin_to_core

ROOT = Path(__file__).parent.parent


class Server(NamedTuple):
    """A running server process."""

    url: str
    pid: int
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        """The value of the Host header."""
        return self.url.removeprefix("http://")


@contextlib.contextmanager
def launch_ticketbox(db: Path, tree: Path = ROOT) -> Generator[Server]:
    """Run `ticketbox serve` from this checkout, or from another `tree`."""
    with launch(["-m", "ticketbox", "serve", "--db", str(db), "--port", "0", "--no-open"], tree) as server:
        yield server


@contextlib.contextmanager
def launch_constant(size: int, kind: str = "constant", server: str = "uvicorn") -> Generator[Server]:
    """Run a server that returns `size` bytes: a `constant`, `edge` or `bare` one."""
    with launch(["-m", "bench.launch", kind, "--size", str(size), "--server", server], ROOT) as process:
        yield process


@contextlib.contextmanager
def launch(arguments: list[str], tree: Path) -> Generator[Server]:
    """Run a Python process on the server's core that prints the address it serves at."""
    with tempfile.TemporaryFile("w+") as errors:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(tree)}
        with pin_to_core(SERVER_CORE):
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=tree,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if match := re.search(r" at (http://\S+)", line):
                    url = match[1].replace("localhost", "127.0.0.1")
                    _wait_for(url)
                    yield Server(url, process.pid, process)
                    break
            else:
                errors.seek(0)
                raise RuntimeError(f"the server didn't start: {errors.read()}")
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _wait_for(url: str) -> None:
    """Wait until a server listens; not every server prints when it does."""
    host, port = url.removeprefix("http://").split(":")
    for _ in range(100):
        try:
            socket.create_connection((host, int(port))).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"no server listens at {url}")


async def _serve_constant(kind: str, size: int, server: str) -> None:
    from litestar import Litestar, Response, get

    from ticketbox.domain.core.limits import RateLimiter
    from ticketbox.edge.asgi import Receive, Scope, Send
    from ticketbox.edge.edge import Edge, Site
    from ticketbox.server import listen, serve_until_stopped
    from ticketbox.settings import Settings

    text = ('{"constant":"' + "x" * (size - 15) + '"}').encode()

    @get("/constant/{name:str}")
    async def handle(name: str) -> Response[bytes]:
        return Response(text, media_type="application/json")

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        head = [(b"content-type", b"application/json"), (b"content-length", str(size).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": text})

    application = bare if kind == "bare" else Litestar([handle], openapi_config=None, logging_config=None)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    if kind == "edge":
        site = Site(url, frozenset({f"127.0.0.1:{port}"}), any_address=False, secure=False)
        application = Edge(application, site, RateLimiter(time.monotonic))  # type: ignore[assignment,arg-type]
    if server == "granian":
        from bench.http_servers import serve_granian

        listener.close()
        print(f"constant at {url}")
        await serve_granian(application, port)
        return
    settings = Settings(
        db=Path("unused"), host="127.0.0.1", port=port, public_url=url, public_url_given=False,
        tls_cert=None, tls_key=None, trusted_proxies=(), log_format="text",
    )  # fmt: skip
    print(f"constant at {url}")
    await serve_until_stopped(application, settings, listener, 5)  # type: ignore[arg-type]


def main() -> None:
    """Serve a constant until stopped."""
    import uvloop

    from ticketbox.logs import configure

    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["constant", "edge", "bare"])
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--server", choices=["uvicorn", "granian"], default="uvicorn")
    options = parser.parse_args()
    configure("text")
    uvloop.install()
    asyncio.run(_serve_constant(options.kind, options.size, options.server))


if __name__ == "__main__":
    main()

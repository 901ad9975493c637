"""Serve a constant, to compare ticketbox with.

`constant` is a handler of the framework that always returns the same bytes; `edge` is that handler behind ticketbox's
edge; `bare` returns the bytes without a framework. All of them run with ticketbox's server settings.
"""

import argparse
import asyncio
import time
from pathlib import Path

import uvloop
from litestar import Litestar, Response, get

from bench.granian_server import serve_granian
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.edge.asgi import Receive, Scope, Send
from ticketbox.edge.edge import Edge
from ticketbox.edge.site import Site
from ticketbox.logs import configure
from ticketbox.server import listen, serve_until_stopped
from ticketbox.settings import Settings


async def _serve_constant(kind: str, size: int, server: str) -> None:
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

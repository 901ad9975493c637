"""A site that runs at two origins, so that one is cross-origin to the other."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self


class SiteHandler(BaseHTTPRequestHandler):
    """Handles requests. `other_origin` is the second origin of the site."""

    protocol_version = "HTTP/1.1"
    other_origin = ""

    def respond(self, kind: str, body: str | bytes, headers: dict[str, str] | None = None, status: int = 200) -> None:
        """Send a complete response."""
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Log nothing."""


class TwoOriginSite:
    """The running site. `url` has no trailing slash."""

    handler: type[SiteHandler]

    def __init__(self) -> None:
        handler = type("Handler", (self.handler,), {})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        port = self._server.server_port
        self.url, handler.other_origin = f"http://127.0.0.1:{port}", f"http://127.0.0.2:{port}"
        self._other = ThreadingHTTPServer(("127.0.0.2", port), handler)

    def __enter__(self) -> Self:
        for server in (self._server, self._other):
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in (self._server, self._other):
            server.shutdown()
            server.server_close()

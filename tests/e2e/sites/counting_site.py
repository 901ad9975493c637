"""A site that counts what reaches it: each request with its method, path, cookies and body, and each socket."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Page = tuple[int, dict[str, str], str]


class CountingSite:
    """The address of a site, and what reached it: lines such as `GET /own`."""

    def __init__(self, host: str, port: int) -> None:
        self.host = f"{host}:{port}"
        self.address = f"http://{self.host}"
        self.seen: list[str] = []
        self.cookies: list[str] = []


@contextlib.contextmanager
def serve_counting(pages: Mapping[str, Page | str] | None = None, host: str = "127.0.0.1") -> Iterator[CountingSite]:
    """Serve pages by path: HTML, or status, headers and body; every other path has an empty page."""
    found = pages if pages is not None else {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
            kind = "SOCKET" if self.headers.get("Upgrade") == "websocket" else self.command
            site.seen.append(f"{kind} {self.path} {body}".strip())
            site.cookies += self.headers.get_all("Cookie") or []
            page = found.get(self.path.partition("?")[0], "<!doctype html><title>Page</title>")
            status, headers, content = page if isinstance(page, tuple) else (200, {}, page)
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", "Access-Control-Allow-Origin": "*", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content.encode())

        do_POST = do_OPTIONS = do_GET

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True  # a browser keeps connections open
    site = CountingSite(host, server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

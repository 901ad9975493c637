"""Serves an application of the benchmark: its files, the seeded bug in `/bug.js`, and its API while it is recorded."""

import contextlib
import json
import threading
import time
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bench.reproduce.api import Api

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


@contextlib.contextmanager
def serve_app(folder: Path, bug: str, api: Api | None = None) -> Generator[str]:
    """Serve a folder; yield the address. Without an API, its calls are answered 404."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            file = folder / (address.path.lstrip("/") or "index.html")
            if address.path.startswith("/api/") and api is not None:
                given = json.loads(body) if body else {}
                delay, status, answer = api.answer(
                    self.command, address.path[5:], dict(parse_qsl(address.query)), given
                )
                time.sleep(delay)
                self.send(status, json.dumps(answer).encode(), "application/json")
            elif address.path == "/bug.js":
                self.send(200, f"window.BUG = {json.dumps(bug)};".encode(), "text/javascript")
            elif file.is_file():
                self.send(200, file.read_bytes(), _TYPES[file.suffix])
            else:
                self.send(404, b"Nothing", "text/plain")

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        def send(self, status: int, content: bytes, media_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

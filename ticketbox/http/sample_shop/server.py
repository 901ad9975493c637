"""The server of `ticketbox demo --shop`, on a separate port, where one choice breaks the shop for everybody."""

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Generator
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from ticketbox.http.sample_shop.api import ShopApi, compute_delay
from ticketbox.http.sample_shop.files import POLICY, File, load_files, write_fault

COOKIE = "shop_cart"
MAX_BODY = 10_000
TIMEOUT_SECONDS = 30


@contextlib.contextmanager
def serve_shop(listener: socket.socket) -> Generator[ShopApi]:
    """Serve the shop on a socket, in threads."""
    shop = ShopApi()
    files = load_files()

    class Handler(ShopHandler):
        api = shop
        site = files

    server = ThreadingHTTPServer(listener.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    listener.setblocking(True)
    server.socket = listener
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="sample shop")
    thread.start()
    try:
        yield shop
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class ShopHandler(BaseHTTPRequestHandler):
    """Answers one connection. A subclass names the shop and its files."""

    api: ShopApi
    site: dict[str, File]
    protocol_version = "HTTP/1.1"
    server_version = "sample-shop"
    timeout = TIMEOUT_SECONDS

    def do_GET(self) -> None:
        """Answer with a file, or with the API."""
        path = urlsplit(self.path).path
        if path.startswith("/api/"):
            self._answer_call()
        elif path == "/fault.js":
            self._send(HTTPStatus.OK, write_fault(self.api.fault), "text/javascript")
        elif path in self.site:
            self._send(HTTPStatus.OK, *self.site[path])
        else:
            self._send(HTTPStatus.NOT_FOUND, b"There is no page at this address.", "text/plain")

    def do_POST(self) -> None:
        """Answer with the API."""
        self._answer_call()

    do_PATCH = do_PUT = do_POST

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name in the standard library)
        """Log nothing."""

    def _answer_call(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            self._send_json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": "The body is too large."})
            return
        body = self.rfile.read(int(length))
        address = urlsplit(self.path)
        path = [unquote(part) for part in address.path.removeprefix("/api/").split("/")]
        cookie = SimpleCookie(self.headers.get("Cookie")).get(COOKIE)
        key = self.api.open_cart(None if cookie is None else cookie.value)
        parameters = dict(parse_qsl(address.query))
        time.sleep(compute_delay(parameters))
        try:
            given = msgspec.json.decode(body) if body else None
            status, answer = self.api.answer(self.command, path, parameters, given, key)
        except Exception as error:
            sys.stderr.write(f"sample shop: {self.command} {address.path}: {type(error).__name__}: {error}\n")
            status, answer = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "Internal error"}
        self._send_json(status, answer, f"{COOKIE}={key}; Path=/; HttpOnly; SameSite=Lax")

    def _send_json(self, status: HTTPStatus, answer: Any, cookie: str | None = None) -> None:
        self._send(status, msgspec.json.encode(answer), "application/json", cookie)

    def _send(self, status: HTTPStatus, content: bytes, media_type: str, cookie: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{media_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        if cookie is not None:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(content)

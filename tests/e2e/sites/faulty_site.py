"""A small site with many faults, whose pages are captured."""

import json
import secrets
import socket
import threading
import time
from base64 import urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import msgspec

SLOW_SECONDS = 0.4
SHOP_POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src *"
CLOSED_POLICY = "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'; sandbox"


def _jwt() -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": secrets.token_hex(6), "name": "Ann"}]
    encoded = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, secrets.token_hex(16)])


def _secret(name: str) -> str:
    return f"{name}{secrets.token_hex(10)}"


class PlantedSecrets(msgspec.Struct, frozen=True):
    """Secrets that the shop exposes. They are random, so that no other test has them."""

    bearer: str = msgspec.field(default_factory=lambda: _secret("bearer"))
    api_key: str = msgspec.field(default_factory=lambda: _secret("apikey"))
    cookie: str = msgspec.field(default_factory=lambda: _secret("cookie"))
    query_token: str = msgspec.field(default_factory=lambda: _secret("query"))
    query_key: str = msgspec.field(default_factory=lambda: _secret("charge"))
    password: str = msgspec.field(default_factory=lambda: _secret("hunter"))
    access_token: str = msgspec.field(default_factory=lambda: _secret("access"))
    jwt: str = msgspec.field(default_factory=_jwt)

    @property
    def all(self) -> list[str]:
        """All secrets."""
        return list(msgspec.structs.astuple(self))


SHOP = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cart · loading</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/shop.css"></head>
<body><h1>Cart</h1><p class="total">12.50 €</p>
<img src="/missing.png" alt="a picture that isn't there">
<img src="http://pictures.invalid/foreign.png" alt="a picture that the policy forbids">
<script src="/app.js"></script></body></html>"""

CLOSED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Statement</title><link rel="icon" href="data:,">
<style>body { font: 20px sans-serif; background: #e9f5e9 }</style></head>
<body><h1>Statement</h1><p>No script runs here.</p></body></html>"""

APP = r"""
"use strict";
console.debug("debugging", 1, -0.5, 12345678901234567890n);
console.log("cart total", 12.5, true, null, undefined, {items: 2, note: "naïve ✓"}, ["a", "b"], Symbol("mark"));
console.info("");
console.warn("stock is low", new Date(0), /a+b/i, function restock() {});
console.error("checkout failed", new Error("an error that was only logged"));
for (let round = 0; round < 3; round += 1) console.log("tick");
console.log("a line\nof two, and \u0000 between");
console.log("session of", "PLANTED.jwt");
console.log("sign-in form", {user: "ann", password: "PLANTED.password"});

function total(cart) { return cart.lines.length; }
function render() { return total({}); }
setTimeout(function tick() { render(); });
Promise.reject(new RangeError("charging failed: https://pay.example/charge?api_key=PLANTED.query_key&cents=1250"));

async function shop() {
  await (await fetch("/api/cart?page=2")).json();
  await (await fetch("/api/login", {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({user: "ann", password: "PLANTED.password", remember: true}),
  })).json();
  await (await fetch("/api/orders?token=PLANTED.query_token&page=3", {
    headers: {Authorization: "Bearer PLANTED.bearer", "X-Api-Key": "PLANTED.api_key"},
  })).json();
  await (await fetch("/moved")).json();
  await (await fetch("/prices.json")).json();
  await (await fetch("/prices.json")).json();
  await (await fetch("/api/nothing")).text();
  await (await fetch("/api/broken", {method: "PUT", body: "a plain body"})).text();
  await (await fetch("/picture.bin")).arrayBuffer();
  await fetch("http://127.0.0.1:CLOSED_PORT/nobody").catch(() => 0);
  await (await fetch("/api/slow")).json();
}
window.again = () => { console.warn("clicked again"); return fetch("/api/cart?page=9"); };
shop().finally(() => { document.title = "Cart · 2 items"; document.body.className = "done"; });
"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _site(self) -> "_Server":
        assert isinstance(self.server, _Server)
        return self.server

    def do_GET(self) -> None:
        planted = self._site.planted
        path = self.path.partition("?")[0]
        match path:
            case "/" | "/shop/cart":
                self._send(200, "text/html; charset=utf-8", SHOP, {"Content-Security-Policy": SHOP_POLICY})
            case "/closed":
                self._send(200, "text/html; charset=utf-8", CLOSED, {"Content-Security-Policy": CLOSED_POLICY})
            case "/shop.css":
                self._send(200, "text/css", "body { font: 20px sans-serif; background: #f4efe6 }")
            case "/app.js":
                self._send(200, "text/javascript; charset=utf-8", self._site.script)
            case "/api/cart":
                self._json(200, {"items": ["tea", "naïve ✓"], "total": 12.5})
            case "/api/orders":
                self._json(200, {"orders": [], "access_token": planted.access_token}, {"X-Shop-Build": "7"})
            case "/api/slow":
                time.sleep(SLOW_SECONDS)
                self._json(200, {"slow": True})
            case "/moved":
                self._send(302, "text/plain", "", {"Location": "/api/cart?page=4"})
            case "/prices.json":
                self._json(200, {"tea": 6.25}, {"Cache-Control": "max-age=600"})
            case "/picture.bin":
                self._send(200, "application/octet-stream", bytes(range(256)))
            case _:
                self._send(404, "text/plain; charset=utf-8", "there is nothing here")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        cookie = {"Set-Cookie": f"shop={self._site.planted.cookie}; Path=/; HttpOnly"}
        self._json(200, {"user": "ann", "access_token": self._site.planted.access_token}, cookie)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._json(500, {"error": "the till is broken"})

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(value, ensure_ascii=False), headers)

    def _send(self, status: int, kind: str, body: str | bytes, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any, **__: Any) -> None:
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    planted: PlantedSecrets
    script: str


class FaultySite:
    """The running site. `url` has no trailing slash."""

    def __init__(self) -> None:
        self.planted = PlantedSecrets()
        # bound but not listening: connections are refused, and no other process can use the port
        self._closed = socket.socket()
        self._closed.bind(("127.0.0.1", 0))
        self.refusing_url = f"http://127.0.0.1:{self._closed.getsockname()[1]}"
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.planted = self.planted
        self._server.script = self._script()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def _script(self) -> str:
        script = APP.replace("CLOSED_PORT", self.refusing_url.rpartition(":")[2])
        for name in self.planted.__struct_fields__:
            script = script.replace(f"PLANTED.{name}", getattr(self.planted, name))
        return script

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
        self._closed.close()

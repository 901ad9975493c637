"""A page with much that it can't see itself: a worker that asks and fails, a preflight, a redirection on the way in."""

import base64
import hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

SECRET = "hunter-2-of-the-deep"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>…</title>
<link rel="icon" href="data:,"></head>
<body><h1>deep</h1><script>
console.log("from the page");
const worker = new Worker("/worker.js");
const asked = [
  fetch("/data.json", { method: "POST", headers: { "Content-Type": "application/json" },
                        body: JSON.stringify({ password: "%(secret)s", note: "to the server" }) }),
  fetch("%(elsewhere)s/closed", { headers: { "X-Mark": "1" } }),
  new Promise((done) => { worker.onmessage = done; }),
];
Promise.allSettled(asked).then(() => { document.title = "deep"; });
</script></body></html>"""
WORKER = """console.warn("from the worker", { depth: 3 });
setTimeout(() => { throw new RangeError("broken in the worker"); });
fetch("/data.json?by=worker&token=%s").then(() => postMessage("done"));"""

SERVED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>…</title>
<link rel="icon" href="data:,"></head><body><h1>served</h1><script>
navigator.serviceWorker.onmessage = () => { document.title = "served"; };
navigator.serviceWorker.register("/service.js").then(async (registration) => {
  await navigator.serviceWorker.ready;
  registration.active.postMessage("ask");
});
</script></body></html>"""
SERVICE = """onmessage = async ({ source }) => {
  await fetch("/data.json?by=service");
  source.postMessage("done");
};"""
SOCKETS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>…</title>
<link rel="icon" href="data:,"></head><body><h1>sockets</h1><script>
const over = ["open", "refused"].map((name) => new Promise((done) => {
  const socket = new WebSocket(`ws://${location.host}/socket/${name}`);
  socket.onopen = () => socket.close();
  socket.onclose = done;
}));
Promise.all(over).then(() => { document.title = "sockets"; });
</script></body></html>"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    elsewhere = ""

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/in":
                self._send(302, "text/plain", "", {"Location": "/deep"})
            case "/deep":
                self._send(200, "text/html", PAGE % {"secret": SECRET, "elsewhere": self.elsewhere})
            case "/other":
                self._send(200, "text/html", "<title>other</title>")
            case "/served":
                self._send(200, "text/html", SERVED)
            case "/service.js":
                self._send(200, "text/javascript", SERVICE)
            case "/sockets":
                self._send(200, "text/html", SOCKETS)
            case "/socket/open":
                self._accept()
            case "/worker.js":
                self._send(200, "text/javascript", WORKER % SECRET)
            case "/data.json":
                self._send(200, "application/json", f'{{"api_key": "{SECRET}", "sum": 3}}')
            case _:
                self._send(418, "text/plain", "")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(201, "application/json", '{"sum": 4}', {"Set-Cookie": f"session={SECRET}"})

    def do_OPTIONS(self) -> None:
        allowed = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "x-mark",
            "Access-Control-Max-Age": "0",
        }
        self._send(204, "text/plain", "", allowed)

    def _accept(self) -> None:
        """Open a socket, and close it with the connection (RFC 6455, 4.2.2)."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.rfile.read(1)
        self.close_connection = True

    def _send(self, status: int, kind: str, body: str, headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class DeepSite:
    """The site, running under two names, so that one is foreign to the other. `url` has no trailing slash."""

    def __init__(self) -> None:
        handler = type("Handler", (_Handler,), {})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        port = self._server.server_port
        self.url, handler.elsewhere = f"http://127.0.0.1:{port}", f"http://127.0.0.2:{port}"
        self._other = ThreadingHTTPServer(("127.0.0.2", port), handler)

    def __enter__(self) -> Self:
        for server in (self._server, self._other):
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in (self._server, self._other):
            server.shutdown()
            server.server_close()

"""A page with a WebSocket and an event stream that work, and one of each that doesn't."""

import base64
import hashlib
from threading import Event

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

_KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3
SENT = '{"item":"green tea","password":"hunter2-is-a-secret"}'
PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,">
<script>
  const isUnchanged = `${{addEventListener}}` === "function addEventListener() {{ [native code] }}"
    && WebSocket.name === "WebSocket" && WebSocket.length === 1
    && `${{WebSocket}}` === "function WebSocket() {{ [native code] }}" && WebSocket.OPEN === 1
    && WebSocket.prototype.constructor === WebSocket;
  const until = (target, type) => new Promise((done) => target.addEventListener(type, done, {{ once: true }}));
  class Socket extends WebSocket {{}}
  const socket = new Socket(`ws://${{location.host}}/socket`);
  const dead = new WebSocket(`ws://${{location.host}}/nothing`);
  const stream = new EventSource("/events");
  stream.addEventListener("price", (event) => {{ document.body.append(event.data); }});
  stream.addEventListener("price", () => {{}}, {{ passive: true }});
  const failed = new EventSource("/refused");
  socket.onopen = () => {{ socket.send('{SENT}'); socket.send(new Uint8Array(7)); }};
  Promise.all([until(socket, "close"), until(dead, "close"), until(stream, "message"), until(failed, "error")])
    .then(() => {{ document.title = isUnchanged && socket instanceof Socket ? "done" : "changed"; }});
</script>"""

WORKERS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,">
<script>
  const worker = new Worker("/worker.js?kind=dedicated");
  const shared = new SharedWorker("/worker.js?kind=shared");
  const until = (target) => new Promise((done) => { target.onmessage = done; });
  Promise.all([until(worker), until(shared.port)]).then(() => { document.title = "done"; });
</script>"""
WORKER = """
const kind = new URL(location).searchParams.get("kind");
const dead = new WebSocket(`ws://${location.host}/nothing?by=${kind}`);
const socket = new WebSocket(`ws://${location.host}/socket?by=${kind}`);
const stream = new EventSource(`/events?by=${kind}`);
const failed = new EventSource(`/refused?by=${kind}`);
socket.onopen = () => { socket.send("one"); socket.send("two"); };
const until = (target, type) => new Promise((done) => target.addEventListener(type, done, { once: true }));
const all = Promise.all(
  [until(socket, "close"), until(dead, "close"), until(stream, "message"), until(failed, "error")]);
if (kind === "dedicated") all.then(() => postMessage("done"));
else onconnect = ({ ports: [port] }) => all.then(() => port.postMessage("done"));
"""


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/workers":
                self.respond("text/html", WORKERS)
            case "/worker.js":
                self.respond("text/javascript", WORKER)
            case "/page":
                self.respond("text/html", PAGE)
            case "/socket":
                self._serve_socket()
            case "/events":
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(b"event: price\ndata: 12 a cup\n\ndata: the kettle is on\n\n")
                self.wfile.flush()
                self.server.release.wait()  # type: ignore[attr-defined]
            case _:
                self.send_error(404)

    def _serve_socket(self) -> None:
        """Answer the first message, and close the connection after the second."""
        key = self.headers["Sec-WebSocket-Key"] + _KEY
        self.send_response(101)
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accepted)):
            self.send_header(name, value)
        self.end_headers()
        self._read_frame()
        self._write_frame(0x1, b"x" * 500)
        self._read_frame()
        self._write_frame(0x8, (4001).to_bytes(2, "big") + b"kicked")
        self._read_frame()
        self.close_connection = True

    def _read_frame(self) -> None:
        _, length = self.rfile.read(2)
        self.rfile.read(4 + (length & 0x7F))  # masked, and shorter than 126 bytes

    def _write_frame(self, opcode: int, data: bytes) -> None:
        length = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
        self.wfile.write(bytes([0x80 | opcode]) + length + data)
        self.wfile.flush()


class SocketSite(TwoOriginSite):
    """The site, running."""

    handler = _Handler

    def __init__(self) -> None:
        super().__init__()
        self._release = Event()
        self._server.release = self._release  # type: ignore[attr-defined]

    def __exit__(self, *arguments: object) -> None:
        self._release.set()
        super().__exit__(*arguments)

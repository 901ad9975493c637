"""Pages with activity that only the browser's debugger sees: workers, preflights, redirects, web sockets."""

import base64
import hashlib

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

SECRET = "hunter-2-of-the-deep"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>…</title>
<link rel="icon" href="data:,"></head>
<body><h1>deep</h1><script>
console.log("from the page");
const worker = new Worker("/worker.js");
const asked = [
  fetch("/data.json", { method: "POST", headers: { "Content-Type": "application/json" },
                        body: JSON.stringify({ password: "%(secret)s", note: "to the server" }) }),
  fetch("%(other_origin)s/closed", { headers: { "X-Mark": "1" } }),
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


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/in":
                self.respond("text/plain", "", {"Location": "/deep"}, status=302)
            case "/deep":
                self.respond("text/html", PAGE % {"secret": SECRET, "other_origin": self.other_origin})
            case "/other":
                self.respond("text/html", "<title>other</title>")
            case "/served":
                self.respond("text/html", SERVED)
            case "/service.js":
                self.respond("text/javascript", SERVICE)
            case "/sockets":
                self.respond("text/html", SOCKETS)
            case "/socket/open":
                self._accept()
            case "/worker.js":
                self.respond("text/javascript", WORKER % SECRET)
            case "/data.json":
                self.respond("application/json", f'{{"api_key": "{SECRET}", "sum": 3}}')
            case _:
                self.respond("text/plain", "", status=418)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond("application/json", '{"sum": 4}', {"Set-Cookie": f"session={SECRET}"}, status=201)

    def do_OPTIONS(self) -> None:
        allowed = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "x-mark",
            "Access-Control-Max-Age": "0",
        }
        self.respond("text/plain", "", allowed, status=204)

    def _accept(self) -> None:
        """Accept a web socket, and close it with the connection (RFC 6455, 4.2.2)."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.rfile.read(1)
        self.close_connection = True


class DeepRecordingSite(TwoOriginSite):
    """The running site."""

    handler = _Handler

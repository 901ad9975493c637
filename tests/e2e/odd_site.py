"""Pages that are hard to record: locked up, in frames, without a document of their own, or not there at all."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

STRICT = (
    "default-src 'none'; img-src data:; script-src 'nonce-abc'; connect-src 'self'; require-trusted-types-for 'script'"
)
SANDBOX = "sandbox; default-src 'none'"

LOUD = """console.warn("from {name}", location.pathname);
fetch("/data.json?from={name}").then((answer) => answer.json()).finally(() => {{ document.title = "{name}"; }});
setTimeout(() => {{ throw new RangeError("broken in {name}"); }});"""
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


def page(name: str, body: str = "", nonce: str = "") -> str:
    """A page that logs, fetches and breaks."""
    script = f"<script{nonce}>{LOUD.format(name=name)}</script>"
    head = '<meta charset="utf-8"><title>…</title><link rel="icon" href="data:,">'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{name}</h1>{body}{script}</body></html>'


APP = """<a id="next" href="/app/two">two</a><script>
document.querySelector("#next").addEventListener("click", (event) => {
  event.preventDefault();
  history.pushState(null, "", "/app/two");
  console.info("went to", location.pathname);
  const request = new XMLHttpRequest();
  request.open("POST", "/data.json?by=xhr");
  request.setRequestHeader("X-Mark", "a");
  request.onload = () => { document.title = "two"; };
  request.send("some words");
});</script>"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    elsewhere = ""

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/plain":
                self._send("text/html", page("plain"))
            case "/strict":
                self._send("text/html", page("strict", nonce=' nonce="abc"'), {"Content-Security-Policy": STRICT})
            case "/sandboxed":
                self._send("text/html", page("sandboxed"), {"Content-Security-Policy": SANDBOX})
            case "/frames":
                frames = (
                    f'<iframe src="/plain"></iframe><iframe src="{self.elsewhere}/plain"></iframe>'
                    "<iframe srcdoc=\"<script>console.info('from srcdoc')</script>\"></iframe>"
                )
                self._send("text/html", page("frames", frames))
            case "/app":
                self._send("text/html", page("app", APP))
            case "/data.json":
                self._send("application/json", json.dumps({"sum": 3}))
            case "/slow":
                time.sleep(1.5)
                self._send("text/html", page("slow"))
            case "/paper.pdf":
                self._send("application/pdf", PDF)
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send("application/json", '{"sum": 4}', {"Set-Cookie": "mark=1"})

    def _send(self, kind: str, body: str | bytes, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(200)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class OddSite:
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

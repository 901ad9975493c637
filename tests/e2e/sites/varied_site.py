"""A site with many kinds of pages: strict policies, frames, client-side routing, raw documents, slow or missing."""

import json
import time

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

STRICT = (
    "default-src 'none'; img-src data:; script-src 'nonce-abc'; connect-src 'self'; require-trusted-types-for 'script'"
)
SANDBOX = "sandbox; default-src 'none'"

SCRIPT = """console.warn("from {name}", location.pathname);
fetch("/data.json?from={name}").then((answer) => answer.json()).finally(() => {{ document.title = "{name}"; }});
setTimeout(() => {{ throw new RangeError("broken in {name}"); }});"""
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


def page(name: str, body: str = "", nonce: str = "") -> str:
    """A page that logs, fetches and throws."""
    script = f"<script{nonce}>{SCRIPT.format(name=name)}</script>"
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


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/plain":
                self.respond("text/html", page("plain"))
            case "/strict":
                self.respond("text/html", page("strict", nonce=' nonce="abc"'), {"Content-Security-Policy": STRICT})
            case "/sandboxed":
                self.respond("text/html", page("sandboxed"), {"Content-Security-Policy": SANDBOX})
            case "/frames":
                frames = (
                    f'<iframe src="/plain"></iframe><iframe src="{self.other_origin}/plain"></iframe>'
                    "<iframe srcdoc=\"<script>console.info('from srcdoc')</script>\"></iframe>"
                )
                self.respond("text/html", page("frames", frames))
            case "/app":
                self.respond("text/html", page("app", APP))
            case "/data.json":
                self.respond("application/json", json.dumps({"sum": 3}))
            case "/slow":
                time.sleep(1.5)
                self.respond("text/html", page("slow"))
            case "/paper.pdf":
                self.respond("application/pdf", PDF)
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond("application/json", '{"sum": 4}', {"Set-Cookie": "mark=1"})


class VariedSite(TwoOriginSite):
    """The site, running."""

    handler = _Handler

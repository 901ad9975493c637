"""A page with loads whose outcome no page can see: redirects, preflights, pings, workers, other sites, style sheets.

The other origin refuses connections on port 1 and sends no headers that would let the page see its responses.
"""

from threading import Event

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

UNREACHABLE = "http://127.0.0.1:1"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>…</title><link rel="icon" href="data:,">
<link rel="manifest" href="/app.webmanifest"><link rel="prefetch" href="/later">
<style>div {{ width: 9px; height: 9px; background: red; mask-image: url({other}/mask.svg); }}</style><div></div>
<iframe src="/moved-frame"></iframe><img src="/hanging.png">
<a href="#left" ping="/own-ping {other}/other-ping">Leave</a>
<script>
  new Image().src = "{other}/detached.png";
  new Image().src = "{unreachable}/unreachable.png";
  const loaded = new Promise((done) => addEventListener("message", done));
  const worker = new Worker("/worker.js");
  const worked = new Promise((done) => {{ worker.onmessage = done; }});
  Promise.allSettled([
    fetch("/moved"), fetch("{other}/shared", {{ method: "PUT" }}), fetch("{other}/refused", {{ method: "PUT" }}),
    loaded, worked,
  ]).then(() => {{ document.title = "done"; }});
</script>"""
WORKER = """fetch("/from-worker").then(() => postMessage("done"));"""
FRAME = """<!doctype html><title>Frame</title><script>parent.postMessage("loaded", "*");</script>"""


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/redirected":
                self._redirect("/page")
            case "/page":
                self.respond("text/html", PAGE.format(other=self.other_origin, unreachable=UNREACHABLE))
            case "/moved-frame":
                self._redirect("/frame")
            case "/frame":
                self.respond("text/html", FRAME)
            case "/moved":
                self._redirect("/data?token=sk_live_4eC39HqLyjWDarjtT1zdp7dc")
            case "/worker.js":
                self.respond("text/javascript", WORKER)
            case "/data" | "/from-worker" | "/app.webmanifest" | "/later":
                self.respond("application/json", "{}")
            case "/hanging.png":
                self.server.release.wait()  # type: ignore[attr-defined]
            case _:
                self.send_error(404)

    def do_OPTIONS(self) -> None:
        allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "PUT"}
        self.respond("text/plain", "", allowed if self.path == "/shared" else {})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond("text/plain", "")

    def do_PUT(self) -> None:
        self.respond("text/plain", "", {"Access-Control-Allow-Origin": "*"}, status=409)

    def _redirect(self, address: str) -> None:
        self.respond("text/plain", "", {"Location": address}, status=302)


class LoadsSite(TwoOriginSite):
    """The site, running."""

    handler = _Handler

    def __init__(self) -> None:
        super().__init__()
        self._release = Event()
        self._server.release = self._release  # type: ignore[attr-defined]

    def __exit__(self, *arguments: object) -> None:
        self._release.set()
        super().__exit__(*arguments)

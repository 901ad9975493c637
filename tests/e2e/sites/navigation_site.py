"""A shop whose form leads to a page that fails, as pages without client-side routing do."""

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

SHOP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<form action="/pay" method="post"><label>Code <input name="code"></label><button>Pay</button></form>
<a href="/help">Help</a>
<iframe src="/frame"></iframe>
<script>
  console.error("cart is broken", location.search);
  fetch("/cart?token=sk_live_4eC39HqLyjWDarjtT1zdp7dc").finally(() => { document.body.className = "done"; });
  setTimeout(() => { throw new TypeError("no total"); });
</script>"""
FRAME = """<!doctype html><title>Frame</title><script>console.info("in a frame");</script>"""
FAILED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Failed</title><link rel="icon" href="data:,">
<h1>Payment failed</h1><a href="/help">Help</a><script>console.warn("payment failed");</script>"""
HELP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Help</title><link rel="icon" href="data:,">
<h1>Help</h1><script>console.info("help", location.search);</script>"""


class _Handler(SiteHandler):
    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/shop":
                self.respond("text/html", SHOP)
            case "/frame":
                self.respond("text/html", FRAME)
            case "/help":
                self.respond("text/html", HELP)
            case "/cart":
                self.respond("application/json", "{}")
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond("text/html", FAILED, status=500)


class NavigationSite(TwoOriginSite):
    """The site, running."""

    handler = _Handler

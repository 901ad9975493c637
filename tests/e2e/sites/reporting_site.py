"""A site that embeds the reporter, with a strict content security policy."""

from typing import ClassVar

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite

SCRIPT = """document.querySelector('button').onclick = () => {
  console.warn('cart is', 'broken');
  throw new TypeError('no lamp');
};
document.querySelector('h1').style.color = 'rgb(0, 80, 0)';"""
STYLE = "main { padding: 24px; background: rgb(240, 248, 255); }"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self' {server}/; connect-src 'self' {server}/; "
    "require-trusted-types-for 'script'; trusted-types ticketbox"
)
PAGE = """<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width">
<title>Your cart</title><link rel="stylesheet" href="/shop.css">
<script src="{server}/reporter.js" data-key="{key}"{attributes}></script></head>
<body><main><h1>Your cart</h1><button>Add lamp</button><button id="help">Help</button>
<label>Coupon <input></label></main>
<script src="/shop.js"></script></body></html>"""


class ReportingHandler(SiteHandler):
    """Serves the page with its policy, and its script. The page's key and attributes are the site's."""

    ticketbox: ClassVar[str] = ""
    key: ClassVar[str] = ""
    attributes: ClassVar[str] = ""

    def do_GET(self) -> None:
        """Send the page or its script; anything else is missing."""
        if self.path == "/shop.js":
            self.respond("text/javascript", SCRIPT)
        elif self.path == "/shop.css":
            self.respond("text/css", STYLE)
        elif self.path.startswith("/cart"):
            given = {"server": self.ticketbox, "key": self.key, "attributes": self.attributes}
            headers = {"Content-Security-Policy": POLICY.format(**given)}
            self.respond("text/html; charset=utf-8", PAGE.format(**given), headers)
        else:
            self.respond("text/plain", "missing", status=404)


class ReportingSite(TwoOriginSite):
    """The running site. `embed` sets what its page embeds."""

    handler = ReportingHandler

    def embed(self, server: str, key: str, attributes: str = "") -> None:
        """Embed the reporter of a server with a key; the script gets further attributes."""
        for name, value in (("ticketbox", server), ("key", key), ("attributes", attributes)):
            for each in (self._server, self._other):
                setattr(each.RequestHandlerClass, name, value)

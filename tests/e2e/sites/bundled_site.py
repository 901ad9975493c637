"""A site whose script is a bundle with a source map, at two origins. It keeps what was requested."""

from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

from tests.e2e.sites.two_origin_site import SiteHandler, TwoOriginSite
from tests.support.bundlers import build_app

MAIN = """import { formatPrice } from './lib/format.js';

document.querySelector('button').onclick = function pay() {
  console.warn('paying');
  formatPrice({});
};
"""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<h1>Shop</h1><button type="button">Pay</button><script type="module" src="{script}"></script></html>"""
HUGE = 200_000_000
SCRIPT, MAP = "/main.mjs", "/main.mjs.map"
COMMENT = b"//# sourceMappingURL=main.mjs.map"


class BundledHandler(SiteHandler):
    """Serves the page, the bundle as `/main.mjs`, and its map."""

    folder: ClassVar[Path]
    requests: ClassVar[list[tuple[str, str, str]]]  # host, path and cookies
    map_address: ClassVar[str]
    map_headers: ClassVar[dict[str, str]]
    script_headers: ClassVar[dict[str, str]]
    closing: ClassVar[Event]

    def do_GET(self) -> None:
        """Send a file; `/slow.map` never answers until `end_slow_loads`, and `/huge.map` has 200 MB."""
        host = (self.headers["Host"] or "").partition(":")[0]
        self.requests.append((host, self.path, self.headers["Cookie"] or ""))
        if self.path.startswith("/shop"):
            self.respond("text/html", PAGE.format(script=SCRIPT), {"Set-Cookie": "session=1"})
        elif self.path == SCRIPT:
            comment = b"//# sourceMappingURL=" + self.map_address.encode() if self.map_address else b""
            bundle = (self.folder / "out" / "main.mjs").read_bytes()
            assert COMMENT in bundle
            self.respond("text/javascript", bundle.replace(COMMENT, comment), self.script_headers)
        elif self.path == MAP:
            self.respond("application/json", (self.folder / "out" / "main.mjs.map").read_bytes(), self.map_headers)
        elif self.path == "/moved.map":
            self.respond("text/plain", "", {"Location": MAP}, status=302)
        elif self.path == "/slow.map":
            self.closing.wait(60)
            self.close_connection = True
        elif self.path == "/huge.map":
            self.send_response(200)
            self.send_header("Content-Length", str(HUGE))
            self.end_headers()
            with suppress(OSError):
                for _ in range(HUGE // 1_000_000):
                    self.wfile.write(b" " * 1_000_000)
        else:
            self.respond("text/plain", "missing", status=404)


class BundledSite(TwoOriginSite):
    """The running site."""

    handler = BundledHandler

    def __init__(self, bundler: str, modules: Path, folder: Path) -> None:
        super().__init__()
        self._handler: Any = self._server.RequestHandlerClass
        self._handler.folder = build_app(bundler, modules, folder, MAIN)
        self._handler.closing = Event()
        self.serve()

    @property
    def other_url(self) -> str:
        """The address of the other origin."""
        return self._handler.other_origin

    def serve_inline(self) -> None:
        """Let the script contain its map, as a `data:` address."""
        data = (self._handler.folder / "out" / "main.mjs.map").read_bytes()
        self.serve(f"data:application/json;base64,{b64encode(data).decode()}")

    def serve(
        self,
        map_address: str = "main.mjs.map",
        map_headers: dict[str, str] | None = None,
        script_headers: dict[str, str] | None = None,
    ) -> None:
        """Choose what the script names as its map, and what is sent with both. Forgets the requests."""
        self.end_slow_loads()
        self._handler.closing = Event()
        self._handler.map_address = map_address
        self._handler.map_headers = map_headers or {}
        self._handler.script_headers = script_headers or {}
        self._handler.requests = []

    def end_slow_loads(self) -> None:
        """Close the connections of the requests for `/slow.map`."""
        self._handler.closing.set()

    def list_map_requests(self) -> list[tuple[str, str, str]]:
        """Host, path and cookies of the requests for maps."""
        return [each for each in self._handler.requests if each[1].endswith(".map")]

    def __exit__(self, *raised: object) -> None:
        self.end_slow_loads()
        super().__exit__(*raised)

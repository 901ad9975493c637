"""The style sheet, the icon and the scripts of the pages that the server renders."""

import functools
import re
from importlib import resources

from litestar import get
from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.responses import Answer, Headers

_FOLDER = resources.files("ticketbox.http.pages") / "templates"
_FONTS = resources.files("ticketbox") / "web_dist" / "app" / "assets"
_FONT_NAME = re.compile(r"inter-latin-wght-normal-[\w-]+\.woff2", re.ASCII)
_HEADERS: Headers = [(b"cache-control", b"max-age=3600")]


def build_routes() -> list[HTTPRouteHandler]:
    """Create the routes of the files."""

    @get("/static/pages.css")
    async def send_style_sheet() -> Answer:
        """Send the style sheet of these pages."""
        return Answer(200, _load_style_sheet(), "text/css; charset=utf-8", list(_HEADERS))

    @get("/static/icon.svg")
    async def send_icon() -> Answer:
        """Send the icon of these pages and of the app."""
        return Answer(200, (_FOLDER / "icon.svg").read_bytes(), "image/svg+xml", list(_HEADERS))

    @get("/static/passkeys.js")
    async def send_passkey_script() -> Answer:
        """Send the script that uses passkeys."""
        return _load_script("passkeys.js")

    @get("/static/in-place.js")
    async def send_in_place_script() -> Answer:
        """Send the script that keeps the forms of a connection in one entry of the tab's history."""
        return _load_script("in-place.js")

    return [send_style_sheet, send_icon, send_passkey_script, send_in_place_script]


def _load_script(name: str) -> Answer:
    return Answer(200, (_FOLDER / name).read_bytes(), "text/javascript; charset=utf-8", list(_HEADERS))


@functools.cache
def _load_style_sheet() -> bytes:
    return (_FOLDER / "tokens.css").read_bytes() + _declare_font() + (_FOLDER / "pages.css").read_bytes()


def _declare_font() -> bytes:
    """Declare the app's font, whose file name contains a hash; nothing if the app isn't built."""
    names = [each.name for each in _FONTS.iterdir() if _FONT_NAME.fullmatch(each.name)] if _FONTS.is_dir() else []
    return b"".join(
        b"@font-face { font-family: 'Inter Variable'; font-display: swap; font-weight: 100 900; "
        b"src: url('../assets/%s') format('woff2'); }\n" % name.encode()
        for name in names
    )

"""The style sheet and the icon of the pages that the server renders."""

from importlib import resources

from litestar import get
from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.responses import Answer, Headers

_FOLDER = resources.files("ticketbox.http.pages") / "templates"
_HEADERS: Headers = [(b"cache-control", b"max-age=3600")]


def build_routes() -> list[HTTPRouteHandler]:
    """Create the routes of the files."""

    @get("/static/pages.css")
    async def send_style_sheet() -> Answer:
        """Send the style sheet of these pages."""
        text = (_FOLDER / "tokens.css").read_bytes() + (_FOLDER / "pages.css").read_bytes()
        return Answer(200, text, "text/css; charset=utf-8", list(_HEADERS))

    @get("/static/icon.svg")
    async def send_icon() -> Answer:
        """Send the icon of these pages and of the app."""
        return Answer(200, (_FOLDER / "icon.svg").read_bytes(), "image/svg+xml", list(_HEADERS))

    return [send_style_sheet, send_icon]

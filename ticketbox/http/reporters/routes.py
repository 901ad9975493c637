"""The route of the reporter for Playwright (docs/use/failing-tests.md). It needs no credential."""

import functools

from litestar import get
from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.responses import Answer
from ticketbox.http.reporters.playwright_package import build_package


def build_routes() -> list[HTTPRouteHandler]:
    """Create the route."""
    load_package = functools.cache(build_package)

    @get("/playwright-reporter.tgz")
    async def send_package() -> Answer:
        """Send the npm package of the reporter."""
        headers = [
            (b"cache-control", b"max-age=3600"),
            (b"content-disposition", b'attachment; filename="ticketbox-playwright-reporter.tgz"'),
        ]
        return Answer(200, load_package(), "application/gzip", headers)

    return [send_package]

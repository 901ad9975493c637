"""The two scripts of the reporter that other sites embed (docs/use/reports.md). They need no credential."""

import functools
import hashlib
import typing
from importlib import resources
from typing import Any

from litestar import Request, get
from litestar.handlers import HTTPRouteHandler

from ticketbox.edge.asgi import Scope, get_header, list_accepted_encodings
from ticketbox.edge.responses import Answer, Headers

SCRIPTS = resources.files("ticketbox") / "web_dist" / "reporter"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_HEADERS: Headers = [
    # the address has no version: pages keep the script for an hour, then ask whether it changed
    (b"cache-control", b"public, max-age=3600, stale-while-revalidate=86400"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"vary", b"accept-encoding"),
]


def build_routes() -> list[HTTPRouteHandler]:
    """Create the route of the script that pages embed, and of the panel that it loads."""

    @get(["/reporter.js", "/reporter-panel.js"])
    async def send_script(request: Request[Any, Any, Any]) -> Answer:
        """Send a script, compressed if possible."""
        scope = typing.cast(Scope, request.scope)
        accepted = list_accepted_encodings(scope)
        encoding, suffix = next((each for each in _ENCODINGS if each[0] in accepted), ("", ""))
        data, tag = _load_file(scope["path"].rpartition("/")[2] + suffix)
        headers: Headers = [*_HEADERS, (b"etag", tag.encode())]
        if encoding:
            headers.append((b"content-encoding", encoding.encode()))
        if get_header(scope, b"if-none-match") == tag:
            return Answer(304, b"", "", headers)
        return Answer(200, data, "text/javascript; charset=utf-8", headers)

    return [send_script]


@functools.cache
def _load_file(name: str) -> tuple[bytes, str]:
    """Load a file and its entity tag."""
    data = (SCRIPTS / name).read_bytes()
    return data, f'"{hashlib.sha256(data).hexdigest()[:32]}"'

"""The web app: its files, and the page that starts it at each of its URLs; and the zip files of the extension.

The package build creates the files from `web/`, with compressed copies beside them.
"""

import contextlib
import functools
import mimetypes
import re
import typing
from collections.abc import Iterable
from importlib import resources
from typing import Any

import msgspec
from litestar import Request, get
from litestar.handlers import HTTPRouteHandler

from ticketbox import __version__
from ticketbox.domain.core.problems import NotFound, Problem, Unauthorized
from ticketbox.domain.tickets.search_filters import FILTERS, SearchFilter
from ticketbox.edge.asgi import ASGIApp, Receive, Scope, Send, list_accepted_encodings
from ticketbox.edge.compression import allow_compression
from ticketbox.edge.responses import Answer, Headers, Page
from ticketbox.http.extension_zip import EDITIONS, build_extension_zip
from ticketbox.http.pages.refusal import is_navigation
from ticketbox.http.pages.rendering import render_page
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

FILES = resources.files("ticketbox") / "web_dist" / "app"
PATHS = (
    "/", "/projects/{_:path}", "/tickets/{_:path}", "/t/{_:path}", "/search", "/inbox", "/settings",
    "/settings/{_:path}", "/companies/{_:path}",
)  # fmt: skip
_BOARD_PAGE = "src/app/tickets/board/BoardPage.svelte"
_TICKET_PAGE = "src/app/tickets/detail/TicketPage.svelte"
_SETTINGS_PAGE = "src/app/settings/SettingsPage.svelte"
# The pages at each first segment of a path (`pages.ts` of the web app); the home page opens a board.
_CHUNKS = {
    "": ("src/app/tickets/board/HomePage.svelte", _BOARD_PAGE),
    "projects": (_BOARD_PAGE,),
    "tickets": (_TICKET_PAGE,),
    "t": (_TICKET_PAGE,),
    "search": ("src/app/search/SearchPage.svelte",),
    "inbox": ("src/app/events/InboxPage.svelte",),
    "settings": (_SETTINGS_PAGE,),
    "companies": (_SETTINGS_PAGE,),
}
_BOARD = re.compile(r"/projects/(proj_[0-9a-z]+)", re.ASCII)
PUBLIC_PATHS = ("/invitations/{_:str}",)
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    b"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# The frame that shows a replay: nothing but the player's own files, and pictures that the replay contains.
_REPLAY_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; form-action 'none'; "
    b"base-uri 'none'; frame-ancestors 'self'"
)
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
MAX_FILE_NAME = 200  # a file system refuses names above 255 bytes
_IMMUTABLE = b"public, max-age=31536000, immutable"


class Boot(msgspec.Struct, frozen=True):
    """Data that the app would otherwise request first. It is in the page as JSON, which browsers don't run."""

    version: str
    public_url: str
    me: Any
    last_event: str | None = None
    filters: tuple[SearchFilter, ...] = FILTERS


def build_routes(registry: Registry, dispatcher: Dispatcher, public_url: str) -> list[HTTPRouteHandler]:
    """Create the routes of the app's files and pages."""
    load_profile = functools.partial(_load_profile, registry, dispatcher)

    @get(list(PATHS))
    async def show_app(request: Request[Any, Any, Any]) -> Answer:
        """Show the app if the caller is signed in; otherwise redirect to the sign-in page."""
        scope = typing.cast(Scope, request.scope)
        me = await load_profile(scope["context"])
        if me is not None:
            allow_compression(scope)
            last_event = await _find_last_event(registry, dispatcher, scope["context"])
            first = await _list_first_requests(registry, dispatcher, scope)
            return _render_app_page(Boot(__version__, public_url, me, last_event), scope["path"], first)
        if not (await dispatcher.dispatch(registry["get_set_up"], {}, RequestContext(operator=True))).done:
            return render_page("unset.html")
        return Answer(303, b"", "text/plain", [(b"location", _build_sign_in_url(scope))])

    @get(list(PUBLIC_PATHS))
    async def show_public_page(request: Request[Any, Any, Any]) -> Answer:
        """Show a page of the app that doesn't require a session: accept an invitation."""
        return _render_app_page(
            Boot(__version__, public_url, await load_profile(typing.cast(Scope, request.scope)["context"]))
        )

    @get("/replay")
    async def show_replay_frame() -> Answer:
        """Show the page that plays replays in a frame of the app. It has no data; the app passes it the events."""
        headers: Headers = [(b"content-security-policy", _REPLAY_POLICY), (b"x-frame-options", b"SAMEORIGIN")]
        return Page(200, (FILES / "replay.html").read_bytes(), "text/html; charset=utf-8", headers)

    @get("/assets/{name:str}")
    async def send_file(request: Request[Any, Any, Any], name: str) -> Answer:
        """Send a file of the app. Its name contains a hash of its contents, so it never changes."""
        return _build_file_answer(typing.cast(Scope, request.scope), name)

    @get([f"/extension/{edition}.zip" for edition in EDITIONS])
    async def send_extension(request: Request[Any, Any, Any]) -> Answer:
        """Send the extension for a browser to a signed-in caller (docs/use/extension.md)."""
        scope = typing.cast(Scope, request.scope)
        if await load_profile(scope["context"]) is None:
            return Answer(303, b"", "text/plain", [(b"location", _build_sign_in_url(scope))])
        name = scope["path"].rpartition("/")[2]
        headers: Headers = [(b"content-disposition", f'attachment; filename="ticketbox-{name}"'.encode())]
        archive = build_extension_zip(name.removesuffix(".zip"), public_url)
        return Answer(200, archive, "application/zip", headers)

    @get("/extension/version.json")
    async def send_extension_version() -> Answer:
        """Send the version of the zips, so that an extension that was installed from one learns of a newer one."""
        return Answer(200, msgspec.json.encode({"version": __version__}), "application/json")

    @get("/extension/connected")
    async def show_connected_page() -> Answer:
        """Show the page that the consent page redirects to; the extension reads the result from the tab's URL."""
        return render_page("connected.html")

    return [
        *(show_app, show_public_page, show_replay_frame, send_file),
        *(send_extension, send_extension_version, show_connected_page),
    ]


def show_unknown_addresses(app: ASGIApp, registry: Registry, dispatcher: Dispatcher, public_url: str) -> ASGIApp:
    """Wrap an application: a browser that opens an unknown address gets a page that says so.

    For a signed-in person it is a page of the app, with the way back to the board.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except NotFound:
            if scope["method"] not in {"GET", "HEAD"} or not is_navigation(scope):
                raise
            me = await _load_profile(registry, dispatcher, scope["context"])
            boot = Boot(__version__, public_url, me)
            page = render_page("not_found.html", 404) if me is None else _render_app_page(boot, status=404)
            await page(scope, receive, send)

    return serve


async def _load_profile(registry: Registry, dispatcher: Dispatcher, context: RequestContext) -> Any:
    if context.cookie:
        with contextlib.suppress(Unauthorized):
            return await dispatcher.dispatch(registry["get_me"], {}, context)
    return None


async def _find_last_event(registry: Registry, dispatcher: Dispatcher, context: RequestContext) -> str | None:
    """The id of the newest event, from which the app's event stream begins: it misses nothing that the page loads."""
    with contextlib.suppress(Problem):  # without it, the stream begins when it is opened
        return (await dispatcher.dispatch(registry["wait_for_events"], {"limit": 1, "wait_seconds": 0}, context)).last
    return None


async def _list_first_requests(registry: Registry, dispatcher: Dispatcher, scope: Scope) -> list[str]:
    """List the paths that a page requests first: the browser loads them while it still loads the code.

    A board also requests its columns and their tickets. Filters change what is asked of the columns, so their tickets
    are listed for a board without any.
    """
    every_page = ["companies?limit=100", "projects?limit=100"]
    board = _BOARD.fullmatch(scope["path"])
    if board is None:
        return every_page
    project = board[1]
    columns: list[str] = []
    if not scope["query_string"]:
        with contextlib.suppress(Problem):  # the app shows what is wrong
            page = await dispatcher.dispatch(registry["list_columns"], {"project_id": project}, scope["context"])
            columns = [column.id for column in page.items]
    return [
        *(*every_page, f"projects/{project}/columns"),
        *(f"tickets?project_id={project}&column_id={column}&sort=position&limit=25" for column in columns),
    ]


def _build_sign_in_url(scope: Scope) -> bytes:
    from urllib.parse import quote

    target = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
    return b"/signin" if target == "/" else f"/signin?next={quote(target, safe='/')}".encode()


def _render_app_page(boot: Boot, path: str = "", requests: Iterable[str] = (), status: int = 200) -> Answer:
    data = msgspec.json.encode(boot).replace(b"<", b"\\u003c")
    script = b'<script type="application/json" id="boot">' + data + b"</script>"
    modules = _render_module_preloads(_CHUNKS.get(path[1:].partition("/")[0], ())) if path else b""
    head = script + modules + _render_api_preloads(requests) + b"</head>"
    text = (FILES / "index.html").read_bytes().replace(b"</head>", head, 1)
    return Page(status, text, "text/html; charset=utf-8", [(b"content-security-policy", _POLICY)])


def _render_api_preloads(requests: Iterable[str]) -> bytes:
    """Render links that preload API requests."""
    paths = (each.replace("&", "&amp;") for each in requests)
    return "".join(f'<link rel="preload" as="fetch" crossorigin href="/api/v1/{path}">' for path in paths).encode()


@functools.cache
def _render_module_preloads(chunks: tuple[str, ...]) -> bytes:
    """Render links that preload the chunks of pages and what they import, together with the entry."""
    manifest = msgspec.json.decode((FILES / "manifest.json").read_bytes())

    def collect_chunks(name: str, known: dict[str, None]) -> dict[str, None]:
        if name not in known:
            known[name] = None
            for each in manifest[name].get("imports", ()):
                collect_chunks(each, known)
        return known

    links: list[str] = []
    entry = collect_chunks("index.html", {})
    needed: dict[str, None] = {}
    for chunk in chunks:
        collect_chunks(chunk, needed)
    for name in needed:
        if name not in entry:
            links.append(f'<link rel="modulepreload" crossorigin href="/{manifest[name]["file"]}">')
            links += [f'<link rel="stylesheet" crossorigin href="/{css}">' for css in manifest[name].get("css", ())]
    return "".join(links).encode()


def _build_file_answer(scope: Scope, name: str) -> Answer:
    path = FILES / "assets" / name
    if name.startswith(".") or len(name.encode()) > MAX_FILE_NAME or not path.is_file():
        raise NotFound("page")
    headers: Headers = [(b"cache-control", _IMMUTABLE), (b"vary", b"accept-encoding")]
    encodings = list_accepted_encodings(scope)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    for encoding, suffix in _ENCODINGS:
        packed = FILES / "assets" / (name + suffix)
        if encoding in encodings and packed.is_file():
            return Answer(200, packed.read_bytes(), kind, [*headers, (b"content-encoding", encoding.encode())])
    return Answer(200, path.read_bytes(), kind, headers)

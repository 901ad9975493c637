"""The sample shop at `/sample/` of every server: its bug can be reported before anything is installed.

Each visitor breaks their own shop: the choice is in a cookie, and the gift card is broken at first. With `?key=pub_…`,
a report key, the pages embed the reporter (docs/use/quickstart.md). Nothing is stored but carts, in memory.
"""

import asyncio
import typing
from html import escape
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import HttpMethod, Request, get, route
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.problems import NotFound
from ticketbox.edge.asgi import Receive, Scope, get_header, read_body
from ticketbox.edge.cookies import build_cookie
from ticketbox.edge.responses import Answer, Headers
from ticketbox.edge.site import Site
from ticketbox.http.sample_shop.api import Fault, ShopApi, compute_delay
from ticketbox.http.sample_shop.files import POLICY, load_files, write_fault

MAX_BODY = 10_000
BODY_SECONDS = 10.0
_DAY_SECONDS = 86_400
_CART, _FAULT, _KEY = "sample-cart", "sample-fault", "sample-key"
_CHARSET = b'<meta charset="utf-8">'
_HEADERS: Headers = [(b"cache-control", b"no-store"), (b"content-security-policy", POLICY.encode())]


def build_routes(site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the shop's pages and files, and of its API."""
    shop = ShopApi()
    files = load_files()

    @get(["/sample", "/sample/{path:path}"])
    async def send_file(request: Request[Any, Any, Any], path: str = "/") -> Answer:
        """Send a page or a file; a report key in the address goes into a cookie."""
        scope = typing.cast(Scope, request.scope)
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("key")
        if given is not None or scope["raw_path"] == b"/sample":
            cookies = [] if given is None else [build_cookie(site, _KEY, _keep_key(given), _DAY_SECONDS)]
            return Answer(303, b"", "text/plain", [(b"location", b"/sample/"), *cookies])
        cookies = _read_cookies(scope)
        if path == "/fault.js":
            return _answer(write_fault(_read_fault(cookies)), "text/javascript")
        if path not in files:
            raise NotFound("page")
        content, media_type = files[path]
        if media_type == "text/html" and (key := _keep_key(cookies.get(_KEY, ""))):
            reporter = f'\n<script src="../reporter.js" data-key="{escape(key)}"></script>'
            content = content.replace(_CHARSET, _CHARSET + reporter.encode(), 1)
        return _answer(content, media_type)

    @route("/sample/api/{path:path}", http_method=[HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH])
    async def answer_call(request: Request[Any, Any, Any], path: str) -> Answer:
        """Answer a call of the shop's pages."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        cookies = _read_cookies(scope)
        key = shop.open_cart(cookies.get(_CART))
        headers = [build_cookie(site, _CART, key, _DAY_SECONDS)]
        body = await read_body(scope, receive, MAX_BODY, BODY_SECONDS)
        parameters = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        await asyncio.sleep(compute_delay(parameters))
        try:
            given: Any = msgspec.json.decode(body) if body else None
            if (scope["method"], path) == ("PUT", "/fault"):
                fault = Fault(given["fault"])
                headers.append(build_cookie(site, _FAULT, fault, _DAY_SECONDS))
                status, answer = HTTPStatus.OK, {"fault": fault}
            else:
                status, answer = shop.answer(scope["method"], path[1:].split("/"), parameters, given, key)
        except (KeyError, TypeError, ValueError):
            status, answer = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "Internal error"}  # the shop's, not ours
        return _answer(msgspec.json.encode(answer), "application/json", status, headers)

    return [send_file, answer_call]


def _answer(content: bytes, media_type: str, status: int = 200, headers: Headers = []) -> Answer:  # noqa: B006
    return Answer(status, content, f"{media_type}; charset=utf-8", [*_HEADERS, *headers])


def _read_cookies(scope: Scope) -> dict[str, str]:
    try:
        return {name: each.value for name, each in SimpleCookie(get_header(scope, b"cookie")).items()}
    except CookieError:
        return {}


def _read_fault(cookies: dict[str, str]) -> Fault:
    try:
        return Fault(cookies.get(_FAULT, Fault.GIFT_CARD))
    except ValueError:
        return Fault.GIFT_CARD


def _keep_key(text: str) -> str:
    """Return a report key, or nothing for what doesn't look like one."""
    return text if secrets.is_well_formed(text, secrets.REPORT_KEY_PREFIX) else ""

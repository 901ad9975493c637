"""The routes of the server: MCP, REST, and Litestar for everything else."""

import functools
import typing
from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.exceptions import MethodNotAllowedException, NotFoundException
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.problems import MethodNotAllowed, NotFound
from ticketbox.edge.asgi import ASGIApp, Receive, Scope, Send
from ticketbox.edge.compression import allow_compression
from ticketbox.edge.edge import HEALTH_PATH
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http import git_hooks, metrics, rest, webapp
from ticketbox.http.agents import routes as agents
from ticketbox.http.framework import Framework
from ticketbox.http.metrics import Metrics
from ticketbox.http.oauth import routes as oauth
from ticketbox.http.openapi.document import build_document
from ticketbox.http.pages import (
    address,
    api_reference,
    email,
    password,
    provider,
    provider_link,
    report_link,
    second_factor,
    setup,
    sign_in_code,
    sign_in_link,
    signin,
    static,
)
from ticketbox.http.reporters import embedded_scripts
from ticketbox.http.reporters import routes as reporters
from ticketbox.http.sample_shop import routes as sample_shop
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site, mcp: ASGIApp, figures: Metrics) -> ASGIApp:
    """Create the ASGI application with every route except the edge; `mcp` answers at `/mcp`."""
    handlers = [
        *setup.build_routes(registry, dispatcher, site),
        *signin.build_routes(registry, dispatcher, site),
        *provider.build_routes(registry, dispatcher, site),
        *provider_link.build_routes(registry, dispatcher, site),
        *sign_in_link.build_routes(registry, dispatcher, site),
        *sign_in_code.build_routes(registry, dispatcher, site),
        *second_factor.build_routes(registry, dispatcher, site),
        *api_reference.build_routes(registry, site),
        *static.build_routes(),
        *webapp.build_routes(registry, dispatcher, site.public_url),
        *oauth.build_routes(registry, dispatcher, site),
        *agents.build_routes(site.public_url),
        *reporters.build_routes(),
        *sample_shop.build_routes(site),
        *embedded_scripts.build_routes(),
        *email.build_routes(registry, dispatcher, site),
        git_hooks.build_route(registry, dispatcher),
        *report_link.build_routes(registry, dispatcher),
        *address.build_routes(registry, dispatcher, site),
        *password.build_routes(registry, dispatcher, site),
        _build_document_route(registry, site),
        _build_health_route(dispatcher),
        metrics.build_route(registry, dispatcher, figures),
    ]
    app = Framework(
        route_handlers=handlers,
        openapi_config=None,
        logging_config=None,
        exception_handlers={
            NotFoundException: _raise_not_found,
            MethodNotAllowedException: _raise_not_found,
            Exception: _rethrow,
        },
    )
    framework = _answer_head(typing.cast(ASGIApp, app))
    pages = webapp.show_unknown_addresses(framework, registry, dispatcher, site.public_url)
    api = rest.Api(registry, dispatcher, site, pages)

    async def dispatch_request(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in {"/mcp", "/mcp/"}:
            await mcp(scope, receive, send)
        else:
            await api(scope, receive, send)

    return dispatch_request


def _answer_head(application: ASGIApp) -> ASGIApp:
    """Answer HEAD as GET (RFC 9110, 9.3.2); the HTTP server leaves the body out."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await application({**scope, "method": "GET"} if scope["method"] == "HEAD" else scope, receive, send)

    return answer


def _rethrow(_: object, error: Exception) -> Response[bytes]:
    """Leave problems and unexpected errors to the edge."""
    raise error


def _raise_not_found(_: object, error: Exception) -> Response[bytes]:
    if isinstance(error, NotFoundException):
        raise NotFound("page")
    if isinstance(error, MethodNotAllowedException):
        allowed = set((error.headers or {}).get("allow", "").split(", "))
        raise MethodNotAllowed(sorted(allowed | {"HEAD"} if "GET" in allowed else allowed))
    raise error


def _build_document_route(registry: Registry, site: Site) -> HTTPRouteHandler:
    @functools.cache
    def encode_document() -> bytes:
        return msgspec.json.encode(build_document(registry, site.public_url))

    @get(rest.PREFIX + "/openapi.json")
    async def show_document(request: Request[Any, Any, Any]) -> Answer:
        allow_compression(typing.cast(Scope, request.scope))
        return Answer(200, encode_document(), "application/json", [(b"cache-control", b"no-cache")])

    return show_document


def _build_health_route(dispatcher: Dispatcher) -> HTTPRouteHandler:
    @get(HEALTH_PATH)
    async def check_health() -> Answer:
        services = dispatcher.services
        await services.database.check_reads()
        note = b"" if services.deletes_by_age else b"nothing is deleted by its age: the clock may be wrong\n"
        return Answer(200, b"ok\n" + note, "text/plain; charset=utf-8")

    return check_health

"""Pages that the server renders: set-up, sign-in and the API reference.

They work without scripts. Every form goes through `dispatch`.
"""

import functools
import typing
from importlib import resources
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.policy import Via
from ticketbox.domain.core.problems import FieldError, InvalidField, NotFound, Problem
from ticketbox.edge.asgi import Receive, Scope, query
from ticketbox.edge.compression import allow_compression
from ticketbox.edge.edge import Site, slow_down
from ticketbox.edge.responses import Answer, build_session_cookie
from ticketbox.http.openapi import document, reference
from ticketbox.http.pages.rendering import (
    keep_local_path,
    read_form,
    refuse_cross_site_form,
    render_page,
    render_sign_in_page,
)
from ticketbox.operations.accounts.sessions import SignedIn
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

_FIELDS = ("email", "name", "company", "project")


def routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Return the routes."""

    async def run_operation(name: str, **arguments: object) -> Any:
        return await dispatcher.dispatch(registry[name], arguments, RequestContext(operator=True))

    async def find_problem(secret: str) -> Problem | None:
        if (await run_operation("get_set_up")).done or not (await run_operation("check_set_up", secret=secret)).done:
            return NotFound("set-up address")
        return None

    @get("/setup/{secret:str}")
    async def show_set_up(secret: str) -> Answer:
        """The one-time set-up page."""
        problem = await find_problem(secret)
        return render_page("gone.html", 404) if problem else _render_set_up_page(dict.fromkeys(_FIELDS, ""))

    @post("/setup/{secret:str}", status_code=303)
    async def set_up(request: Request[Any, Any, Any], secret: str) -> Answer:
        """Handle the set-up form."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        given = {name: form.get(name, "") for name in _FIELDS}
        call: RequestContext = scope["call"]
        call.via = Via.WEB
        try:
            if form.get("password") != form.pop("password_again", None):
                raise InvalidField("password_again", "the passwords don't match")
            session: WithSession[SignedIn] = await dispatcher.dispatch(
                registry["set_up"], {**form, "secret": secret}, call
            )
        except NotFound:
            return render_page("gone.html", 404)
        except Problem as problem:
            return _render_set_up_page(given, problem)
        cookie = build_session_cookie(site.cookie, session.secret, session.lifetime, secure=site.secure)
        return Answer(303, b"", "text/plain", [(b"location", b"/"), cookie])

    @functools.cache
    def render_reference() -> Answer:
        described = document.document(registry, site.public_url)
        groups, records = reference.groups(described), reference.records(described)
        return render_page("reference.html", groups=groups, records=records, document=described)

    @get("/api/docs")
    async def api_reference(request: Request[Any, Any, Any]) -> Answer:
        """Show the API reference, rendered from the OpenAPI document."""
        allow_compression(typing.cast(Scope, request.scope))
        return render_reference()

    @get("/static/pages.css")
    async def style() -> Answer:
        """The style sheet of these pages."""
        folder = resources.files("ticketbox.http.pages") / "templates"
        text = (folder / "tokens.css").read_bytes() + (folder / "pages.css").read_bytes()
        return Answer(200, text, "text/css; charset=utf-8", [(b"cache-control", b"max-age=3600")])

    @get("/static/icon.svg")
    async def icon() -> Answer:
        """The icon of these pages and of the app."""
        image = (resources.files("ticketbox.http.pages") / "templates" / "icon.svg").read_bytes()
        return Answer(200, image, "image/svg+xml", [(b"cache-control", b"max-age=3600")])

    return [show_set_up, set_up, *_sign_in_routes(registry, dispatcher, site), api_reference, style, icon]


def _sign_in_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    @get("/signin")
    async def show_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Show the sign-in page; `next` is the page to open afterwards."""
        return render_sign_in_page(query(typing.cast(Scope, request.scope)).get("next", "/"))

    @post("/signin", status_code=303)
    async def sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Handle the sign-in form."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        given = {"email": form.get("email", ""), "password": form.get("password", "")}
        then = keep_local_path(form.get("next", "/"))
        call: RequestContext = scope["call"]
        call.via = Via.WEB
        try:
            session: WithSession[SignedIn] = await dispatcher.dispatch(registry["create_session"], given, call)
        except Problem as problem:
            return render_sign_in_page(then, given["email"], slow_down(dispatcher.services.limiter, problem, call))
        cookie = build_session_cookie(site.cookie, session.secret, session.lifetime, secure=site.secure)
        return Answer(303, b"", "text/plain", [(b"location", then.encode()), cookie])

    return [show_sign_in, sign_in]


def _render_set_up_page(given: dict[str, str], problem: Problem | None = None) -> Answer:
    """Render the form with the entered values and their errors."""
    wrong: list[FieldError] = [] if problem is None else problem.extra.get("errors", [])
    errors = {error.field: error.message for error in wrong}
    return render_page("setup.html", problem.status if problem else 200, given=given, problem=problem, errors=errors)

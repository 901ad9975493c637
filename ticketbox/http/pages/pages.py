"""The pages that the server renders itself: set-up, sign-in, the API's reference.

They work without script. Every form goes through `dispatch` like any other call.
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
from ticketbox.edge.compression import may_pack
from ticketbox.edge.edge import Site, slow_down
from ticketbox.edge.responses import Answer, session_cookie
from ticketbox.http.openapi import document, reference
from ticketbox.http.pages.rendering import form_pairs, own_path, page, refuse_foreign, sign_in_page
from ticketbox.operations.accounts.sessions import SignedIn
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

_ASKED = ("email", "name", "company", "project")


def routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """The pages' routes."""

    async def ask(name: str, **arguments: object) -> Any:
        return await dispatcher.dispatch(registry[name], arguments, RequestContext(operator=True))

    async def problem_of(secret: str) -> Problem | None:
        if (await ask("get_set_up")).done or not (await ask("check_set_up", secret=secret)).done:
            return NotFound("set-up address")
        return None

    @get("/setup/{secret:str}")
    async def show_set_up(secret: str) -> Answer:
        """The one-time set-up page."""
        problem = await problem_of(secret)
        return page("gone.html", 404) if problem else _set_up_page(dict.fromkeys(_ASKED, ""))

    @post("/setup/{secret:str}", status_code=303)
    async def set_up(request: Request[Any, Any, Any], secret: str) -> Answer:
        """What the set-up page sends."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_foreign(scope, site)
        form = dict(await form_pairs(scope, receive))
        given = {name: form.get(name, "") for name in _ASKED}
        call: RequestContext = scope["call"]
        call.via = Via.WEB
        try:
            if form.get("password") != form.pop("password_again", None):
                raise InvalidField("password_again", "the two passwords differ")
            session: WithSession[SignedIn] = await dispatcher.dispatch(
                registry["set_up"], {**form, "secret": secret}, call
            )
        except NotFound:
            return page("gone.html", 404)
        except Problem as problem:
            return _set_up_page(given, problem)
        cookie = session_cookie(site.cookie, session.secret, session.lifetime, secure=site.secure)
        return Answer(303, b"", "text/plain", [(b"location", b"/"), cookie])

    @functools.cache
    def reference_page() -> Answer:
        described = document.document(registry, site.public_url)
        groups, records = reference.groups(described), reference.records(described)
        return page("reference.html", groups=groups, records=records, document=described)

    @get("/api/docs")
    async def api_reference(request: Request[Any, Any, Any]) -> Answer:
        """The API's reference as a page, from the same document that machines read."""
        may_pack(typing.cast(Scope, request.scope))
        return reference_page()

    @get("/static/pages.css")
    async def style() -> Answer:
        """The style sheet of these pages."""
        folder = resources.files("ticketbox.http.pages") / "templates"
        text = (folder / "tokens.css").read_bytes() + (folder / "pages.css").read_bytes()
        return Answer(200, text, "text/css; charset=utf-8", [(b"cache-control", b"max-age=3600")])

    @get("/static/icon.svg")
    async def icon() -> Answer:
        """The mark of these pages and of the app."""
        image = (resources.files("ticketbox.http.pages") / "templates" / "icon.svg").read_bytes()
        return Answer(200, image, "image/svg+xml", [(b"cache-control", b"max-age=3600")])

    return [show_set_up, set_up, *_sign_in_routes(registry, dispatcher, site), api_reference, style, icon]


def _sign_in_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    @get("/signin")
    async def show_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """The sign-in page; `next` is where to go then."""
        return sign_in_page(query(typing.cast(Scope, request.scope)).get("next", "/"))

    @post("/signin", status_code=303)
    async def sign_in(request: Request[Any, Any, Any]) -> Answer:
        """What the sign-in page sends."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_foreign(scope, site)
        form = dict(await form_pairs(scope, receive))
        given = {"email": form.get("email", ""), "password": form.get("password", "")}
        then = own_path(form.get("next", "/"))
        call: RequestContext = scope["call"]
        call.via = Via.WEB
        try:
            session: WithSession[SignedIn] = await dispatcher.dispatch(registry["create_session"], given, call)
        except Problem as problem:
            return sign_in_page(then, given["email"], slow_down(dispatcher.services.limiter, problem, call))
        cookie = session_cookie(site.cookie, session.secret, session.lifetime, secure=site.secure)
        return Answer(303, b"", "text/plain", [(b"location", then.encode()), cookie])

    return [show_sign_in, sign_in]


def _set_up_page(given: dict[str, str], problem: Problem | None = None) -> Answer:
    """The form with what was typed in, and what was wrong with it."""
    wrong: list[FieldError] = [] if problem is None else problem.extra.get("errors", [])
    errors = {error.field: error.message for error in wrong}
    return page("setup.html", problem.status if problem else 200, given=given, problem=problem, errors=errors)

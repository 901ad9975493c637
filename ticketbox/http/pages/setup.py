"""The one-time set-up page, which creates the first account and company."""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import FieldError, InvalidField, NotFound, Problem
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.responses import Answer, build_session_cookies
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import (
    read_form,
    refuse_cross_site_form,
    render_page,
)
from ticketbox.operations.accounts.sessions import SignedIn
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

_FIELDS = ("email", "name", "company", "project")


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the set-up page."""

    async def run_operation(name: str, **arguments: object) -> Any:
        return await dispatcher.dispatch(registry[name], arguments, RequestContext(operator=True))

    async def find_problem(secret: str) -> Problem | None:
        if (await run_operation("get_set_up")).done or not (await run_operation("check_set_up", secret=secret)).done:
            return NotFound("set-up address")
        return None

    @get("/setup/{secret:str}")
    async def show_set_up(secret: str) -> Answer:
        """Show the set-up form while the set-up address is valid."""
        problem = await find_problem(secret)
        return render_page("gone.html", 404) if problem else _render_set_up_page(dict.fromkeys(_FIELDS, ""))

    @post("/setup/{secret:str}", status_code=303)
    async def submit_set_up(request: Request[Any, Any, Any], secret: str) -> Answer:
        """Handle the set-up form."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        entered = {name: form.get(name, "") for name in _FIELDS}
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        try:
            if form.get("password") != form.pop("password_again", None):
                raise InvalidField("password_again", "the passwords don't match")
            session: WithSession[SignedIn] = await dispatcher.dispatch(
                registry["set_up"], {**form, "secret": secret}, context
            )
        except NotFound:
            return render_page("gone.html", 404)
        except Problem as problem:
            return _render_set_up_page(entered, problem)
        return Answer(303, b"", "text/plain", [(b"location", b"/"), *build_session_cookies(session, site)])

    return [show_set_up, submit_set_up]


def _render_set_up_page(entered: dict[str, str], problem: Problem | None = None) -> Answer:
    """Render the form with the entered values and their errors."""
    field_errors: list[FieldError] = [] if problem is None else problem.extra.get("errors", [])
    errors = {error.field: error.message for error in field_errors}
    return render_page(
        "setup.html", problem.status if problem else 200, entered=entered, problem=problem, errors=errors
    )

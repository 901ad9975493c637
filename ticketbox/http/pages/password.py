"""The pages for a forgotten password: one asks for a link, the other is behind it. They need no script."""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import InvalidField, Problem
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import read_form, refuse_cross_site_form, render_page
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the pages."""

    async def run_operation(scope: Scope, name: str, **arguments: object) -> Any:
        context = scope["context"]
        context.via = Via.WEB
        return await dispatcher.dispatch(registry[name], arguments, context)

    @get("/password")
    async def show_request() -> Answer:
        """Show the form that asks for a link."""
        return render_page("password_request.html", email="", sent=False, problem=None)

    @post("/password", status_code=200)
    async def submit_request(request: Request[Any, Any, Any]) -> Answer:
        """Handle the form. The page is the same whether an account has the address."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        email = dict(await read_form(scope, receive)).get("email", "")
        try:
            await run_operation(scope, "request_password_reset", email=email)
        except Problem as problem:
            return render_page("password_request.html", problem.status, email=email, sent=False, problem=problem)
        return render_page("password_request.html", email=email, sent=True, problem=None)

    @get("/password/{key:str}")
    async def show_reset(request: Request[Any, Any, Any], key: str) -> Answer:
        """Show the form for the new password."""
        return await _render_reset(typing.cast(Scope, request.scope), key, None)

    @post("/password/{key:str}", status_code=200)
    async def submit_reset(request: Request[Any, Any, Any], key: str) -> Answer:
        """Handle the form."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        try:
            if form.get("password") != form.get("password_again"):
                raise InvalidField("password_again", "the passwords don't match")
            account = await run_operation(scope, "reset_password", key=key, password=form.get("password", ""))
        except Problem as problem:
            return await _render_reset(scope, key, problem)
        return render_page("password.html", account=account, done=True, problem=None)

    async def _render_reset(scope: Scope, key: str, problem: Problem | None) -> Answer:
        try:
            account = await run_operation(scope, "get_password_reset", key=key)
        except Problem as gone:
            return render_page("password.html", gone.status, account=None, done=False, problem=gone)
        status = problem.status if problem else 200
        return render_page("password.html", status, account=account, done=False, problem=problem)

    return [show_request, submit_request, show_reset, submit_reset]

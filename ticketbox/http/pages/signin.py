"""The sign-in page."""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import Problem
from ticketbox.edge.addresses import limit_bad_credentials
from ticketbox.edge.asgi import Receive, Scope, parse_query
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import (
    keep_local_path,
    read_form,
    refuse_cross_site_form,
    render_sign_in_page,
)
from ticketbox.http.pages.sign_in_code import answer_sign_in
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the sign-in page."""
    services = dispatcher.services

    @get("/signin")
    async def show_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Show the sign-in page; `next` is the page to open afterwards."""
        return render_sign_in_page(services, parse_query(typing.cast(Scope, request.scope)).get("next", "/"))

    @post("/signin", status_code=303)
    async def submit_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Handle the sign-in form."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        credentials = {"email": form.get("email", ""), "password": form.get("password", "")}
        then = keep_local_path(form.get("next", "/"))
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        try:
            result = await dispatcher.dispatch(registry["begin_sign_in"], credentials, context)
        except Problem as problem:
            return render_sign_in_page(
                services,
                then,
                credentials["email"],
                limit_bad_credentials(services.limiter, problem, context),
            )
        return answer_sign_in(result, then, site)

    return [show_sign_in, submit_sign_in]

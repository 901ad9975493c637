"""The page behind a link of the operator, which signs in once (`ticketbox user sign-in-link`). It needs no script."""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import Problem
from ticketbox.edge.asgi import Scope
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import refuse_cross_site_form, render_page
from ticketbox.http.pages.sign_in_code import answer_sign_in
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the page."""

    @get("/signin/once/{secret:str}")
    async def show_link(secret: str) -> Answer:
        """Show the button that signs in, so that a program that previews links doesn't use them up."""
        return render_page("sign_in_link.html", problem=None)

    @post("/signin/once/{secret:str}", status_code=303)
    async def open_link(request: Request[Any, Any, Any], secret: str) -> Answer:
        """Sign in with a link that the operator created."""
        scope = typing.cast(Scope, request.scope)
        refuse_cross_site_form(scope, site)
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        try:
            session = await dispatcher.dispatch(registry["open_sign_in_link"], {"secret": secret}, context)
        except Problem as problem:
            return render_page("sign_in_link.html", problem.status, problem=problem)
        return answer_sign_in(session, "/", site)

    return [show_link, open_link]

"""The page behind the link that confirms a new email address. It needs no session and no script."""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import Conflict, NotFound
from ticketbox.edge.asgi import Scope
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import refuse_cross_site_form, render_page
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the page."""

    async def render(name: str, scope: Scope, key: str, *, done: bool) -> Answer:
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        try:
            new = await dispatcher.dispatch(registry[name], {"key": key}, context)
        except NotFound:
            return render_page("address.html", 404, new=None, done=False, taken=False)
        except Conflict:
            return render_page("address.html", 409, new=None, done=False, taken=True)
        return render_page("address.html", new=new, done=done, taken=False)

    @get("/address/{key:str}")
    async def show_new_address(request: Request[Any, Any, Any], key: str) -> Answer:
        """Show the new address, and the button."""
        return await render("get_new_address", typing.cast(Scope, request.scope), key, done=False)

    @post("/address/{key:str}", status_code=200)
    async def confirm_new_address(request: Request[Any, Any, Any], key: str) -> Answer:
        """Handle the form."""
        scope = typing.cast(Scope, request.scope)
        refuse_cross_site_form(scope, site)
        return await render("confirm_address", scope, key, done=True)

    return [show_new_address, confirm_new_address]

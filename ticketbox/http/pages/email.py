"""The page to turn email notifications on or off, linked in every email. It needs no session and no script.

A POST without a field turns them off immediately: email programs send that (RFC 8058).
"""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import NotFound, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import read_form, refuse_cross_site_form, render_page
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.operations.events.email import MailChoice


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the page."""

    async def run_operation(name: str, scope: Scope, **arguments: object) -> MailChoice | None:
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        try:
            return await dispatcher.dispatch(registry[name], arguments, context)
        except NotFound:
            return None

    @get("/mail/{key:str}")
    async def show_choice(request: Request[Any, Any, Any], key: str) -> Answer:
        """Show whether email notifications are on, and the button."""
        return _render_page(
            await run_operation("get_mail_choice", typing.cast(Scope, request.scope), key=key), chosen=False
        )

    @post("/mail/{key:str}", status_code=200)
    async def submit_choice(request: Request[Any, Any, Any], key: str) -> Answer:
        """Handle the form, or the request of an email program."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        try:
            form = dict(await read_form(scope, receive))
        except UnsupportedMediaType:  # email programs may send a multipart body (RFC 8058); it has no more fields
            form = {}
        choice = await run_operation("choose_mail", scope, key=key, wanted=form.get("wanted") == "yes")
        return _render_page(choice, chosen=True)

    return [show_choice, submit_choice]


def _render_page(choice: MailChoice | None, *, chosen: bool) -> Answer:
    if choice is None:
        return render_page("mail_gone.html", 404)
    return render_page("mail_choice.html", choice=choice, chosen=chosen)

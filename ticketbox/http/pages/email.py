"""The page behind the links in every mail: yes, or no more. It needs no session and no script.

A POST that says nothing else ends the mail at once, as programs that read mail send it (RFC 8058).
"""

import typing
from typing import Any

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.policy import Via
from ticketbox.domain.core.problems import NotFound, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.edge import Site
from ticketbox.edge.responses import Answer
from ticketbox.http.pages.rendering import form_pairs, page, refuse_foreign
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry
from ticketbox.operations.events.email import MailChoice


def routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """The page's routes."""

    async def ask(name: str, scope: Scope, **arguments: object) -> MailChoice | None:
        call: RequestContext = scope["call"]
        call.via = Via.WEB
        try:
            return await dispatcher.dispatch(registry[name], arguments, call)
        except NotFound:
            return None

    @get("/mail/{key:str}")
    async def show_choice(request: Request[Any, Any, Any], key: str) -> Answer:
        """What the address gets, and the choice."""
        return _page(await ask("get_mail_choice", typing.cast(Scope, request.scope), key=key), chosen=False)

    @post("/mail/{key:str}", status_code=200)
    async def choose(request: Request[Any, Any, Any], key: str) -> Answer:
        """What the page, or a program that reads mail, sends."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_foreign(scope, site)
        try:
            form = dict(await form_pairs(scope, receive))
        except UnsupportedMediaType:  # the standard allows such programs a multipart body; it says nothing more
            form = {}
        choice = await ask("choose_mail", scope, key=key, wanted=form.get("wanted") == "yes")
        return _page(choice, chosen=True)

    return [show_choice, choose]


def _page(choice: MailChoice | None, *, chosen: bool) -> Answer:
    if choice is None:
        return page("mail_gone.html", 404)
    return page("mail_choice.html", choice=choice, chosen=chosen)

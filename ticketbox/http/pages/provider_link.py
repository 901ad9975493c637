"""Pages that link the identity provider's account to the one here. They need no script."""

import typing
from typing import Any

from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.problems import PasswordRequired, Problem, Unauthorized
from ticketbox.edge.addresses import limit_bad_credentials
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.cookies import read_cookies
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.provider import ProviderPages
from ticketbox.http.pages.rendering import read_form, refuse_cross_site_form, render_page, render_sign_in_page
from ticketbox.http.pages.sign_in_code import answer_sign_in
from ticketbox.operations.accounts.provider_sign_in import LinkFirst
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the pages."""
    pages = ProviderPages(registry, dispatcher)

    @post("/signin/provider", status_code=200)
    async def start_link(request: Request[Any, Any, Any]) -> Answer:
        """Start linking the provider to the account that is signed in, after the password."""
        scope = typing.cast(Scope, request.scope)
        refuse_cross_site_form(scope, site)
        context: RequestContext = scope["context"]
        try:
            started = await pages.run("link_provider", scope)
        except PasswordRequired:
            email = "" if context.actor is None else context.actor.email
            return render_sign_in_page(dispatcher.services, "/settings/sign-in", email)
        except Problem as problem:
            return pages.render_refusal(problem)
        # Not a redirect: the policy of the page with the form allows only this site.
        return render_page("provider_redirect.html", name=pages.name, url=started.url)

    @post("/signin/link", status_code=303)
    async def link_account(request: Request[Any, Any, Any]) -> Answer:
        """Handle the form that links the provider's account to the one here."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        shown = LinkFirst(form.get("handle", ""), form.get("email", ""), form.get("is_verified") == "yes")
        password = None if form.get("take_over") == "yes" else form.get("password", "")
        browser = read_cookies(scope, site).get(site.provider_cookie) or None
        try:
            linked = await pages.run("link_account", scope, handle=shown.handle, password=password, browser=browser)
        except Unauthorized as problem:
            limited = limit_bad_credentials(dispatcher.services.limiter, problem, scope["context"])
            return pages.render_link(shown, limited)
        except Problem as problem:
            return pages.render_refusal(problem)
        return answer_sign_in(linked.session, linked.then, site)

    return [start_link, link_account]

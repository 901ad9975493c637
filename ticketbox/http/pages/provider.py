"""Pages to sign in with the identity provider. They need no script."""

import secrets as random
import typing
from typing import Any

from litestar import Request, get
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import Forbidden, Problem, Unavailable
from ticketbox.edge.asgi import Scope, parse_query
from ticketbox.edge.cookies import build_cookie, read_cookies
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import (
    keep_local_path,
    render_page,
)
from ticketbox.http.pages.sign_in_code import answer_sign_in, redirect
from ticketbox.operations.accounts.provider_sign_in import IdentityLink, LinkFirst
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

COOKIE_SECONDS = 15 * 60
_DENIED = {"access_denied", "consent_required", "login_required", "interaction_required"}


class ProviderPages:
    """What the pages of the provider share."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self.provider = dispatcher.services.provider
        self.name = "" if self.provider is None else self.provider.settings.name

    async def run(self, operation: str, scope: Scope, **arguments: object) -> Any:
        """Run an operation for the browser."""
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        return await self._dispatcher.dispatch(self._registry[operation], arguments, context)

    def render_refusal(self, problem: Problem) -> Answer:
        """Render why the sign-in didn't work, and how to continue."""
        return render_page(
            "provider.html", problem.status, problem=problem, name=self.name, link=None,
            is_down=isinstance(problem, Unavailable),
            passwords=self.provider is None or self.provider.settings.allows_passwords,
        )  # fmt: skip

    def render_link(self, link: LinkFirst, problem: Problem | None = None) -> Answer:
        """Render the form that links an account here to the provider's."""
        status = 200 if problem is None else problem.status
        return render_page(
            "provider.html", status, problem=problem, name=self.name, link=link, is_down=False, passwords=True
        )


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the pages."""
    pages = ProviderPages(registry, dispatcher)

    @get("/signin/provider")
    async def start_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Redirect to the provider; `next` is the page to open afterwards, `fresh` asks to sign in again there."""
        scope = typing.cast(Scope, request.scope)
        query = parse_query(scope)
        # One secret for all tabs of a browser; each sign-in has its own state.
        browser = read_cookies(scope, site).get(site.provider_cookie, "")
        browser = browser if len(browser) == 43 else random.token_urlsafe(32)
        then = keep_local_path(query.get("next", "/"))
        try:
            started = await pages.run(
                "start_provider_sign_in", scope, then=then, browser=browser, fresh="fresh" in query
            )
        except Problem as problem:
            return pages.render_refusal(problem)
        return redirect(started.url, [build_cookie(site, site.provider_cookie, browser, COOKIE_SECONDS)])

    @get("/signin/callback")
    async def finish_sign_in(request: Request[Any, Any, Any]) -> Answer:
        """Handle the provider's answer (RFC 6749, 4.1.2)."""
        scope = typing.cast(Scope, request.scope)
        query = parse_query(scope)
        browser = read_cookies(scope, site).get(site.provider_cookie) or None
        try:
            asked = await pages.run("take_provider_request", scope, state=query.get("state", ""), browser=browser)
            if "error" in query or not query.get("code"):
                denied = query.get("error") in _DENIED
                raise Forbidden("you didn't sign in there" if denied else f"{pages.name} returned an error")
            result = await pages.run(
                "complete_provider_sign_in", scope,
                request=asked, code=query["code"], issuer=query.get("iss"), browser=browser,
            )  # fmt: skip
        except Problem as problem:
            return pages.render_refusal(problem)
        if isinstance(result, LinkFirst):
            return pages.render_link(result)
        if isinstance(result, IdentityLink):
            return redirect(asked.then, [])
        return answer_sign_in(result, asked.then, site)

    return [start_sign_in, finish_sign_in]

"""The second step of signing in: a code, or a passkey. Only the passkey needs a script."""

import typing
from typing import Any
from urllib.parse import urlencode

from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import NotFound, Problem
from ticketbox.edge.addresses import limit_bad_credentials
from ticketbox.edge.asgi import Receive, Scope
from ticketbox.edge.responses import Answer, Headers, build_session_cookies
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import (
    keep_local_path,
    read_form,
    refuse_cross_site_form,
    render_page,
    render_sign_in_page,
)
from ticketbox.operations.accounts.second_factor.sign_in import CodeRequired
from ticketbox.operations.accounts.sessions import SignedIn
from ticketbox.operations.core.content import WithSession
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

FACTOR_PATH = "/second-factor"


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the route of the form."""

    @post("/signin/code", status_code=303)
    async def submit_code(request: Request[Any, Any, Any]) -> Answer:
        """Handle the code."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        form = dict(await read_form(scope, receive))
        handle, then = form.get("handle", ""), keep_local_path(form.get("next", "/"))
        context: RequestContext = scope["context"]
        context.via = Via.WEB
        arguments = {"handle": handle, "code": form.get("code", "")}
        try:
            session = await dispatcher.dispatch(registry["finish_sign_in"], arguments, context)
        except NotFound as problem:
            return render_sign_in_page(dispatcher.services, then, problem=problem)
        except Problem as problem:
            limited = limit_bad_credentials(dispatcher.services.limiter, problem, context)
            return _render_code_page(handle, then, form.get("methods", ""), limited)
        return answer_sign_in(session, then, site)

    return [submit_code]


def answer_sign_in(result: WithSession[SignedIn] | CodeRequired, then: str, site: Site) -> Answer:
    """Continue to a path with the new session, or ask for the code, or for a second factor's set-up, first."""
    if isinstance(result, CodeRequired):
        methods = " ".join(["app"] * result.has_app + ["passkey"] * result.has_passkey)
        return _render_code_page(result.handle, then, methods)
    if result.answer.second_factor_missing:
        then = build_factor_path(then)
    return redirect(then, build_session_cookies(result, site))


def build_factor_path(then: str) -> str:
    """Build the address of the page that sets the second factor up, and continues to a path."""
    return FACTOR_PATH if then == "/" else f"{FACTOR_PATH}?{urlencode({'next': then})}"


def redirect(url: str, headers: Headers) -> Answer:
    """Redirect the browser."""
    return Answer(303, b"", "text/plain", [(b"location", url.encode()), *headers])


def _render_code_page(handle: str, then: str, methods: str, problem: Problem | None = None) -> Answer:
    """Render the step. `methods` are `app` and `passkey`, as the account has them; a recovery code always works."""
    status = 200 if problem is None else problem.status
    return render_page(
        "sign_in_code.html", status, scripts=True, handle=handle, then=then, problem=problem, methods=methods.split()
    )

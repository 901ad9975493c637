"""The page that turns the second factor on and off; Settings > Profile links to it. Only passkeys need a script."""

import typing
from typing import Any
from urllib.parse import urlencode

from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.problems import PasswordRequired, Problem, Unauthorized
from ticketbox.edge.asgi import Receive, Scope, parse_query
from ticketbox.edge.responses import Answer
from ticketbox.edge.site import Site
from ticketbox.http.pages.rendering import (
    keep_local_path,
    read_form,
    refuse_cross_site_form,
    render_page,
    render_sign_in_page,
)
from ticketbox.http.pages.sign_in_code import FACTOR_PATH as PATH
from ticketbox.http.pages.sign_in_code import build_factor_path, redirect
from ticketbox.operations.accounts.second_factor.enrolment import AuthenticatorSecret, RecoveryCodes
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

_OPERATIONS = {
    "start": "start_second_factor",
    "enable": "enable_second_factor",
    "disable": "disable_second_factor",
    "renew": "replace_recovery_codes",
}


def build_routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Create the routes of the page."""

    async def run(name: str, context: RequestContext, **arguments: object) -> Any:
        context.via = Via.WEB
        return await dispatcher.dispatch(registry[name], arguments, context)

    async def render(context: RequestContext, then: str, problem: Problem | None = None, **shown: Any) -> Answer:
        methods = await run("get_sign_in_methods", context)
        values = {"app": None, "qr": "", "codes": None, "focused": "", **shown}
        status = 200 if problem is None else problem.status
        values |= {"methods": methods, "factor": methods.second_factor, "problem": problem, "then": then}
        return render_page("second_factor.html", status, scripts=True, **values)

    @get(PATH)
    async def show_second_factor(request: Request[Any, Any, Any]) -> Answer:
        """Show whether the account has a second factor; `next` is the page to open after it is set up."""
        scope = typing.cast(Scope, request.scope)
        then = keep_local_path(parse_query(scope).get("next", "/"))
        try:
            return await render(scope["context"], then)
        except Unauthorized:
            return _redirect_to_sign_in(then)

    @post(PATH, status_code=200)
    async def change_second_factor(request: Request[Any, Any, Any]) -> Answer:
        """Handle the page's forms."""
        scope, receive = typing.cast(Scope, request.scope), typing.cast(Receive, request.receive)
        refuse_cross_site_form(scope, site)
        context: RequestContext = scope["context"]
        form = dict(await read_form(scope, receive))
        then = keep_local_path(form.get("next", "/"))
        name = _OPERATIONS.get(form.get("action", ""), "start_second_factor")
        code = {} if name == "start_second_factor" else {"code": form.get("code", "")}
        try:
            result = await run(name, context, **code)
        except Unauthorized:
            return _redirect_to_sign_in(then)
        except PasswordRequired:
            email = "" if context.actor is None else context.actor.email
            return render_sign_in_page(dispatcher.services, build_factor_path(then), email, fresh=True)
        except Problem as problem:
            return await render(context, then, problem, focused=form.get("action"), **_show_app(form.get("uri", "")))
        if isinstance(result, AuthenticatorSecret):
            return await render(context, then, focused="enable", **_show_app(result.uri))
        return await render(context, then, codes=result.recovery_codes if isinstance(result, RecoveryCodes) else None)

    return [show_second_factor, change_second_factor]


def _redirect_to_sign_in(then: str) -> Answer:
    return redirect(f"/signin?{urlencode({'next': build_factor_path(then)}, safe='/')}", [])


def _show_app(uri: str) -> dict[str, Any]:
    """Return what the page needs to show the QR code of an address for authenticator apps."""
    if not uri.startswith("otpauth://totp/"):
        return {}
    import segno

    picture = segno.make(uri, error="m", micro=False)
    secret = uri.partition("secret=")[2].partition("&")[0]
    groups = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    return {"app": {"uri": uri, "secret": groups}, "qr": picture.svg_data_uri(scale=4, border=4, light="#fff")}

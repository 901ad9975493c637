"""The OAuth authorization server: metadata, registration, consent, tokens, revocation (docs/use/oauth.md).

It decides nothing. The pages are rendered here and work without script; the endpoints speak the JSON and the
errors of RFC 6749, 7009 and 7591; every call goes through `dispatch`.
"""

import typing
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts import oauth
from ticketbox.domain.accounts.oauth import Audience, OAuthError
from ticketbox.domain.core.policy import Via
from ticketbox.domain.core.problems import (
    InvalidField,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
    UnsupportedMediaType,
)
from ticketbox.domain.core.scopes import Scope as Granted
from ticketbox.edge.asgi import Receive, Scope, header, query, whole_body
from ticketbox.edge.edge import METADATA, Site
from ticketbox.edge.responses import Answer, json_answer
from ticketbox.http.pages.rendering import form_pairs, page, refuse_foreign, sign_in_page
from ticketbox.operations.accounts.oauth_authorizations import Consent, ConsentAnswer, SignInFirst
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

MAX_REGISTRATION = 32 * 1024
MAX_FIELDS = 1_200
BODY_SECONDS = 30.0

Parts = tuple[Scope, Receive, RequestContext]
Ask = Callable[[str, dict[str, Any], RequestContext], Awaitable[Any]]


def routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """The authorization server's routes, and the metadata of the resources that it guards."""

    async def ask(name: str, given: dict[str, Any], call: RequestContext) -> Any:
        call.via = Via.WEB
        return await dispatcher.dispatch(registry[name], given, call)

    return [*_metadata(site), *_endpoints(registry, ask), *_pages(registry, ask, site)]


def _metadata(site: Site) -> list[HTTPRouteHandler]:
    @get("/.well-known/oauth-authorization-server")
    async def server_metadata() -> Answer:
        """RFC 8414."""
        return _document(_server(site.public_url))

    @get([METADATA, f"{METADATA}/mcp", f"{METADATA}/api"])
    async def resource_metadata(request: Request[Any, Any, Any]) -> Answer:
        """RFC 9728; the bare address tells of the MCP endpoint, for clients that look nowhere else."""
        path: str = request.scope["path"]
        return _document(_resource(site.public_url, Audience.API if path.endswith("/api") else Audience.MCP))

    return [server_metadata, resource_metadata]


def _endpoints(registry: Registry, ask: Ask) -> list[HTTPRouteHandler]:
    @post("/oauth/register", status_code=201)
    async def register(request: Request[Any, Any, Any]) -> Answer:
        """RFC 7591."""
        scope, receive, call = _parts(request)

        async def work() -> Answer:
            given = await _registration(scope, receive, registry["register_client"])
            return json_answer(await ask("register_client", given, call), 201)

        return await _in_oauths_words(work(), "invalid_client_metadata")

    @post("/oauth/token", status_code=200)
    async def token(request: Request[Any, Any, Any]) -> Answer:
        """RFC 6749, 3.2."""
        scope, receive, call = _parts(request)

        async def work() -> Answer:
            form = await _form(scope, receive)
            name = {"authorization_code": "redeem_code", "refresh_token": "refresh_grant"}.get(
                form.get("grant_type", "")
            )
            if name is None:
                raise OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
            return json_answer(await ask(name, _known(form, registry[name]), call))

        return await _in_oauths_words(work())

    @post("/oauth/revoke", status_code=200)
    async def revoke(request: Request[Any, Any, Any]) -> Answer:
        """RFC 7009."""
        scope, receive, call = _parts(request)

        async def work() -> Answer:
            form = await _form(scope, receive)
            await ask("revoke_grant", _known(form, registry["revoke_grant"]), call)
            return Answer(200, b"", "text/plain")

        return await _in_oauths_words(work())

    return [register, token, revoke]


def _pages(registry: Registry, ask: Ask, site: Site) -> list[HTTPRouteHandler]:
    @get("/oauth/authorize")
    async def authorize(request: Request[Any, Any, Any]) -> Answer:
        """The authorization endpoint (RFC 6749, 3.1): the sign-in page, the consent page, or the refusal."""
        scope, _, call = _parts(request)
        try:
            given = {name: value for name, value in query(scope).items() if value}
            asked: Consent | SignInFirst = await ask("authorize", _known(given, registry["authorize"]), call)
        except OAuthError as error:
            return _refusal(error, site)
        except Problem as problem:
            return _note("This can't be connected", problem.detail, problem.status)
        here = f"/oauth/authorize?{scope['query_string'].decode('latin-1')}"
        if isinstance(asked, SignInFirst):
            target = None if asked.redirect_uri is None else oauth.build_form_source(asked.redirect_uri)
            return sign_in_page(here, form_to=target)
        return _consent_page(asked, here)

    @post("/oauth/authorize", status_code=303)
    async def answer(request: Request[Any, Any, Any]) -> Answer:
        """What the consent page sends."""
        scope, receive, call = _parts(request)
        refuse_foreign(scope, site)
        pairs = await form_pairs(scope, receive, MAX_FIELDS)
        form = dict(pairs)
        handle = {"handle": form.get("handle", "")}
        chosen = {value for name, value in pairs if name in {"scope", "company"} or name.startswith("projects-")}
        try:
            if form.get("decision") == "deny":
                return _back(await ask("deny_request", handle, call), site)
            if form.get("decision") != "approve":
                raise InvalidField("decision", "approve or deny")
            return _back(await ask("approve_request", {**handle, **_choice(pairs)}, call), site)
        except Problem as problem:
            if isinstance(problem, Unauthorized) or (isinstance(problem, NotFound) and problem.noun == "request"):
                return _gone(problem)
            try:
                asked = await ask("show_consent", handle, call)
            except Problem as other:
                return _gone(other)
            return _consent_page(asked, None, chosen, problem)

    return [authorize, answer]


def _parts(request: Request[Any, Any, Any]) -> Parts:
    scope = typing.cast(Scope, request.scope)
    return scope, typing.cast(Receive, request.receive), scope["call"]


def _server(url: str) -> dict[str, Any]:
    return {
        "issuer": url,
        "authorization_endpoint": f"{url}/oauth/authorize",
        "token_endpoint": f"{url}/oauth/token",
        "registration_endpoint": f"{url}/oauth/register",
        "revocation_endpoint": f"{url}/oauth/revoke",
        "scopes_supported": [scope.value for scope in Granted],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


def _resource(url: str, audience: Audience) -> dict[str, Any]:
    return {
        "resource": f"{url}/{audience.value}",
        "authorization_servers": [url],
        "scopes_supported": [scope.value for scope in Granted],
        "bearer_methods_supported": ["header"],
        "resource_name": "ticketbox",
    }


def _document(value: dict[str, Any]) -> Answer:
    answer = json_answer(value)
    answer.headers = [(b"cache-control", b"max-age=300")]
    return answer


async def _registration(scope: Scope, receive: Receive, operation: Operation) -> dict[str, Any]:
    """What is taken of a registration; unknown metadata is ignored, and null is as good as missing (RFC 7591, 2)."""
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("send the registration as application/json", valid=["application/json"])
    body = await whole_body(scope, receive, MAX_REGISTRATION, BODY_SECONDS)
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("the registration is no JSON object") from None
    return _known({name: value for name, value in given.items() if value is not None}, operation)


async def _form(scope: Scope, receive: Receive) -> dict[str, str]:
    """A form whose fields stand once each; an empty one is as good as missing (RFC 6749, 3.2)."""
    pairs = await form_pairs(scope, receive)
    form = dict(pairs)
    if len(form) < len(pairs):
        raise InvalidRequest("a parameter stands twice in the request")
    return {name: value for name, value in form.items() if value}


def _known(given: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """The fields that an operation takes; a client may send others (RFC 6749, 3.1 and 3.2)."""
    return {name: given[name] for name in operation.arguments.__struct_fields__ if name in given}


async def _in_oauths_words(work: Awaitable[Answer], invalid_code: str = "invalid_request") -> Answer:
    """The answer, or the refusal as RFC 6749, 5.2 writes it."""
    headers = [(b"cache-control", b"no-store"), (b"pragma", b"no-cache")]
    try:
        answer = await work
    except Problem as problem:
        error = invalid_code if problem.status < 429 else "server_error"
        if isinstance(problem, OAuthError):
            error = problem.error
        elif isinstance(problem, RateLimited):
            error = "temporarily_unavailable"
            after = str(problem.retry_after).encode()
            headers += [(b"retry-after", after), (b"retry_after", after)]
        elif any(each.field.startswith("redirect_uris") for each in problem.extra.get("errors", ())):
            error = "invalid_redirect_uri"
        words = problem.detail.translate({34: "'", 92: "/"}).encode("ascii", "replace").decode()
        answer = json_answer({"error": error, "error_description": words}, problem.status)
    answer.headers = headers
    return answer


def _choice(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The scopes and the restriction that were chosen; projects count for the chosen company alone."""
    company = dict(pairs).get("company") or None
    choice: dict[str, Any] = {"scopes": [value for name, value in pairs if name == "scope"]}
    if company is not None:
        choice["company_id"] = company
        choice["project_ids"] = [value for name, value in pairs if name == f"projects-{company}"] or None
    return choice


def _consent_page(
    asked: Consent, here: str | None, chosen: set[str] | None = None, problem: Problem | None = None
) -> Answer:
    if chosen is None:
        only = asked.companies[0].id if len(asked.companies) == 1 else ""
        chosen = {*asked.scopes, only}
    return page(
        "consent.html",
        problem.status if problem else 200,
        form_to=oauth.build_form_source(asked.redirect_uri),
        asked=asked,
        here=here,
        chosen=chosen,
        problem=problem,
        host=oauth.format_host(asked.redirect_uri),
        local=oauth.is_on_this_machine(asked.redirect_uri),
    )


def _back(answered: ConsentAnswer, site: Site) -> Answer:
    error = "access_denied" if answered.code is None else None
    return _redirect(answered.redirect_uri, site, code=answered.code, error=error, state=answered.state)


def _refusal(error: OAuthError, site: Site) -> Answer:
    if error.redirect_uri is None:
        return _note("This can't be connected", error.detail, error.status)
    return _redirect(
        error.redirect_uri, site, error=error.error, error_description=error.detail, state=error.state
    )  # fmt: skip


def _redirect(redirect_uri: str, site: Site, **values: str | None) -> Answer:
    """To the client's address with the answer and our name in it (RFC 9207).

    An app's own scheme opens the app and leaves the tab behind, so that gets a page that says so.
    """
    address = oauth.add_answer(redirect_uri, **values, iss=site.public_url)
    if not redirect_uri.startswith(("http://", "https://")):
        title = "That's all here" if values.get("code") else "Nothing was connected"
        return page("done.html", 200, title=title, detail="", address=address)
    return Answer(303, b"", "text/plain", [(b"location", address.encode())])


def _note(title: str, detail: str, status: int) -> Answer:
    return page("done.html", status, title=title, detail=detail, address=None)


def _gone(problem: Problem) -> Answer:
    if isinstance(problem, Unauthorized):
        return _note("This question is closed", "nobody is signed in here any more", problem.status)
    return _note("This question is closed", problem.detail, problem.status)

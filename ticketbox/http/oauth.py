"""The OAuth authorization server: metadata, registration, consent, tokens, revocation (docs/use/oauth.md).

Pages are rendered here and work without scripts. The endpoints use the JSON and the errors of RFC 6749, 7009 and
7591. Every call goes through `dispatch`, which decides.
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
from ticketbox.http.pages.rendering import read_form, refuse_cross_site_form, render_page, render_sign_in_page
from ticketbox.operations.accounts.oauth_authorizations import Consent, ConsentAnswer, SignInFirst
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

MAX_REGISTRATION = 32 * 1024
MAX_FIELDS = 1_200
BODY_SECONDS = 30.0

Parts = tuple[Scope, Receive, RequestContext]
RunOperation = Callable[[str, dict[str, Any], RequestContext], Awaitable[Any]]


def routes(registry: Registry, dispatcher: Dispatcher, site: Site) -> list[HTTPRouteHandler]:
    """Return the routes of the authorization server and of the metadata documents."""

    async def run_operation(name: str, given: dict[str, Any], call: RequestContext) -> Any:
        call.via = Via.WEB
        return await dispatcher.dispatch(registry[name], given, call)

    return [
        *_list_metadata_routes(site),
        *_list_endpoints(registry, run_operation),
        *_list_pages(registry, run_operation, site),
    ]


def _list_metadata_routes(site: Site) -> list[HTTPRouteHandler]:
    @get("/.well-known/oauth-authorization-server")
    async def server_metadata() -> Answer:
        """RFC 8414."""
        return _render_metadata(_describe_server(site.public_url))

    @get([METADATA, f"{METADATA}/mcp", f"{METADATA}/api"])
    async def resource_metadata(request: Request[Any, Any, Any]) -> Answer:
        """RFC 9728; the URL without a path describes the MCP endpoint, for clients that read no other."""
        path: str = request.scope["path"]
        return _render_metadata(
            _describe_resource(site.public_url, Audience.API if path.endswith("/api") else Audience.MCP)
        )

    return [server_metadata, resource_metadata]


def _list_endpoints(registry: Registry, run_operation: RunOperation) -> list[HTTPRouteHandler]:
    @post("/oauth/register", status_code=201)
    async def register(request: Request[Any, Any, Any]) -> Answer:
        """RFC 7591."""
        scope, receive, call = _get_parts(request)

        async def work() -> Answer:
            given = await _read_registration(scope, receive, registry["register_client"])
            return json_answer(await run_operation("register_client", given, call), 201)

        return await _convert_problems(work(), "invalid_client_metadata")

    @post("/oauth/token", status_code=200)
    async def token(request: Request[Any, Any, Any]) -> Answer:
        """RFC 6749, 3.2."""
        scope, receive, call = _get_parts(request)

        async def work() -> Answer:
            form = await _read_form_fields(scope, receive)
            name = {"authorization_code": "redeem_code", "refresh_token": "refresh_grant"}.get(
                form.get("grant_type", "")
            )
            if name is None:
                raise OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
            return json_answer(await run_operation(name, _select_known_fields(form, registry[name]), call))

        return await _convert_problems(work())

    @post("/oauth/revoke", status_code=200)
    async def revoke(request: Request[Any, Any, Any]) -> Answer:
        """RFC 7009."""
        scope, receive, call = _get_parts(request)

        async def work() -> Answer:
            form = await _read_form_fields(scope, receive)
            await run_operation("revoke_grant", _select_known_fields(form, registry["revoke_grant"]), call)
            return Answer(200, b"", "text/plain")

        return await _convert_problems(work())

    return [register, token, revoke]


def _list_pages(registry: Registry, run_operation: RunOperation, site: Site) -> list[HTTPRouteHandler]:
    @get("/oauth/authorize")
    async def authorize(request: Request[Any, Any, Any]) -> Answer:
        """The authorization endpoint (RFC 6749, 3.1): the sign-in page, the consent page, or the refusal."""
        scope, _, call = _get_parts(request)
        try:
            given = {name: value for name, value in query(scope).items() if value}
            consent: Consent | SignInFirst = await run_operation(
                "authorize", _select_known_fields(given, registry["authorize"]), call
            )
        except OAuthError as error:
            return _render_error(error, site)
        except Problem as problem:
            return _render_note("The app can't be connected", problem.detail, problem.status)
        here = f"/oauth/authorize?{scope['query_string'].decode('latin-1')}"
        if isinstance(consent, SignInFirst):
            target = None if consent.redirect_uri is None else oauth.build_form_source(consent.redirect_uri)
            return render_sign_in_page(here, form_to=target)
        return _render_consent_page(consent, here)

    @post("/oauth/authorize", status_code=303)
    async def answer(request: Request[Any, Any, Any]) -> Answer:
        """Handle the consent form."""
        scope, receive, call = _get_parts(request)
        refuse_cross_site_form(scope, site)
        pairs = await read_form(scope, receive, MAX_FIELDS)
        form = dict(pairs)
        handle = {"handle": form.get("handle", "")}
        chosen = {value for name, value in pairs if name in {"scope", "company"} or name.startswith("projects-")}
        try:
            if form.get("decision") == "deny":
                return _redirect_with_answer(await run_operation("deny_request", handle, call), site)
            if form.get("decision") != "approve":
                raise InvalidField("decision", "approve or deny")
            return _redirect_with_answer(
                await run_operation("approve_request", {**handle, **_read_selection(pairs)}, call), site
            )
        except Problem as problem:
            if isinstance(problem, Unauthorized) or (isinstance(problem, NotFound) and problem.noun == "request"):
                return _render_expired(problem)
            try:
                consent = await run_operation("show_consent", handle, call)
            except Problem as other:
                return _render_expired(other)
            return _render_consent_page(consent, None, chosen, problem)

    return [authorize, answer]


def _get_parts(request: Request[Any, Any, Any]) -> Parts:
    scope = typing.cast(Scope, request.scope)
    return scope, typing.cast(Receive, request.receive), scope["call"]


def _describe_server(url: str) -> dict[str, Any]:
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


def _describe_resource(url: str, audience: Audience) -> dict[str, Any]:
    return {
        "resource": f"{url}/{audience.value}",
        "authorization_servers": [url],
        "scopes_supported": [scope.value for scope in Granted],
        "bearer_methods_supported": ["header"],
        "resource_name": "ticketbox",
    }


def _render_metadata(value: dict[str, Any]) -> Answer:
    answer = json_answer(value)
    answer.headers = [(b"cache-control", b"max-age=300")]
    return answer


async def _read_registration(scope: Scope, receive: Receive, operation: Operation) -> dict[str, Any]:
    """Read a registration; ignore unknown metadata, and treat null as missing (RFC 7591, 2)."""
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("send the registration as application/json", valid=["application/json"])
    body = await whole_body(scope, receive, MAX_REGISTRATION, BODY_SECONDS)
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("the registration must be a JSON object") from None
    return _select_known_fields({name: value for name, value in given.items() if value is not None}, operation)


async def _read_form_fields(scope: Scope, receive: Receive) -> dict[str, str]:
    """Read a form without repeated fields; treat an empty field as missing (RFC 6749, 3.2)."""
    pairs = await read_form(scope, receive)
    form = dict(pairs)
    if len(form) < len(pairs):
        raise InvalidRequest("a parameter is repeated in the request")
    return {name: value for name, value in form.items() if value}


def _select_known_fields(given: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """Return the fields that an operation accepts; a client may send others (RFC 6749, 3.1 and 3.2)."""
    return {name: given[name] for name in operation.arguments.__struct_fields__ if name in given}


async def _convert_problems(work: Awaitable[Answer], invalid_code: str = "invalid_request") -> Answer:
    """Return the answer, or the error in the form of RFC 6749, 5.2."""
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


def _read_selection(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the selected scopes and restriction; projects only count for the selected company."""
    company = dict(pairs).get("company") or None
    choice: dict[str, Any] = {"scopes": [value for name, value in pairs if name == "scope"]}
    if company is not None:
        choice["company_id"] = company
        choice["project_ids"] = [value for name, value in pairs if name == f"projects-{company}"] or None
    return choice


def _render_consent_page(
    consent: Consent, here: str | None, chosen: set[str] | None = None, problem: Problem | None = None
) -> Answer:
    if chosen is None:
        only = consent.companies[0].id if len(consent.companies) == 1 else ""
        chosen = {*consent.scopes, only}
    return render_page(
        "consent.html",
        problem.status if problem else 200,
        form_to=oauth.build_form_source(consent.redirect_uri),
        asked=consent,
        here=here,
        chosen=chosen,
        problem=problem,
        host=oauth.format_host(consent.redirect_uri),
        local=oauth.is_on_this_machine(consent.redirect_uri),
    )


def _redirect_with_answer(answered: ConsentAnswer, site: Site) -> Answer:
    error = "access_denied" if answered.code is None else None
    return _redirect(answered.redirect_uri, site, code=answered.code, error=error, state=answered.state)


def _render_error(error: OAuthError, site: Site) -> Answer:
    if error.redirect_uri is None:
        return _render_note("The app can't be connected", error.detail, error.status)
    return _redirect(
        error.redirect_uri, site, error=error.error, error_description=error.detail, state=error.state
    )  # fmt: skip


def _redirect(redirect_uri: str, site: Site, **values: str | None) -> Answer:
    """Redirect to the client with the answer and the issuer (RFC 9207).

    A custom URL scheme opens an app and leaves the tab open, so this shows a page that says so.
    """
    address = oauth.add_answer(redirect_uri, **values, iss=site.public_url)
    if not redirect_uri.startswith(("http://", "https://")):
        title = "App connected" if values.get("code") else "App not connected"
        return render_page("done.html", 200, title=title, detail="", address=address)
    return Answer(303, b"", "text/plain", [(b"location", address.encode())])


def _render_note(title: str, detail: str, status: int) -> Answer:
    return render_page("done.html", status, title=title, detail=detail, address=None)


def _render_expired(problem: Problem) -> Answer:
    if isinstance(problem, Unauthorized):
        return _render_note("This request has expired", "you are no longer signed in", problem.status)
    return _render_note("This request has expired", problem.detail, problem.status)

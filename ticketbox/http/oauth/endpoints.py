"""The endpoints that OAuth clients call: registration, tokens, revocation (RFC 7591, 6749 and 7009)."""

from collections.abc import Awaitable
from typing import Any

import msgspec
from litestar import Request, post
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.accounts.oauth import OAuthError
from ticketbox.domain.core.problems import InvalidRequest, Problem, RateLimited, Unauthorized, UnsupportedMediaType
from ticketbox.edge.asgi import Receive, Scope, get_header, read_body
from ticketbox.edge.responses import Answer, Headers, build_json_answer
from ticketbox.http.oauth.requests import build_runner, get_parts, select_known_fields
from ticketbox.http.pages.rendering import read_form
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

BODY_SECONDS = 30.0
_UNCACHED: Headers = [(b"cache-control", b"no-store"), (b"pragma", b"no-cache")]


def build_routes(registry: Registry, dispatcher: Dispatcher) -> list[HTTPRouteHandler]:
    """Create the routes of the endpoints."""
    run_operation = build_runner(registry, dispatcher)

    @post("/oauth/register", status_code=201)
    async def register(request: Request[Any, Any, Any]) -> Answer:
        """Register a client (RFC 7591)."""
        scope, receive, context = get_parts(request)

        async def respond() -> Answer:
            fields = await _read_registration(scope, receive, registry["register_client"])
            return build_json_answer(await run_operation("register_client", fields, context), 201)

        return await _convert_problems(respond(), "invalid_client_metadata")

    @post("/oauth/token", status_code=200)
    async def issue_token(request: Request[Any, Any, Any]) -> Answer:
        """Issue tokens for a code or a refresh token (RFC 6749, 3.2)."""
        scope, receive, context = get_parts(request)

        async def respond() -> Answer:
            form = await _read_form_fields(scope, receive)
            name = {"authorization_code": "redeem_code", "refresh_token": "refresh_grant"}.get(
                form.get("grant_type", "")
            )
            if name is None:
                raise OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
            return build_json_answer(await run_operation(name, select_known_fields(form, registry[name]), context))

        return await _convert_problems(respond())

    @post("/oauth/revoke", status_code=200)
    async def revoke(request: Request[Any, Any, Any]) -> Answer:
        """Revoke a grant (RFC 7009)."""
        scope, receive, context = get_parts(request)

        async def respond() -> Answer:
            form = await _read_form_fields(scope, receive)
            await run_operation("revoke_grant", select_known_fields(form, registry["revoke_grant"]), context)
            return Answer(200, b"", "text/plain")

        return await _convert_problems(respond())

    return [register, issue_token, revoke]


async def _read_registration(scope: Scope, receive: Receive, operation: Operation) -> dict[str, Any]:
    """Read a registration; ignore unknown metadata, and treat null as missing (RFC 7591, 2)."""
    kind = (get_header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("send the registration as application/json", valid=["application/json"])
    body = await read_body(scope, receive, operation.max_body, BODY_SECONDS)
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("the registration must be a JSON object") from None
    return select_known_fields({name: value for name, value in fields.items() if value is not None}, operation)


async def _read_form_fields(scope: Scope, receive: Receive) -> dict[str, str]:
    """Read a form without repeated fields; treat an empty field as missing (RFC 6749, 3.2)."""
    pairs = await read_form(scope, receive)
    form = dict(pairs)
    if len(form) < len(pairs):
        raise InvalidRequest("a parameter is repeated in the request")
    return {name: value for name, value in form.items() if value}


async def _convert_problems(response: Awaitable[Answer], invalid_code: str = "invalid_request") -> Answer:
    """Return the answer, or the error in the form of RFC 6749, 5.2."""
    try:
        answer = await response
    except Problem as problem:
        return _build_error_answer(problem, invalid_code)
    answer.headers = [*_UNCACHED]
    return answer


def build_refusal(scope: Scope, problem: Problem) -> Answer | None:
    """Return the answer to a client that authenticates itself in a header (RFC 6749, 5.2); None for other requests."""
    if scope["path"] not in {"/oauth/token", "/oauth/revoke"} or not isinstance(problem, Unauthorized):
        return None
    detail = "clients have no secret here: send client_id in the form, without an Authorization header"
    answer = _build_error_answer(OAuthError("invalid_client", detail), "")
    answer.status = problem.status
    scheme = (get_header(scope, b"authorization") or "").partition(" ")[0]
    answer.headers.append(
        (b"www-authenticate", (b"Basic" if scheme.lower() == "basic" else b"Bearer") + b' realm="ticketbox"')
    )
    return answer


def _build_error_answer(problem: Problem, invalid_code: str) -> Answer:
    headers = [*_UNCACHED]
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
    answer = build_json_answer({"error": error, "error_description": words}, problem.status)
    answer.headers = headers
    return answer

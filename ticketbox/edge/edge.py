"""The edge: the ASGI layer around the whole application (docs/develop/architecture.md, "Edge").

Order: size and header checks, Host and Origin, credentials, then the route. It also adds the request id,
the log line and the headers that every answer has.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address

from ticketbox import logs
from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Via
from ticketbox.domain.core.fairness.limits import BucketState, RateLimiter
from ticketbox.domain.core.problems import (
    Forbidden,
    InvalidRequest,
    InvalidToken,
    MisdirectedRequest,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from ticketbox.edge.addresses import find_client_address, limit_bad_credentials
from ticketbox.edge.asgi import (
    ASGIApp,
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    get_header,
    has_body,
    list_header_values,
    wait_for_disconnect,
)
from ticketbox.edge.compression import wrap_send
from ticketbox.edge.cookies import read_cookies
from ticketbox.edge.responses import Answer, Headers, build_problem_answer, build_redirect_to_slash
from ticketbox.edge.site import Site
from ticketbox.edge.site_path import SitePath
from ticketbox.operations.core.context import RequestContext

log = logging.getLogger("ticketbox.access")

MAX_TARGET = 8_192
MAX_HEADERS = 100
ANONYMOUS_PER_MINUTE = 600
# Deliveries of repositories come in bursts from one address, aren't repeated, and are signed.
SIGNED_PATH = "/hooks/git/githook_"
# Without them, the pages that a person sees first look broken; they are small, and the same for everybody.
PAGE_FILES = {"/static/pages.css", "/static/icon.svg", "/static/passkeys.js", "/static/in-place.js"}
# Its answer is the same for everybody. Load balancers ask for it by an address, or without a Host at all.
HEALTH_PATH = "/healthz"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
CLIENT_GONE = 499  # only in the log: the client has disconnected

_SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
_HSTS = (b"strict-transport-security", b"max-age=31536000")


def is_free(path: str) -> bool:
    """Whether requests without a credential aren't limited by their address."""
    return path in PAGE_FILES or path.startswith(SIGNED_PATH)


class Edge:
    """Wraps an application; calls `observe` with the scope, status and seconds of each request.

    `build_refusal` returns the answer to a refused request, if its route has a form other than problem+json.
    """

    def __init__(
        self,
        application: ASGIApp,
        site: Site,
        limiter: RateLimiter,
        observe: Callable[[Scope, int, float], None] | None = None,
        build_refusal: Callable[[Scope, Problem], Answer | None] | None = None,
    ) -> None:
        self._application = application
        self._site = site
        self._limiter = limiter
        self._observe = observe
        self._build_own_refusal = build_refusal
        self._path = SitePath(site.path) if site.path else None
        self._own_headers = [*_SECURITY_HEADERS, _HSTS] if site.secure else _SECURITY_HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection (ASGI 3)."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        send = wrap_send(scope, send)
        started = time.perf_counter()
        path = scope["path"]
        request_id = os.urandom(8).hex()
        context = scope["context"] = RequestContext(
            address=find_client_address(self._site, scope), wait_for_disconnect=partial(wait_for_disconnect, receive)
        )
        status = 0
        body_is_read = not has_body(scope)

        async def receive_and_track() -> Message:
            nonlocal body_is_read
            message = await receive()
            body_is_read = not message.get("more_body", False)
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(message, request_id, context)
            await send(message)

        try:
            self._check_request(scope, context)
            application = self._choose_application(scope, path)
            await application(scope, receive if body_is_read else receive_and_track, send_with_headers)
        except Problem as problem:
            context.refusal = problem.code
            if status == 0:
                problem = limit_bad_credentials(self._limiter, problem, context)
                refusal = self._build_refusal(scope, problem)
                await (
                    refusal(scope, receive, send_with_headers)
                    if body_is_read
                    else refusal.send_and_close(scope, receive, send_with_headers)
                )
        except asyncio.CancelledError:  # the time to stop gracefully has passed
            if status:
                raise
            refusal = self._build_refusal(scope, Unavailable("the server is stopping; try again"))
            await refusal(scope, receive, send_with_headers)
        except ClientGone:
            status = CLIENT_GONE
        except Exception:
            log.exception("request %s failed", request_id)
            if status == 0:
                refusal = self._build_refusal(scope, _build_internal_error(request_id))
                await refusal(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            if self._observe is not None:
                self._observe(scope, status, seconds)
            self._write_log_line(scope["method"], path, context, request_id, status, seconds)

    def _choose_application(self, scope: Scope, path: str) -> ASGIApp:
        if self._path is not None and self._path.lacks_slash(scope["method"], path):
            return build_redirect_to_slash(scope["query_string"])
        return self._application

    def _build_refusal(self, scope: Scope, problem: Problem) -> Answer:
        own = None if self._build_own_refusal is None else self._build_own_refusal(scope, problem)
        return own or build_problem_answer(problem, self._site.build_metadata_url(scope["path"]))

    def _limit_anonymous(self, context: RequestContext) -> None:
        level = context.level = self._charge_address(context, 1)
        if level.retry_after:
            raise RateLimited(level.retry_after, "too many requests without a credential from this address")

    def _charge_address(self, context: RequestContext, cost: int) -> BucketState:
        return self._limiter.consume(("address", context.network), "anonymous", ANONYMOUS_PER_MINUTE, cost)

    def _check_request(self, scope: Scope, context: RequestContext) -> None:
        target = scope["raw_path"] + b"?" + scope["query_string"]
        is_inside = self._path is None or self._path.remove(scope)
        if len(target) > MAX_TARGET:
            raise InvalidRequest(f"the address is longer than {MAX_TARGET} bytes")
        if len(scope["headers"]) > MAX_HEADERS:
            raise InvalidRequest(f"more than {MAX_HEADERS} headers")
        hosts = list_header_values(scope, b"host")
        is_own = len(hosts) == 1 and self._is_own_host(hosts[0].strip().lower())
        if not is_own and scope["path"] != HEALTH_PATH:
            raise MisdirectedRequest("the Host header doesn't match this site; see --public-url")
        if scope["query_string"] and secrets.contains_secret(scope["query_string"].decode("latin-1")):
            raise Unauthorized("a token must not be sent in the URL; send Authorization: Bearer")
        context.origin = get_header(scope, b"origin")
        context.user_agent = (get_header(scope, b"user-agent") or "")[:300]
        self._read_credential(scope, context)
        if context.secret_hash is None and not is_free(scope["path"]):
            self._limit_anonymous(context)
        if not is_inside:
            raise NotFound("page", f"this ticketbox is at {self._site.public_url}")

    def _read_credential(self, scope: Scope, context: RequestContext) -> None:
        authorizations = list_header_values(scope, b"authorization")
        if len(authorizations) > 1:
            raise Unauthorized("several Authorization headers")
        if authorizations:
            scheme, _, secret = authorizations[0].strip().partition(" ")
            secret = secret.strip()
            if scheme.lower() != "bearer":
                raise Unauthorized("the only scheme is Authorization: Bearer")
            if not secrets.is_well_formed(secret):
                raise InvalidToken
            context.secret_hash = secrets.hash_secret(secret)
            context.via = Via.EXTENSION if get_header(scope, b"x-ticketbox-client") == "extension" else Via.REST
            return
        cookies = read_cookies(scope, self._site)
        device = cookies.get(self._site.device_cookie)
        if device is not None and secrets.is_well_formed(device):
            context.device_hash = secrets.hash_secret(device)
        secret = cookies.get(self._site.cookie)
        if secret is not None and secrets.is_well_formed(secret):
            self._refuse_cross_site(scope)
            context.secret_hash = secrets.hash_secret(secret)
            context.via = Via.WEB
            context.cookie = True
            context.background = get_header(scope, b"ticketbox-background") is not None

    def _refuse_cross_site(self, scope: Scope) -> None:
        """Refuse a write with a cookie from another site (Fetch Metadata, or Origin by RFC 6454)."""
        if scope["method"] in SAFE_METHODS:
            return
        site = get_header(scope, b"sec-fetch-site")
        origin = get_header(scope, b"origin")
        same = site in {"same-origin", "none"} if site is not None else origin in {None, self._site.origin}
        if not same:
            raise Forbidden("a write with a session's cookie must come from this site's own pages")

    def _is_own_host(self, host: str) -> bool:
        if host in self._site.hosts:
            return True
        if not self._site.any_address:
            return False
        bare = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        try:
            ip_address(bare.strip("[]"))
        except ValueError:
            return False
        return True

    def _add_headers(self, message: Message, request_id: str, context: RequestContext) -> None:
        headers: Headers = list(message.get("headers", ()))
        names = {name for name, _ in headers}
        if self._path is not None and b"location" in names:
            add = self._path.add_to_location
            headers = [(name, add(value) if name == b"location" else value) for name, value in headers]
        headers += [each for each in self._own_headers if each[0] not in names]
        headers.append((b"x-request-id", request_id.encode()))
        level = context.level or self._charge_address(context, 0)
        headers.append((b"ratelimit-policy", level.policy.encode()))
        headers.append((b"ratelimit", level.state.encode()))
        if context.readable_from is not None:
            headers.append((b"access-control-allow-origin", context.readable_from.encode()))
            headers.append((b"access-control-expose-headers", b"retry-after"))
            headers.append((b"vary", b"origin"))
        message["headers"] = headers

    def _write_log_line(
        self, method: str, path: str, context: RequestContext, request_id: str, status: int, seconds: float
    ) -> None:
        line: dict[str, object] = {
            "request": request_id,
            "method": method,
            "path": path[:500],
            "status": status,
            "ms": round(seconds * 1000, 2),
            "address": context.address,
            "user": context.actor.user_id if context.actor else "",
            "token": (context.actor.token_id or "") if context.actor else "",
        }
        logs.write_info("ticketbox.access", "request", line)


def _build_internal_error(request_id: str) -> Problem:
    return Problem("something went wrong here; the request's id is in the server's log", request_id=request_id)

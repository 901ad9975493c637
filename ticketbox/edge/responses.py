"""HTTP answers: status, headers, body. Problems become problem+json (RFC 9457)."""

import re
from typing import Any

import msgspec

from ticketbox.domain.core.problems import InsufficientScope, InvalidToken, Problem, Unauthorized
from ticketbox.edge.asgi import Receive, Scope, Send, discard_body
from ticketbox.edge.cookies import build_cookie
from ticketbox.edge.site import Site
from ticketbox.edge.site_path import SITE_PATH, add_to_page
from ticketbox.operations.core.content import WithSession

Headers = list[tuple[bytes, bytes]]

MAX_DRAINED_BYTES = 1024 * 1024
DRAIN_SECONDS = 1.0
DEVICE_SECONDS = 365 * 86_400

_SECRET = re.compile(rb"(tok|lease)_[0-9A-Za-z]{10,}")
_encoder = msgspec.json.Encoder()


class Answer(msgspec.Struct):
    """An HTTP answer, and an ASGI application, so that Litestar's handlers can return it."""

    status: int
    body: bytes
    media_type: str
    headers: Headers = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, without its body for HEAD."""
        await self._send(send, b"" if scope["method"] == "HEAD" else self.body)

    async def send_and_close(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a client that is still sending, and close the connection.

        Reads for a moment first: closing a connection with unread data resets it, and the client might lose the answer
        (RFC 9112, 9.6).
        """
        self.headers.append((b"connection", b"close"))
        await self._send(send, self.body, more=True)
        await discard_body(receive, MAX_DRAINED_BYTES, DRAIN_SECONDS)
        await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send, body: bytes, *, more: bool = False) -> None:
        headers = self.headers
        if self.status not in {204, 304}:
            headers = [
                (b"content-type", self.media_type.encode()),
                (b"content-length", str(len(self.body)).encode()),
                *headers,
            ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": more})


class Page(Answer):
    """A page of HTML. Its links have paths as at the site's root; it is sent with those under the site's path."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the page."""
        path = scope.get(SITE_PATH)
        page = msgspec.structs.replace(self, body=add_to_page(self.body, path)) if path else self
        await Answer.__call__(page, scope, receive, send)


def build_json_answer(value: Any, status: int = 200) -> Answer:
    """Encode a value as a JSON answer."""
    return Answer(status, _encoder.encode(value), "application/json")


def build_redirect_to_slash(query: bytes) -> Answer:
    """Build the redirect from a site's address to that with a slash at its end, so that it has one address."""
    return Answer(308, b"", "text/plain", [(b"location", b"/?" + query if query else b"/")])


def build_problem_answer(problem: Problem, metadata: str | None = None) -> Answer:
    """Encode a problem, with the headers that its status requires.

    `metadata` is the URL of the resource's metadata (RFC 9728, 5.1).
    """
    headers: Headers = []
    if "retry_after" in problem.extra:
        after = str(problem.extra["retry_after"]).encode()
        headers += [(b"retry_after", after), (b"retry-after", after)]
    elif isinstance(problem, Unauthorized | InsufficientScope):
        headers.append((b"www-authenticate", _build_challenge(problem, metadata).encode()))
    elif problem.status == 405:
        headers.append((b"allow", ", ".join(problem.extra["valid"]).encode()))
    body = {"type": f"urn:ticketbox:problem:{problem.code}", **problem.build_body()}
    text = _SECRET.sub(b"\\1_\xe2\x80\xa6", _encoder.encode(body))  # a secret in the wrong place isn't repeated
    return Answer(problem.status, text, "application/problem+json", headers)


def _build_challenge(problem: Problem, metadata: str | None) -> str:
    """Build the challenge (RFC 6750, 3), without an error if no token was sent."""
    parts = ['realm="ticketbox"']
    if metadata is not None:
        parts.append(f'resource_metadata="{metadata}"')
    if isinstance(problem, Unauthorized) and problem.scope is not None:
        parts.append(f'scope="{problem.scope}"')
    if isinstance(problem, InvalidToken):
        parts.append('error="invalid_token"')
    elif isinstance(problem, InsufficientScope):
        parts += ['error="insufficient_scope"', f'scope="{problem.extra["scope"]}"']
    return f"Bearer {', '.join(parts)}"


def build_session_cookies(session: WithSession[Any], site: Site) -> Headers:
    """Build the headers that set the cookies of the session and of the device, or delete the session's."""
    headers = [build_cookie(site, site.cookie, session.secret, session.lifetime)]
    if session.device:
        headers.append(build_cookie(site, site.device_cookie, session.device, DEVICE_SECONDS))
    return headers

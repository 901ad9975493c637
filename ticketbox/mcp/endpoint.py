"""MCP over streamable HTTP at `/mcp`, at both protocol generations (docs/use/agents.md).

The SDK reads and writes the protocol; this hands its calls to `dispatch`. Who may call is settled before
the SDK sees the message, because 401, 403 `insufficient_scope` and 429 are HTTP statuses; every other refusal
is a tool's result that says what to do next.
"""

import asyncio
import logging
import typing
from typing import TYPE_CHECKING, Any

import msgspec

from ticketbox.domain.core.policy import Via
from ticketbox.domain.core.problems import (
    Forbidden,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from ticketbox.edge.asgi import Message, Receive, Scope, Send, header, whole_body
from ticketbox.edge.edge import Site, slow_down
from ticketbox.edge.responses import Answer, problem_answer
from ticketbox.mcp import tools
from ticketbox.mcp.handlers import Handlers
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ticketbox.mcp.shortcut import Shortcut

log = logging.getLogger("ticketbox.mcp")

MAX_MESSAGE = 1024 * 1024
MESSAGE_SECONDS = 30.0
WARM_SECONDS = 2.0
RETRY_SECONDS = 60.0

UNREADABLE = Answer(
    400,
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body isn\'t JSON in UTF-8 (RFC 8259)"}}',
    "application/json",
)


class Endpoint:
    """The MCP endpoint. `run` loads the SDK and keeps its session manager alive; an exchange waits for it."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, site: Site) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._site = site
        self._handlers = Handlers(registry, dispatcher)
        self._manager: StreamableHTTPSessionManager | None = None
        self._shortcut: Shortcut | None = None
        self._asked = asyncio.Event()
        self._settled = asyncio.Event()

    async def run(self, stopping: asyncio.Event) -> None:
        """Load the SDK beside the running server, when it is asked for or soon; then serve until it stops.

        Its import takes more than all the rest of the start. As long as it fails, exchanges are refused.
        """
        await _either(self._asked, stopping, WARM_SECONDS)
        while not stopping.is_set():
            try:
                manager, shortcut = await asyncio.to_thread(self._load)
            except Exception:
                log.exception("MCP can't be served; it will be tried again in a minute")
                self._settled.set()
                await _either(stopping, stopping, RETRY_SECONDS)
                continue
            async with manager.run():
                self._manager, self._shortcut = manager, shortcut
                self._settled.set()
                await stopping.wait()

    def _load(self) -> "tuple[StreamableHTTPSessionManager, Shortcut]":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from ticketbox.mcp.shortcut import Shortcut

        server = self.server()
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_MESSAGE
        )
        return manager, Shortcut(self._registry, self._dispatcher, self._handlers, server)

    async def exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request, of whatever method: the refusal says which transport to use."""
        if scope["raw_path"].endswith(b"/"):
            raise NotFound(
                "page", "the MCP endpoint is /mcp, without a slash at its end: drop it in the client's settings"
            )
        if scope["method"] != "POST":
            raise MethodNotAllowed(
                ["POST"],
                "send POST: this endpoint speaks the streamable HTTP transport, which a client of SSE alone can't use",
            )
        origin = header(scope, b"origin")
        if origin is not None and origin != self._site.public_url:
            raise Forbidden("the Origin header names another site")
        body = await whole_body(scope, receive, MAX_MESSAGE, MESSAGE_SECONDS)
        call: RequestContext = scope["call"]
        call.via = Via.MCP
        if call.cookie:
            call.secret_hash, call.cookie = None, False
        message = _peek(body)
        short = self._shortcut
        asked = None if short is None or message is None else short.read(scope, message)
        answer: Answer | None = UNREADABLE if message is None else None
        try:
            if short is not None and asked is not None:
                answer = await short.answer(asked, call)
            if answer is None or answer is UNREADABLE:
                await self._dispatcher.admit(self._called(message), call)
        except (Unauthorized, InsufficientScope, RateLimited) as problem:
            call.refusal = problem.code
            refusal = self._refusal(slow_down(self._dispatcher.services.limiter, problem, call), message or {})
            await refusal(scope, receive, send)
            return
        if answer is not None:
            await answer(scope, receive, send)
            return
        if short is not None and asked is not None:
            send = short.learning(asked, call, send)
        self._asked.set()
        await self._settled.wait()
        if self._manager is None:
            raise Unavailable("MCP can't be served: this server couldn't load it, and its log says why")
        await self._manager.handle_request(_tidied(scope), _replay(body, receive), send)

    def _called(self, message: dict[str, Any] | None) -> Operation:
        """The operation that a message calls; everything else costs what `whoami` does."""
        params = (message or {}).get("params")
        if message and message.get("method") == "tools/call" and isinstance(params, dict):
            card = tools.cards(self._registry).get(str(typing.cast(dict[str, Any], params).get("name")))
            if card is not None:
                return card.operation
        return self._registry["get_me"]

    def _refusal(self, problem: Problem, message: dict[str, Any]) -> Answer:
        """An HTTP status with a JSON-RPC error in its body."""
        answer = problem_answer(problem, self._site.metadata_of("/mcp"))
        error = {"code": -32001, "message": problem.detail, "data": problem.body()}
        document = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        answer.body, answer.media_type = msgspec.json.encode(document), "application/json"
        return answer

    def server(self) -> "Server[Any]":
        """The SDK's server with our handlers."""
        return self._handlers.server()


async def _either(one: asyncio.Event, other: asyncio.Event, seconds: float) -> None:
    """Wait for one of two events, or so long."""
    waits = [asyncio.ensure_future(event.wait()) for event in {one, other}]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _peek(body: bytes) -> dict[str, Any] | None:
    """The message, or None where the body isn't JSON; the SDK refuses other JSON that is no message.

    The SDK's readers also take NaN, UTF-16 and lone surrogates, and would find a call where this finds none.
    """
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return typing.cast(dict[str, Any], message) if isinstance(message, dict) else {}


def _tidied(scope: Scope) -> Scope:
    """The scope with its header values stripped: httptools keeps white space at their ends."""
    return {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """What the SDK reads: the body that was read already, then whatever comes after it."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again

"""MCP over streamable HTTP at `/mcp`, at both protocol generations (docs/use/agents.md).

The SDK reads and writes the protocol; the handlers call `dispatch`. The caller is checked before the SDK sees the
message, because 401, 403 `insufficient_scope` and 429 are HTTP statuses. Every other error is a tool result that
says what to do next.
"""

import asyncio
import logging
import typing
from typing import TYPE_CHECKING, Any

import msgspec

from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Scope as Permission
from ticketbox.domain.core.fairness.limits import MAX_WAIT_SECONDS
from ticketbox.domain.core.problems import (
    Forbidden,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Problem,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from ticketbox.edge.addresses import limit_bad_credentials
from ticketbox.edge.asgi import Message, Receive, Scope, Send, get_header, read_body
from ticketbox.edge.responses import Answer, build_problem_answer
from ticketbox.edge.site import Site
from ticketbox.mcp import tools
from ticketbox.mcp.handlers import Handlers
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ticketbox.mcp.fast_path import FastPath

log = logging.getLogger("ticketbox.mcp")

MAX_MESSAGE = 1024 * 1024
MAX_FILE_MESSAGE = 7 * MAX_MESSAGE  # a call of add_attachment with 5 MB in base64
MESSAGE_SECONDS = 30.0
WARM_SECONDS = 10.0  # the first seconds belong to the person who opens the app
RETRY_SECONDS = 60.0

_WITH_FILE = "add_attachment"
_ALL_SCOPES = " ".join(Permission)
UNREADABLE = Answer(
    400,
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body isn\'t JSON in UTF-8 (RFC 8259)"}}',
    "application/json",
)


class Endpoint:
    """The MCP endpoint. `run` loads the SDK and runs its session manager; requests wait until it is loaded."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, site: Site) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._site = site
        self._handlers = Handlers(registry, dispatcher)
        self._manager: StreamableHTTPSessionManager | None = None
        self._fast_path: FastPath | None = None
        self._requested = asyncio.Event()
        self._load_finished = asyncio.Event()

    async def run(self, stopping: asyncio.Event) -> None:
        """Load the SDK in a thread at the first request, or ten seconds after the start; then serve until the stop.

        Its import takes longer than the rest of the start. While it fails, requests are refused with 503.
        """
        await _wait_for_any(WARM_SECONDS, self._requested, stopping)
        while not stopping.is_set():
            try:
                manager, fast_path = await asyncio.to_thread(self._load_sdk)
            except Exception:
                log.exception("the MCP SDK can't be loaded; the next attempt is in a minute")
                self._load_finished.set()
                await _wait_for_any(RETRY_SECONDS, stopping)
                continue
            async with manager.run():
                self._manager, self._fast_path = manager, fast_path
                self._load_finished.set()
                await stopping.wait()

    def _load_sdk(self) -> "tuple[StreamableHTTPSessionManager, FastPath]":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from ticketbox.mcp.fast_path import FastPath

        server = self.build_server()
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_FILE_MESSAGE
        )
        return manager, FastPath(self._registry, self._dispatcher, self._handlers, server)

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; a refused method's answer says which transport to use."""
        if scope["raw_path"].endswith(b"/"):
            raise NotFound(
                "page", "the MCP endpoint is /mcp, without a slash at the end; remove it in the client's settings"
            )
        if scope["method"] != "POST":
            raise MethodNotAllowed(
                ["POST"],
                "send POST: this endpoint supports the streamable HTTP transport, not SSE",
            )
        context: RequestContext = scope["context"]
        if context.origin is not None and context.origin != self._site.origin:
            raise Forbidden("the Origin header names another site")
        context.via = Via.MCP
        if context.cookie:
            context.secret_hash, context.cookie = None, False
        message: dict[str, Any] | None = None
        try:
            body = await self._read_message(scope, receive, context)
            message = _decode_message(body)
            operation = self._find_operation(message)
            if len(body) > MAX_MESSAGE and operation.name != _WITH_FILE:
                raise PayloadTooLarge(f"the message exceeds {MAX_MESSAGE // 1024 // 1024} MB")
            if message and message.get("method") == "tools/call":
                context.patience = MAX_WAIT_SECONDS
                context.call_id = _get_call_id(message.get("id"))
            fast_path = self._fast_path
            request = None if fast_path is None or message is None else fast_path.read(scope, message)
            answer: Answer | None = UNREADABLE if message is None else None
            if fast_path is not None and request is not None:
                answer = await fast_path.answer(request, context)
            else:
                actor = await self._dispatcher.admit(operation, context)
                self._cancel_call(actor, message or {})
        except (Unauthorized, InsufficientScope, RateLimited) as problem:
            context.refusal = problem.code
            problem = limit_bad_credentials(self._dispatcher.services.limiter, problem, context)
            await self._build_error_answer(problem, message or {})(scope, receive, send)
            return
        if answer is not None:
            await answer(scope, receive, send)
            return
        self._requested.set()
        await self._load_finished.wait()
        if self._manager is None:
            raise Unavailable("MCP isn't available: the server failed to load it; see the server's log")
        await self._manager.handle_request(_strip_headers(scope), _replay(body, receive), send)

    def _cancel_call(self, actor: Actor, message: dict[str, Any]) -> None:
        """End the wait of a call that its client cancels.

        The SDK knows no other request than its own, because it is stateless. A client of the newest generation ends the
        request instead (MCP 2026-07-28, "Cancellation").
        """
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            call_id = _get_call_id(typing.cast(dict[str, Any], params).get("requestId"))
            if call_id is not None:
                self._dispatcher.services.listeners.cancel(actor, call_id)

    async def _read_message(self, scope: Scope, receive: Receive, context: RequestContext) -> bytes:
        """Read the message. One with a file is read only for a caller who may attach it, as an upload is."""
        length = get_header(scope, b"content-length") or ""
        if not (length.isdigit() and MAX_MESSAGE < int(length) <= MAX_FILE_MESSAGE):
            return await read_body(scope, receive, MAX_MESSAGE, MESSAGE_SECONDS)
        await self._dispatcher.admit(self._registry[_WITH_FILE], context)
        return await read_body(scope, receive, MAX_FILE_MESSAGE, MESSAGE_SECONDS)

    def _find_operation(self, message: dict[str, Any] | None) -> Operation:
        """Return the operation that a message calls; any other message counts as `get_me`."""
        params = (message or {}).get("params")
        if message and message.get("method") == "tools/call" and isinstance(params, dict):
            card = tools.get_tool_cards(self._registry).get(str(typing.cast(dict[str, Any], params).get("name")))
            if card is not None:
                return card.operation
        return self._registry["get_me"]

    def build_refusal(self, scope: Scope, problem: Problem) -> Answer | None:
        """Return the answer to a message that was refused before it was read; None for other requests."""
        if scope["path"] != "/mcp" or scope["method"] != "POST":
            return None
        return self._build_error_answer(problem, {})

    def _build_error_answer(self, problem: Problem, message: dict[str, Any]) -> Answer:
        """Return a JSON-RPC error with the problem's HTTP status.

        The challenge of a 401 asks for all scopes, from which the person chooses on the consent page. A client that
        asks for a single one would sign in again at every tool that needs another.
        """
        if isinstance(problem, Unauthorized):
            problem.scope = _ALL_SCOPES
        answer = build_problem_answer(problem, self._site.build_metadata_url("/mcp"))
        error = {"code": -32001, "message": problem.detail, "data": problem.build_body()}
        document = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        answer.body, answer.media_type = msgspec.json.encode(document), "application/json"
        return answer

    def build_server(self) -> "Server[Any]":
        """Create the SDK's server with the handlers."""
        return self._handlers.build_server()


def _get_call_id(value: Any) -> int | str | None:
    return value if isinstance(value, int | str) else None


async def _wait_for_any(seconds: float, *events: asyncio.Event) -> None:
    """Wait until one of the events is set, for at most `seconds`."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _decode_message(body: bytes) -> dict[str, Any] | None:
    """Decode the message; None means that the body isn't JSON. The SDK refuses JSON that isn't a message.

    The SDK's parsers also accept NaN, UTF-16 and lone surrogates; a call in such a body would skip the checks above.
    """
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return typing.cast(dict[str, Any], message) if isinstance(message, dict) else {}


def _strip_headers(scope: Scope) -> Scope:
    """Strip white space from header values, which httptools keeps."""
    return {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first returns the body that was already read."""
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again

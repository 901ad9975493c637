"""MCP over streamable HTTP at `/mcp`, at both protocol generations (docs/use/agents.md).

The SDK reads and writes the protocol; the handlers call `dispatch`. The caller is checked before the SDK sees the
message, because 401, 403 `insufficient_scope` and 429 are HTTP statuses. Every other error is a tool result that
says what to do next.
"""

import asyncio
import logging
import typing
from typing import TYPE_CHECKING, Any

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
from ticketbox.edge.asgi import Receive, Scope, Send, get_header, read_body
from ticketbox.edge.responses import Answer, build_problem_answer
from ticketbox.edge.site import Site
from ticketbox.mcp import messages, tools
from ticketbox.mcp.handlers import Handlers
from ticketbox.mcp.messages import MessageError
from ticketbox.mcp.skills import Skills
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Operation, Registry

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger("ticketbox.mcp")

MAX_MESSAGE = 1024 * 1024
MAX_FILE_MESSAGE = 7 * MAX_MESSAGE  # a call of add_attachment with 5 MB in base64
MESSAGE_SECONDS = 30.0
WARM_SECONDS = 10.0  # the first seconds belong to the person who opens the app
RETRY_SECONDS = 60.0

_WITH_FILE = "add_attachment"
_ALL_SCOPES = " ".join(Permission)


class Endpoint:
    """The MCP endpoint. `run` loads the SDK and runs its session manager; requests wait until it is loaded."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, site: Site, skills: dict[str, str]) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._site = site
        self._handlers = Handlers(registry, dispatcher, Skills(skills))
        self._manager: StreamableHTTPSessionManager | None = None
        self._requested = asyncio.Event()
        self._load_finished = asyncio.Event()

    async def run(self, stopping: asyncio.Event) -> None:
        """Load the SDK in a thread at the first request, or ten seconds after the start; then serve until the stop.

        Its import takes longer than the rest of the start. While it fails, requests are refused with 503.
        """
        await _wait_for_any(WARM_SECONDS, self._requested, stopping)
        while not stopping.is_set():
            try:
                manager = await asyncio.to_thread(self._load_sdk)
            except Exception:
                log.exception("the MCP SDK can't be loaded; the next attempt is in a minute")
                self._load_finished.set()
                await _wait_for_any(RETRY_SECONDS, stopping)
                continue
            async with manager.run():
                self._manager = manager
                self._load_finished.set()
                await stopping.wait()

    def _load_sdk(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        return StreamableHTTPSessionManager(
            self.build_server(), json_response=True, stateless=True, max_request_body_size=MAX_FILE_MESSAGE
        )

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
        message: Any = None
        unreadable: MessageError | None = None
        try:
            body = await self._read_message(scope, receive, context)
            try:
                message = messages.decode_message(body)
            except MessageError as error:
                unreadable = error
            call = _get_method_parameters(message, "tools/call")
            operation = self._find_operation(call)
            if len(body) > MAX_MESSAGE and operation.name != _WITH_FILE:
                raise PayloadTooLarge(f"the message exceeds {MAX_MESSAGE // 1024 // 1024} MB")
            if call is not None:
                context.patience = MAX_WAIT_SECONDS
                context.call_id = messages.get_id(message)
            actor = await self._dispatcher.admit(operation, context)
            self._cancel_call(actor, message)
        except (Unauthorized, InsufficientScope, RateLimited) as problem:
            context.refusal = problem.code
            problem = limit_bad_credentials(self._dispatcher.services.limiter, problem, context)
            await self._build_refusal_answer(problem, message)(scope, receive, send)
            return
        self._requested.set()
        await self._load_finished.wait()
        if self._manager is None:
            raise Unavailable("MCP isn't available: the server failed to load it; see the server's log")
        try:
            if unreadable is not None:
                raise unreadable
            messages.check_message(scope, message)
        except MessageError as error:
            await messages.build_error_answer(message, error.rpc_code, error.problem, error.status)(
                scope, receive, send
            )
            return
        await self._manager.handle_request(
            messages.forward_scope(scope, message),
            messages.replay_body(messages.strip_mark(body), receive),
            messages.describe_errors(send),
        )

    def _cancel_call(self, actor: Actor, message: Any) -> None:
        """End the wait of a call that its client cancels.

        The SDK knows no other request than its own, because it is stateless. A client of the newest generation ends the
        request instead (MCP 2026-07-28, "Cancellation").
        """
        params = _get_method_parameters(message, "notifications/cancelled") or {}
        call_id = messages.get_id({"id": params.get("requestId")})
        if call_id is not None:
            self._dispatcher.services.listeners.cancel(actor, call_id)

    async def _read_message(self, scope: Scope, receive: Receive, context: RequestContext) -> bytes:
        """Read the message. One with a file is read only for a caller who may attach it, as an upload is."""
        length = get_header(scope, b"content-length") or ""
        if not (length.isdigit() and MAX_MESSAGE < int(length) <= MAX_FILE_MESSAGE):
            return await read_body(scope, receive, MAX_MESSAGE, MESSAGE_SECONDS)
        await self._dispatcher.admit(self._registry[_WITH_FILE], context)
        return await read_body(scope, receive, MAX_FILE_MESSAGE, MESSAGE_SECONDS)

    def _find_operation(self, call: dict[str, Any] | None) -> Operation:
        """Return the operation that a call of a tool names; any other message counts as `get_me`."""
        card = tools.get_tool_cards(self._registry).get(str((call or {}).get("name")))
        return self._registry["get_me"] if card is None else card.operation

    def build_refusal(self, scope: Scope, problem: Problem) -> Answer | None:
        """Return the answer to a message that was refused before it was read; None for other requests."""
        if scope["path"] != "/mcp" or scope["method"] != "POST":
            return None
        return self._build_refusal_answer(problem, None)

    def _build_refusal_answer(self, problem: Problem, message: Any) -> Answer:
        """Return a JSON-RPC error with the problem's HTTP status.

        The challenge of a 401 asks for all scopes, from which the person chooses on the consent page. A client that
        asks for a single one would sign in again at every tool that needs another.
        """
        if isinstance(problem, Unauthorized):
            problem.scope = _ALL_SCOPES
        answer = build_problem_answer(problem, self._site.build_metadata_url("/mcp"))
        error = messages.build_error_answer(message, messages.REFUSED, problem, problem.status)
        answer.body, answer.media_type = error.body, error.media_type
        return answer

    def build_server(self) -> "Server[Any]":
        """Create the SDK's server with the handlers."""
        return self._handlers.build_server(self._site.public_url.rstrip("/"))


def _get_method_parameters(message: Any, method: str) -> dict[str, Any] | None:
    """Return the parameters of a message of this method; None for other messages, also for wrong ones."""
    if not isinstance(message, dict) or typing.cast(dict[str, Any], message).get("method") != method:
        return None
    params = typing.cast(dict[str, Any], message).get("params")
    return typing.cast(dict[str, Any], params) if isinstance(params, dict) else None


async def _wait_for_any(seconds: float, *events: asyncio.Event) -> None:
    """Wait until one of the events is set, for at most `seconds`."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()

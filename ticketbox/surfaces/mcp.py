"""MCP over streamable HTTP at `/mcp`, at both protocol generations (docs/agents.md).

The SDK reads and writes the protocol; this hands its calls to `dispatch`. Who may call is settled before
the SDK sees the message, because 401, 403 `insufficient_scope` and 429 are HTTP statuses; every other refusal
is a tool's result that says what to do next.
"""

import asyncio
import importlib
import json
import logging
import typing
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import HttpMethod, Request, route
from litestar.handlers import HTTPRouteHandler

from ticketbox import __version__
from ticketbox.domain import images
from ticketbox.domain.policy import Via
from ticketbox.domain.problems import (
    Forbidden,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Problem,
    RateLimited,
    Unauthorized,
)
from ticketbox.operations.content import Content
from ticketbox.operations.details import TicketDetail
from ticketbox.operations.dispatch import Dispatcher
from ticketbox.operations.registry import Operation, Registry
from ticketbox.operations.services import Call
from ticketbox.surfaces import prompts, tools
from ticketbox.surfaces.answers import Answer, problem_answer
from ticketbox.surfaces.asgi import Message, Receive, Scope, Send, header, whole_body
from ticketbox.surfaces.edge import Site, slow_down

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger("ticketbox.mcp")

MAX_MESSAGE = 1024 * 1024
MESSAGE_SECONDS = 30.0


UNREADABLE = Answer(
    400,
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body isn\'t JSON in UTF-8 (RFC 8259)"}}',
    "application/json",
)


class Endpoint:
    """The MCP endpoint. `run` keeps the SDK's session manager alive; the route waits until it is ready."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, site: Site) -> None:
        self._registry = registry
        self._dispatcher = dispatcher
        self._site = site
        self._manager: StreamableHTTPSessionManager | None = None
        self._ready = asyncio.Event()

    async def run(self, stopping: asyncio.Event) -> None:
        """Import the SDK, which takes a second, beside the running server; then serve until it stops."""
        await asyncio.to_thread(importlib.import_module, "mcp.server.streamable_http_manager")
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            self.server(), json_response=True, stateless=True, max_request_body_size=MAX_MESSAGE
        )
        async with manager.run():
            self._manager = manager
            self._ready.set()
            await stopping.wait()
            self._ready.clear()

    def route(self) -> HTTPRouteHandler:
        """The one route. It answers every method itself, to say which transport to use."""
        methods = [method for method in HttpMethod if method is not HttpMethod.HEAD]

        @route("/mcp", http_method=methods, status_code=200)
        async def handle(request: Request[Any, Any, Any]) -> Exchange:
            return Exchange(self)

        return handle

    async def exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
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
        call: Call = scope["call"]
        call.via = Via.MCP
        if call.cookie:
            call.secret_hash, call.cookie = None, False
        message = _peek(body)
        try:
            await self._dispatcher.admit(self._called(message), call)
        except (Unauthorized, InsufficientScope, RateLimited) as problem:
            refusal = self._refusal(slow_down(self._dispatcher.services.limiter, problem, call), message or {})
            await refusal(scope, receive, send)
            return
        if message is None:
            await UNREADABLE(scope, receive, send)
            return
        await self._ready.wait()
        assert self._manager is not None
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
        from mcp.server.lowlevel import Server

        return Server(
            "ticketbox",
            version=__version__,
            title="ticketbox",
            instructions=prompts.INSTRUCTIONS,
            get_tool_input_schema=self._input_schema,
            on_list_tools=_guarded(self._list_tools),
            on_call_tool=_guarded(self._call_tool),
            on_list_prompts=_guarded(self._list_prompts),
            on_get_prompt=_guarded(self._get_prompt),
            on_list_resources=_guarded(self._list_resources),
            on_list_resource_templates=_guarded(self._list_templates),
            on_read_resource=_guarded(self._read_resource),
        )

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        card = tools.cards(self._registry).get(name)
        return None if card is None else card.input_schema

    async def _list_tools(self, context: Any, params: Any) -> "types.ListToolsResult":
        import mcp_types as types

        actor = _call(context).actor
        assert actor is not None
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=card.name,
                    title=card.title,
                    description=card.description,
                    input_schema=card.input_schema,
                    output_schema=card.output_schema,
                    annotations=types.ToolAnnotations(
                        read_only_hint=card.read_only,
                        destructive_hint=card.destructive,
                        idempotent_hint=card.idempotent,
                        open_world_hint=False,
                    ),
                )
                for card in tools.allowed(self._registry, actor)
            ]
        )

    async def _call_tool(self, context: Any, params: "types.CallToolRequestParams") -> "types.CallToolResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        card = tools.cards(self._registry).get(params.name)
        if card is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; see tools/list")
        call = _call(context)
        try:
            result = await self._dispatcher.dispatch(card.operation, params.arguments or {}, call)
            pictures = [result] if isinstance(result, Content) else await self._pictures(result, call)
        except Problem as problem:
            return _failed(problem)
        told = tools.structured(result)
        content: list[Any] = [types.TextContent(text=json.dumps(told, ensure_ascii=False))]
        content += [
            types.ImageContent(data=tools.encoded(picture), mime_type=picture.media_type) for picture in pictures
        ]
        return types.CallToolResult(content=content, structured_content=told)

    async def _pictures(self, result: Any, call: Call) -> list[Content]:
        """The screenshot that comes along with a ticket, small enough for a model to look at."""
        if not isinstance(result, TicketDetail) or result.capture is None or result.capture.screenshot is None:
            return []
        if result.capture.console is msgspec.UNSET:
            return []
        shot = {"ticket_id": result.id, "annotated": True, "max_side": images.MODEL_SIDE}
        try:
            return [await self._dispatcher.dispatch(self._registry["get_screenshot"], shot, call)]
        except Problem:  # the ticket is worth more than its picture, and get_screenshot says what is wrong
            log.warning("the screenshot of %s can't be shown", result.id, exc_info=True)
            return []

    async def _list_prompts(self, context: Any, params: Any) -> "types.ListPromptsResult":
        import mcp_types as types

        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(name=prompt.argument, description=prompt.argument_is, required=True)
                    ],
                )
                for prompt in prompts.PROMPTS
            ]
        )

    async def _get_prompt(self, context: Any, params: "types.GetPromptRequestParams") -> "types.GetPromptResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        try:
            prompt, text = prompts.written(params.name, params.arguments or {})
        except Problem as problem:
            raise MCPError(types.INVALID_PARAMS, problem.detail) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _list_resources(self, context: Any, params: Any) -> "types.ListResourcesResult":
        import mcp_types as types

        return types.ListResourcesResult(resources=[])

    async def _list_templates(self, context: Any, params: Any) -> "types.ListResourceTemplatesResult":
        import mcp_types as types

        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.template, name=each.name, description=each.description, mime_type=each.media_type
                )
                for each in prompts.RESOURCES
            ]
        )

    async def _read_resource(
        self, context: Any, params: "types.ReadResourceRequestParams"
    ) -> "types.ReadResourceResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        uri = str(params.uri)
        try:
            operation, arguments = prompts.resource(uri)
            result = await self._dispatcher.dispatch(self._registry[operation], arguments, _call(context))
        except Problem as problem:
            raise MCPError(types.INVALID_PARAMS, problem.detail, {**problem.body(), "uri": uri}) from None
        if isinstance(result, Content) and not result.media_type.startswith("application/json"):
            blob = types.BlobResourceContents(uri=uri, mime_type=result.media_type, blob=tools.encoded(result))
            return types.ReadResourceResult(contents=[blob])
        text = result.data.decode() if isinstance(result, Content) else json.dumps(tools.structured(result))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
        )


class Exchange:
    """One exchange as an ASGI application, which is what a Litestar handler may return."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it."""
        await self._endpoint.exchange(scope, receive, send)


def _guarded(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Keep the text of unforeseen exceptions inside: the SDK's older path would send it to the client."""

    async def guarded(context: Any, params: Any) -> Any:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        try:
            return await handler(context, params)
        except (MCPError, asyncio.CancelledError):
            raise
        except Exception:
            log.exception("an MCP call failed")
            raise MCPError(types.INTERNAL_ERROR, "something went wrong here; the server's log says what") from None

    return guarded


def _call(context: Any) -> Call:
    return context.request.scope["call"]


def _failed(problem: Problem) -> "types.CallToolResult":
    import mcp_types as types

    told = typing.cast(dict[str, Any], msgspec.to_builtins(problem.body()))
    text = f"{problem.detail}{prompts.NEXT.get(problem.code, '')}"
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=told, is_error=True)


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

"""Handlers for the SDK's server; each calls `dispatch` (docs/use/agents.md)."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ticketbox import __version__
from ticketbox.domain.captures.images import processing
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.hidden_text import remove_hidden_characters
from ticketbox.domain.core.problems import InvalidRequest, Problem
from ticketbox.mcp import answers, prompts, tools
from ticketbox.mcp.arguments import ToolCall, prepare_call
from ticketbox.mcp.hidden_text import remove_hidden_text
from ticketbox.mcp.refusals import render_refusal
from ticketbox.mcp.skills import MEDIA_TYPE, Skills
from ticketbox.mcp.suggestions import Suggestions
from ticketbox.mcp.tool_sets import read_tool_sets
from ticketbox.mcp.tools import ToolCard
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry, ToolSet
from ticketbox.operations.tickets.ticket_detail import TicketDetail

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

log = logging.getLogger("ticketbox.mcp")

CACHE_MS = 600_000  # how long a client may keep lists, which differ by token and change with an upgrade
# Claude Code writes longer results to a file, which the model then reads in parts.
_LARGE = {"anthropic/maxResultSizeChars": 100_000}

BROKEN = "something went wrong here; the server's log says what"


class ToolResult(msgspec.Struct, frozen=True):
    """A tool's result as text and as an object, and its images; with images there is no object.

    Many clients pass only the object to the model if there is one (Codex, older Claude Code), and so lose images.
    """

    text: str
    structured: dict[str, Any] | None
    images: list[Content] = []
    is_error: bool = False


class Handlers:
    """One handler for each MCP method."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher, skills: Skills) -> None:
        self._registry = registry
        self._skills = skills
        self._dispatcher = dispatcher
        self._suggestions = Suggestions(registry, dispatcher)

    def build_server(self, site_url: str) -> "Server[Any]":
        """Create the SDK's server with these handlers."""
        import mcp_types as types
        from mcp.server import CacheHint
        from mcp.server.lowlevel import Server

        hint = CacheHint(CACHE_MS, "private")
        return Server(
            "ticketbox",
            version=__version__,
            title="ticketbox",
            instructions=prompts.INSTRUCTIONS,
            website_url=site_url,
            icons=[types.Icon(src=f"{site_url}/static/icon.svg", mime_type="image/svg+xml", sizes=["any"])],
            cache_hints={"tools/list": hint, "prompts/list": hint, "resources/templates/list": hint},
            get_tool_input_schema=self._get_input_schema,
            on_list_tools=hide_internal_errors(self._list_tools),
            on_call_tool=hide_internal_errors(self._call_tool),
            on_list_prompts=hide_internal_errors(self._list_prompts),
            on_get_prompt=hide_internal_errors(self._get_prompt),
            on_list_resources=hide_internal_errors(self._list_resources),
            on_list_resource_templates=hide_internal_errors(self._list_templates),
            on_read_resource=hide_internal_errors(self._read_resource),
            on_completion=hide_internal_errors(self._complete),
        )

    def _get_input_schema(self, name: str) -> dict[str, Any] | None:
        card = tools.get_tool_cards(self._registry).get(name)
        return None if card is None else card.input_schema

    def build_tool_list(self, actor: Actor, sets: frozenset[ToolSet]) -> "types.ListToolsResult":
        """List the tools of some sets that a caller's scopes allow."""
        import mcp_types as types

        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=card.name,
                    title=card.title,
                    description=card.description,
                    input_schema=card.input_schema,
                    output_schema=card.output_schema,
                    _meta=_LARGE if "detail" in card.input_schema["properties"] else None,
                    annotations=types.ToolAnnotations(
                        read_only_hint=card.read_only,
                        destructive_hint=None if card.read_only else card.destructive,
                        idempotent_hint=None if card.read_only else card.idempotent,
                        open_world_hint=False,
                    ),
                )
                for card in tools.list_allowed_tools(self._registry, actor, sets)
            ]
        )

    async def _list_tools(self, server_context: Any, params: Any) -> "types.ListToolsResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        actor = _get_request_context(server_context).actor
        assert actor is not None
        try:
            sets = read_tool_sets(server_context.request.scope)
        except InvalidRequest as problem:
            body = msgspec.to_builtins(problem.build_body())
            raise MCPError(types.INVALID_PARAMS, problem.detail, body) from None
        return self.build_tool_list(actor, sets)

    async def _call_tool(self, server_context: Any, params: "types.CallToolRequestParams") -> "types.CallToolResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        card = tools.get_tool_cards(self._registry).get(params.name)
        if card is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; see tools/list")
        context = _get_request_context(server_context)
        try:
            result = await self.call_tool(card, params.arguments or {}, context)
        except Problem as problem:
            context.refusal = problem.code
            result = build_refusal_result(problem)
        content: list[Any] = [types.TextContent(text=result.text)]
        for image in result.images:
            content.append(types.ImageContent(data=tools.encode_image(image), mime_type=image.media_type))
        return types.CallToolResult(content=content, structured_content=result.structured, is_error=result.is_error)

    async def call_tool(self, card: ToolCard, arguments: dict[str, Any], context: RequestContext) -> ToolResult:
        """Call a tool. Raises Problem."""
        try:
            call = prepare_call(tools.get_tool_cards(self._registry), card, arguments)
        except InvalidRequest:
            await self._dispatcher.admit(card.operation, context)
            raise
        begun = time.monotonic()
        result = await self._dispatcher.dispatch(call.card.operation, call.arguments, context, lax=True)
        if result is None and call.card.operation.waits:
            # Many clients pass only the object to the model, so it says the same as the text.
            nothing = {
                "claimed": False,
                "waited_seconds": round(time.monotonic() - begun),
                "next": prompts.NOTHING_READY,
            }
            return ToolResult(msgspec.json.encode(nothing).decode(), nothing)
        if isinstance(result, Content):
            result = await self._scale_picture(result, context)
            images = [result] if answers.is_picture(result) else []
        else:
            images = await self._load_images(result, context)
        structured = answers.build_structured_result(result, full=call.full)
        if texts := [text for image in images for text in image.annotation_texts]:
            structured["annotation_texts"] = answers.shorten_annotation_texts(texts)
            structured = remove_hidden_text(structured)
        if isinstance(structured.get("items"), list):
            structured = await self._cut_page(call, context, structured)
        return ToolResult(msgspec.json.encode(structured).decode(), None if images else structured, images)

    async def _cut_page(self, call: ToolCall, context: RequestContext, page: dict[str, Any]) -> dict[str, Any]:
        """Cut a page that is too long for a context, by reading a shorter one, whose cursor continues it."""
        operation = call.card.operation
        kept, matched = answers.cut_page(page, full=call.full), page.get("matched", len(page["items"]))
        if kept == len(page["items"]):
            return page
        if operation.waits:  # a second call without a position would wait for other events
            page["last"] = page["items"][kept - 1]["id"]
        elif operation.accepts_cursor:
            shorter = {**call.arguments, "limit": kept}
            result = await self._dispatcher.dispatch(operation, shorter, context, lax=True)
            page = answers.build_structured_result(result, full=call.full)
            answers.cut_page(page, full=call.full)
            page["next"] = answers.describe_next_call(call.card.name, call.given)
        page["items"] = page["items"][:kept]
        return {**page, "omitted": matched - len(page["items"])}

    async def _scale_picture(self, content: Content, context: RequestContext) -> Content:
        """Scale a picture that is too large for a model."""
        if not answers.is_picture(content) or len(content.data) < processing.MODEL_BYTES:
            return content
        assert context.actor is not None
        workers = self._dispatcher.services.rendering
        picture = await workers.run(context.actor.fair_share, processing.scale_image, content.data)
        return msgspec.structs.replace(
            content, data=picture.data, media_type=picture.media_type, width=picture.width, height=picture.height
        )

    async def _load_images(self, result: Any, context: RequestContext) -> list[Content]:
        """Draw the screenshot for a ticket's result, in the size for models."""
        if not isinstance(result, TicketDetail) or result.capture is None or result.capture.screenshot is None:
            return []
        if result.capture.console is msgspec.UNSET:
            return []
        picture = result.capture.screenshot
        side = processing.compute_model_side(picture.width or 1, picture.height or 1)
        shot = {"ticket_id": result.id, "annotated": True, "max_side": side}
        try:
            return [await self._dispatcher.dispatch(self._registry["get_screenshot"], shot, context)]
        except Problem:  # return the ticket without its image; get_screenshot reports the reason
            log.warning("the screenshot of %s can't be shown", result.id, exc_info=True)
            return []

    async def _list_prompts(self, server_context: Any, params: Any) -> "types.ListPromptsResult":
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

    async def _get_prompt(self, server_context: Any, params: "types.GetPromptRequestParams") -> "types.GetPromptResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        try:
            prompt, text = prompts.render_prompt(params.name, params.arguments or {})
        except Problem as problem:
            raise MCPError(types.INVALID_PARAMS, problem.detail) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _list_resources(self, server_context: Any, params: Any) -> "types.ListResourcesResult":
        import mcp_types as types

        tickets = await self._suggestions.list_tickets(_get_request_context(server_context))
        return types.ListResourcesResult(resources=[*tickets, *self._skills.list_resources()])

    async def _complete(self, server_context: Any, params: "types.CompleteRequestParams") -> "types.CompleteResult":
        argument = params.argument
        return await self._suggestions.complete(argument.name, argument.value, _get_request_context(server_context))

    async def _list_templates(self, server_context: Any, params: Any) -> "types.ListResourceTemplatesResult":
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
        self, server_context: Any, params: "types.ReadResourceRequestParams"
    ) -> "types.ReadResourceResult":
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        uri = str(params.uri)
        if skill := self._skills.find(uri):
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=uri, mime_type=MEDIA_TYPE, text=skill)]
            )
        try:
            operation, arguments = prompts.find_resource(uri)
            result = await self._dispatcher.dispatch(
                self._registry[operation], arguments, _get_request_context(server_context)
            )
        except Problem as problem:
            raise MCPError(types.INVALID_PARAMS, problem.detail, {**problem.build_body(), "uri": uri}) from None
        if isinstance(result, Content) and not result.media_type.startswith("application/json"):
            blob = types.BlobResourceContents(uri=uri, mime_type=result.media_type, blob=tools.encode_image(result))
            return types.ReadResourceResult(contents=[blob])
        text = (
            remove_hidden_characters(result.data.decode())[0]
            if isinstance(result, Content)
            else json.dumps(answers.build_structured_result(result, complete=True))
        )
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
        )


def hide_internal_errors(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Wrap a handler so that an unexpected exception's text stays in the log; the SDK sends it at older generations."""

    async def handle(server_context: Any, params: Any) -> Any:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        try:
            return await handler(server_context, params)
        except (MCPError, asyncio.CancelledError):
            raise
        except Exception:
            log.exception("an MCP call failed")
            raise MCPError(types.INTERNAL_ERROR, BROKEN) from None

    return handle


def _get_request_context(server_context: Any) -> RequestContext:
    return server_context.request.scope["context"]


def build_refusal_result(problem: Problem) -> ToolResult:
    """Return the tool result for a refused call."""
    text, structured = render_refusal(problem)
    return ToolResult(text, structured, is_error=True)

"""The local MCP server: relays standard input and output to the hosted endpoint (docs/use/agents.md).

The token comes from `SERVICE_API_TOKEN` and the URL from `TICKETBOX_URL`, never from arguments, which other people on
the machine can read. The server also starts when they are wrong: the list of tools is empty until `/me` answers 200,
then the client is notified. A call that can't be executed returns a tool error, and the next one is tried again. Only
the protocol is written to standard output.
"""

import asyncio
import contextlib
import io
import os
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.methods import parse_server_result

from ticketbox import __version__
from ticketbox.domain.core.problems import Problem
from ticketbox.mcp.hosted import DEFAULT_URL, PROTOCOL, HostedServer, LoadToken
from ticketbox.mcp.prompts import INSTRUCTIONS
from ticketbox.mcp.refusals import render_refusal

RETRY_SECONDS = 3.0
ABANDONED_SECONDS = 0.1
IDEMPOTENCY_KEY = "idempotency_key"
REPOSITORY = "repository"
REPOSITORY_TOOLS = frozenset({"start_work_on_ticket", "claim_next_ticket", "report_progress"})

DescribeRepository = Callable[[], dict[str, str] | None]


class Relay:
    """Forwards a local client's requests to the hosted endpoint; reports on standard error why it can't.

    `describe_repository` returns the repository in the current folder, which calls of REPOSITORY_TOOLS also send; None
    sends nothing.
    """

    def __init__(self, hosted: HostedServer, describe_repository: DescribeRepository | None) -> None:
        self._hosted = hosted
        self._describe_repository = describe_repository
        self._tools: dict[str, types.Tool] = {}
        self._reported = ""
        self._waiting: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator["Relay"]:
        """Close the connections and stop waiting at the end; nothing is sent before the first request."""
        try:
            yield self
        finally:
            if self._waiting is not None:
                self._waiting.cancel()
            await self._hosted.close()

    async def report_problem(self) -> None:
        """Report once, at the start, why the service can't be used."""
        if problem := await self._hosted.find_problem():
            self.report(problem)

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """List the hosted tools, or none while the service can't be used."""
        problem = await self._hosted.find_problem()
        if not problem:
            try:
                found = cast(types.ListToolsResult, await self._read("tools/list", {}))
            except Problem as refusal:
                problem = refusal.detail
            else:
                self._tools = {tool.name: tool for tool in found.tools}
                return found.model_copy(update={"meta": None})
        self.report(problem)
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.create_task(self._announce_when_ready(context.session))
        return types.ListToolsResult(tools=[])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a hosted tool. Every refusal is a tool error, because an error of the protocol ends some clients."""
        arguments = dict(params.arguments or {})
        describe = self._describe_repository
        if describe is not None and params.name in REPOSITORY_TOOLS and arguments.get(REPOSITORY) is None:
            found = await asyncio.to_thread(describe)  # it runs git
            if found is not None:
                arguments[REPOSITORY] = found
        repeatable = self._make_repeatable(params.name, arguments)
        try:
            result = await self._hosted.request(
                "tools/call", {"name": params.name, "arguments": arguments}, repeatable=repeatable
            )
        except Problem as problem:
            return self._build_refusal(problem)
        return cast(types.CallToolResult, parse_server_result("tools/call", PROTOCOL, result))

    def _make_repeatable(self, name: str, arguments: dict[str, Any]) -> bool:
        """Return whether a call can be sent twice and is executed once; give it an idempotency key if that helps."""
        tool = self._tools.get(name)
        if tool is None:
            return False
        if tool.annotations is not None and tool.annotations.read_only_hint:
            return True
        if IDEMPOTENCY_KEY not in tool.input_schema.get("properties", {}):
            return False
        arguments.setdefault(IDEMPOTENCY_KEY, str(uuid.uuid4()))
        return True

    def _build_refusal(self, problem: Problem) -> types.CallToolResult:
        if problem.status == 503:
            self.report(problem.detail)
        text, structured = render_refusal(problem)
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=structured, is_error=True
        )

    async def list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        """List the hosted prompts."""
        return cast(types.ListPromptsResult, await self._forward("prompts/list", {}))

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Get a hosted prompt."""
        given = {"name": params.name, "arguments": params.arguments or {}}
        return cast(types.GetPromptResult, await self._forward("prompts/get", given))

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        """List the hosted resources."""
        return cast(types.ListResourcesResult, await self._forward("resources/list", {}))

    async def list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        """List the templates of the hosted resources."""
        return cast(types.ListResourceTemplatesResult, await self._forward("resources/templates/list", {}))

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a hosted resource."""
        return cast(types.ReadResourceResult, await self._forward("resources/read", {"uri": str(params.uri)}))

    async def complete(self, context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete a value as the hosted server does."""
        given = params.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta"})
        return cast(types.CompleteResult, await self._forward("completion/complete", given))

    async def _forward(self, method: str, params: dict[str, Any]) -> types.Result:
        """Send a request that isn't a tool call. Raises MCPError."""
        try:
            return await self._read(method, params)
        except Problem as problem:
            self.report(problem.detail)
            raise MCPError(types.INTERNAL_ERROR, problem.detail) from None

    async def _read(self, method: str, params: dict[str, Any]) -> types.Result:
        """Send a request that changes nothing. Raises Problem and MCPError."""
        return parse_server_result(method, PROTOCOL, await self._hosted.request(method, params, repeatable=True))

    async def _announce_when_ready(self, session: Any) -> None:
        while await self._hosted.find_problem():  # noqa: ASYNC110 (nothing here could set an event)
            await asyncio.sleep(RETRY_SECONDS)
        self.report(f"{self._hosted.url} is available now")
        with contextlib.suppress(Exception):  # the client may be gone or not support notifications
            await session.send_tool_list_changed()

    def report(self, text: str) -> None:
        """Write a message to standard error, unless it was the last one."""
        if text != self._reported:
            self._reported = text
            print(f"ticketbox mcp: {text}", file=sys.stderr, flush=True)  # noqa: T201 (standard error)


async def report_invalid_lines(
    messages: AsyncIterator[SessionMessage | Exception], relay: Relay
) -> AsyncGenerator[SessionMessage | Exception]:
    """Yield a client's messages, and report lines that aren't messages: the SDK ignores them, and the client waits."""
    async for message in messages:
        if isinstance(message, Exception):
            relay.report("a line of standard input isn't a JSON-RPC message in UTF-8; it was ignored")
        yield message


async def skip_abandoned_discovery(
    messages: AsyncIterator[SessionMessage | Exception],
) -> AsyncGenerator[SessionMessage | Exception]:
    """Yield a client's messages without a first `server/discover` that `initialize` follows.

    The SDK selects the generation by the first request, and then refuses `initialize`. A client can send both: the AI
    SDK waits one second for the answer to the first, less than a cold start takes, and then uses the older generation.
    """
    first = await anext(messages, None)
    if first is not None and _get_method(first) == "server/discover":
        following = asyncio.ensure_future(anext(messages, None))
        try:
            await asyncio.wait({following}, timeout=ABANDONED_SECONDS)
            if not (following.done() and _get_method(following.result()) == "initialize"):
                yield first
            first = await following
        finally:
            following.cancel()
    if first is not None:
        yield first
        async for message in messages:
            yield message


def _get_method(message: SessionMessage | Exception | None) -> str | None:
    return getattr(message.message, "method", None) if isinstance(message, SessionMessage) else None


async def serve(
    describe_repository: DescribeRepository | None,
    url: str | None = None,
    load_token: LoadToken | None = None,
    tools: str = "core",
) -> None:
    """Serve MCP on standard input and output until the input ends. `tools` are the sets to list.

    `url` and `load_token` are those of a sign-in; by default the environment names the server and the token.
    """
    token = os.environ.get("SERVICE_API_TOKEN", "").strip()
    hosted = HostedServer(url or os.environ.get("TICKETBOX_URL") or DEFAULT_URL, token, load_token, tools)
    relay = Relay(hosted, describe_repository)
    server: Server[Any] = Server(
        "ticketbox",
        version=__version__,
        title="ticketbox",
        instructions=INSTRUCTIONS,
        on_list_tools=relay.list_tools,
        on_call_tool=relay.call_tool,
        on_list_prompts=relay.list_prompts,
        on_get_prompt=relay.get_prompt,
        on_list_resources=relay.list_resources,
        on_list_resource_templates=relay.list_templates,
        on_read_resource=relay.read_resource,
        on_completion=relay.complete,
    )
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    lines = anyio.wrap_file(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="replace"))
    async with relay.open(), stdio_server(lines) as (reading, writing):
        checking = asyncio.create_task(relay.report_problem())
        messages = skip_abandoned_discovery(report_invalid_lines(reading, relay))
        try:
            await server.run(cast(Any, messages), writing, options)
        finally:
            checking.cancel()

"""The local MCP server: relays standard input and output to the hosted endpoint (docs/use/agents.md).

The token comes from `SERVICE_API_TOKEN` and the URL from `TICKETBOX_URL`, never from arguments, which other people on
the machine can read. The server also starts when they are wrong: the list of tools is empty until `/me` answers 200,
then the client is notified. Only the protocol is written to standard output.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from ticketbox import __version__
from ticketbox.mcp.prompts import INSTRUCTIONS

T = TypeVar("T")

DEFAULT_URL = "http://localhost:8420"
PROTOCOL = "2026-07-28"
TIMEOUT_SECONDS = 120.0
CHECK_SECONDS = 5.0  # for a name that doesn't resolve, or a host that doesn't answer
RETRY_SECONDS = 3.0


class Relay:
    """Forwards a local client's requests to the hosted endpoint; reports on standard error why it can't."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=TIMEOUT_SECONDS
        )
        self._reported = ""
        self._waiting: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncGenerator["Relay"]:
        """Open the connection; nothing is sent before the first request."""
        transport = streamable_http_client(f"{self._url}/mcp", http_client=self._http, terminate_on_close=False)
        async with self._http, Client(transport, mode=PROTOCOL) as client:
            self._client = client
            try:
                yield self
            finally:
                if self._waiting is not None:
                    self._waiting.cancel()

    async def find_problem(self) -> str:
        """Return why the service can't be used; empty if it can."""
        if not self._token:
            return "SERVICE_API_TOKEN isn't set; add an API token to the environment in the client's settings"
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                answer = await self._http.get(f"{self._url}/api/v1/me")
        except (httpx2.HTTPError, TimeoutError) as error:
            return f"{self._url} can't be reached ({type(error).__name__}); start it, or set TICKETBOX_URL"
        if answer.status_code == 200:
            return ""
        return f"{self._url} answers {answer.status_code} to this token; create a new token and restart this client"

    async def report_problem(self) -> None:
        """Report once, at the start, why the service can't be used."""
        if problem := await self.find_problem():
            self.report(problem)

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """List the hosted tools, or none while the service can't be used."""
        problem = await self.find_problem()
        if not problem:
            return types.ListToolsResult(tools=(await self._client.list_tools()).tools)
        self.report(problem)
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.create_task(self._announce_when_ready(context.session))
        return types.ListToolsResult(tools=[])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a hosted tool."""
        return await self._forward(lambda: self._client.call_tool(params.name, params.arguments or {}))

    async def list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        """List the hosted prompts."""
        return types.ListPromptsResult(prompts=(await self._forward(self._client.list_prompts)).prompts)

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Get a hosted prompt."""
        return await self._forward(lambda: self._client.get_prompt(params.name, params.arguments))

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        """List the hosted resources."""
        return types.ListResourcesResult(resources=(await self._forward(self._client.list_resources)).resources)

    async def list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        """List the templates of the hosted resources."""
        result = await self._forward(self._client.list_resource_templates)
        return types.ListResourceTemplatesResult(resource_templates=result.resource_templates)

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a hosted resource."""
        return await self._forward(lambda: self._client.read_resource(str(params.uri)))

    async def _forward(self, request: Callable[[], Awaitable[T]]) -> T:
        try:
            return await request()
        except MCPError:
            raise
        except Exception as error:
            problem = await self.find_problem() or f"{self._url} didn't answer ({type(error).__name__})"
            self.report(problem)
            raise MCPError(types.INTERNAL_ERROR, problem) from None

    async def _announce_when_ready(self, session: Any) -> None:
        while await self.find_problem():  # noqa: ASYNC110 (nothing here could set an event)
            await asyncio.sleep(RETRY_SECONDS)
        self.report(f"{self._url} is available now")
        with contextlib.suppress(Exception):  # the client may be gone or not support notifications
            await session.send_tool_list_changed()

    def report(self, text: str) -> None:
        """Write a message to standard error, unless it was the last one."""
        if text != self._reported:
            self._reported = text
            print(f"ticketbox mcp: {text}", file=sys.stderr, flush=True)  # noqa: T201 (standard error)


async def serve() -> None:
    """Serve MCP on standard input and output until the input ends."""
    relay = Relay(os.environ.get("TICKETBOX_URL", DEFAULT_URL), os.environ.get("SERVICE_API_TOKEN", "").strip())
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
    )
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with relay.connect(), stdio_server() as (reading, writing):
        checking = asyncio.create_task(relay.report_problem())
        try:
            await server.run(reading, writing, options)
        finally:
            checking.cancel()

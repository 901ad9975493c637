"""The local MCP server: standard input and output here, the hosted endpoint there (docs/use/agents.md).

The token comes from `SERVICE_API_TOKEN` and the address from `TICKETBOX_URL`, never from arguments, which
other people on the machine can read. It starts without either being any good: the list of tools is empty
as long as `/me` doesn't answer 200, and comes alive by itself when it does. Only protocol goes to standard
output.
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
LOOK_SECONDS = 5.0  # a name that nobody resolves, or a host that says nothing
RETRY_SECONDS = 3.0


class Relay:
    """Carries what a local client asks to the hosted endpoint, and tells on standard error why it can't."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=TIMEOUT_SECONDS
        )
        self._said = ""
        self._waiting: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncGenerator["Relay"]:
        """Hold the connection; nothing is sent before the first question."""
        transport = streamable_http_client(f"{self._url}/mcp", http_client=self._http, terminate_on_close=False)
        async with self._http, Client(transport, mode=PROTOCOL) as client:
            self._client = client
            try:
                yield self
            finally:
                if self._waiting is not None:
                    self._waiting.cancel()

    async def reason(self) -> str:
        """Why the service can't be used; empty when it can."""
        if not self._token:
            return "SERVICE_API_TOKEN isn't set; put an API token into the environment block of the client's settings"
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                answer = await self._http.get(f"{self._url}/api/v1/me")
        except (httpx2.HTTPError, TimeoutError) as error:
            return f"{self._url} can't be reached ({type(error).__name__}); start it, or set TICKETBOX_URL"
        if answer.status_code == 200:
            return ""
        return f"{self._url} answers {answer.status_code} to this token; make a new one and restart this client"

    async def look(self) -> None:
        """Tell at the start why the service can't be used; nobody waits for it."""
        if reason := await self.reason():
            self.tell(reason)

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """The hosted tools, or none as long as the service can't be used."""
        reason = await self.reason()
        if not reason:
            return types.ListToolsResult(tools=(await self._client.list_tools()).tools)
        self.tell(reason)
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.create_task(self._announce_when_ready(context.session))
        return types.ListToolsResult(tools=[])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """A hosted tool's answer."""
        return await self._ask(lambda: self._client.call_tool(params.name, params.arguments or {}))

    async def list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        """The hosted prompts."""
        return types.ListPromptsResult(prompts=(await self._ask(self._client.list_prompts)).prompts)

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A hosted prompt."""
        return await self._ask(lambda: self._client.get_prompt(params.name, params.arguments))

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        """The hosted resources."""
        return types.ListResourcesResult(resources=(await self._ask(self._client.list_resources)).resources)

    async def list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        """The hosted resources' templates."""
        found = await self._ask(self._client.list_resource_templates)
        return types.ListResourceTemplatesResult(resource_templates=found.resource_templates)

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """A hosted resource."""
        return await self._ask(lambda: self._client.read_resource(str(params.uri)))

    async def _ask(self, question: Callable[[], Awaitable[T]]) -> T:
        try:
            return await question()
        except MCPError:
            raise
        except Exception as error:
            reason = await self.reason() or f"{self._url} didn't answer ({type(error).__name__})"
            self.tell(reason)
            raise MCPError(types.INTERNAL_ERROR, reason) from None

    async def _announce_when_ready(self, session: Any) -> None:
        while await self.reason():  # noqa: ASYNC110 (nothing here could set an event)
            await asyncio.sleep(RETRY_SECONDS)
        self.tell(f"{self._url} is there now")
        with contextlib.suppress(Exception):  # a client that is gone, or that takes no notifications
            await session.send_tool_list_changed()

    def tell(self, words: str) -> None:
        """Say something on standard error, once."""
        if words != self._said:
            self._said = words
            print(f"ticketbox mcp: {words}", file=sys.stderr, flush=True)  # noqa: T201 (standard error)


async def serve() -> None:
    """Speak MCP on standard input and output until the input ends."""
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
    async with relay.connected(), stdio_server() as (reading, writing):
        looking = asyncio.create_task(relay.look())
        try:
            await server.run(reading, writing, options)
        finally:
            looking.cancel()

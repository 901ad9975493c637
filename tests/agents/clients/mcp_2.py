"""The official Python SDK, versions 2.x; the argument is the protocol generation."""
# pyright: basic, reportMissingImports=false

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
from line_protocol import Client, Json, read_content, serve
from mcp.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Open a session."""
    async with AsyncExitStack() as stack:
        if given["transport"] == "http":
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=given["headers"], timeout=60))
            transport = streamable_http_client(given["url"], http_client=http)
        else:
            command, *arguments = given["command"]
            transport = stdio_client(StdioServerParameters(command=command, args=arguments, env=given["environment"]))
        client = await stack.enter_async_context(McpClient(transport, mode=sys.argv[1]))

        async def call(tool: str, arguments: dict[str, Any]) -> Json:
            result = await client.call_tool(tool, arguments)
            return read_content(list(result.content), is_error=bool(result.is_error))

        yield Client([tool.name for tool in (await client.list_tools()).tools], call)


serve(connect)

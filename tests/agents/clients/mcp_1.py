"""The official Python SDK, versions 1.x."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportUnknownVariableType=false

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from line_protocol import Client, Json, read_content, serve
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Open a session."""
    if given["transport"] == "http":
        transport = streamablehttp_client(given["url"], headers=given["headers"])
    else:
        command, *arguments = given["command"]
        transport = stdio_client(StdioServerParameters(command=command, args=arguments, env=given["environment"]))
    async with transport as (reading, writing, *_), ClientSession(reading, writing) as session:
        await session.initialize()

        async def call(tool: str, arguments: dict[str, Any]) -> Json:
            result = await session.call_tool(tool, arguments)
            return read_content(result.content, is_error=bool(result.isError))

        yield Client([tool.name for tool in (await session.list_tools()).tools], call)


serve(connect)

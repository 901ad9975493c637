"""FastMCP's client."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from line_protocol import Client, Json, read_content, serve


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Open a session."""
    if given["transport"] == "http":
        transport: Any = StreamableHttpTransport(given["url"], headers=given["headers"])
    else:
        command, *arguments = given["command"]
        transport = StdioTransport(command, arguments, env=given["environment"])
    async with FastClient(transport) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Json:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            return read_content(result.content, is_error=result.is_error)

        yield Client([tool.name for tool in await client.list_tools()], call)


serve(connect)

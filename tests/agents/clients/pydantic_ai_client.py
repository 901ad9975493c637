"""Pydantic AI's toolset: what its tool call returns for the model."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from line_protocol import Client, Json, serve
from pydantic_ai import BinaryContent, ModelRetry
from pydantic_ai.mcp import MCPToolset


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Open a session."""
    if given["transport"] == "http":
        transport: Any = StreamableHttpTransport(given["url"], headers=given["headers"])
    else:
        command, *arguments = given["command"]
        transport = StdioTransport(command, arguments, env=given["environment"])
    # on a busy machine, the local server starts in more than the five seconds that a toolset waits by default
    async with MCPToolset(transport, init_timeout=60) as toolset:

        async def call(tool: str, arguments: dict[str, Any]) -> Json:
            try:
                output = await toolset.direct_call_tool(tool, arguments)
            except ModelRetry as retry:
                return {"texts": [retry.message], "pictures": [], "is_error": True}
            parts = output if isinstance(output, list) else [output]
            pictures = [part for part in parts if isinstance(part, BinaryContent)]
            texts = [part if isinstance(part, str) else json.dumps(part) for part in parts if part not in pictures]
            encoded = [base64.b64encode(part.data).decode() for part in pictures]
            return {"texts": texts, "pictures": encoded, "is_error": False}

        yield Client([tool.name for tool in await toolset.list_tools()], call)


serve(connect)

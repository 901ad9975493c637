"""LangChain's MCP adapters: what a ToolMessage for the model contains."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from line_protocol import Client, Json, serve


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Load the tools; each call has a separate session, as the adapters' documentation does it."""
    if given["transport"] == "http":
        how: dict[str, Any] = {"transport": "streamable_http", "url": given["url"], "headers": given["headers"]}
    else:
        command, *arguments = given["command"]
        how = {"transport": "stdio", "command": command, "args": arguments, "env": given["environment"]}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"ticketbox": how}).get_tools()}

    async def call(tool: str, arguments: dict[str, Any]) -> Json:
        message = await tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        parts = [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content
        return {
            "texts": [part["text"] for part in parts if part["type"] == "text"],
            "pictures": [part["base64"] for part in parts if part["type"] == "image"],
            "is_error": message.status == "error",
        }

    yield Client(list(tools), call)


serve(connect)

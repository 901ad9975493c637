"""OpenAI's Agents SDK: what its tool call returns for the model."""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents import RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from line_protocol import Client, Json, serve


@asynccontextmanager
async def connect(given: Json) -> AsyncIterator[Client]:
    """Open a session."""
    if given["transport"] == "http":
        how: Any = {"url": given["url"], "headers": given["headers"]}
        server: Any = MCPServerStreamableHttp(how, client_session_timeout_seconds=60)
    else:
        command, *arguments = given["command"]
        how = {"command": command, "args": arguments, "env": given["environment"]}
        server = MCPServerStdio(how, client_session_timeout_seconds=60)
    async with server:
        tools = {tool.name: tool for tool in await server.list_tools()}

        async def call(tool: str, arguments: dict[str, Any]) -> Json:
            output: Any = await MCPUtil.invoke_mcp_tool(
                server, tools[tool], RunContextWrapper(None), json.dumps(arguments)
            )
            parts = output if isinstance(output, list) else [output]
            return {
                "texts": [part["text"] for part in parts if part["type"] == "text"],
                "pictures": [part["image_url"].partition("base64,")[2] for part in parts if part["type"] == "image"],
                "is_error": False,  # the text says it
            }

        yield Client(list(tools), call)


serve(connect)

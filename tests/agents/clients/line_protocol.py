"""How the tests control a client: one line of JSON in, one line of JSON out.

A line with a `transport` ("http" or "stdio"), `url`, `headers`, `command` and `environment` opens a connection; the
answer has the names of the `tools`. A line with a `tool`, `arguments` and the number of the `connection` is a call; its
answer has `texts`, `pictures` (base64) and `is_error` as the client gives them to its caller, or `error` if the client
raised an exception. The end of the input ends the client.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, NamedTuple

Json = dict[str, Any]


class Client(NamedTuple):
    """A connected client: the names of its tools, and a function that calls one."""

    tools: list[str]
    call: Callable[[str, Json], Awaitable[Json]]


def serve(connect: Callable[[Json], AbstractAsyncContextManager[Client]]) -> None:
    """Read lines and answer them."""
    asyncio.run(_serve(connect))


async def _serve(connect: Callable[[Json], AbstractAsyncContextManager[Client]]) -> None:
    clients: list[Client] = []
    async with AsyncExitStack() as stack:
        async for line in _read_lines():
            if "transport" in line:
                own = {name: os.environ[name] for name in ("PATH", "HOME")}
                given = {**line, "environment": {**own, **line["environment"]}}
                clients.append(await stack.enter_async_context(connect(given)))
                _answer({"tools": clients[-1].tools})
                continue
            try:
                _answer(await clients[line["connection"]].call(line["tool"], line["arguments"]))
            except (Exception, asyncio.CancelledError) as error:
                _answer({"error": f"{type(error).__name__}: {error}"})


async def _read_lines() -> AsyncIterator[Json]:
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)


def _answer(message: Json) -> None:
    print(json.dumps(message), flush=True)


def read_content(content: list[Any], *, is_error: bool) -> Json:
    """Return the answer for the content blocks of a tool's result."""
    texts = [part.text for part in content if part.type == "text"]
    return {"texts": texts, "pictures": [part.data for part in content if part.type == "image"], "is_error": is_error}

"""How the tests control a client: one line of JSON in, one line of JSON out.

The first line is the connection: `transport` ("http" or "stdio"), `url`, `headers`, `command` and `environment`. The
answer has the names of the `tools`. Each further line is a call, `tool` and `arguments`; its answer has `texts`,
`pictures` (base64) and `is_error` as the client gives them to its caller, or `error` if the client raised an exception.
The end of the input ends the client.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
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
    lines = _read_lines()
    given = await anext(lines)
    given["environment"] = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **given["environment"]}
    async with connect(given) as client:
        _answer({"tools": client.tools})
        async for line in lines:
            try:
                _answer(await client.call(line["tool"], line["arguments"]))
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

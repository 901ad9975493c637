"""The clients of `bench.load`: agents that work on tickets, and boards that listen to events.

All of them run on one event loop; each has a token and a connection. An agent repeats six steps, with a pause after
each: find a ticket, read it, claim it, comment on it, move it, release it. One agent in four uses REST, one in four the
older generation of MCP, and the others the newest.
"""

import asyncio
import contextlib
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from bench.client import get, post
from bench.launch import Server
from bench.mcp import NEWEST, OLDER, message

TEXT = "Found it: the coupon's total is read before it is written. A test goes red without the change. " * 3
FINDS = ("coupon", "checkout button", "stale results", "cart label:bug", "mobile is:open")
IDLE_SECONDS = 20.0  # the server closes connections that are idle for longer, maybe while a request is sent


class TimedCall(NamedTuple):
    """A completed call; `started` is a time of the monotonic clock."""

    surface: str
    step: str
    started: float
    seconds: float


class Work(NamedTuple):
    """A ticket to work on, with its project and the columns it can be moved to."""

    ticket: str
    project: str
    columns: list[str]


class Step(NamedTuple):
    """One call of an agent, for REST and for MCP."""

    name: str
    tool: str
    arguments: dict[str, Any]
    method: str
    path: str
    body: dict[str, Any] | None


class Response(NamedTuple):
    """A response: its status, its unparsed head, and its body."""

    status: int
    head: bytes
    body: bytes


class CallLog:
    """What all clients recorded: calls and events' delays while `is_measured`, and what must not happen, always."""

    def __init__(self) -> None:
        self.is_measured = False
        self.calls: list[TimedCall] = []
        self.faults: list[str] = []
        self.delays: list[float] = []


class Connection:
    """A connection that is kept alive, for one request at a time."""

    def __init__(self, server: Server) -> None:
        self._host, _, port = server.host.partition(":")
        self._port = int(port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def request(self, request: bytes) -> Response:
        """Send a request and read its response. Raises OSError or EOFError if there is none."""
        reader, writer = await self._open()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"\r\ncontent-length:")[2].split(b"\r\n", 1)[0] or 0)
        body = await reader.readexactly(length)
        self._used = time.monotonic()
        return Response(int(head[9:12]), head, body)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        return self._streams

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Agent:
    """An agent with its token. No other agent uses the tickets in `work`."""

    def __init__(self, server: Server, number: int, token: str, work: list[Work], think: float, log: CallLog) -> None:
        self._server, self._token, self._work, self._think, self._log = server, token, work, think, log
        self._generation = (None, NEWEST, OLDER, NEWEST)[number % 4]
        self._chance = random.Random(number)
        self._connection = Connection(server)
        self._claimed, self._lease = "", ""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, with pauses of `think` seconds on average."""
        await _pause(stop, self._chance.uniform(0, self._think))
        try:
            while True:
                for step in self._steps():
                    if stop.is_set():
                        return
                    await self._perform(step)
                    await _pause(stop, self._chance.expovariate(1 / self._think))
        finally:
            if self._claimed:
                await self._perform(self._release(self._claimed))
            self._connection.close()

    def _steps(self) -> Iterator[Step]:
        ticket, project, columns = self._chance.choice(self._work)
        at = f"/api/v1/tickets/{ticket}"
        if self._chance.random() < 0.5:
            words = self._chance.choice(FINDS)
            path = f"/api/v1/search?q={words.replace(' ', '+')}&limit=20"
            yield Step("search", "search_tickets", {"q": words, "limit": 20}, "GET", path, None)
        else:
            path = f"/api/v1/tickets?project_id={project}&limit=50"
            yield Step("list of 50", "list_tickets", {"project_id": project, "limit": 50}, "GET", path, None)
        target = {"ticket_id": ticket}
        yield Step("get_ticket", "get_ticket", target, "GET", at, None)
        yield Step("claim", "start_work_on_ticket", target, "POST", at + "/work", {})
        yield Step("comment", "add_comment", {**target, "body": TEXT}, "POST", at + "/comments", {"body": TEXT})
        column = {"column_id": self._chance.choice(columns)}
        yield Step("move", "move_ticket", {**target, **column}, "POST", at + "/move", column)
        yield self._release(ticket)

    def _release(self, ticket: str) -> Step:
        arguments = {"ticket_id": ticket, "lease": self._lease}
        return Step("release", "stop_work_on_ticket", arguments, "DELETE", f"/api/v1/tickets/{ticket}/work", None)

    async def _perform(self, step: Step) -> None:
        is_measured, surface = self._log.is_measured, "MCP" if self._generation else "REST"
        request = self._request(step)
        started = time.perf_counter()
        try:
            response = await self._connection.request(request)
        except (OSError, EOFError) as error:
            self._log.faults.append(f"{surface} {step.name}: {error!r}")
            self._connection.close()
            return
        seconds = time.perf_counter() - started
        if is_measured:
            self._log.calls.append(TimedCall(surface, step.name, started, seconds))
        if response.status // 100 != 2 or (self._generation and not _is_success(response)):
            self._log.faults.append(f"{surface} {step.name}: {response.status} {response.body[:300]!r}")
        elif step.name == "claim":
            lease = re.search(rb"lease_[0-9a-z]+", response.body)
            assert lease is not None
            self._claimed, self._lease = step.arguments["ticket_id"], lease[0].decode()
        elif step.name == "release":
            self._claimed = ""

    def _request(self, step: Step) -> bytes:
        if self._generation:
            params = {"name": step.tool, "arguments": step.arguments}
            return message(self._server, self._generation, "tools/call", params, self._token)
        if step.method == "POST":
            return post(step.path, self._server.host, self._token, json.dumps(step.body).encode())
        request = get(step.path, self._server.host, self._token).replace(b"GET", step.method.encode(), 1)
        if step.name != "release":
            return request
        return request.replace(b"\r\n\r\n", f"\r\nLease: {step.arguments['lease']}\r\n\r\n".encode(), 1)


class _Event(msgspec.Struct):
    id: str
    at: datetime


class Board:
    """A board's event stream. `received` lists the ids of its events in order."""

    def __init__(self, server: Server, token: str, log: CallLog) -> None:
        self._server, self._token, self._log = server, token, log
        self._decode = msgspec.json.Decoder(_Event).decode
        self.received: list[str] = []
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Listen until cancelled. It is a fault if the stream ends earlier."""
        host, _, port = self._server.host.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(get("/api/v1/events/stream", self._server.host, self._token))
            head = await reader.readuntil(b"\r\n\r\n")
            if head[9:12] != b"200":
                self._log.faults.append(f"a board: {head[:200]!r}")
                return
            async for line in reader:
                if line.startswith(b"id: "):
                    self.listening.set()
                elif line.startswith(b"data: "):
                    event = self._decode(line[6:])
                    if self._log.is_measured:
                        self._log.delays.append(time.time() - event.at.timestamp())
                    self.received.append(event.id)
            self._log.faults.append("a board: the stream ended")
        finally:
            writer.close()


async def repeat(seconds: float, sample: Callable[[], object], stop: asyncio.Event) -> None:
    """Call a function at an interval until `stop` is set."""
    while not stop.is_set():
        sample()
        await _pause(stop, seconds)


def _is_success(response: Response) -> bool:
    result = msgspec.json.decode(response.body).get("result")
    return result is not None and not result["isError"]


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)

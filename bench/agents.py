"""The callers of `bench.load`: agents that work tickets with pauses for thought, and boards that listen.

All of them live on one event loop of one process; each agent and each board has a token and a connection of its own.
An agent goes round: it finds a ticket, reads it, claims it, comments on it, moves it, and lets it go. Every fourth
speaks REST, every fourth MCP of the older generation, the others MCP of the newest.
"""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from bench.client import get, post
from bench.mcp import NEWEST, OLDER, message
from bench.serving import Server

TEXT = "Found it: the coupon's total is read before it is written. A test goes red without the change. " * 3
FINDS = ("coupon", "checkout button", "stale results", "cart label:bug", "mobile is:open")
IDLE_SECONDS = 20.0  # the server closes a connection that rests for longer, at a moment that might be the wrong one


class Call(NamedTuple):
    """One answered call: `phase` is what ran beside it, `started` a moment of the monotonic clock."""

    phase: str
    surface: str
    step: str
    started: float
    seconds: float


class Work(NamedTuple):
    """A ticket that an agent may take, with its project and the columns it can be moved to."""

    ticket: str
    project: str
    columns: list[str]


class Step(NamedTuple):
    """One call of an agent's round, for both surfaces."""

    name: str
    tool: str
    arguments: dict[str, Any]
    method: str
    path: str
    body: dict[str, Any] | None


class Answer(NamedTuple):
    """An answer: its status, its head as it came, and its body."""

    status: int
    head: bytes
    body: bytes


class Record:
    """What all callers saw. `phase` is set by who leads the run; what isn't as it should be stands in `faults`."""

    def __init__(self) -> None:
        self.phase = ""
        self.calls: list[Call] = []
        self.faults: list[str] = []
        self.delays: list[tuple[str, float]] = []


class Connection:
    """A connection that is kept alive, for one call at a time."""

    def __init__(self, server: Server) -> None:
        self._host, _, port = server.host.partition(":")
        self._port = int(port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def ask(self, request: bytes) -> Answer:
        """Send a request and read its answer. Raises OSError and EOFError when the server doesn't give one."""
        reader, writer = await self._open()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"\r\ncontent-length:")[2].split(b"\r\n", 1)[0] or 0)
        body = await reader.readexactly(length)
        self._used = time.monotonic()
        return Answer(int(head[9:12]), head, body)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        return self._streams

    def close(self) -> None:
        """Close it; the next call opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Agent:
    """One token's agent; `work` are tickets that no other agent takes."""

    def __init__(self, server: Server, number: int, token: str, work: list[Work], think: float, record: Record) -> None:
        self._server, self._token, self._work, self._think, self._record = server, token, work, think, record
        self._generation = (None, NEWEST, OLDER, NEWEST)[number % 4]
        self._chance = random.Random(number)
        self._connection = Connection(server)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop, with pauses that are `think` seconds long on average."""
        await _pause(stop, self._chance.uniform(0, self._think))
        try:
            while True:
                for step in self._round():
                    if stop.is_set():
                        return
                    await self._take(step)
                    await _pause(stop, self._chance.expovariate(1 / self._think))
        finally:
            self._connection.close()

    def _round(self) -> Iterator[Step]:
        ticket, project, columns = self._chance.choice(self._work)
        at = f"/api/v1/tickets/{ticket}"
        if self._chance.random() < 0.5:
            words = self._chance.choice(FINDS)
            path = f"/api/v1/search?q={words.replace(' ', '+')}&limit=20"
            yield Step("search", "search_tickets", {"q": words, "limit": 20}, "GET", path, None)
        else:
            path = f"/api/v1/tickets?project_id={project}&limit=50"
            yield Step("list of 50", "list_tickets", {"project_id": project, "limit": 50}, "GET", path, None)
        given = {"ticket_id": ticket}
        yield Step("get_ticket", "get_ticket", given, "GET", at, None)
        yield Step("claim", "start_work_on_ticket", given, "POST", at + "/work", {})
        yield Step("comment", "add_comment", {**given, "body": TEXT}, "POST", at + "/comments", {"body": TEXT})
        there = {"column_id": self._chance.choice(columns)}
        yield Step("move", "move_ticket", {**given, **there}, "POST", at + "/move", there)
        yield Step("let go", "stop_work_on_ticket", given, "DELETE", at + "/work", None)

    async def _take(self, step: Step) -> None:
        phase, surface = self._record.phase, "MCP" if self._generation else "REST"
        request = self._request(step)
        started = time.perf_counter()
        try:
            answer = await self._connection.ask(request)
        except (OSError, EOFError) as error:
            self._record.faults.append(f"{surface} {step.name}: {error!r}")
            self._connection.close()
            return
        seconds = time.perf_counter() - started
        self._record.calls.append(Call(phase, surface, step.name, started, seconds))
        if answer.status // 100 != 2 or (self._generation and not _succeeded(answer)):
            self._record.faults.append(f"{surface} {step.name}: {answer.status} {answer.body[:300]!r}")

    def _request(self, step: Step) -> bytes:
        if self._generation:
            params = {"name": step.tool, "arguments": step.arguments}
            return message(self._server, self._generation, "tools/call", params, self._token)
        if step.method == "POST":
            return post(step.path, self._server.host, self._token, json.dumps(step.body).encode())
        return get(step.path, self._server.host, self._token).replace(b"GET", step.method.encode(), 1)


class _Heard(msgspec.Struct):
    id: str
    at: datetime


class Board:
    """A browser's board as the server sees it: an open event stream. `heard` holds the events' ids in their order."""

    def __init__(self, server: Server, token: str, record: Record) -> None:
        self._server, self._token, self._record = server, token, record
        self._decode = msgspec.json.Decoder(_Heard).decode
        self.heard: list[str] = []
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Listen until cancelled. The stream must not end by itself."""
        host, _, port = self._server.host.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(get("/api/v1/events/stream", self._server.host, self._token))
            head = await reader.readuntil(b"\r\n\r\n")
            if head[9:12] != b"200":
                self._record.faults.append(f"a board: {head[:200]!r}")
                return
            async for line in reader:
                if line.startswith(b"id: "):
                    self.listening.set()
                elif line.startswith(b"data: "):
                    event = self._decode(line[6:])
                    self._record.delays.append((self._record.phase, time.time() - event.at.timestamp()))
                    self.heard.append(event.id)
            self._record.faults.append("a board: the stream ended")
        finally:
            writer.close()


async def every(seconds: float, sample: Callable[[], object], stop: asyncio.Event) -> None:
    """Do something now and again until told to stop."""
    while not stop.is_set():
        sample()
        await _pause(stop, seconds)


def _succeeded(answer: Answer) -> bool:
    result = msgspec.json.decode(answer.body).get("result")
    return result is not None and not result["isError"]


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)

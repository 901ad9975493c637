"""A thousand agents that wait over MCP at the same time: each gets its own answer, and nobody else notices them."""

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.machine import group_memory_mb
from tests.support.mcp_client import ACCEPT, call_tool
from tests.support.operation_cases import WRITING
from tests.support.seed import PatchedServer
from tests.support.server import Box, World, copy_initialized_file, count_waiting, eventually, ok
from ticketbox.operations.core.live.waiting import MAX_WAIT_SECONDS

pytestmark = pytest.mark.long

LISTENING, ASKING = 800, 200
AGENTS = LISTENING + ASKING
FOR_EACH_TOKEN = 250  # docs/use/limits.md
MORE_MB = 96  # a wait over MCP holds the objects of the SDK

# Without heartbeats, which would repair a wake that is lost, only an event ends a wait.
NO_HEARTBEATS = """
from ticketbox.operations.core.live import listeners
listeners.HEARTBEAT_SECONDS = 600.0
from ticketbox.cli import main
main()
"""


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A separate server, whose memory and waiting calls are those of the test."""
    with PatchedServer(NO_HEARTBEATS, copy_initialized_file(tmp_path), "--trusted-proxy", "127.0.0.1/32") as running:
        yield running


class Question:
    """A run that has asked a question."""

    def __init__(self, world: World, token: str, client: httpx.Client, number: int) -> None:
        self.token = token
        self.answer = f"Answer {number}"
        self.ticket = ok(client.post("/tickets", json={"project_id": world.project, "title": f"T{number}"}))["id"]
        path = f"/tickets/{self.ticket}/work"
        self.lease = ok(client.post(path, json={}))["lease"]
        question = {"lease": self.lease, "question": "Which?"}
        self.question = ok(client.post(f"{path}/questions", json=question))["id"]


async def call(box: Box, token: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool as clients of the older generation do; return its structured result, which came before the end.

    httpx isn't used, because its pool looks at all connections for each answer.
    """
    host, _, port = box.url.removeprefix("http://").partition(":")
    params = {"name": name, "arguments": {**arguments, "wait_seconds": MAX_WAIT_SECONDS}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Host": f"{host}:{port}", "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Content-Length": str(len(body)), "Connection": "close", **ACCEPT,
    }  # fmt: skip
    head = "".join(f"{header}: {value}\r\n" for header, value in headers.items())
    started = time.monotonic()
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
    status, _, rest = (await reader.read()).partition(b"\r\n")
    writer.close()
    assert b" 200 " in status, rest
    result = json.loads(rest.partition(b"\r\n\r\n")[2])["result"]
    assert not result["isError"], result
    assert time.monotonic() - started < MAX_WAIT_SECONDS, "no event ended the wait"
    return result["structuredContent"]


async def wait_for_answer(box: Box, asked: Question) -> str | None:
    """Wait once for the answer."""
    given = {"ticket_id": asked.ticket, "lease": asked.lease}
    return (await call(box, asked.token, "wait_for_answer", given))["answer"]


async def wait_for_ticket(box: Box, token: str) -> list[str | None]:
    """Wait once for a new ticket; return the tickets that came."""
    found = await call(box, token, "wait_for_events", {"types": ["ticket.created"]})
    return [event["ticket_id"] for event in found["items"]]


def test_thousand_waiting_agents_each_get_their_answer_and_hold_up_nobody(box: Box) -> None:
    world = World(box)
    bob = world.join("Bob")
    limits = {"reads_per_minute": 100_000, "writes_per_minute": 100_000}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    listening = [world.owner.token("read") for _ in range(0, LISTENING, FOR_EACH_TOKEN)]
    asking = bob.token(*WRITING)
    assert not call_tool(world, listening[0], "whoami", {}).get("isError")  # the server has loaded the SDK
    with ThreadPoolExecutor(8) as threads:
        client = box.client(asking)
        runs = list(threads.map(lambda number: Question(world, asking, client, number), range(ASKING)))
        at_rest = group_memory_mb(box.process.pid)

        def act() -> str:
            """Look at the server while all wait, then answer every question and create a ticket."""
            eventually(lambda: count_waiting(box) == AGENTS, MAX_WAIT_SECONDS)
            assert group_memory_mb(box.process.pid) - at_rest <= MORE_MB
            assert httpx.get(f"{box.url}/healthz").status_code == 200
            assert ok(world.api.get(f"/tickets/{runs[0].ticket}"))["claim"]["state"] == "awaiting_input"
            assert ok(world.owner.web.get("/tickets", params={"project_id": world.project}))["items"]
            path = f"/tickets/{runs[0].ticket}/comments"
            ok(world.api.post(path, json={"body": "Written while all wait"}))
            assert count_waiting(box) == AGENTS
            answers = [(f"/questions/{run.question}/answer", {"answer": run.answer}) for run in runs]
            list(threads.map(lambda answer: ok(world.owner.web.post(answer[0], json=answer[1])), answers))
            return world.ticket("For those who listen")["id"]

        async def wait() -> tuple[str, list[str | None], list[list[str | None]]]:
            acting = asyncio.create_task(asyncio.to_thread(act))
            answers = asyncio.gather(*(wait_for_answer(box, run) for run in runs))
            heard = asyncio.gather(
                *(wait_for_ticket(box, listening[number % len(listening)]) for number in range(LISTENING))
            )
            return await acting, await answers, await heard

        ticket, answers, heard = asyncio.run(wait())
    assert answers == [run.answer for run in runs]
    assert heard == [[ticket]] * LISTENING
    eventually(lambda: count_waiting(box) == 0)
    assert "Traceback" not in box.log.read_text()

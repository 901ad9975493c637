"""The local stdio server while the service is killed, restarted, unreachable or over the budget."""

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.support.mcp_client import GENERATIONS, talk_over_stdio
from tests.support.server import Box, World, find_free_port, ok, run_server
from ticketbox.cli.core.operations import run_operation
from ticketbox.mcp.hosted import RESTART_SECONDS

A_MINUTE = 60.0
A_FEW_SECONDS = 30.0  # the relay gives up after four; the rest is for a busy machine


def issue_token(box: Box) -> str:
    given = {"user": "root@example.org", "label": "l", "scopes": ["tickets:write"]}
    return run_operation(box.db, "issue_token", given).secret


async def call(client: Client, name: str, **arguments: Any) -> tuple[bool, dict[str, Any], str]:
    """Call a tool; whether it was refused, its structured result, and its text."""
    result = await client.call_tool(name, arguments)
    assert result.structured_content is not None
    (text,) = (each.text for each in result.content if each.type == "text")
    return bool(result.is_error), result.structured_content, text


def talk_at_both_generations(
    environment: dict[str, str], folder: Path, work: Callable[[Client], Awaitable[None]]
) -> list[str]:
    """Start a local server for each generation, and talk to both at the same time; what they logged."""
    logs = {mode: folder / f"log-{mode}" for mode in GENERATIONS}
    with ThreadPoolExecutor(len(GENERATIONS)) as threads:
        talking = [threads.submit(talk_over_stdio, mode, environment, log, work) for mode, log in logs.items()]
    for mode, each in zip(GENERATIONS, talking, strict=True):
        if error := each.exception():
            error.add_note(f"The generation is {mode}.")
            raise error
    return [log.read_text() for log in logs.values()]


@pytest.mark.long
def test_killed_service_makes_tool_errors_and_the_session_continues_after_its_restart(tmp_path: Path) -> None:
    with run_server(tmp_path, "--port", str(find_free_port())) as box:

        def kill() -> None:
            box.stop(signal.SIGKILL)

        killing = threading.Barrier(len(GENERATIONS), kill, A_MINUTE)
        restarting = threading.Barrier(len(GENERATIONS), box.start, A_MINUTE)

        async def work(client: Client) -> None:
            await client.list_tools()
            assert not (await call(client, "whoami"))[0]
            await asyncio.to_thread(killing.wait)
            started = time.monotonic()
            during = await asyncio.gather(
                call(client, "whoami"), call(client, "stop_work_on_ticket", ticket_id="t-zzzzzzzz")
            )
            assert time.monotonic() - started < A_FEW_SECONDS
            for refused, told, text in during:
                assert (refused, told["code"]) == (True, "unavailable")
                assert "can't be reached" in text
            await asyncio.to_thread(restarting.wait)
            assert not (await call(client, "whoami"))[0]

        environment = {"TICKETBOX_URL": box.url, "SERVICE_API_TOKEN": issue_token(box)}
        logs = talk_at_both_generations(environment, tmp_path, work)
    assert "Traceback" not in "".join(logs)


def test_call_during_a_restart_waits_for_the_service(world: World, tmp_path: Path) -> None:
    away = 1.0
    assert away < RESTART_SECONDS
    # On a slow machine, the service is away for longer.
    (tmp_path / "sitecustomize.py").write_text("from ticketbox.mcp import hosted\nhosted.RESTART_SECONDS = 60\n")
    port = find_free_port()
    environment = {
        "TICKETBOX_URL": f"http://127.0.0.1:{port}",
        "SERVICE_API_TOKEN": world.owner.token("read"),
        "PYTHONPATH": str(tmp_path),
    }

    async def work(client: Client) -> None:
        pending = asyncio.create_task(call(client, "whoami"))
        await asyncio.sleep(away)  # the time is the subject
        assert not pending.done()
        with forwarding(world.box.url, port):
            refused, told, _ = await pending
        assert (refused, told["user"]["id"]) == (False, world.owner.id)

    talk_over_stdio("legacy", environment, tmp_path / "log", work)


def test_read_whose_answer_is_lost_is_repeated(world: World, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        await client.list_tools()
        assert not (await call(client, "whoami"))[0]

    with forwarding(world.box.url, lost=b'"whoami"') as url:
        environment = {"TICKETBOX_URL": url, "SERVICE_API_TOKEN": world.owner.token("read")}
        talk_over_stdio("legacy", environment, tmp_path / "log", work)


@contextlib.contextmanager
def forwarding(target: str, port: int = 0, lost: bytes = b"") -> Iterator[str]:
    """A proxy that passes requests on, and loses the answer to the first one with certain bytes; its address."""
    host, _, behind = target.removeprefix("http://").rpartition(":")
    losses = [lost] if lost else []

    def carry(source: socket.socket) -> None:
        with contextlib.suppress(OSError), source, socket.create_connection((host, int(behind))) as onward:
            losing = threading.Event()
            threading.Thread(target=carry_back, args=(onward, source, losing), daemon=True).start()
            while asked := source.recv(1 << 20):
                if losses and losses[0] in asked:
                    losses.clear()
                    losing.set()
                onward.sendall(asked.replace(own.encode(), f"{host}:{behind}".encode()))  # the Host header

    def carry_back(onward: socket.socket, source: socket.socket, losing: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while (answered := onward.recv(1 << 20)) and not losing.is_set():
                source.sendall(answered)
            source.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=carry, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", port)) as listener:
        own = f"127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://{own}"
        listener.shutdown(socket.SHUT_RDWR)


def test_create_whose_answer_is_lost_is_executed_once(world: World, tmp_path: Path) -> None:
    async def work(client: Client) -> dict[str, Any]:
        await client.list_tools()
        refused, made, _ = await call(client, "create_ticket", project_id=world.project, title="Once")
        assert not refused
        return made

    with forwarding(world.box.url, lost=b'"create_ticket"') as url:
        environment = {"TICKETBOX_URL": url, "SERVICE_API_TOKEN": world.owner.token("tickets:write")}
        made = talk_over_stdio("2026-07-28", environment, tmp_path / "log", work)
    (ticket,) = ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
    assert ticket["id"] == made["id"]


def test_write_whose_answer_is_lost_is_reported_and_not_repeated(world: World, tmp_path: Path) -> None:
    ticket = world.ticket("Moved")

    async def work(client: Client) -> None:
        await client.list_tools()
        given = {"ticket_id": ticket["id"], "column_id": world.columns[2]}
        refused, told, text = await call(client, "move_ticket", **given)
        assert (refused, told["code"]) == (True, "unavailable")
        assert "may have been executed" in text
        assert (await call(client, "get_ticket", ticket_id=ticket["id"]))[1]["column_id"] == world.columns[2]

    with forwarding(world.box.url, lost=b'"move_ticket"') as url:
        environment = {"TICKETBOX_URL": url, "SERVICE_API_TOKEN": world.owner.token("tickets:write")}
        talk_over_stdio("legacy", environment, tmp_path / "log", work)
    events = ok(world.api.get(f"/tickets/{ticket['id']}/history"))["items"]
    assert [each["type"] for each in events].count("ticket.moved") == 1


@pytest.mark.long
def test_service_that_never_runs_makes_a_tool_error_within_seconds(tmp_path: Path) -> None:
    environment = {"TICKETBOX_URL": "http://127.0.0.1:9", "SERVICE_API_TOKEN": "tok_x"}

    async def work(client: Client) -> None:
        started = time.monotonic()
        result = await client.call_tool("get_ticket", {"ticket_id": "t-zzzzzzzz"})
        assert time.monotonic() - started < A_FEW_SECONDS
        assert result.is_error
        assert result.structured_content is not None
        assert result.structured_content["code"] == "unavailable"

    for said in talk_at_both_generations(environment, tmp_path, work):
        assert "can't be reached" in said
        assert "Traceback" not in said


def limit_reads(world: World, per_minute: int) -> None:
    limits = {"reads_per_minute": per_minute, "writes_per_minute": None}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))


def use_up_reads(world: World, token: str) -> None:
    client = world.box.client(token)
    while client.get("/me").status_code != 429:
        pass


@pytest.mark.long
def test_call_over_the_budget_waits_for_as_long_as_the_service_says(world: World, tmp_path: Path) -> None:
    """At 10 reads per minute, one read takes 6 s: too long for the service to wait, and short enough for the relay."""
    token = world.owner.token("tickets:write")

    async def work(client: Client) -> None:
        await call(client, "whoami")
        await asyncio.to_thread(limit_reads, world, 10)
        await asyncio.to_thread(use_up_reads, world, token)
        assert not (await call(client, "whoami"))[0]

    talk_over_stdio("legacy", {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": token}, tmp_path / "log", work)


def test_long_shortage_revoked_token_and_missing_scope_are_tool_errors(world: World, tmp_path: Path) -> None:
    """On the hosted endpoint they are HTTP statuses, which end the sessions of some clients."""
    token = world.owner.token("read")
    tokens = ok(world.owner.web.get("/tokens"))["items"]

    async def work(client: Client) -> None:
        refused, told, _ = await call(client, "create_ticket", project_id=world.project, title="No")
        assert (refused, told["code"], told["scope"]) == (True, "insufficient_scope", "tickets:write")
        await asyncio.to_thread(limit_reads, world, 1)
        await asyncio.to_thread(use_up_reads, world, token)
        started = time.monotonic()
        refused, told, text = await call(client, "whoami")
        assert time.monotonic() - started < A_FEW_SECONDS
        assert (refused, told["code"]) == (True, "rate_limited")
        assert told["retry_after"] > 20
        assert "try again in" in text
        ok(await asyncio.to_thread(world.owner.web.delete, f"/tokens/{tokens[0]['id']}"))
        refused, told, text = await call(client, "whoami")
        assert (refused, told["code"]) == (True, "unauthorized")
        assert "SERVICE_API_TOKEN" in text

    talk_over_stdio("2026-07-28", {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": token}, tmp_path / "log", work)

"""Waiting calls: what ends a wait, what it costs, and that it leaves nothing behind (docs/use/events.md)."""

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client

from tests.support.event_stream import insert_event
from tests.support.long_runs import mark_long
from tests.support.mcp_client import ACCEPT, GENERATIONS, NEWEST, talk, talk_over_stdio
from tests.support.server import Box, World, count_waiting, eventually, expect_error, ok, run_server, ticketbox

SOON = 1.0  # seconds from an event to the answer, as promised


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that wait."""
    with ThreadPoolExecutor(16) as threads:
        yield threads


@pytest.fixture
def wait(pool: ThreadPoolExecutor) -> Callable[..., Future[httpx.Response]]:
    """Start a waiting call; returns when the server has it waiting."""

    begun: list[Future[httpx.Response]] = []

    def are_all_counted(box: Box) -> bool:
        return count_waiting(box) == sum(not each.done() for each in begun)

    def start(client: httpx.Client, box: Box, **query: Any) -> Future[httpx.Response]:
        eventually(lambda: are_all_counted(box))  # those of earlier tests have ended
        future = pool.submit(client.get, "/events/wait", params={"wait_seconds": 50, **query}, timeout=60)
        begun.append(future)
        eventually(lambda: future.done() or are_all_counted(box))
        assert not future.done(), future.result().text
        return future

    return start


def types_of(answer: httpx.Response) -> list[str]:
    return [event["type"] for event in ok(answer)["items"]]


def newest(world: World) -> str:
    return ok(world.api.get("/events/wait", params={"wait_seconds": 0}))["last"]


def test_event_reaches_a_waiting_call_within_a_second(company: World, wait: Any) -> None:
    client, took = company.owner.client("read"), list[float]()
    while len(took) < 3 or (min(took) >= SOON and len(took) < 20):  # others have the machine as well
        waiting = wait(client, company.box)
        ticket = company.ticket()["id"]
        started = time.monotonic()
        answer = waiting.result(30)
        took.append(time.monotonic() - started)
        (event,) = ok(answer)["items"]
        assert (event["type"], event["ticket_id"]) == ("ticket.created", ticket)
        assert ok(answer)["last"] == event["id"]
        assert event == ok(company.api.get("/events", params={"types": "ticket.created"}))["items"][-1]
    assert min(took) < SOON


def test_empty_answer_comes_after_the_wait_with_a_position(world: World) -> None:
    started = time.monotonic()
    answer = ok(world.api.get("/events/wait", params={"wait_seconds": 1}))
    assert 1 <= time.monotonic() - started < 20  # the default is 20 s or more
    assert (answer["items"], answer["next_cursor"]) == ([], None)
    world.ticket()
    since = world.api.get("/events/wait", params={"after": answer["last"], "wait_seconds": 50})
    assert types_of(since) == ["ticket.created"]


def test_zero_seconds_answer_immediately(world: World) -> None:
    started = time.monotonic()
    assert ok(world.api.get("/events/wait", params={"wait_seconds": 0}))["items"] == []
    assert time.monotonic() - started < 20


def test_events_before_the_call_are_new_after_a_known_event(world: World) -> None:
    start = newest(world)
    for title in ("One", "Two", "Three"):
        world.ticket(title)
    first = ok(world.api.get("/events/wait", params={"after": start, "limit": 2}))
    rest = ok(world.api.get("/events/wait", params={"after": start, "limit": 2, "cursor": first["next_cursor"]}))
    again = ok(world.api.get("/events/wait", params={"after": first["last"], "limit": 2}))
    assert [len(first["items"]), len(rest["items"]), rest["next_cursor"]] == [2, 1, None]
    assert rest["items"] == again["items"]


def test_types_select_what_ends_the_wait(company: World, wait: Any) -> None:
    waiting = wait(company.owner.client("read"), company.box, types="comment.created")
    ticket = company.ticket()["id"]
    ok(company.api.post(f"/tickets/{ticket}/archive"))
    ok(company.api.post(f"/tickets/{ticket}/restore"))
    assert count_waiting(company.box) == 1
    ok(company.api.post(f"/tickets/{ticket}/comments", json={"body": "Look"}))
    assert types_of(waiting.result(30)) == ["comment.created"]


def test_foreign_events_and_hidden_projects_stay_unseen(company: World, wait: Any) -> None:
    stranger, second = World(company.box, "Zoe"), company.new_project("Second")
    waiting = wait(company.owner.client("read", project_ids=[company.project]), company.box)
    stranger.ticket()
    company.ticket(project_id=second)
    seen = company.ticket()["id"]
    assert [event["ticket_id"] for event in ok(waiting.result(30))["items"]] == [seen]


@pytest.mark.parametrize("way", ["web", "command line"])
def test_revoked_token_ends_its_wait_with_unauthorized(company: World, wait: Any, way: str) -> None:
    waiting = wait(company.owner.client("read", label="doomed"), company.box)
    token = company.owner.find_token("doomed")
    if way == "web":
        ok(company.owner.web.delete(f"/tokens/{token}"))
    else:
        assert ticketbox("token", "revoke", token, db=company.box.db).returncode == 0
    expect_error(waiting.result(30), 401, "unauthorized")


@pytest.mark.long
def test_removed_member_sees_nothing_more(company: World, wait: Any) -> None:
    guest = company.join("Guest")
    waiting = wait(guest.client("read"), company.box, wait_seconds=10)
    ok(company.owner.web.delete(f"/companies/{company.company}/members/{guest.id}"))
    company.ticket()
    assert types_of(waiting.result(30)) == []


def test_event_written_by_another_process_ends_the_wait(company: World, wait: Any) -> None:
    waiting = wait(company.owner.client("read"), company.box)
    insert_event(company)
    assert types_of(waiting.result(30)) == ["project.created"]


def test_wait_costs_one_read_however_often_it_wakes(company: World, wait: Any) -> None:
    client = company.owner.client("read")
    waiting = wait(client, company.box, types="comment.created")
    for _ in range(5):
        company.new_project("Wakes all")
    ok(company.api.post(f"/tickets/{company.ticket()['id']}/comments", json={"body": "Look"}))
    assert waiting.result(30).headers["ratelimit"].startswith('"reads";r=599;')


def build_rest_request(host: str, token: str) -> bytes:
    head = f"GET /api/v1/events/wait?wait_seconds=50 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    return head.encode()


def build_mcp_request(host: str, token: str) -> bytes:
    """The call of an older generation."""
    params = {"name": "wait_for_events", "arguments": {"wait_seconds": 50}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Host": host, "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Content-Length": str(len(body)), **ACCEPT,
    }  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n{body}".encode()


@pytest.mark.parametrize("build", [build_rest_request, build_mcp_request])
def test_disconnected_client_leaves_nothing_behind(company: World, build: Callable[[str, str], bytes]) -> None:
    host, _, port = company.box.url.removeprefix("http://").partition(":")
    eventually(lambda: count_waiting(company.box) == 0)  # those of earlier tests have ended
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(build(f"{host}:{port}", company.owner.token("read")))
        eventually(lambda: count_waiting(company.box) == 1)
    eventually(lambda: count_waiting(company.box) == 0)


def test_too_many_waiting_calls_are_rejected_until_one_ends(company: World, wait: Any) -> None:
    client, other, third = (company.owner.client("read") for _ in range(3))
    waiting = [wait(client, company.box) for _ in range(4)]
    problem = expect_error(client.get("/events/wait", params={"wait_seconds": 50}), 429, "rate_limited")
    assert ("4 waiting calls" in problem["detail"], problem["retry_after"]) == (True, 10)
    assert ok(client.get("/events/wait", params={"wait_seconds": 0}))["items"] == []
    waiting += [wait(other, company.box) for _ in range(2)]
    problem = expect_error(third.get("/events/wait", params={"wait_seconds": 50}), 503, "unavailable")
    assert "6 waiting calls" in problem["detail"]
    company.ticket()
    assert [types_of(each.result(30)) for each in waiting] == [["ticket.created"]] * 6
    wait(client, company.box)
    company.ticket()


@pytest.mark.parametrize("query", [{"wait_seconds": "-1"}, {"wait_seconds": "x"},
                                   {"after": "evt_1"}, {"types": "ticket.exploded"}, {"cursor": "x"}])  # fmt: skip
def test_invalid_arguments_are_rejected_without_a_wait(world: World, query: dict[str, str]) -> None:
    started = time.monotonic()
    expect_error(world.api.get("/events/wait", params={"wait_seconds": "50", **query}), 400, "invalid_request")
    assert time.monotonic() - started < 40


def test_stop_ends_waits_with_an_empty_answer(tmp_path: Path) -> None:
    with run_server(tmp_path, "--trusted-proxy", "127.0.0.1/32") as box, ThreadPoolExecutor(1) as threads:
        world = World(box)
        future = threads.submit(world.api.get, "/events/wait", params={"wait_seconds": 50}, timeout=60)
        eventually(lambda: count_waiting(box) == 1)
        assert box.stop() == 0
        assert types_of(future.result(30)) == []  # a call that the stop had to cut off would be an error


@pytest.mark.parametrize("mode", GENERATIONS)
def test_agent_waits_over_mcp(world: World, mode: str) -> None:
    start = newest(world)

    def act() -> None:
        eventually(lambda: count_waiting(world.box))
        world.ticket()

    async def work(client: Client) -> None:
        acting = asyncio.create_task(asyncio.to_thread(act))
        result = await client.call_tool("wait_for_events", {"wait_seconds": 50, "after": start})
        await acting
        assert result.structured_content is not None
        assert [event["type"] for event in result.structured_content["items"]] == ["ticket.created"]

    talk(world, mode, work, world.owner.token("read"))


@pytest.mark.long
@pytest.mark.parametrize("mode", [mark_long("legacy"), NEWEST])
def test_cancelled_call_over_stdio_leaves_nothing_behind(tmp_path: Path, mode: str) -> None:
    with run_server(tmp_path, "--trusted-proxy", "127.0.0.1/32") as box:
        world = World(box)
        environment = {"TICKETBOX_URL": box.url, "SERVICE_API_TOKEN": world.owner.token("read")}

        async def work(client: Client) -> None:
            await client.list_tools()
            waiting = asyncio.create_task(client.call_tool("wait_for_events", {"wait_seconds": 50}))
            await asyncio.to_thread(eventually, lambda: count_waiting(box) == 1)
            other = await client.call_tool("whoami", {})  # a waiting call doesn't occupy the connection
            assert not other.is_error
            waiting.cancel()
            await asyncio.to_thread(eventually, lambda: count_waiting(box) == 0)

        talk_over_stdio(mode, environment, tmp_path / "log", work)

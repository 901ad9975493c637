"""Tool calls that are short of their budget: some wait, and waiting costs nobody else anything."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import ACCEPT, NEWEST
from tests.support.server import World, expect_error, ok
from ticketbox.domain.core.fairness.limits import MAX_BULK, MAX_WAITING

OLDER = "2025-11-25"
CALLS = 3
ROUNDING = 0.1  # calls


def set_limits(world: World, reads: int | None = None, writes: int | None = None) -> None:
    limits = {"reads_per_minute": reads, "writes_per_minute": writes}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))


def call_tool(
    client: httpx.Client, name: str, generation: str = OLDER, method: str = "tools/call", **arguments: Any
) -> httpx.Response:
    """Call a tool by plain HTTP, at a protocol generation."""
    params: dict[str, Any] = {"name": name, "arguments": arguments} if method == "tools/call" else {}
    headers = {**ACCEPT, "Mcp-Protocol-Version": generation}
    if generation == NEWEST:
        meta = {"protocolVersion": NEWEST, "clientCapabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        params["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}
        headers |= {"Mcp-Method": method, "Mcp-Name": name}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post(str(client.base_url).removesuffix("/api/v1/") + "/mcp", json=message, headers=headers)


def use_up_reads(client: httpx.Client) -> int:
    """Read until a read is refused; return how many were accepted."""
    accepted = 0
    while client.get("/me").status_code != 429:
        accepted += 1
    return accepted


@pytest.mark.parametrize("generation", [pytest.param(OLDER, marks=pytest.mark.long), NEWEST])
def test_tool_call_that_is_short_by_seconds_waits_and_succeeds(world: World, generation: str) -> None:
    """At 40 reads per minute, the next one is available in at most 1.5 s, and each call that waited is charged."""
    set_limits(world, reads=40)
    client = world.owner.client("read")
    started = time.monotonic()
    accepted = use_up_reads(client)
    for _ in range(CALLS):
        answer = call_tool(client, "whoami", generation)
        assert answer.status_code == 200
        assert not ok(answer)["result"].get("isError")
    assert accepted + CALLS <= 40 + (time.monotonic() - started) * 40 / 60 + ROUNDING


@pytest.mark.parametrize("generation", [OLDER, NEWEST])
def test_tool_call_that_is_short_by_more_is_refused_immediately(world: World, generation: str) -> None:
    """At 1 read per minute, the next one takes up to a minute."""
    set_limits(world, reads=1)
    client = world.owner.client("read")
    use_up_reads(client)
    answer = call_tool(client, "whoami", generation)
    assert (answer.status_code, int(answer.headers["retry-after"]) > 5) == (429, True)


def test_only_tool_calls_wait(world: World) -> None:
    """At 13 reads per minute, a call that waits is never refused: its turn comes in less than 5 s."""
    set_limits(world, reads=13)
    client = world.owner.client("read")
    wait_for_refusal(lambda: call_tool(client, "", method="tools/list"))
    expect_error(wait_for_refusal(lambda: client.get("/me")), 429, "rate_limited")


def wait_for_refusal(send: Callable[[], httpx.Response]) -> httpx.Response:
    """Send a request until its budget is used up; the answer. On a slow machine, the budget grows meanwhile."""
    for _ in range(40):
        if (answer := send()).status_code == 429:
            return answer
    raise AssertionError("no request was refused")


def use_up_writes(client: httpx.Client) -> None:
    """Use up the budget by a few bulk calls, each of which costs fifty writes."""
    given = {"ticket_ids": [f"t-000000{number:02}" for number in range(MAX_BULK)], "user_ids": ["me"]}
    while client.post("/tickets/bulk-assign", json=given).status_code != 429:
        pass


def test_ten_calls_of_a_token_wait_and_make_room_when_they_end(world: World) -> None:
    """At 600 writes per minute, ten calls wait for up to a second, and fifty could wait for less than 5 s.

    None of the 60 would be refused only if they took 5 s to arrive.
    """
    set_limits(world, writes=600)
    client, other = (world.owner.client("tickets:write", "tickets:assign") for _ in range(2))
    ticket = world.ticket()["id"]

    def comment(sender: httpx.Client) -> int:
        return call_tool(sender, "add_comment", ticket_id=ticket, body="x").status_code

    with ThreadPoolExecutor(30) as pool:
        use_up_writes(client)
        started = time.monotonic()
        statuses = list(pool.map(comment, [client] * 60))
        seconds = time.monotonic() - started
        assert set(statuses) == {200, 429}
        assert MAX_WAITING <= statuses.count(200) <= MAX_WAITING + seconds * 10 + ROUNDING
        use_up_writes(other)
        assert list(pool.map(comment, [client] * 9 + [other] * 9)) == [200] * 18


@pytest.mark.long
def test_number_of_waiting_calls_is_bounded_and_the_long_run_rate_stays(world: World) -> None:
    """At 150 reads per minute, none of 100 calls would be refused only if they took 40 s to arrive."""
    set_limits(world, reads=150)
    client = world.owner.client("read")
    started = time.monotonic()
    accepted = use_up_reads(client)
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: call_tool(client, "whoami"), range(100)))
    seconds = time.monotonic() - started
    served = sum(each.status_code == 200 for each in answers)
    assert served >= MAX_WAITING
    assert accepted + served <= 150 + seconds * 150 / 60 + ROUNDING
    assert {each.status_code for each in answers} == {200, 429}


@pytest.mark.long
def test_waiting_writes_hold_up_nobody_else(world: World) -> None:
    """Ten writes wait; more than one write of another token goes through the same writer after each of them."""
    set_limits(world, writes=120)
    client = world.owner.client("tickets:write")
    other = world.join("Bob").client("tickets:write")
    for _ in range(8):  # a slow machine may write less in that time
        if write_beside_waiting(world, client, other) >= 1.5 * MAX_WAITING:
            return
    raise AssertionError("the other token's writes waited")


def write_beside_waiting(world: World, client: httpx.Client, other: httpx.Client) -> int:
    """Write with the other token while ten writes of the first one wait; how often."""
    ticket, waited = world.ticket("Busy")["id"], world.ticket("Waited for")["id"]
    while client.post(f"/tickets/{ticket}/comments", json={"body": "x"}).status_code != 429:
        pass
    written = 0
    with ThreadPoolExecutor(MAX_WAITING) as pool:
        waiting = [
            pool.submit(call_tool, client, "add_comment", ticket_id=waited, body=f"comment {number}")
            for number in range(MAX_WAITING)
        ]
        while not all(each.done() for each in waiting):
            ok(other.post(f"/tickets/{ticket}/comments", json={"body": "y"}))
            written += 1
            time.sleep(0.05)  # the other token has the same budget
        assert [each.result().status_code for each in waiting] == [200] * MAX_WAITING
    assert len(ok(world.owner.web.get(f"/tickets/{waited}/comments"))["items"]) == MAX_WAITING
    return written


@pytest.mark.long
def test_token_revoked_while_its_call_waits_is_refused(world: World) -> None:
    set_limits(world, reads=13)
    statuses = [revoke_during_call(world)]
    while statuses[-1] == 200 and len(statuses) < 8:  # a slow machine may revoke it after the wait
        statuses.append(revoke_during_call(world))
    assert statuses[-1] == 401


def revoke_during_call(world: World) -> int:
    """Revoke a token while its call waits; the call's status."""
    token = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    client = world.box.client(token["secret"])
    use_up_reads(client)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call_tool, client, "whoami")
        time.sleep(0.5)  # the call waits for up to 4.6 s, and no answer tells that it has begun
        ok(world.owner.web.delete(f"/tokens/{token['id']}"))
        return waiting.result().status_code

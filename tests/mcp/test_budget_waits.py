"""Tool calls that are short of their budget: some wait, and waiting costs nobody else anything."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import ACCEPT, NEWEST
from tests.support.server import World, expect_error, ok
from ticketbox.domain.core.fairness.limits import MAX_WAITING

OLDER = "2025-11-25"


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


def use_up_reads(client: httpx.Client) -> None:
    while client.get("/me").status_code != 429:
        pass


@pytest.mark.parametrize("generation", [pytest.param(OLDER, marks=pytest.mark.long), NEWEST])
def test_tool_call_that_is_short_by_seconds_waits_and_succeeds(world: World, generation: str) -> None:
    """At 20 reads per minute, the next one is available in at most 3 s."""
    set_limits(world, reads=20)
    client = world.owner.client("read")
    call_tool(client, "whoami", generation)
    use_up_reads(client)
    answer = call_tool(client, "whoami", generation)
    assert answer.status_code == 200
    assert not ok(answer)["result"].get("isError")
    assert client.get("/me").status_code == 429


@pytest.mark.parametrize("generation", [OLDER, NEWEST])
def test_tool_call_that_is_short_by_more_is_refused_immediately(world: World, generation: str) -> None:
    """At 8 reads per minute, the next one takes up to 7.5 s."""
    set_limits(world, reads=8)
    client = world.owner.client("read")
    use_up_reads(client)
    answer = call_tool(client, "whoami", generation)
    assert (answer.status_code, int(answer.headers["retry-after"]) > 5) == (429, True)


def test_only_tool_calls_wait(world: World) -> None:
    set_limits(world, reads=60)
    client = world.owner.client("read")
    use_up_reads(client)
    assert call_tool(client, "", method="tools/list").status_code == 429
    expect_error(client.get("/me"), 429, "rate_limited")


@pytest.mark.long
def test_number_of_waiting_calls_is_bounded_and_the_long_run_rate_stays(world: World) -> None:
    set_limits(world, reads=300)
    client = world.owner.client("read")
    use_up_reads(client)
    started = time.monotonic()
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: call_tool(client, "whoami"), range(100)))
    seconds = time.monotonic() - started
    served = sum(each.status_code == 200 for each in answers)
    assert MAX_WAITING <= served <= 5 * seconds + 1
    assert {each.status_code for each in answers} == {200, 429}


@pytest.mark.long
def test_waiting_writes_hold_up_nobody_else(world: World) -> None:
    """Ten writes wait; another token's writes go through the same writer meanwhile."""
    ticket, waited = world.ticket("Busy")["id"], world.ticket("Waited for")["id"]
    set_limits(world, writes=120)
    client = world.owner.client("tickets:write")
    other = world.join("Bob").client("tickets:write")
    while client.post(f"/tickets/{ticket}/comments", json={"body": "x"}).status_code != 429:
        pass
    with ThreadPoolExecutor(MAX_WAITING) as pool:
        waiting = [
            pool.submit(call_tool, client, "add_comment", ticket_id=waited, body=f"comment {number}")
            for number in range(MAX_WAITING)
        ]
        for _ in range(5):
            ok(other.post(f"/tickets/{ticket}/comments", json={"body": "y"}))
        assert not all(each.done() for each in waiting)
        assert [each.result().status_code for each in waiting] == [200] * MAX_WAITING
    assert len(ok(world.owner.web.get(f"/tickets/{waited}/comments"))["items"]) == MAX_WAITING


@pytest.mark.long
def test_token_revoked_while_its_call_waits_is_refused(world: World) -> None:
    token = ok(world.owner.web.post("/tokens", json={"label": "short", "scopes": ["read"]}))
    set_limits(world, reads=15)
    client = world.box.client(token["secret"])
    use_up_reads(client)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call_tool, client, "whoami")
        time.sleep(0.5)  # the call waits for up to 4.6 s, and no answer tells that it has begun
        ok(world.owner.web.delete(f"/tokens/{token['id']}"))
        assert waiting.result().status_code == 401

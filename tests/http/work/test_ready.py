"""The queue of ready tickets: what is in it, in which order, and that each ticket is claimed once."""

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.support.mcp_client import GENERATIONS, create_capture, post, talk
from tests.support.server import World, count_waiting, eventually, expect_error, ok

SOON = 1.0  # seconds from a ready ticket to the answer, as promised


def claim(world: World, client: httpx.Client | None = None, **given: Any) -> Any:
    answer = (client or world.api).post(f"/projects/{world.project}/claim-next", json=given, timeout=60)
    return ok(answer)


def ready_titles(world: World, **filters: Any) -> list[str]:
    return sorted(list_ready_titles(world, **filters))


def list_ready_titles(world: World, **filters: Any) -> list[str]:
    return [each["title"] for each in ok(world.api.get("/tickets", params=_ask(world, **filters)))["items"]]


def _ask(world: World, **filters: Any) -> dict[str, Any]:
    return {"project_id": world.project, "ready": "true", **filters}


def test_next_ticket_is_the_most_urgent_then_the_highest(world: World) -> None:
    for title, priority in (("Low", "low"), ("Below", "high"), ("Above", "high"), ("None", "none")):
        world.ticket(title, priority=priority)  # each goes to the top of its column
    assert [claim(world)["title"] for _ in range(4)] == ["Above", "Below", "Low", "None"]
    assert claim(world) is None


@pytest.mark.parametrize("seed", range(3))
def test_list_of_ready_tickets_has_the_order_in_which_they_are_claimed(world: World, seed: int) -> None:
    chance = random.Random(seed)
    second = ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "Soon", "kind": "todo"}))["id"]
    filters: dict[str, Any] = chance.choice([{}, {"label": "agent"}])
    for number in range(14):
        column, priority = chance.choice([world.columns[0], second]), chance.choice(["low", "high", "urgent"])
        labels = ["agent"] if number % 2 else ["agent", "ui"]
        world.ticket(str(number), column_id=column, priority=priority, labels=labels)
    listed = list_ready_titles(world, **filters)
    paged: list[str] = []
    cursor: dict[str, str] = {}
    while cursor or not paged:
        page = ok(world.api.get("/tickets", params=_ask(world, limit=3, **filters, **cursor)))
        paged += [each["title"] for each in page["items"]]
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
    labels = ["agent"] if filters else []
    assert listed == paged == [claim(world, labels=labels)["title"] for _ in range(14)]


def test_claimed_ticket_has_its_last_three_comments(world: World) -> None:
    ticket = world.ticket("Discussed")["id"]
    for number in range(5):
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": f"Comment {number}"}))
    assert [each["body"] for each in claim(world)["comments"]] == ["Comment 2", "Comment 3", "Comment 4"]


def test_claimed_ticket_is_returned_whole_with_its_lease(world: World) -> None:
    made = world.ticket("Whole", labels=["agent"])
    claimed = claim(world, run="laptop", lease_minutes=5)
    assert {**claimed, "lease": None} == {**ok(world.api.get(f"/tickets/{made['id']}")), "comments": [], "lease": None}
    assert (claimed["claim"]["run"], claimed["branch"]) == ("laptop", f"{made['id']}-whole")
    ok(world.api.post(f"/tickets/{made['id']}/work", json={"lease": claimed["lease"]}))
    history = ok(world.api.get(f"/tickets/{made['id']}/history"))["items"]
    assert [event["type"] for event in history] == ["ticket.created", "ticket.work_started"]


def _archive(world: World, ticket: str) -> None:
    ok(world.api.post(f"/tickets/{ticket}/archive"))


def _resolve(world: World, ticket: str) -> None:
    ok(world.api.patch(f"/tickets/{ticket}", json={"resolved": True}))


def _start(world: World, ticket: str) -> None:
    ok(world.api.post(f"/tickets/{ticket}/work", json={}))


def _block(world: World, ticket: str) -> None:
    blocker = world.ticket("Blocker", column_id=world.columns[1])["id"]
    ok(world.api.post(f"/tickets/{blocker}/links", json={"kind": "blocks", "other": ticket}))


def _move(world: World, ticket: str) -> None:
    ok(world.api.post(f"/tickets/{ticket}/move", json={"column_id": world.columns[1]}))


@pytest.mark.parametrize("change", [_archive, _resolve, _start, _block, _move])
def test_ticket_that_is_not_ready_is_neither_listed_nor_claimed(
    world: World, change: Callable[[World, str], None]
) -> None:
    ticket = world.ticket("Busy")["id"]
    assert ready_titles(world) == ["Busy"]
    change(world, ticket)
    assert ready_titles(world) == []
    assert claim(world) is None


def test_resolved_or_archived_blocker_frees_a_ticket(world: World) -> None:
    for end in (_resolve, _archive):
        ticket, blocker = world.ticket("Blocked")["id"], world.ticket("Blocker", column_id=world.columns[1])["id"]
        ok(world.api.post(f"/tickets/{ticket}/links", json={"kind": "blocked_by", "other": blocker}))
        assert ready_titles(world) == []
        end(world, blocker)
        assert claim(world)["id"] == ticket


def test_stopped_work_frees_its_ticket(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = claim(world)["lease"]
    assert claim(world) is None
    ok(world.api.delete(f"/tickets/{ticket}/work", headers={"Lease": lease}))
    assert claim(world)["id"] == ticket


def test_filters_select_the_ticket(world: World) -> None:
    world.ticket("Both", labels=["Agent", "cart"], priority="low")
    world.ticket("One", labels=["agent"])
    doing = world.ticket("Doing", column_id=world.columns[1])
    mine = world.ticket("Mine")
    ok(world.api.put(f"/tickets/{mine['id']}/assignees/me"))
    assert ready_titles(world, column_id=world.columns[1]) == ["Doing"]
    assert claim(world, column_id=world.columns[1])["id"] == doing["id"]
    assert claim(world, labels=["agent", "CART"])["title"] == "Both"
    assert claim(world, labels=["agent", "cart"]) is None
    assert claim(world, priority="low") is None
    assert claim(world, assignee=world.owner.id)["title"] == "Mine"
    assert claim(world, assignee="me") is None
    assert claim(world, labels=["agent"])["title"] == "One"


def test_column_of_another_project_is_rejected(world: World) -> None:
    column = world.columns_of(world.new_project("Second"))[0]
    path = f"/projects/{world.project}/claim-next"
    problem = expect_error(world.api.post(path, json={"column_id": column}), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "column_id"


def test_waiting_agent_gets_a_new_ticket_within_a_second(world: World) -> None:
    client, took = world.owner.client("tickets:write"), list[float]()
    waiting = f"ticketbox_waiting_calls {1:.1f}"
    with ThreadPoolExecutor(1) as threads:
        while len(took) < 3 or (min(took) >= SOON and len(took) < 20):  # others have the machine as well
            future = threads.submit(claim, world, client, wait_seconds=50, labels=["agent"])
            eventually(lambda: waiting in httpx.get(f"{world.box.url}/metrics").text)
            world.ticket("For people")
            started = time.monotonic()
            made = world.ticket("For agents", labels=["agent"])["id"]
            assert future.result(30)["id"] == made
            took.append(time.monotonic() - started)
    assert min(took) < SOON


def test_wait_without_a_ticket_ends_with_null_and_costs_one_read(world: World) -> None:
    client = world.owner.client("tickets:write")
    answer = client.post(f"/projects/{world.project}/claim-next", json={"wait_seconds": 1})
    assert (answer.status_code, answer.text) == (200, "null")
    assert answer.headers["ratelimit"].startswith('"reads";r=599;')


@pytest.mark.parametrize("mode", GENERATIONS)
def test_agent_claims_over_mcp(world: World, mode: str) -> None:
    made = world.ticket("By MCP")["id"]

    async def work(client: Any) -> None:
        texts, objects = [], []
        for _ in range(2):
            result = await client.call_tool("claim_next_ticket", {"project_id": world.project})
            assert not result.is_error
            texts.append(result.content[0].text)
            objects.append(result.structured_content)
        assert made in texts[0]
        assert '"lease":"lease_' in texts[0]
        assert json.loads(texts[1]) == objects[1]
        assert (objects[1]["claimed"], objects[1]["waited_seconds"]) == (False, 0)
        assert "wait_seconds=25" in objects[1]["next"]

    talk(world, mode, work)


@contextlib.contextmanager
def waiting_call(world: World, act: Callable[[], object], **given: Any) -> Iterator[Any]:
    """A call that claims after a wait, during which something happens; its answer."""
    eventually(lambda: count_waiting(world.box) == 0)  # those of earlier tests have ended
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(claim, world, wait_seconds=50, **given)
        eventually(lambda: count_waiting(world.box) == 1)
        act()
        yield future.result(60)


def claim_after_a_wait(world: World, act: Callable[[], object] | None = None, **given: Any) -> dict[str, Any]:
    with waiting_call(world, act or world.ticket, **given) as claimed:
        return claimed


def cancel(world: World, token: str, request: int | str) -> None:
    """What a client of the older generation sends when it has given up."""
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}}
    assert post(world, message, Authorization=f"Bearer {token}").status_code == 202


@pytest.mark.parametrize("request_id", [7, "seven"])
def test_call_that_its_client_cancels_claims_nothing(world: World, request_id: int | str) -> None:
    """The client keeps the request open: MCP 2025-11-25, "Cancellation"."""
    token = world.owner.token("tickets:write")
    call = {"name": "claim_next_ticket", "arguments": {"project_id": world.project, "wait_seconds": 50}}
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": call}
    with ThreadPoolExecutor(1) as threads:
        eventually(lambda: count_waiting(world.box) == 0)  # those of earlier tests have ended
        future = threads.submit(post, world, message, Authorization=f"Bearer {token}")
        eventually(lambda: count_waiting(world.box) == 1)
        cancel(world, token, 8)
        cancel(world, world.owner.token("tickets:write"), request_id)
        assert count_waiting(world.box) == 1
        cancel(world, token, request_id)
        assert ok(future.result(30))["result"]["structuredContent"]["claimed"] is False
    ticket = world.ticket()["id"]
    assert claim(world)["id"] == ticket


def measure_minutes(world: World, ticket: str) -> float:
    """How long a claim lasts from its start."""
    found = ok(world.owner.web.get(f"/tickets/{ticket}"))["claim"]
    times = [datetime.fromisoformat(each) for each in (found["by"]["at"], found["until"])]
    return (times[1] - times[0]).total_seconds() / 60


def test_claim_after_a_wait_lasts_five_minutes_until_its_token_calls_again(world: World) -> None:
    """Its client may have given up; what other callers do, and calls about other tickets, don't say that it hasn't."""
    other = world.ticket("Other", column_id=world.columns[1])["id"]
    stranger = world.owner.client("tickets:write")
    claimed = claim_after_a_wait(world, lambda: create_capture(world), lease_minutes=120)
    ticket = claimed["id"]
    assert measure_minutes(world, ticket) == pytest.approx(5, abs=0.1)
    for client, path in ((stranger, f"/tickets/{ticket}"), (world.owner.web, f"/tickets/{ticket}"),
                         (world.api, f"/tickets/{other}"), (world.api, "/tickets"), (world.api, "/me")):  # fmt: skip
        ok(client.get(path))
        assert measure_minutes(world, ticket) == pytest.approx(5, abs=0.1)
    calls: list[Callable[[dict[str, Any]], object]] = [
        lambda claimed: world.api.get(f"/captures/{claimed['capture']['id']}/errors"),
        lambda claimed: world.api.get(f"/tickets/{claimed['id']}"),
        lambda claimed: world.api.get(f"/tickets/{claimed['key'].lower()}/comments"),
        lambda claimed: world.api.post("/tickets/bulk-move", json={"ticket_ids": [claimed["id"]], "column_id": "x"}),
        lambda claimed: world.api.post(f"/tickets/{claimed['id']}/work/finish", json={"lease": claimed["lease"]}),
    ]
    for call in calls:
        call(claimed)
        assert measure_minutes(world, claimed["id"]) == pytest.approx(120, abs=0.1)
        claimed = claim_after_a_wait(world, lease_minutes=120)
    assert measure_minutes(world, claimed["id"]) == pytest.approx(5, abs=0.1)
    soon = claim_after_a_wait(world, lease_minutes=1)
    assert measure_minutes(world, soon["id"]) == pytest.approx(1, abs=0.1)


def test_run_that_asks_again_gets_the_claim_that_it_may_not_know_of(world: World) -> None:
    lost = claim_after_a_wait(world, run="laptop")
    for client, given in ((world.api, {"run": "desk"}), (world.api, {}),
                          (world.owner.client("tickets:write"), {"run": "laptop"})):  # fmt: skip
        assert claim(world, client, **given) is None
    elsewhere = world.new_project("Elsewhere")
    assert ok(world.api.post(f"/projects/{elsewhere}/claim-next", json={"run": "laptop"})) is None
    again = claim(world, run="laptop")
    assert (again["id"], again["claim"]["session_id"]) == (lost["id"], lost["claim"]["session_id"])
    assert again["lease"] != lost["lease"]
    assert measure_minutes(world, lost["id"]) == pytest.approx(60, abs=0.5)
    assert claim(world, run="laptop") is None  # it has the answer now


def test_lost_claim_that_has_ended_is_not_returned_again(world: World) -> None:
    lost = claim_after_a_wait(world, run="laptop")
    ok(world.owner.web.delete(f"/tickets/{lost['id']}/work"))
    taken = ok(world.join("Bob").client("tickets:write").post(f"/tickets/{lost['id']}/work", json={}))
    assert claim(world, run="laptop") is None
    assert ok(world.api.get(f"/tickets/{lost['id']}"))["claim"] == taken["claim"]


@pytest.mark.long
def test_workers_on_one_token_drain_the_queue_and_each_ticket_is_claimed_once(world: World) -> None:
    limits = {"reads_per_minute": 100_000, "writes_per_minute": 100_000}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    token = world.owner.token("tickets:write", company_id=world.company)
    workers, tickets = 64, 150
    with ThreadPoolExecutor(8) as threads:
        client = world.box.client(token)
        new = {"project_id": world.project, "title": "Work"}
        made = [each["id"] for each in threads.map(lambda _: ok(client.post("/tickets", json=new)), range(tickets))]
    claimed: list[str] = []
    barrier = threading.Barrier(workers)

    def drain(_: int) -> None:
        with httpx.Client(base_url=world.box.api, headers={"Authorization": f"Bearer {token}"}, timeout=60) as own:
            barrier.wait()
            while (got := claim(world, own)) is not None:
                claimed.append(got["id"])

    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(drain, range(workers)))
    assert Counter(claimed) == Counter(made)


def test_ticket_sent_to_an_agent_is_the_next_one(world: World) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"agent_label": "robot"}))
    ticket = world.ticket("Send me", labels=["cart"], column_id=world.columns[1])["id"]
    world.ticket("Other")
    sent = ok(world.api.post(f"/tickets/{ticket}/send-to-agent"))
    assert (sent["labels"], sent["column_id"], sent["version"]) == (["cart", "robot"], world.columns[0], 2)
    assert ok(world.api.post(f"/tickets/{ticket}/send-to-agent"))["version"] == 2
    types = [event["type"] for event in ok(world.api.get(f"/tickets/{ticket}/history"))["items"]]
    assert types == ["ticket.created", "ticket.updated", "ticket.moved"]
    assert claim(world)["id"] == ticket


def test_new_project_has_the_label_agent(world: World) -> None:
    (project,) = ok(world.api.get("/projects", params={"company_id": world.company}))["items"]
    assert project["agent_label"] == "agent"
    for label in ("", "x" * 51, 5):
        answer = world.owner.web.patch(f"/projects/{world.project}", json={"agent_label": label})
        expect_error(answer, 400, "invalid_request")

"""Pages of lists and the cursors between them."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.support.operation_cases import (
    WRITING,
    Stage,
    capture_arguments,
    create_comment,
    create_invitation,
    create_spare_token,
    make_capture,
    open_stage,
)
from tests.support.server import Box, World, expect_error, ok


def walk(
    client: httpx.Client, path: str, limit: int, between: Callable[[], object] = lambda: None, **params: Any
) -> list[str]:
    """The ids of all pages in order; `between` runs before each next page."""
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ok(client.get(path, params={**params, **cursor, "limit": limit}))
        assert len(page["items"]) <= limit
        ids += [each.get("id", each.get("seq")) for each in page["items"]]
        if page["next_cursor"] is None:
            return ids
        assert len(page["items"]) == limit
        cursor = {"cursor": page["next_cursor"]}
        between()


def many_tickets(world: World, count: int = 9) -> list[str]:
    priorities = ["none", "low", "medium", "high", "urgent"]
    return [world.ticket(f"Number {number}", priority=priorities[number % 5])["id"] for number in range(count)]


SORTS = ["created", "-created", "updated", "-updated", "priority", "-priority", "title", "-title", "position"]


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("limit", [1, 4])
def test_pages_contain_every_ticket_once_in_order(world: World, sort: str, limit: int) -> None:
    second = world.new_project("Second")
    tickets = many_tickets(world, 6)
    tickets += [world.ticket(f"Beside {number}", project_id=second)["id"] for number in range(3)]
    ok(world.api.post(f"/tickets/{tickets[1]}/archive"))
    params: dict[str, Any] = {"sort": sort, "status": "all"}
    if sort == "position":
        params["column_id"] = world.columns[0]
        tickets = tickets[:6]
    whole = [each["id"] for each in ok(world.api.get("/tickets", params={**params, "limit": 100}))["items"]]
    assert sorted(whole) == sorted(tickets)
    assert walk(world.api, "/tickets", limit, **params) == whole


@pytest.mark.parametrize("sort", SORTS)
def test_existing_tickets_are_listed_once_during_inserts(world: World, sort: str) -> None:
    tickets = many_tickets(world)
    params: dict[str, Any] = {"sort": sort, **({"column_id": world.columns[0]} if sort == "position" else {})}
    items = walk(world.api, "/tickets", 2, lambda: world.ticket("Meanwhile", priority="medium"), **params)
    assert len(set(items)) == len(items)
    assert set(tickets) <= set(items)


def fill_comments(world: World) -> tuple[str, Callable[[], object]]:
    ticket = world.ticket()["id"]
    for _ in range(5):
        create_comment(world, ticket)
    return f"/tickets/{ticket}/comments", lambda: create_comment(world, ticket)


def fill_history(world: World) -> tuple[str, Callable[[], object]]:
    path, more = fill_comments(world)
    return path.replace("comments", "history"), more


def fill_projects(world: World) -> tuple[str, Callable[[], object]]:
    for number in range(4):
        world.new_project(str(number))
    return "/projects", lambda: world.new_project("Meanwhile")


def fill_companies(world: World) -> tuple[str, Callable[[], object]]:
    def more() -> object:
        return ok(world.owner.web.post("/companies", json={"name": "Another"}))

    for _ in range(4):
        more()
    return "/companies", more


def fill_members(world: World) -> tuple[str, Callable[[], object]]:
    for name in ("Bob", "Cid", "Dee"):
        world.join(name)
    return f"/companies/{world.company}/members", lambda: world.join("Eve")


def fill_events(world: World) -> tuple[str, Callable[[], object]]:
    many_tickets(world, 5)
    return "/events", world.ticket


def fill_search(world: World) -> tuple[str, Callable[[], object]]:
    many_tickets(world, 5)
    return "/search?q=Number", lambda: world.ticket("Number: meanwhile")


def fill_tokens(world: World) -> tuple[str, Callable[[], object]]:
    for _ in range(4):
        create_spare_token(world)
    return "/tokens", lambda: create_spare_token(world)


def fill_invitations(world: World) -> tuple[str, Callable[[], object]]:
    for _ in range(4):
        create_invitation(world)
    return f"/companies/{world.company}/invitations", lambda: create_invitation(world)


def fill_audit(world: World) -> tuple[str, Callable[[], object]]:
    many_tickets(world, 5)
    return f"/companies/{world.company}/audit", world.ticket


@pytest.mark.parametrize(
    "fill",
    [
        fill_comments, fill_history, fill_projects, fill_companies, fill_members, fill_events, fill_search,
        fill_tokens, fill_invitations, fill_audit,
    ],
)  # fmt: skip
def test_every_list_returns_rows_once_during_inserts(
    world: World, fill: Callable[[World], tuple[str, Callable[[], object]]]
) -> None:
    path, more = fill(world)
    path, _, query = path.partition("?")
    params: dict[str, Any] = dict([query.split("=")]) if query else {}
    before = walk(world.owner.web, path, 100, **params)
    assert len(before) >= 4
    assert walk(world.owner.web, path, 1, **params) == before
    count = 0

    def sometimes() -> None:
        nonlocal count
        count += 1
        if count <= 3:
            more()

    items = walk(world.owner.web, path, 2, sometimes, **params)
    assert len(set(items)) == len(items)
    assert set(before) <= set(items)
    assert [each for each in items if each in before] == before


def test_streams_are_paged_too(world: World) -> None:
    arguments = capture_arguments(world.project)
    entries = [{"seq": number, "ts": 1.0 * number, "level": "log", "args": [str(number)]} for number in range(7)]
    arguments["console"] = msgspec.json.encode(entries)
    files = {"capture": (None, msgspec.json.encode(arguments.pop("capture"))), **arguments}
    capture = ok(world.api.post("/captures", files=files))["capture_id"]
    assert walk(world.api, f"/captures/{capture}/console", 3) == list(range(7))
    page = ok(world.api.get(f"/captures/{capture}/console", params={"limit": 2}))
    assert (page["total"], page["matched"]) == (7, 7)


def test_list_that_ends_on_a_full_page_has_no_next_page(world: World) -> None:
    many_tickets(world, 4)
    assert ok(world.api.get("/tickets", params={"limit": 4}))["next_cursor"] is None
    assert ok(world.api.get("/tickets", params={"limit": 3}))["next_cursor"] is not None


@pytest.fixture(scope="module")
def still(box: Box) -> Iterator[Stage]:
    """A world with three tickets, that nobody changes."""
    with open_stage(box) as stage:
        many_tickets(stage, 3)
        yield stage


def first_cursor(world: World) -> str:
    return ok(world.api.get("/tickets", params={"limit": 1, "sort": "created"}))["next_cursor"]


def test_cursor_belongs_to_its_caller(still: Stage) -> None:
    cursor = first_cursor(still)
    params = {"limit": 1, "sort": "created", "cursor": cursor}
    ok(still.api.get("/tickets", params=params))
    for client in (still.owner.client(*WRITING), still.owner.web, still.join("Bob").web):
        problem = expect_error(client.get("/tickets", params=params), 400, "invalid_request")
        assert problem["errors"][0]["field"] == "cursor"


@pytest.mark.parametrize(
    "change",
    [
        {"sort": "-created"}, {"sort": "updated"}, {"status": "all"}, {"resolved": "false"}, {"label": "x"},
        {"priority": "low"}, {"assignee": "me"}, {"project_id": "proj_000000000000"},
        {"updated_since": "2020-01-01T00:00:00Z"},
    ],
)  # fmt: skip
def test_cursor_belongs_to_its_query(still: Stage, change: dict[str, str]) -> None:
    params = {"sort": "created", "cursor": first_cursor(still), **change}
    expect_error(still.api.get("/tickets", params=params), 400, "invalid_request")


def test_cursor_belongs_to_its_list(still: Stage) -> None:
    cursor = first_cursor(still)
    for path in ("/projects", "/companies", "/events", f"/companies/{still.company}/members", "/search?q=Number"):
        expect_error(still.api.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}"), 400, "invalid_request")


def test_cursor_of_another_ticket_is_rejected(world: World) -> None:
    (one, _), (two, _) = fill_comments(world), fill_comments(world)
    cursor = ok(world.api.get(one, params={"limit": 1}))["next_cursor"]
    expect_error(world.api.get(two, params={"cursor": cursor}), 400, "invalid_request")


def test_limit_may_change_between_pages(still: Stage) -> None:
    params = {"sort": "created", "cursor": first_cursor(still)}
    assert len(ok(still.api.get("/tickets", params={**params, "limit": 100}))["items"]) == 2


@pytest.mark.parametrize("cursor", ["", "x", "é", "=", "A" * 512, "A" * 513, "null", "../..", "%00", "🙂", "AAAA"])
def test_malformed_cursor_is_rejected(still: Stage, cursor: str) -> None:
    for path in ("/tickets", "/events", "/projects"):
        expect_error(still.api.get(path, params={"cursor": cursor}), 400, "invalid_request")


def test_modified_cursor_is_rejected_or_stays_within_visible_rows(still: Stage) -> None:
    """It's bound, not signed: a changed place shows nothing that the caller couldn't see, and never fails."""
    cursor = first_cursor(still)
    tickets = {each["id"] for each in ok(still.api.get("/tickets"))["items"]}
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 0x41
        text = base64.urlsafe_b64encode(changed).rstrip(b"=").decode()
        answer = still.api.get("/tickets", params={"sort": "created", "cursor": text})
        if answer.status_code == 200:
            assert {each["id"] for each in answer.json()["items"]} <= tickets
        else:
            expect_error(answer, 400, "invalid_request")


@pytest.mark.parametrize("place", [[2**63], [2**64 - 1], [], [1, 2], [1, 2, 3], ["x"], [None], [1.5], [-1]])
def test_forged_position_is_rejected_or_harmless(still: Stage, place: list[object]) -> None:
    cursor = first_cursor(still)
    question, *_ = msgspec.msgpack.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    forged = base64.urlsafe_b64encode(msgspec.msgpack.encode([question, place])).rstrip(b"=").decode()
    answer = still.api.get("/tickets", params={"sort": "created", "cursor": forged})
    assert answer.status_code == (200 if place == [-1] else 400)


LISTS = ["/tickets", "/projects", "/companies", "/events", "/search?q=xx"]


@pytest.mark.parametrize(
    "limit", ["0", "-1", "101", "1.5", "1e3", "ten", "", "9223372036854775808", "1" * 5000, "٣", " 5"]
)
def test_limit_is_bounded(still: Stage, limit: str) -> None:
    for path in LISTS:
        answer = still.api.get(path, params={**dict(httpx.URL(path).params), "limit": limit})
        expect_error(answer, 400, "invalid_request")


@pytest.mark.parametrize("limit", ["1", "100"])
def test_boundary_limits_are_accepted(still: Stage, limit: str) -> None:
    for path in LISTS:
        ok(still.api.get(path, params={**dict(httpx.URL(path).params), "limit": limit}))


def test_events_continue_after_a_known_event(world: World) -> None:
    many_tickets(world, 3)
    events = ok(world.api.get("/events", params={"limit": 100}))["items"]
    assert [each["id"] for each in events] == sorted(each["id"] for each in events)
    middle = events[len(events) // 2]["id"]
    rest = ok(world.api.get("/events", params={"after": middle, "limit": 100}))["items"]
    assert rest == events[len(events) // 2 + 1 :]
    assert walk(world.api, "/events", 1, after=middle) == [each["id"] for each in rest]
    for wrong in ("evt_", "evt_iiiiiiiiiiii", "x", "evt_000000000000x"):
        expect_error(world.api.get("/events", params={"after": wrong}), 400, "invalid_request")
    only = ok(world.api.get("/events", params={"types": "ticket.created,ticket.moved"}))["items"]
    assert {each["type"] for each in only} == {"ticket.created"}
    assert len(only) == 3


def test_filters_are_combined_with_and(world: World) -> None:
    bob = world.join("Bob")
    a = world.ticket("A", labels=["Red", "blue"], priority="high")["id"]
    b = world.ticket("B", labels=["red"], priority="low")["id"]
    c = world.ticket("C", column_id=world.columns[1])["id"]
    world.ticket("D", labels=["blue"])
    for ticket, user in ((a, "me"), (b, bob.id), (c, "me")):
        ok(world.api.put(f"/tickets/{ticket}/assignees/{user}"))
    ok(world.api.patch(f"/tickets/{b}", json={"resolved": True}))

    def list_titles(**params: str) -> set[str]:
        page = ok(world.api.get("/tickets", params=params))
        return {each["title"] for each in page["items"]}

    assert list_titles(label="RED") == {"A", "B"}
    assert list_titles(label="red", assignee="me") == {"A"}
    assert list_titles(assignee="me") == {"A", "C"}
    assert list_titles(assignee=bob.id, label="blue") == set()
    assert list_titles(assignee="none") == {"D"}
    assert list_titles(assignee="none", label="red") == set()
    assert list_titles(resolved="true") == {"B"}
    assert list_titles(resolved="true", column_id=world.columns[2]) == {"B"}
    assert list_titles(priority="high", label="blue", assignee="me", resolved="false", project_id=world.project) == {
        "A"
    }
    assert list_titles(company_id=world.company, column_id=world.columns[1]) == {"C"}
    assert list_titles(updated_since="2000-01-01T00:00:00Z") == {"A", "B", "C", "D"}
    assert list_titles(updated_since="2999-01-01T00:00:00+02:00") == set()
    expect_error(world.api.get("/tickets", params={"sort": "position"}), 400, "invalid_request")
    for wrong in (
        "2020-01-01",
        "2020-01-01T00:00:00",
        "yesterday",
        "0",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+14:00",
    ):
        answer = world.api.get("/tickets", params={"updated_since": wrong})
        assert answer.status_code in {200, 400}, answer.text


def test_capture_is_listed_only_in_its_project(world: World) -> None:
    ticket = make_capture(world)["ticket_id"]
    assert walk(world.api, "/tickets", 10, project_id=world.project) == [ticket]

"""The live stream of events: who hears what, where it goes on, and when it ends (docs/use/events.md)."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.box import Box, Person, World, eventually, ok, refused, set_up, ticketbox
from tests.contract.cases import alter
from tests.fault.seed import Launched
from tests.sse import listen, turned_away
from ticketbox.operations.core.listeners import MAX_LISTENERS_PER_CREDENTIAL

LIVELY = """
from ticketbox.operations.core import listeners
listeners.HEARTBEAT_SECONDS = 0.5
listeners.MOST = 30
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server whose heart beats twice a second, and that keeps 30 streams at the most."""
    db = set_up(tmp_path_factory.mktemp("lively"))
    with Launched(LIVELY, db, "--trusted-proxy", "127.0.0.1/32") as running:
        yield running


@pytest.fixture
def company(lively: Box) -> Iterator[World]:
    """A company on the lively server."""
    yield World(lively)
    lively.close_clients()


def test_a_change_is_heard_at_once_by_token_and_by_session(world: World) -> None:
    with listen(world.owner.client("read")) as token, listen(world.owner.web) as session:
        assert token.response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert token.response.headers["cache-control"] == "no-store"
        started = time.monotonic()
        ticket = world.ticket()["id"]
        token.hears("ticket.created")
        session.hears("ticket.created")
        assert time.monotonic() - started < 5  # a heartbeat would come after 20 s
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Look"}))
        ok(world.api.post(f"/tickets/{ticket}/archive"))
        token.hears("ticket.created", "comment.created", "ticket.archived")
        assert token.heard == ok(world.api.get("/events", params={"after": token.marks[0]}))["items"]


def test_it_begins_now_or_after_an_event_that_is_known(world: World) -> None:
    world.ticket("Before")
    first = ok(world.api.get("/events", params={"types": "ticket.created"}))["items"][0]["id"]
    world.ticket("Second")
    with listen(world.api) as now, listen(world.api, after=first) as after:
        world.ticket("Third")
        now.hears("ticket.created")
        after.hears("ticket.created", "ticket.created")


def test_a_client_goes_on_after_the_last_event_that_it_heard_whatever_its_address_says(world: World) -> None:
    for title in ("One", "Two", "Three"):
        world.ticket(title)
    known = [each["id"] for each in ok(world.api.get("/events", params={"types": "ticket.created"}))["items"]]
    with listen(world.api, {"Last-Event-ID": known[1]}, after=known[0]) as listening:
        listening.hears("ticket.created")
        assert listening.heard[0]["id"] == known[2]


def test_nothing_is_missed_or_doubled_over_many_reconnections(world: World) -> None:
    last, heard = "", []
    with listen(world.api) as listening:
        last = listening.marks[0]
    for number in range(6):
        made = [world.ticket(f"{number}.{each}")["id"] for each in range(3)]
        with listen(world.api, {"Last-Event-ID": last}) as listening:
            more = world.ticket(f"{number} live")["id"]
            listening.hears(*["ticket.created"] * 4)
            assert [event["ticket_id"] for event in listening.heard] == [*made, more]
            heard += listening.heard
            last = listening.heard[-1]["id"]
    assert len({event["id"] for event in heard}) == 24


def test_a_long_past_comes_page_by_page_and_whole(world: World) -> None:
    first = ok(world.api.get("/events", params={"limit": 1}))["items"][0]["id"]
    ticket = world.ticket()["id"]
    for number in range(120):
        ok(world.owner.web.post(f"/tickets/{ticket}/comments", json={"body": f"Comment {number}"}))
    with listen(world.api, after=first, types="comment.created") as listening:
        listening.hears(*["comment.created"] * 120)


def test_only_the_types_that_are_asked_for_come(world: World) -> None:
    with listen(world.api, types="ticket.archived,ticket.restored") as listening:
        ticket = world.ticket()["id"]
        ok(world.api.post(f"/tickets/{ticket}/archive"))
        ok(world.api.post(f"/tickets/{ticket}/restore"))
        listening.hears("ticket.archived", "ticket.restored")


def test_nobody_hears_what_they_cant_see(world: World, other: World) -> None:
    second = world.new_project("Second")
    guest = world.join("Guest", "viewer", [second])
    pinned = world.owner.client("read", company_id=world.company, project_ids=[second])
    with listen(guest.web) as kept, listen(pinned) as restricted, listen(other.api) as stranger:
        world.ticket("Out of sight")
        ok(world.owner.web.patch(f"/companies/{world.company}", json={"name": "Renamed"}))
        world.ticket("In sight", project_id=second)
        kept.hears("ticket.created")
        restricted.hears("ticket.created")
        assert {event["project_id"] for event in kept.heard + restricted.heard} == {second}
        other.ticket()
        stranger.hears("ticket.created")
        assert stranger.heard[0]["company_id"] == other.company


def test_a_change_of_what_a_member_sees_holds_from_the_next_event_on(world: World) -> None:
    second = world.new_project("Second")
    guest = world.join("Guest", "viewer", [second])
    path = f"/companies/{world.company}/members/{guest.id}"
    with listen(guest.web, types="ticket.created") as listening:
        world.ticket("Unseen")
        world.ticket("Seen", project_id=second)
        listening.hears("ticket.created")
        ok(world.owner.web.patch(path, json={"project_ids": [world.project]}))
        world.ticket("Unseen as well", project_id=second)
        seen = world.ticket("Seen")["id"]
        listening.hears("ticket.created", "ticket.created")
        assert [event["project_id"] for event in listening.heard] == [second, world.project]
        assert listening.heard[1]["ticket_id"] == seen


def test_who_joins_a_company_hears_it_in_the_same_stream(company: World) -> None:
    guest = Person(company.box, "Guest")
    ok(guest.web.post("/companies", json={"name": "Own"}))
    path = f"/companies/{company.company}/invitations"
    secret = ok(company.owner.web.post(path, json={"role": "viewer"}))["secret"]
    with listen(guest.client("read"), types="ticket.created") as listening:  # a new session ends the one before
        ok(guest.web.post(f"/invitations/accept/{secret}", json={}))
        company.ticket()
        listening.hears("ticket.created")


def test_a_revoked_token_ends_its_streams_and_nobody_elses(world: World) -> None:
    doomed, kept = world.owner.client("read", label="doomed"), world.owner.client("read")
    (token,) = [each for each in ok(world.owner.web.get("/tokens"))["items"] if each["label"] == "doomed"]
    with listen(doomed) as first, listen(doomed) as second, listen(kept) as third:
        ok(world.owner.web.delete(f"/tokens/{token['id']}"))
        first.ends()
        second.ends()
        turned_away(doomed, 401, "unauthorized")
        world.ticket()
        third.hears("ticket.created")
        assert first.heard == second.heard == []


@pytest.mark.parametrize("way", ["sign-out", "elsewhere", "password", "anew"])
def test_a_session_that_ends_takes_its_streams_along(world: World, way: str) -> None:
    guest = world.join("Guest")
    browser = world.box.client()
    signed = {"email": guest.email, "password": "correct horse battery"}
    session = ok(browser.post("/session", json=signed))["session_id"]
    with listen(browser) as listening, listen(guest.web) as kept:
        if way == "sign-out":
            ok(browser.delete("/session"))
        elif way == "elsewhere":
            ok(guest.web.delete(f"/sessions/{session}"))
        elif way == "password":
            given = {"current_password": signed["password"], "new_password": "a better one, longer"}
            ok(guest.web.post("/profile/password", json=given))
        else:
            ok(browser.post("/session", json=signed))
        listening.ends()
        world.ticket()
        kept.hears("ticket.created")


def test_a_removed_member_hears_nothing_more_and_the_stream_ends(world: World) -> None:
    guest = world.join("Guest")
    with listen(guest.web) as session, listen(guest.client("read")) as token:
        ok(world.owner.web.delete(f"/companies/{world.company}/members/{guest.id}"))
        session.ends()
        token.ends()
        assert session.heard == token.heard == []
    with listen(guest.web) as again:  # who is in no company hears nothing, and may ask
        world.ticket()
        again.close()
        assert again.heard == []


def test_a_token_that_the_command_line_revokes_ends_its_stream_at_the_next_heartbeat(company: World) -> None:
    doomed = company.owner.client("read", label="doomed")
    (token,) = [each for each in ok(company.owner.web.get("/tokens"))["items"] if each["label"] == "doomed"]
    with listen(doomed) as listening:
        done = ticketbox("token", "revoke", token["id"], db=company.box.db)
        assert done.returncode == 0, done.stderr
        listening.ends(3)


@pytest.mark.parametrize("carrier", ["token", "session"])
def test_a_credential_that_expires_ends_its_stream(company: World, carrier: str) -> None:
    guest = company.join("Guest")
    client = guest.web if carrier == "session" else guest.client("read")
    with listen(client) as listening:
        newest = "(SELECT max(id) FROM credential)"
        alter(company.box.db, f"UPDATE credential SET expires_at = created_at WHERE id = {newest}")
        listening.ends(3)


def test_a_disabled_account_hears_nothing_more(company: World) -> None:
    guest = company.join("Guest")
    with listen(guest.web) as listening:
        assert ticketbox("user", "disable", guest.email, db=company.box.db).returncode == 0
        listening.ends(3)


def test_what_another_process_writes_is_heard_at_the_next_heartbeat(company: World) -> None:
    with listen(company.owner.web, types="member.joined,member.changed,project.created") as listening:
        alter(
            company.box.db,
            "INSERT INTO event (type, company_id, byline_id, data, at)"
            " SELECT 'project.created', company_id, byline_id, '{}', at FROM event WHERE company_id = "
            "(SELECT id FROM company WHERE public_id = ?) LIMIT 1",
            company.company,
        )
        listening.hears("project.created", seconds=3)


def test_a_heartbeat_shows_that_somebody_is_there_and_moves_the_place_on(company: World) -> None:
    stranger = World(company.box, "Zoe")
    with listen(company.api) as listening:
        begun = listening.marks[0]
        started = time.monotonic()
        stranger.ticket()
        eventually(lambda: len(listening.marks) >= 4)
        assert time.monotonic() - started > 1  # the first mark is the opening's, and between two beats is half a second
        assert listening.marks[-1] > begun
        assert listening.heard == []
    raw = b""
    with company.api.stream("GET", "/events/stream") as answer:
        for part in answer.iter_raw():
            raw += part
            if raw.count(b"\n:\n") >= 2:
                break
    assert raw.startswith(b"retry: 2000\n\n:\nid: evt_")


def test_an_id_from_after_a_restore_is_said_to_be_wrong(world: World) -> None:
    """The file was restored from a backup: what the client holds may not be so any more, and it is told."""
    with listen(world.api, {"Last-Event-ID": "evt_00zzzzzzzzzz"}) as listening:
        assert listening.resets == 1
        world.ticket()
        listening.hears("ticket.created")
        assert listening.marks[0] < "evt_00zzzzzzzzzz"


@pytest.mark.parametrize("text", ["evt_1", "nonsense", "evt_iiiiiiiiiiii", "x" * 65])
def test_what_is_no_events_id_is_refused(world: World, text: str) -> None:
    problem = turned_away(world.api, 400, "invalid_request", {"Last-Event-ID": text})
    assert problem["errors"]
    turned_away(world.api, 400, "invalid_request", after=text)


@pytest.mark.parametrize("query", [{"last_event": "evt_000000000000"}, {"limit": "5"}, {"types": "ticket.exploded"}])
def test_what_the_stream_doesnt_take_is_refused(world: World, query: dict[str, Any]) -> None:
    turned_away(world.api, 400, "invalid_request", **query)


def test_another_operation_takes_no_last_event_id(world: World) -> None:
    refused(world.api.get("/events", headers={"Last-Event-ID": "evt_000000000000"}), 400, "invalid_request")


def test_a_stream_costs_one_read_however_long_it_lasts(company: World) -> None:
    client = company.owner.client("read")
    with listen(client) as listening:
        assert listening.response.headers["ratelimit"].startswith('"reads";r=599;')  # of 600
        for _ in range(5):
            company.ticket()
        listening.hears(*["ticket.created"] * 5)
        # this question is a read as well, and ten come back each second
        assert ok(client.get("/me"))["budgets"]["reads"]["remaining"] in {598, 599}


def test_too_many_streams_of_one_credential_are_refused_and_a_closed_one_makes_room(world: World) -> None:
    client, spare = world.owner.client("read"), world.owner.client("read")
    opened = [listen(client) for _ in range(MAX_LISTENERS_PER_CREDENTIAL)]
    try:
        problem = turned_away(client, 429, "rate_limited")
        assert "20 event streams" in problem["detail"]
        assert problem["retry_after"] == 10
        listen(spare).close()
        opened.pop().close()

        def room() -> bool:
            with client.stream("GET", "/events/stream") as answer:
                return answer.status_code == 200

        eventually(room)
    finally:
        for each in opened:
            each.close()


def test_too_many_streams_in_all_are_refused_for_now(company: World) -> None:
    clients = [company.owner.client("read") for _ in range(2)]
    opened = [listen(client) for client in clients for _ in range(15)]
    try:
        turned_away(company.owner.web, 503, "unavailable")
    finally:
        for each in opened:
            each.close()


def test_head_answers_without_staying(world: World) -> None:
    answer = world.api.head("/events/stream")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.content == b""


def test_the_document_says_what_the_stream_is(world: World) -> None:
    described = ok(world.api.get("/openapi.json"))["paths"]["/events/stream"]["get"]
    assert list(described["responses"]["200"]["content"]) == ["text/event-stream"]
    assert [(each["name"], each["in"]) for each in described["parameters"]] == [
        ("after", "query"), ("types", "query"), ("Last-Event-ID", "header"),
    ]  # fmt: skip

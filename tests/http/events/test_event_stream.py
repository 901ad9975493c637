"""The live stream of events: who receives what, where it resumes, and when it ends (docs/use/events.md)."""

import time
from typing import Any

import httpx
import pytest

from tests.support.event_stream import expect_stream_error, insert_event, open_stream
from tests.support.operation_cases import update_row
from tests.support.server import Person, World, eventually, expect_error, ok, ticketbox
from ticketbox.operations.core.live.listeners import MAX_LISTENERS_PER_CREDENTIAL


def test_token_and_session_receive_a_change_immediately(world: World) -> None:
    with open_stream(world.owner.client("read")) as token, open_stream(world.owner.web) as session:
        assert token.response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert token.response.headers["cache-control"] == "no-store"
        started = time.monotonic()
        ticket = world.ticket()["id"]
        token.hears("ticket.created")
        session.hears("ticket.created")
        assert time.monotonic() - started < 15  # a heartbeat would come after 20 s
        ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": "Look"}))
        ok(world.api.post(f"/tickets/{ticket}/archive"))
        token.hears("ticket.created", "comment.created", "ticket.archived")
        assert token.heard == ok(world.api.get("/events", params={"after": token.marks[0]}))["items"]


def test_stream_starts_now_or_after_a_known_event(world: World) -> None:
    world.ticket("Before")
    first = ok(world.api.get("/events", params={"types": "ticket.created"}))["items"][0]["id"]
    world.ticket("Second")
    with open_stream(world.api) as now, open_stream(world.api, after=first) as after:
        world.ticket("Third")
        now.hears("ticket.created")
        after.hears("ticket.created", "ticket.created")


def test_client_resumes_after_its_last_event_id(world: World) -> None:
    for title in ("One", "Two", "Three"):
        world.ticket(title)
    known = [each["id"] for each in ok(world.api.get("/events", params={"types": "ticket.created"}))["items"]]
    with open_stream(world.api, {"Last-Event-ID": known[1]}, after=known[0]) as listening:
        listening.hears("ticket.created")
        assert listening.heard[0]["id"] == known[2]


def test_many_reconnections_miss_and_repeat_nothing(world: World) -> None:
    last, heard = "", []
    with open_stream(world.api) as listening:
        last = listening.marks[0]
    for number in range(6):
        tickets = [world.ticket(f"{number}.{each}")["id"] for each in range(3)]
        with open_stream(world.api, {"Last-Event-ID": last}) as listening:
            more = world.ticket(f"{number} live")["id"]
            listening.hears(*["ticket.created"] * 4)
            assert [event["ticket_id"] for event in listening.heard] == [*tickets, more]
            heard += listening.heard
            last = listening.heard[-1]["id"]
    assert len({event["id"] for event in heard}) == 24


def test_long_backlog_is_delivered_completely(world: World) -> None:
    first = ok(world.api.get("/events", params={"limit": 1}))["items"][0]["id"]
    ticket = world.ticket()["id"]
    for number in range(120):
        ok(world.owner.web.post(f"/tickets/{ticket}/comments", json={"body": f"Comment {number}"}))
    with open_stream(world.api, after=first, types="comment.created") as listening:
        listening.hears(*["comment.created"] * 120)


def test_only_requested_types_are_delivered(world: World) -> None:
    with open_stream(world.api, types="ticket.archived,ticket.restored") as listening:
        ticket = world.ticket()["id"]
        ok(world.api.post(f"/tickets/{ticket}/archive"))
        ok(world.api.post(f"/tickets/{ticket}/restore"))
        listening.hears("ticket.archived", "ticket.restored")


def test_stream_contains_only_what_the_caller_can_see(world: World, other: World) -> None:
    second = world.new_project("Second")
    guest = world.join("Guest", "viewer", [second])
    pinned = world.owner.client("read", company_id=world.company, project_ids=[second])
    with open_stream(guest.web) as kept, open_stream(pinned) as restricted, open_stream(other.api) as stranger:
        world.ticket("Out of sight")
        ok(world.owner.web.patch(f"/companies/{world.company}", json={"name": "Renamed"}))
        world.ticket("In sight", project_id=second)
        kept.hears("ticket.created")
        restricted.hears("ticket.created")
        assert {event["project_id"] for event in kept.heard + restricted.heard} == {second}
        other.ticket()
        stranger.hears("ticket.created")
        assert stranger.heard[0]["company_id"] == other.company


def test_changed_visibility_applies_from_the_next_event(world: World) -> None:
    second = world.new_project("Second")
    guest = world.join("Guest", "viewer", [second])
    path = f"/companies/{world.company}/members/{guest.id}"
    with open_stream(guest.web, types="ticket.created") as listening:
        world.ticket("Unseen")
        world.ticket("Seen", project_id=second)
        listening.hears("ticket.created")
        ok(world.owner.web.patch(path, json={"project_ids": [world.project]}))
        world.ticket("Unseen as well", project_id=second)
        seen = world.ticket("Seen")["id"]
        listening.hears("ticket.created", "ticket.created")
        assert [event["project_id"] for event in listening.heard] == [second, world.project]
        assert listening.heard[1]["ticket_id"] == seen


def test_joining_a_company_is_heard_in_the_same_stream(company: World) -> None:
    guest = Person(company.box, "Guest")
    ok(guest.web.post("/companies", json={"name": "Own"}))
    path = f"/companies/{company.company}/invitations"
    secret = ok(company.owner.web.post(path, json={"role": "viewer"}))["secret"]
    with open_stream(guest.client("read"), types="ticket.created") as listening:  # a new session ends the one before
        ok(guest.web.post(f"/invitations/accept/{secret}", json={}))
        company.ticket()
        listening.hears("ticket.created")


def test_revoked_token_ends_only_its_own_streams(world: World) -> None:
    doomed, kept = world.owner.client("read", label="doomed"), world.owner.client("read")
    token = world.owner.find_token("doomed")
    with open_stream(doomed) as first, open_stream(doomed) as second, open_stream(kept) as third:
        ok(world.owner.web.delete(f"/tokens/{token}"))
        first.ends()
        second.ends()
        expect_stream_error(doomed, 401, "unauthorized")
        world.ticket()
        third.hears("ticket.created")
        assert first.heard == second.heard == []


@pytest.mark.parametrize("way", ["sign-out", "elsewhere", "password", "again"])
def test_ended_session_ends_its_streams(world: World, way: str) -> None:
    guest = world.join("Guest")
    browser = world.box.client()
    signed = {"email": guest.email, "password": "correct horse battery"}
    session = ok(browser.post("/session", json=signed))["session_id"]
    with open_stream(browser) as listening, open_stream(guest.web) as kept:
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


def test_removed_member_receives_nothing_more_and_the_stream_ends(world: World) -> None:
    guest = world.join("Guest")
    with open_stream(guest.web) as session, open_stream(guest.client("read")) as token:
        ok(world.owner.web.delete(f"/companies/{world.company}/members/{guest.id}"))
        session.ends()
        token.ends()
        assert session.heard == token.heard == []
    with open_stream(guest.web) as again:  # who is in no company hears nothing, and may ask
        world.ticket()
        again.close()
        assert again.heard == []


def test_token_revoked_on_the_command_line_ends_its_stream_at_the_next_heartbeat(company: World) -> None:
    doomed = company.owner.client("read", label="doomed")
    token = company.owner.find_token("doomed")
    with open_stream(doomed) as listening:
        done = ticketbox("token", "revoke", token, db=company.box.db)
        assert done.returncode == 0, done.stderr
        listening.ends()


@pytest.mark.parametrize("carrier", ["token", "session"])
def test_expired_credential_ends_its_stream(company: World, carrier: str) -> None:
    guest = company.join("Guest")
    client = guest.web if carrier == "session" else guest.client("read")
    with open_stream(client) as listening:
        newest = "(SELECT max(id) FROM credential)"
        update_row(company.box.db, f"UPDATE credential SET expires_at = created_at WHERE id = {newest}")
        listening.ends()


def test_disabled_account_receives_nothing_more(company: World) -> None:
    guest = company.join("Guest")
    with open_stream(guest.web) as listening:
        assert ticketbox("user", "disable", guest.email, db=company.box.db).returncode == 0
        listening.ends()


def test_event_written_by_another_process_is_delivered_at_the_next_heartbeat(company: World) -> None:
    with open_stream(company.owner.web, types="member.joined,member.changed,project.created") as listening:
        insert_event(company)
        listening.hears("project.created")


def test_heartbeat_moves_the_position_forward(company: World) -> None:
    stranger = World(company.box, "Zoe")
    started = time.monotonic()
    with open_stream(company.api) as listening:
        begun = listening.marks[0]
        stranger.ticket()
        eventually(lambda: len(listening.marks) >= 4 and listening.marks[-1] > begun)
        assert time.monotonic() - started > 1  # the first mark is the opening's, and between two beats is half a second
        assert listening.heard == []
    raw = b""
    with company.api.stream("GET", "/events/stream") as answer:
        for part in answer.iter_raw():
            raw += part
            if raw.count(b"\n:\n") >= 2:
                break
    assert raw.startswith(b"retry: 2000\n\n:\nid: evt_")


def test_event_id_from_after_a_restore_resets_the_stream(world: World) -> None:
    """The file was restored from a backup, so the client's state may be wrong: it gets a reset."""
    with open_stream(world.api, {"Last-Event-ID": "evt_00zzzzzzzzzz"}) as listening:
        assert listening.resets == 1
        world.ticket()
        listening.hears("ticket.created")
        assert listening.marks[0] < "evt_00zzzzzzzzzz"


@pytest.mark.parametrize("text", ["evt_1", "nonsense", "evt_iiiiiiiiiiii", "x" * 65])
def test_invalid_event_id_is_rejected(world: World, text: str) -> None:
    problem = expect_stream_error(world.api, 400, "invalid_request", {"Last-Event-ID": text})
    assert problem["errors"]
    expect_stream_error(world.api, 400, "invalid_request", after=text)


@pytest.mark.parametrize("query", [{"last_event": "evt_000000000000"}, {"limit": "5"}, {"types": "ticket.exploded"}])
def test_unsupported_parameters_are_rejected(world: World, query: dict[str, Any]) -> None:
    expect_stream_error(world.api, 400, "invalid_request", **query)


def test_other_operations_reject_last_event_id(world: World) -> None:
    expect_error(world.api.get("/events", headers={"Last-Event-ID": "evt_000000000000"}), 400, "invalid_request")


def test_stream_costs_one_read(company: World) -> None:
    client = company.owner.client("read")
    with open_stream(client) as listening:
        assert listening.response.headers["ratelimit"].startswith('"reads";r=599;')  # of 600
        for _ in range(5):
            company.ticket()
        listening.hears(*["ticket.created"] * 5)
        # this question is a read as well, and ten come back each second
        assert ok(client.get("/me"))["budgets"]["reads"]["remaining"] in {598, 599}


def test_too_many_streams_of_one_credential_are_rejected_until_one_closes(world: World) -> None:
    client, spare = world.owner.client("read"), world.owner.client("read")
    opened = [open_stream(client) for _ in range(MAX_LISTENERS_PER_CREDENTIAL)]
    try:
        problem = expect_stream_error(client, 429, "rate_limited")
        assert "20 open event streams" in problem["detail"]
        assert problem["retry_after"] == 10
        open_stream(spare).close()
        opened.pop().close()

        def room() -> bool:
            with client.stream("GET", "/events/stream") as answer:
                return answer.status_code == 200

        eventually(room)
    finally:
        for each in opened:
            each.close()


def test_too_many_streams_in_total_are_rejected(company: World) -> None:
    no_streams = "ticketbox_event_streams 0.0"
    eventually(lambda: no_streams in httpx.get(f"{company.box.url}/metrics").text)  # those of earlier tests ended
    clients = [company.owner.client("read") for _ in range(2)]
    opened = [open_stream(client) for client in clients for _ in range(15)]
    try:
        expect_stream_error(company.owner.web, 503, "unavailable")
    finally:
        for each in opened:
            each.close()


def test_head_returns_immediately(world: World) -> None:
    answer = world.api.head("/events/stream")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.content == b""


def test_openapi_describes_the_stream(world: World) -> None:
    described = ok(world.api.get("/openapi.json"))["paths"]["/events/stream"]["get"]
    assert list(described["responses"]["200"]["content"]) == ["text/event-stream"]
    assert [(each["name"], each["in"]) for each in described["parameters"]] == [
        ("after", "query"), ("types", "query"), ("stream", "query"), ("Last-Event-ID", "header"),
    ]  # fmt: skip

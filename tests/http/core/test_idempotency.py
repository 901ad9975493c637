"""Idempotency-Key: a repeat within 24 hours returns the first response and creates nothing."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.operation_cases import (
    CASES,
    NEEDS_EMAIL,
    WRITING,
    Stage,
    build_parts,
    build_request,
    capture_arguments,
    operations,
    read_contents,
    read_only,
    update_row,
)
from tests.support.server import World, expect_error, ok
from ticketbox.operations.core.registry import Operation

TAKING = [
    each for each in operations() if each.accepts_idempotency_key and not each.secret and each.name not in NEEDS_EMAIL
]
REST = [each for each in operations() if not each.accepts_idempotency_key]


def test_operations_that_accept_a_key() -> None:
    """Every create does, but those whose answer holds a secret that is kept nowhere, and one that replaces."""
    without = {each.name for each in operations() if each.creates and not each.accepts_idempotency_key}
    assert without == {
        "create_token", "create_invitation", "accept_invitation", "create_session", "create_webhook",
        "create_report_key", "create_report", "create_git_hook", "upload_source_map",
        "add_passkey", "sign_in_with_passkey",
    }  # fmt: skip


def send_with_key(client: httpx.Client, declared: Operation, arguments: dict[str, object], key: str) -> httpx.Response:
    request = build_request(client, declared, arguments)
    request.headers["Idempotency-Key"] = key
    return client.send(request)


@pytest.mark.parametrize("declared", TAKING, ids=[each.name for each in TAKING])
def test_repeat_returns_the_first_response_and_creates_nothing(world: World, declared: Operation) -> None:
    client = world.api if declared.scope in {"tickets:write", "comments"} else world.owner.web
    arguments = CASES[declared.name].arguments(world)
    first = send_with_key(client, declared, arguments, "once")
    assert first.status_code == 201, first.text
    before = read_contents(world.box.db)
    again = send_with_key(client, declared, arguments, "once")
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert read_contents(world.box.db) == before


def make(client: httpx.Client, world: World, title: str, **headers: str) -> httpx.Response:
    return client.post("/tickets", json={"project_id": world.project, "title": title}, headers=headers)


def test_same_key_with_different_input_is_a_conflict(world: World) -> None:
    first = ok(make(world.api, world, "One", **{"Idempotency-Key": "k"}))
    expect_error(make(world.api, world, "Two", **{"Idempotency-Key": "k"}), 409, "conflict")
    path = f"/tickets/{first['id']}/comments"
    expect_error(world.api.post(path, json={"body": "x"}, headers={"Idempotency-Key": "k"}), 409, "conflict")
    assert len(ok(world.api.get("/tickets"))["items"]) == 1


def test_field_order_does_not_change_the_input(world: World) -> None:
    one = json.dumps({"project_id": world.project, "title": "x", "labels": ["a"]})
    two = json.dumps({"labels": ["a"], "title": "x", "priority": "none", "project_id": world.project})
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    first = ok(world.api.post("/tickets", content=one, headers=headers))
    assert ok(world.api.post("/tickets", content=two, headers=headers)) == first


def test_different_file_is_different_input(world: World) -> None:
    path, headers = f"/tickets/{world.ticket()['id']}/attachments", {"Idempotency-Key": "k"}
    first = ok(world.api.post(path, files={"file": ("a.txt", b"one")}, headers=headers))
    assert ok(world.api.post(path, files={"file": ("a.txt", b"one")}, headers=headers)) == first
    expect_error(world.api.post(path, files={"file": ("a.txt", b"two")}, headers=headers), 409, "conflict")


def test_key_belongs_to_its_credential(world: World) -> None:
    clients = [world.api, world.owner.client(*WRITING), world.owner.web, world.join("Bob").client(*WRITING)]
    result = {ok(make(client, world, "Same", **{"Idempotency-Key": "k"}))["id"] for client in clients}
    assert len(result) == len(clients)


def test_errors_are_not_stored(world: World) -> None:
    headers = {"Idempotency-Key": "k"}
    wrong = {"project_id": "proj_000000000000", "title": "x"}
    expect_error(world.api.post("/tickets", json=wrong, headers=headers), 404, "not_found")
    ok(make(world.api, world, "x", **headers))


def test_key_is_valid_for_a_day(world: World) -> None:
    headers = {"Idempotency-Key": f"day-{world.company}"}
    first = ok(make(world.api, world, "x", **headers))
    age = "UPDATE idempotency SET created_at = created_at - ? WHERE key = ?"
    update_row(world.box.db, age, 23 * 3_600_000, headers["Idempotency-Key"])
    assert ok(make(world.api, world, "x", **headers))["id"] == first["id"]
    update_row(world.box.db, age, 3_600_001, headers["Idempotency-Key"])
    assert ok(make(world.api, world, "x", **headers))["id"] != first["id"]


def test_concurrent_requests_with_one_key_create_one_row(world: World) -> None:
    secret, start = world.owner.token(*WRITING), threading.Barrier(8)

    def send(_: int) -> httpx.Response:
        with world.box.client(secret) as client:
            start.wait()
            return make(client, world, "Concurrent", **{"Idempotency-Key": "k"})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(ok(world.api.get("/tickets"))["items"]) == 1


def test_concurrent_captures_with_one_id_create_one_ticket(world: World) -> None:
    secret, start = world.owner.token(*WRITING), threading.Barrier(6)
    arguments = capture_arguments(world.project)

    def send(_: int) -> httpx.Response:
        with world.box.client(secret) as client:
            start.wait()
            return client.post("/captures", files=build_parts(arguments))

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(send, range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [201]
    assert len({answer.text for answer in answers}) == 1
    assert len(ok(world.api.get("/tickets"))["items"]) == 1


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_key_length_is_bounded(stage: Stage, key: str) -> None:
    expect_error(make(stage.api, stage, "Unheard of", **{"Idempotency-Key": key}), 400, "invalid_request")
    assert ok(stage.api.get("/search", params={"q": "Unheard of"}))["items"] == []


def test_two_keys_are_rejected(world: World) -> None:
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    answer = world.api.post("/tickets", json={"project_id": world.project, "title": "x"}, headers=headers)
    expect_error(answer, 400, "invalid_request")


def test_key_in_the_body_is_an_unknown_field(world: World) -> None:
    given = {"project_id": world.project, "title": "x", "idempotency_key": "k"}
    expect_error(world.api.post("/tickets", json=given), 400, "invalid_request")


@pytest.mark.parametrize("declared", REST, ids=[each.name for each in REST])
def test_key_is_rejected_where_it_has_no_effect(stage: Stage, declared: Operation) -> None:
    """A client that sends a key assumes that a repeat is safe."""
    client = stage.owner.web
    request = build_request(client, declared, stage.arguments(declared))
    request.headers["Idempotency-Key"] = "k"
    problem = expect_error(client.send(request), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "Idempotency-Key"


UNGUARDED = [each for each in operations() if each.writes and not each.accepts_expected_version]


@pytest.mark.parametrize("declared", UNGUARDED, ids=[each.name for each in UNGUARDED])
def test_if_match_is_rejected_where_it_has_no_effect(stage: Stage, declared: Operation) -> None:
    client = stage.owner.web
    request = build_request(client, declared, stage.arguments(declared))
    request.headers["If-Match"] = '"1"'
    problem = expect_error(client.send(request), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "If-Match"


def test_stored_response_contains_no_secret(world: World) -> None:
    ok(make(world.api, world, "x", **{"Idempotency-Key": "k"}))
    connection = read_only(world.box.db)
    try:
        answers = [answer for (answer,) in connection.execute("SELECT answer FROM idempotency")]
    finally:
        connection.close()
    assert answers
    assert not any(b"tok_" in answer for answer in answers)

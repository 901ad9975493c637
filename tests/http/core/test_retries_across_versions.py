"""Retries with the Idempotency-Key of a call that an earlier version answered, whose fields were others."""

import contextlib
import hashlib
import json
import sqlite3
from typing import Any

import httpx
import msgspec
import pytest

from tests.support.mcp_client import call_tool
from tests.support.server import Box, World, expect_error, ok


def read_stored(box: Box, key: str) -> tuple[bytes, dict[str, Any]]:
    """The fingerprint and the answer that are stored under a key."""
    with contextlib.closing(sqlite3.connect(box.db)) as connection:
        row = connection.execute("SELECT fingerprint, answer FROM idempotency WHERE key = ?", (key,)).fetchone()
    return row[0], json.loads(row[1])


def change_stored(box: Box, key: str, fingerprint: bytes, answer: dict[str, Any]) -> None:
    """Store them as another version would have."""
    with contextlib.closing(sqlite3.connect(box.db)) as connection, connection:
        connection.execute(
            "UPDATE idempotency SET fingerprint = ?, answer = ? WHERE key = ?",
            (fingerprint, json.dumps(answer).encode(), key),
        )


def compute_fingerprint(operation: str, sent: dict[str, Any]) -> bytes:
    """The digest of what was sent, whichever fields the operation has."""
    return hashlib.sha256(msgspec.json.encode([operation, sent], order="deterministic")).digest()


def give_earlier_shape(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without a field that this version requires, and with one that it doesn't have any more."""
    required = "verification" if "verification" in answer else "edited_at"
    return {name: value for name, value in answer.items() if name != required} | {"votes": 7}


def post(world: World, path: str, key: str, body: dict[str, Any]) -> httpx.Response:
    """Send a call with a key."""
    return world.api.post(path, json=body, headers={"Idempotency-Key": key})


@pytest.mark.parametrize("kind", ["ticket", "comment"])
def test_answer_of_an_earlier_version_is_repeated_as_it_was(box: Box, world: World, kind: str) -> None:
    path, body = "/tickets", {"project_id": world.project, "title": "Once"}
    if kind == "comment":
        path, body = f"/tickets/{world.ticket()['id']}/comments", {"body": "Once"}
    first = ok(post(world, path, f"shape-{kind}", body))
    fingerprint, answer = read_stored(box, f"shape-{kind}")
    earlier = give_earlier_shape(answer)
    change_stored(box, f"shape-{kind}", fingerprint, earlier)
    again = post(world, path, f"shape-{kind}", body)
    assert (again.status_code, again.json()) == (201, earlier)
    assert again.json()["id"] == first["id"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers.get("ETag") == (f'"{first["version"]}"' if kind == "ticket" else None)


def test_only_what_was_sent_is_compared_and_not_the_fields_of_this_version(box: Box, world: World) -> None:
    body = {"project_id": world.project, "title": "Once"}
    ok(post(world, "/tickets", "added", body))
    assert read_stored(box, "added")[0] == compute_fingerprint("create_ticket", body)
    ok(post(world, "/tickets", "added", {**body, "labels": []}))  # a default counts as not sent
    expect_error(post(world, "/tickets", "added", {**body, "title": "Other"}), 409, "conflict")


def test_call_with_a_removed_field_gets_its_answer_and_others_are_refused(box: Box, world: World) -> None:
    body = {"project_id": world.project, "title": "Once"}
    sent = {**body, "estimate": 3}  # which an earlier version accepted
    expect_error(post(world, "/tickets", "removed", sent), 400, "invalid_request")
    first = ok(post(world, "/tickets", "removed", body))
    _, answer = read_stored(box, "removed")
    change_stored(box, "removed", compute_fingerprint("create_ticket", sent), give_earlier_shape(answer))
    again = post(world, "/tickets", "removed", sent)
    assert (again.status_code, again.json()["id"]) == (201, first["id"])
    assert again.headers["Idempotency-Replayed"] == "true"
    for wrong in ({**sent, "estimate": 4}, {**body, "colour": "red"}):
        expect_error(post(world, "/tickets", "removed", wrong), 400, "invalid_request")


def test_tool_repeats_an_answer_of_an_earlier_version(box: Box, world: World) -> None:
    token = world.owner.token("tickets:write")
    given = {"project_id": world.project, "title": "Once", "idempotency_key": "tool"}
    first = call_tool(world, token, "create_ticket", given)
    fingerprint, answer = read_stored(box, "tool")
    change_stored(box, "tool", fingerprint, give_earlier_shape(answer))
    again = call_tool(world, token, "create_ticket", given)
    assert again["structuredContent"]["id"] == first["structuredContent"]["id"]

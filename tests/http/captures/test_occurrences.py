"""Occurrences: how often the bug of a ticket was seen."""

import pytest

from tests.support.server import World, expect_error, ok


def test_new_ticket_has_one_occurrence_and_each_call_counts_another(world: World) -> None:
    ticket = world.ticket()["id"]
    before = ok(world.api.get(f"/tickets/{ticket}"))
    assert before["occurrences"] == 1
    path = f"/tickets/{ticket}/occurrences"
    assert ok(world.api.post(path)) == {"ticket_id": ticket, "occurrences": 2, "resolved": False}
    same = {"Idempotency-Key": "run-7"}
    assert [ok(world.api.post(path, headers=same))["occurrences"] for _ in range(2)] == [3, 3]
    after = ok(world.api.get(f"/tickets/{ticket}", params={"include": "history"}))
    assert (after["occurrences"], after["version"]) == (3, before["version"])
    events = [each for each in after["history"] if each["type"] == "ticket.occurred"]
    assert [each["data"]["occurrences"] for each in events] == [2, 3]


def test_archived_ticket_counts_no_occurrence(world: World) -> None:
    ticket = world.ticket()["id"]
    ok(world.api.post(f"/tickets/{ticket}/archive"))
    expect_error(world.api.post(f"/tickets/{ticket}/occurrences"), 409, "ticket_archived")
    assert ok(world.api.get(f"/tickets/{ticket}", params={"status": "all"}))["occurrences"] == 1


@pytest.mark.parametrize("ticket", ["t-00000000", "NONE-1"])
def test_occurrence_of_an_unknown_ticket_is_refused(world: World, ticket: str) -> None:
    expect_error(world.api.post(f"/tickets/{ticket}/occurrences"), 404, "not_found")

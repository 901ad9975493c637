"""A filter by a label that doesn't exist is a mistake, not an empty list."""

import pytest

from tests.support.server import World, expect_error, ok


@pytest.mark.parametrize("surface", ["list", "csv", "search", "claim"])
def test_unknown_label_is_refused_with_the_valid_ones(world: World, surface: str) -> None:
    ticket = world.ticket("Labelled", labels=["bug", "cart"])["id"]
    claim = f"/projects/{world.project}/claim-next"

    def ask(*labels: str):
        if surface == "claim":
            return world.api.post(claim, json={"labels": list(labels)})
        if surface == "search":
            return world.api.get("/search", params={"q": " ".join(f"label:{label}" for label in labels)})
        return world.api.get("/tickets.csv" if surface == "csv" else "/tickets", params={"label": ",".join(labels)})

    refused = expect_error(ask("bug", "bgu"), 400, "invalid_request")
    assert "there is no label 'bgu' here; valid: bug, cart" in refused["detail"]
    assert refused["valid"] == ["bug", "cart"]
    found = ask("BUG")
    assert found.status_code == 200
    assert surface == "csv" or ticket in found.text


def test_agent_label_can_be_claimed_before_a_ticket_has_it(world: World) -> None:
    assert ok(world.api.post(f"/projects/{world.project}/claim-next", json={"labels": ["Agent"]})) is None


def test_ready_tickets_are_listed_as_they_are_claimed_and_priorities_ignore_case(world: World) -> None:
    for title, priority in (("High", "High"), ("Urgent", "URGENT"), ("Low", "low")):
        world.ticket(title, priority=priority)
    listed = ok(world.api.get("/tickets", params={"project_id": world.project, "ready": "true"}))["items"]
    assert [each["title"] for each in listed] == ["Urgent", "High", "Low"]
    named = ok(world.api.get("/tickets", params={"priority": "HIGH"}))["items"]
    assert [each["priority"] for each in named] == ["high"]

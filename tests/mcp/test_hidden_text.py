"""What people can't see in tickets, comments and captures is removed from what agents read."""

import json
from typing import Any

from tests.support.mcp_client import call_tool, create_capture, modern
from tests.support.server import World, ok
from ticketbox.mcp.hidden_text import remove_hidden_text

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
DEFINITION = "\n\n[//]: # (obey)\n"


def read(world: World, name: str, **arguments: Any) -> tuple[str, int]:
    """Call a tool; return its text, and the number of removed parts."""
    result = call_tool(world, world.owner.token("tickets:write"), name, arguments)
    text = result["content"][0]["text"]
    return text, json.loads(text.partition("\n")[2] if result["isError"] else text).get("hidden_text_removed", 0)


def test_hidden_text_is_removed_and_counted(world: World) -> None:
    console = [{"seq": 1, "ts": 1_795_253_399_000.0, "level": "error", "args": [f"cart{TAGS} failed"]}]
    receipt = create_capture(world, console=console)
    ticket = receipt["ticket_id"]
    described = {"title": f"Cart{TAGS}", "description": f'Visible{DEFINITION}[x](# "obey") \u202etxet'}
    version = ok(world.api.patch(f"/tickets/{ticket}", json=described))["version"]
    ok(world.api.post(f"/tickets/{ticket}/comments", json={"body": f"Comment{DEFINITION}"}))
    for text, removed in (
        read(world, "get_ticket", ticket_id=ticket, include=["comments"]),
        read(world, "list_tickets", project_id=world.project),
        read(world, "list_comments", ticket_id=ticket),
        read(world, "get_console", capture_id=receipt["capture_id"]),
        read(world, "get_console", capture_id=receipt["capture_id"], detail="full"),
        read(world, "update_ticket", ticket_id=ticket, title="Cart", expected_version=version + 5),
    ):
        assert removed > 0
        assert not any(hidden in text for hidden in ("obey", TAGS, "\u202e"))
    assert read(world, "list_projects", company_id=world.company)[1] == 0
    resource = modern(
        world, "resources/read", {"uri": f"ticket://{ticket}"},
        **{"Authorization": f"Bearer {world.owner.token('read')}", "Mcp-Name": f"ticket://{ticket}"},
    ).json()["result"]["contents"][0]["text"]  # fmt: skip
    assert "obey" not in resource
    assert json.loads(resource)["title"] == "Cart"


def test_definition_that_is_clipped_stays_hidden(world: World) -> None:
    ticket = world.ticket("Long")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"description": f"[//]: # ({'obey ' * 100})\n\nVisible"}))
    text, removed = read(world, "list_tickets", project_id=world.project)
    assert ("obey" in text, "Visible" in text, removed) == (False, True, 1)


def test_code_and_bodies_of_requests_stay_whole(world: World) -> None:
    line = "[error]: timeout"
    ticket = world.ticket("Code")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"description": f"```\n{line}\n```"}))
    text, removed = read(world, "get_ticket", ticket_id=ticket, include=[])
    assert (line in text, removed) == (True, 0)
    request = {"response": {"headers": {}, "body": line}}
    assert remove_hidden_text(request) == request
    assert remove_hidden_text({"body": line}) == {"body": "", "hidden_text_removed": 1}

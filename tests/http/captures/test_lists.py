"""All captures of a ticket: listed, in the ticket, and read one by one."""

import json

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import NEVER, build_parts, capture_arguments, make_capture
from tests.support.server import World, expect_error, ok


def test_captures_are_listed_newest_first(world: World) -> None:
    first = make_capture(world)
    ticket = first["ticket_id"]
    ids = [make_capture(world, ticket_id=ticket, project_id=None)["capture_id"] for _ in range(2)][::-1]
    ids.append(first["capture_id"])
    page = ok(world.api.get(f"/tickets/{ticket}/captures", params={"limit": 2}))
    rest = ok(world.api.get(f"/tickets/{ticket}/captures", params={"limit": 2, "cursor": page["next_cursor"]}))
    assert [each["id"] for each in page["items"] + rest["items"]] == ids
    assert (page["items"][0]["page"]["url"], rest["next_cursor"]) == ("https://shop.example/cart", None)
    detail = ok(world.api.get(f"/tickets/{ticket}"))
    assert [each["id"] for each in detail["captures"]] == ids
    assert detail["capture"]["id"] == ids[0]
    assert ok(world.api.get(f"/tickets/{world.ticket()['id']}/captures"))["items"] == []


def test_ticket_shows_its_newest_capture_with_a_replay_then_with_a_screenshot(world: World) -> None:
    def send(*left_out: str) -> str:
        arguments = capture_arguments(world.project, ticket_id=ticket, **({"project_id": None} if ticket else {}))
        parts = {name: value for name, value in arguments.items() if name not in left_out}
        return ok(world.api.post("/captures", files=build_parts(parts)))["capture_id"]

    def show(**query: str) -> str:
        return ok(world.api.get(f"/tickets/{ticket}", params=query))["capture"]["id"]

    made = make_capture(world)
    ticket, whole = made["ticket_id"], made["capture_id"]
    bare, pictured = send("replay", "screenshot"), send("replay")
    assert show() == whole
    assert show(capture_id=bare) == bare
    listed = {each["id"]: each for each in ok(world.api.get("/tickets"))["items"]}
    assert listed[ticket]["capture"]["id"] == whole
    ok(world.owner.web.delete(f"/captures/{whole}"))
    assert show() == pictured
    ok(world.owner.web.delete(f"/captures/{pictured}"))
    assert show() == bare
    other = make_capture(world)["capture_id"]
    expect_error(world.api.get(f"/tickets/{ticket}", params={"capture_id": other}), 400, "invalid_request")
    expect_error(world.api.get(f"/tickets/{ticket}", params={"capture_id": NEVER["capture"]}), 404, "not_found")


def test_each_capture_has_its_screenshot(world: World) -> None:
    first = make_capture(world)
    ticket, old = first["ticket_id"], first["capture_id"]
    new = make_capture(world, ticket_id=ticket, project_id=None)["capture_id"]
    older, newer = (ok(world.api.get(f"/tickets/{ticket}/captures"))["items"][place] for place in (1, 0))
    assert older["screenshot_id"] != newer["screenshot_id"]
    for chosen in ({}, {"capture_id": old}, {"capture_id": new}):
        answer = world.api.get(f"/tickets/{ticket}/screenshot", params=chosen)
        assert answer.headers["content-type"] == "image/png"
    other = make_capture(world)["capture_id"]
    expect_error(world.api.get(f"/tickets/{ticket}/screenshot", params={"capture_id": other}), 400, "invalid_request")
    expect_error(
        world.api.get(f"/tickets/{ticket}/screenshot", params={"capture_id": NEVER["capture"]}), 404, "not_found"
    )


def test_agent_reads_earlier_captures(world: World) -> None:
    first = make_capture(world)
    ticket, old = first["ticket_id"], first["capture_id"]
    token = world.owner.token("read")
    alone = json.loads(call_tool(world, token, "get_ticket", {"ticket_id": ticket})["content"][0]["text"])
    assert "captures" not in alone
    new = make_capture(world, ticket_id=ticket, project_id=None)["capture_id"]
    found = json.loads(call_tool(world, token, "get_ticket", {"ticket_id": ticket})["content"][0]["text"])
    assert [each["id"] for each in found["captures"]] == [new, old]
    listed = call_tool(world, token, "list_captures", {"ticket_id": ticket})["structuredContent"]["items"]
    assert [each["id"] for each in listed] == [new, old]
    (picture,) = [
        part for part in call_tool(world, token, "get_screenshot", {"capture_id": old})["content"]
        if part["type"] == "image"
    ]  # fmt: skip
    assert picture["mimeType"] == "image/png"
    nothing = call_tool(world, token, "get_screenshot", {})["structuredContent"]
    assert nothing["errors"][0]["field"] == "ticket_id"


def test_ticket_shows_the_question_that_waits_for_an_answer(world: World) -> None:
    ticket = world.ticket()["id"]
    lease = ok(world.api.post(f"/tickets/{ticket}/work", json={}))["lease"]
    given = {"lease": lease, "question": "Drop v1?", "choices": ["Yes", "No"]}
    question = ok(world.api.post(f"/tickets/{ticket}/work/questions", json=given))
    assert ok(world.api.get(f"/tickets/{ticket}"))["questions"] == [question]
    text = call_tool(world, world.owner.token("read"), "get_ticket", {"ticket_id": ticket})["content"][0]["text"]
    assert json.loads(text)["questions"][0]["question"] == "Drop v1?"
    ok(world.owner.web.post(f"/questions/{question['id']}/answer", json={"answer": "Yes"}))
    assert ok(world.api.get(f"/tickets/{ticket}"))["questions"] == []

"""The stream of actions: stored, or left out by the policy."""

import json
from typing import Any

from tests.support.mcp_client import call_tool
from tests.support.operation_cases import build_parts, capture_arguments
from tests.support.server import World, expect_error, ok

ACTIONS: list[dict[str, Any]] = [
    {"seq": 1, "ts": 1_795_253_390_000, "kind": "navigate", "url": "https://shop.example/cart?token=Zq9xW7vK2mP4sT8u"},
    {"seq": 2, "ts": 1_795_253_395_000, "kind": "input", "target": {"role": "textbox", "name": "Code"},
     "value_kind": "text 1–10"},
    {"seq": 3, "ts": 1_795_253_399_000, "kind": "click", "synthetic": True,
     "target": {"role": "button", "name": "Pay", "selectors": ['role=button[name="Pay"s]', "#pay"]}},
]  # fmt: skip
STEPS = ["Opened /cart?token=[redacted]", "Typed 1–10 characters into “Code”", "Clicked button “Pay” (by a script)"]


def send(world: World, actions: Any = ACTIONS, **more: Any) -> Any:
    arguments = capture_arguments(world.project, **more)
    arguments["actions"] = json.dumps(actions).encode()
    return world.api.post("/captures", files=build_parts(arguments))


def test_actions_are_stored_as_numbered_steps(world: World) -> None:
    made = ok(send(world))
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert capture["counts"]["actions"] == 3
    assert capture["health"]["actions"] == {"status": "ok", "reason": None, "captured": 1, "dropped": 0}
    assert capture["health_summary"] == "Console, network, errors and actions were collected in full."
    assert [(step["number"], step["words"]) for step in capture["actions"]["items"]] == list(enumerate(STEPS, 1))

    path = f"/captures/{made['capture_id']}/actions"
    page = ok(world.api.get(path))
    assert page["items"] == capture["actions"]["items"]
    assert page["items"][2]["target"]["selectors"] == ['role=button[name="Pay"s]', "#pay"]
    assert page["items"][2]["synthetic"] is True
    found = ok(world.api.get(path, params={"contains": "pay", "around": 1_795_253_400_000}))
    assert [step["number"] for step in found["items"]] == [3]
    assert (found["total"], found["matched"]) == (3, 1)


def test_agents_read_steps_as_lines(world: World) -> None:
    made = ok(send(world))
    token = world.owner.token("tickets:write")
    ticket = call_tool(world, token, "get_ticket", {"ticket_id": made["ticket_id"]})
    capture = json.loads(ticket["content"][0]["text"])["capture"]
    assert capture["actions"]["items"][1] == f"2. {STEPS[1]} (1795253395000)"
    listed = call_tool(world, token, "get_actions", {"capture_id": made["capture_id"], "contains": "Pay"})
    assert listed["structuredContent"]["items"] == [f"3. {STEPS[2]} (1795253399000)"]
    whole = call_tool(world, token, "get_actions", {"capture_id": made["capture_id"], "detail": "full"})
    assert whole["structuredContent"]["items"][2]["target"]["name"] == "Pay"


def test_policy_leaves_actions_out(world: World) -> None:
    project = world.new_project("Private", capture_policy={"actions": "off"})
    made = ok(send(world, project_id=project))
    capture = ok(world.api.get(f"/tickets/{made['ticket_id']}"))["capture"]
    assert capture["counts"]["actions"] == capture["actions"]["total"] == 0
    assert capture["health"]["actions"]["status"] == "disabled"
    assert "Actions: off: the project's capture policy leaves it out." in capture["health_summary"]
    (found,) = (each for each in ok(world.owner.web.get("/projects"))["items"] if each["id"] == project)
    assert found["capture_policy"] == {
        "bodies": "shape", "extra_redactions": [], "actions": "off", "replay": 30, "mask_selectors": [],
        "page_source_maps": "on", "declared_names": [], "storage": "shape",
    }  # fmt: skip


def test_invalid_actions_are_rejected(world: World) -> None:
    problem = expect_error(send(world, [{**ACTIONS[1], "value_kind": "hunter2!"}]), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "actions[0].value_kind"
    expect_error(send(world, [{**ACTIONS[1], "value": "hunter2"}]), 400, "invalid_request")


def test_actions_without_their_health_are_complete(world: World) -> None:
    made = ok(send(world, health={name: {"status": "ok"} for name in ("console", "network", "errors")}))
    page = ok(world.api.get(f"/captures/{made['capture_id']}/actions"))
    assert page["health"] == {"status": "ok", "reason": None, "captured": 3, "dropped": 0}

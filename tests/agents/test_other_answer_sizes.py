"""The default answer of every tool fits, with the most that its ticket, session or company can hold."""

import json
from typing import Any

import pytest

from tests.agents.test_answer_sizes import LIMIT, LONG, Scene, ask, list_calls, scene
from tests.support.large_capture import FAILED
from tests.support.operation_cases import make_capture
from tests.support.server import ok
from tests.support.tokens import count_result_tokens
from ticketbox.mcp.tools import get_tool_cards
from ticketbox.operations.catalogue import load_registry

__all__ = ["scene"]

pytestmark = pytest.mark.long

LONGEST = ("voucher " * 300)[:2_000]
PLAN = [{"text": f"{number} {LONG}"[:300], "state": "pending"} for number in range(50)]
LINKS = [
    {"kind": "preview", "url": f"https://git.example/{number}/{LONGEST}".replace(" ", "-")[:2_000]}
    for number in range(50)
]
# Tools whose answer is what was sent, one record of bounded length, or nothing.
SMALL = {
    "whoami", "create_label", "update_label", "merge_labels", "delete_label", "edit_comment", "delete_comment",
    "add_attachment", "add_comment", "add_verification", "add_evidence", "add_expectation",
}  # fmt: skip


def test_default_answer_of_every_other_tool_fits(scene: Scene) -> None:
    world, ticket, capture = scene.world, {"ticket_id": scene.ticket}, {"capture_id": scene.capture}
    others = [each["id"] for each in ok(world.api.get("/tickets", params={"limit": 100}))["items"]]
    others.remove(scene.ticket)
    for other in others[:45]:
        ok(world.api.post(f"/tickets/{scene.ticket}/links", json={"kind": "relates", "other": other}))
    for other in others[:2]:
        ok(world.api.post(f"/tickets/{scene.ticket}/links", json={"kind": "blocks", "other": other}))
    console = [f"{number} {LONG}"[:1_000] for number in range(50)]
    for number in range(3):
        proof = {"commit": "abc1234", "base_url": f"http://localhost/{number}", "verdict": "reproduced"}
        ok(world.api.post(f"/tickets/{scene.ticket}/verifications", json={**proof, "console": console}))
    file = {"file": ("log.txt", (LONG * 200).encode(), "text/plain")}
    attached = ok(world.api.post(f"/tickets/{scene.ticket}/attachments", files=file))
    for number in range(3):
        ok(world.api.post("/tickets", json={"project_id": world.project, "title": f"Ready {number}",
                                            "description": LONG * 10, "priority": "urgent"}))  # fmt: skip
    second = make_capture(world)["capture_id"]
    error = ok(world.api.get(f"/captures/{scene.capture}/errors"))["items"][0]
    company, project = {"company_id": world.company}, {"project_id": world.project}
    ready = ask(scene, "claim_next_ticket", project)["structuredContent"]
    work = {"ticket_id": ready["id"], "lease": ready["lease"]}
    fresh = world.ticket("Fresh", description=LONG * 10)["id"]
    calls = [
        ("claim_next_ticket", project),
        ("start_work_on_ticket", {"ticket_id": fresh}),
        ("report_progress", {**work, "note": LONGEST, "plan": PLAN, "links": LINKS}),
        ("ask_human", {**work, "question": LONGEST, "choices": ["Yes", "No"]}),
        ("wait_for_answer", {**work, "wait_seconds": 0}),
        ("list_work_sessions", {}),
        ("list_verifications", ticket),
        ("find_similar_tickets", ticket),
        ("list_captures", ticket),
        ("get_actions", capture),
        ("choose_bug", {**capture, "stream": "errors", "entry": str(error["seq"])}),
        ("get_replay_transcript", {"capture_id": second}),
        ("get_reproduction", capture),
        ("get_attachment", {"asset_id": attached["id"]}),
        ("wait_for_events", {"after": "evt_000000000001", "wait_seconds": 0}),
        ("link_tickets", {**ticket, "kind": "relates", "other": others[46]}),
        ("unlink_tickets", {**ticket, "kind": "relates", "other": others[46]}),
        ("get_ticket", ticket),
        ("get_ticket", {**ticket, "include": ["capture", "comments", "history"]}),
        ("list_companies", {}),
        ("list_projects", company),
        ("list_columns", project),
        ("list_members", company),
        ("list_labels", company),
        ("create_ticket", {**project, "title": "New", "description": LONG}),
        ("move_ticket", {**ticket, "column_id": world.columns[1]}),
        ("bulk_move_tickets", {"ticket_ids": others[:50], "column_id": world.columns[1]}),
        ("assign_ticket", {**ticket, "user_id": "me"}),
        ("unassign_ticket", {**ticket, "user_id": "me"}),
        ("bulk_assign_tickets", {"ticket_ids": others[:50], "user_ids": ["me"]}),
        ("finish_work", {**work, "comment": LONG, "release": True}),
        ("stop_work_on_ticket", {"ticket_id": others[48]}),
        ("archive_ticket", ticket),
        ("restore_ticket", ticket),
    ]
    measured = {name for name, _ in calls} | {name for name, _ in list_calls(scene).values()} | SMALL
    assert measured == set(get_tool_cards(load_registry()))
    sizes: dict[str, int] = {}
    for name, arguments in calls:
        sizes[name] = max(sizes.get(name, 0), count_result_tokens(ask(scene, name, arguments)))
    assert {name: size for name, size in sizes.items() if size > LIMIT} == {}


def test_claim_look_ask_report_and_finish_take_few_calls_and_tokens(scene: Scene) -> None:
    """At most six calls and 8,000 tokens of answers beside the list of tools, on the largest capture."""
    world = scene.world
    world.owner.web.delete(f"/tickets/{scene.ticket}/work").raise_for_status()
    ok(world.owner.web.patch(f"/tickets/{scene.ticket}", json={"labels": ["agent"]}))
    ok(world.owner.web.post(f"/tickets/{scene.ticket}/move", json={"column_id": world.columns[0]}))
    spent: list[int] = []

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        answer = ask(scene, name, arguments)
        spent.append(count_result_tokens(answer))
        return json.loads(answer["content"][0]["text"])

    claimed = call("claim_next_ticket", project_id=world.project, labels=["agent"])
    assert claimed["capture"]["failed_requests"]["total"] == FAILED
    work = {"ticket_id": claimed["id"], "lease": claimed["lease"]}
    question = call("ask_human", **work, question="May a voucher pay for shipping?", choices=["Yes", "No"])
    ok(world.owner.web.post(f"/questions/{question['id']}/answer", json={"answer": "Yes"}))
    assert call("wait_for_answer", **work, wait_seconds=5)["answer"] == "Yes"
    call("report_progress", **work, note="Fixed", plan=[{"text": "Write a failing test", "state": "done"}])
    assert call("finish_work", **work, comment="Fixed: the card is loaded first.", column="Done")["finished"]
    assert claimed["id"] == scene.ticket
    assert (len(spent) <= 6, sum(spent) <= LIMIT) == (True, True), spent

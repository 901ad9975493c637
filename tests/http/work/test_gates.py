"""Gates: what an agent can't do before a person approves it, and how they decide (docs/use/work-sessions.md, "Gates").

A gate refuses each way to move or resolve a ticket, over each surface.
"""

import threading
from typing import Any

import httpx
import pytest

from tests.http.work.test_claims import expire, start, stop
from tests.http.work.test_questions import answer, inbox
from tests.http.work.test_sessions import history, report, sessions
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import WRITING
from tests.support.server import Person, World, expect_error, ok

PLAN = [{"text": "Write a test"}, {"text": "Fix it"}]


class GateCase(World):
    """A company whose project has gates, and an agent of Ann's that works on a ticket."""

    def __init__(self, world: World, **gates: bool) -> None:
        self.__dict__.update(world.__dict__)
        ok(self.owner.web.patch(f"/projects/{self.project}", json=gates))
        self.token = self.owner.token(*WRITING, label="my agent")
        self.agent = self.box.client(self.token)
        self.id: str = self.ticket()["id"]
        self.started = start(self.agent, self.id)
        self.lease: str = self.started["lease"]
        self.session: str = self.started["claim"]["session_id"]

    def finish(self, **given: Any) -> httpx.Response:
        """Finish the work."""
        return self.agent.post(f"/tickets/{self.id}/work/finish", json={"lease": self.lease, **given})

    def decide(self, approve: bool, by: Person | None = None, **given: Any) -> httpx.Response:
        """Decide what the agent asks for."""
        web = (by or self.owner).web
        return web.post(f"/work-sessions/{self.session}/approval", json={"approve": approve, **given})

    def wait(self, seconds: int = 0) -> httpx.Response:
        """Wait for the decision."""
        path = f"/tickets/{self.id}/work/answer"
        return self.agent.get(path, params={"wait_seconds": seconds}, headers={"Lease": self.lease})

    def read(self) -> dict[str, Any]:
        """The ticket."""
        return ok(self.api.get(f"/tickets/{self.id}"))

    def show(self) -> dict[str, Any]:
        """The work session."""
        return next(each for each in sessions(self.owner.web, ticket_id=self.id) if each["id"] == self.session)


@pytest.fixture
def planned(world: World) -> GateCase:
    """Plans must be approved."""
    return GateCase(world, plan_approval=True)


@pytest.fixture
def gated(world: World) -> GateCase:
    """Finished tickets must be accepted."""
    return GateCase(world, done_approval=True)


def moves(gated: GateCase, column: str) -> dict[str, httpx.Response]:
    """Every way in which a token moves a ticket to a column, or closes it."""
    agent, ticket, other = gated.agent, gated.id, gated.ticket()["id"]
    return {
        "update": agent.patch(f"/tickets/{ticket}", json={"resolved": True}),
        "move": agent.post(f"/tickets/{ticket}/move", json={"column_id": column}),
        "duplicate": agent.post(f"/tickets/{ticket}/links", json={"kind": "duplicates", "other": other}),
        "archive": agent.post(f"/tickets/{ticket}/archive"),
    }


def expect_refusals(gated: GateCase, column: str, word: str) -> None:
    """Each way is refused over REST, in bulk and over MCP, and nothing changes."""
    before, events = gated.read(), len(history(gated, gated.id))
    for refused in moves(gated, column).values():
        assert word in expect_error(refused, 409, "approval_required")["detail"]
    given = {"ticket_ids": [gated.id], "column_id": column}
    (result,) = ok(gated.agent.post("/tickets/bulk-move", json=given))["results"]
    assert (result["ok"], result["error"]["code"]) == (False, "approval_required")
    tools: dict[str, dict[str, Any]] = {
        "update_ticket": {"resolved": True}, "move_ticket": {"column_id": column}, "archive_ticket": {},
    }  # fmt: skip
    for name, arguments in tools.items():
        refusal = call_tool(gated, gated.token, name, {"ticket_id": gated.id, **arguments})
        assert refusal["isError"]
        assert refusal["structuredContent"]["code"] == "approval_required"
    assert gated.read() == before
    assert len(history(gated, gated.id)) == events


def test_gates_are_off_unless_an_admin_turns_them_on(world: World) -> None:
    project = ok(world.api.get("/projects", params={"company_id": world.company}))["items"][0]
    assert (project["plan_approval"], project["done_approval"]) == (False, False)
    path = f"/projects/{world.project}"
    expect_error(world.join("Bob").web.patch(path, json={"done_approval": True}), 403, "forbidden")
    expect_error(world.api.patch(path, json={"done_approval": True}), 403, "forbidden")
    changed = ok(world.owner.web.patch(path, json={"done_approval": True}))
    assert (changed["plan_approval"], changed["done_approval"]) == (False, True)


def test_token_cannot_restore_a_ticket_into_a_done_column(gated: GateCase) -> None:
    ticket = gated.ticket()["id"]
    ok(gated.owner.web.post(f"/tickets/{ticket}/move", json={"column_id": gated.columns[1]}))
    ok(gated.owner.web.post(f"/tickets/{ticket}/archive"))
    ok(gated.owner.web.delete(f"/columns/{gated.columns[1]}"))
    ok(gated.owner.web.patch(f"/columns/{gated.columns[0]}", json={"kind": "done"}))
    expect_error(gated.agent.post(f"/tickets/{ticket}/restore"), 409, "approval_required")
    assert ok(gated.api.get(f"/tickets/{ticket}", params={"status": "all"}))["status"] == "archived"
    assert ok(gated.owner.web.post(f"/tickets/{ticket}/restore"))["resolved"]


def test_work_waits_until_a_person_approves_its_plan(planned: GateCase) -> None:
    assert planned.started["claim"]["state"] == "awaiting_input"
    expect_refusals(planned, planned.columns[1], "report_progress")
    expect_error(planned.finish(comment="Done"), 409, "approval_required")
    session = report(planned.agent, planned.id, planned.lease, plan=PLAN)
    assert (session["state"], session["question"]["kind"], session["question"]["answer"]) == (
        "awaiting_input",
        "plan",
        None,
    )
    assert session["question"]["question"] == "Approve this plan?\n1. Write a test\n2. Fix it"
    event = history(planned, planned.id)[-1]
    assert (event["type"], event["data"]["approval"]) == ("ticket.approval_requested", "plan")
    expect_refusals(planned, planned.columns[1], "wait_for_answer")
    bob = planned.join("Bob")
    approved = ok(planned.decide(True, bob, note="Go", question_id=session["question"]["id"]))
    assert approved["state"] == "active"
    decided = ok(planned.wait())
    assert (decided["answer"], decided["note"], decided["answered"]["user"]["name"]) == ("approved", "Go", "Bob")
    event = history(planned, planned.id)[-1]
    assert (event["type"], event["data"]["note"]) == ("ticket.approved", "Go")
    ok(planned.agent.post(f"/tickets/{planned.id}/move", json={"column_id": planned.columns[1]}))
    started = [{**PLAN[0], "state": "done"}, {**PLAN[1], "state": "active"}]
    assert report(planned.agent, planned.id, planned.lease, plan=started)["question"] == decided
    assert ok(planned.finish(resolved=True))["finished"]
    assert planned.read()["resolved"]


def test_approved_plan_asks_again_when_its_steps_change(planned: GateCase) -> None:
    report(planned.agent, planned.id, planned.lease, plan=PLAN)
    ok(planned.decide(True))
    for changed in ([*PLAN, {"text": "Tell Ann"}], PLAN[:1], PLAN[::-1], [{"text": "Write a test."}, PLAN[1]], []):
        session = report(planned.agent, planned.id, planned.lease, plan=changed)
        assert session["state"] == "awaiting_input"
        expect_refusals(planned, planned.columns[1], "approved" if not changed else "wait_for_answer")
        if changed:
            assert session["question"]["question"].endswith(f"{len(changed)}. {changed[-1]['text']}")
            ok(planned.decide(False))
            expect_error(planned.finish(), 409, "approval_required")
        assert report(planned.agent, planned.id, planned.lease, plan=PLAN)["state"] == "active"  # as it was approved
    assert ok(planned.finish(resolved=True))["finished"]


def test_plan_is_needed_from_tokens_that_never_start_work(planned: GateCase) -> None:
    ok(stop(planned.agent, planned.id, planned.lease))
    expect_refusals(planned, planned.columns[1], "start work")
    free = planned.columns_of(planned.new_project("Free"))
    expect_refusals(planned, free[0], "start work")
    eve = planned.join("Eve").client(*WRITING)
    session = start(eve, planned.id)
    report(eve, planned.id, session["lease"], plan=PLAN)
    path = f"/work-sessions/{session['claim']['session_id']}/approval"
    ok(planned.owner.web.post(path, json={"approve": True}))
    expect_refusals(planned, planned.columns[1], "somebody else")  # whose plan it isn't
    ok(eve.post(f"/tickets/{planned.id}/move", json={"column_id": planned.columns[1]}))


def test_plan_is_needed_where_the_work_began_without_the_gate(world: World) -> None:
    late = GateCase(world, plan_approval=False)
    ok(late.owner.web.patch(f"/projects/{late.project}", json={"plan_approval": True}))
    expect_refusals(late, late.columns[1], "report your plan")
    report(late.agent, late.id, late.lease, plan=PLAN)
    ok(late.decide(True))
    ok(late.agent.post(f"/tickets/{late.id}/move", json={"column_id": late.columns[1]}))


def test_declined_plan_needs_another_one(planned: GateCase) -> None:
    report(planned.agent, planned.id, planned.lease, plan=PLAN)
    assert ok(planned.decide(False, note="Too much"))["state"] == "awaiting_input"
    declined = ok(planned.wait())
    assert (declined["answer"], declined["note"]) == ("declined", "Too much")
    assert history(planned, planned.id)[-1]["type"] == "ticket.declined"
    expect_error(planned.finish(), 409, "approval_required")
    first = report(planned.agent, planned.id, planned.lease, plan=PLAN[:1])["question"]
    assert first["answer"] is None
    second = report(planned.agent, planned.id, planned.lease, plan=PLAN)["question"]
    assert second["id"] != first["id"]
    again = [{**PLAN[0], "state": "active"}, PLAN[1]]
    assert report(planned.agent, planned.id, planned.lease, plan=again)["question"] == second
    expect_error(planned.decide(True, question_id=first["id"]), 409, "question_closed")  # it isn't what Ann saw
    assert ok(planned.decide(True, question_id=second["id"]))["state"] == "active"


def test_question_comes_before_the_plan(planned: GateCase) -> None:
    asked = {"lease": planned.lease, "question": "Which one?"}
    question = ok(planned.agent.post(f"/tickets/{planned.id}/work/questions", json=asked))
    assert report(planned.agent, planned.id, planned.lease, plan=PLAN)["question"] == question
    expect_error(planned.decide(True), 409, "question_closed")
    ok(answer(planned.owner.web, question["id"], "The first"))
    assert planned.show()["state"] == "awaiting_input"
    assert report(planned.agent, planned.id, planned.lease, plan=PLAN)["question"]["kind"] == "plan"
    ok(planned.decide(True))
    assert planned.show()["state"] == "active"


def test_people_work_without_gates(world: World) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"plan_approval": True, "done_approval": True}))
    ticket = world.ticket()["id"]
    assert start(world.owner.web, ticket)["claim"]["state"] == "active"
    ok(world.owner.web.post(f"/tickets/{ticket}/move", json={"column_id": world.columns[1]}))
    assert ok(world.owner.web.patch(f"/tickets/{ticket}", json={"resolved": True}))["resolved"]


def test_agent_without_the_gates_consent_does_not_resolve_a_ticket(gated: GateCase) -> None:
    expect_refusals(gated, gated.columns[2], "finish_work")
    free = gated.new_project("Free")
    refused = gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": gated.columns_of(free)[2]})
    expect_error(refused, 409, "approval_required")  # another project isn't a way around the gate
    ok(gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": gated.columns[1]}))


def expect_refused_moves(gated: GateCase, ticket: str, column: str) -> None:
    """Each way to move a ticket to this column is refused, and the ticket stays where it is."""
    before = ok(gated.api.get(f"/tickets/{ticket}"))
    many = {"ticket_ids": [ticket], "column_id": column}
    refused = gated.agent.post(f"/tickets/{ticket}/move", json={"column_id": column})
    expect_error(refused, 409, "approval_required")
    (result,) = ok(gated.agent.post("/tickets/bulk-move", json=many))["results"]
    assert result["error"]["code"] == "approval_required"
    moved = call_tool(gated, gated.token, "move_ticket", {"ticket_id": ticket, "column_id": column})
    assert moved["structuredContent"]["code"] == "approval_required"
    (result,) = call_tool(gated, gated.token, "bulk_move_tickets", many)["structuredContent"]["results"]
    assert result["error"]["code"] == "approval_required"
    assert ok(gated.api.get(f"/tickets/{ticket}")) == before


@pytest.mark.parametrize("gate", ["done_approval", "verification"])
def test_gate_refuses_a_move_from_another_project_into_its_done_column(world: World, gate: str) -> None:
    """The ticket's own project has no gates."""
    gated = GateCase(world, **{gate: True})
    to_do, _, done = gated.columns
    ticket = gated.ticket(project_id=gated.new_project("Free"))["id"]
    expect_refused_moves(gated, ticket, done)
    finished = {"lease": start(gated.agent, ticket)["lease"], "column": done}
    expect_error(gated.agent.post(f"/tickets/{ticket}/work/finish", json=finished), 400, "invalid_request")
    ok(gated.agent.post(f"/tickets/{ticket}/move", json={"column_id": to_do}))
    assert ok(gated.owner.web.post(f"/tickets/{ticket}/move", json={"column_id": done}))["resolved"]


@pytest.mark.parametrize("gate", ["done_approval", "verification"])
def test_ticket_that_an_agent_resolves_elsewhere_does_not_come_back_as_done(world: World, gate: str) -> None:
    gated = GateCase(world, **{gate: True})
    to_do, _, done = gated.columns_of(gated.new_project("Free"))
    ok(gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": to_do}))
    assert ok(gated.agent.patch(f"/tickets/{gated.id}", json={"resolved": True}))["column_id"] == done
    expect_refused_moves(gated, gated.id, gated.columns[2])
    assert not ok(gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": gated.columns[0]}))["resolved"]


def test_agent_moves_an_accepted_ticket_to_done_of_another_project(gated: GateCase) -> None:
    ok(gated.owner.web.patch(f"/tickets/{gated.id}", json={"resolved": True}))
    free = gated.columns_of(gated.new_project("Free"))
    assert ok(gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": free[2]}))["resolved"]


def test_agent_moves_a_resolved_ticket_between_done_columns(gated: GateCase) -> None:
    """A person resolved it, so there is nothing left to approve."""
    column = {"name": "Released", "kind": "done"}
    released = ok(gated.owner.web.post(f"/projects/{gated.project}/columns", json=column))["id"]
    done = gated.columns[2]
    ok(gated.owner.web.post(f"/tickets/{gated.id}/move", json={"column_id": done}))
    assert ok(gated.agent.post(f"/tickets/{gated.id}/move", json={"column_id": released}))["resolved"]
    many = {"ticket_ids": [gated.id], "column_id": done}
    assert ok(gated.agent.post("/tickets/bulk-move", json=many))["results"][0]["ok"]
    moved = call_tool(gated, gated.token, "move_ticket", {"ticket_id": gated.id, "column_id": released})
    assert moved["structuredContent"]["resolved"]
    ok(gated.agent.post(f"/tickets/{gated.id}/archive"))
    assert ok(gated.agent.post(f"/tickets/{gated.id}/restore"))["resolved"]
    assert gated.read()["column_id"] == released


@pytest.mark.parametrize("by_column", [False, True])
def test_person_accepts_what_an_agent_finished(gated: GateCase, by_column: bool) -> None:
    outcome = {"column": "Done"} if by_column else {"resolved": True}
    asked = ok(gated.finish(comment="Fixed", **outcome))
    assert (asked["finished"], asked["resolved"], asked["claim"]["state"]) == (False, False, "awaiting_input")
    assert "person" in asked["note"]
    assert asked["comment_count"] == 1
    expect_error(gated.finish(**outcome), 409, "approval_required")
    report(gated.agent, gated.id, gated.lease)
    assert gated.read()["claim"]["until"] == asked["claim"]["until"] == gated.show()["until"]  # reporting keeps it
    ready = {"project_id": gated.project, "ready": True}
    assert gated.id not in [each["id"] for each in ok(gated.api.get("/tickets", params=ready))["items"]]
    bob = gated.join("Bob")
    accepted = ok(gated.decide(True, bob, note="Good"))
    assert (accepted["state"], accepted["ended"]["user"]["name"]) == ("done", "Bob")
    ticket = gated.read()
    assert (ticket["resolved"], ticket["column_id"], ticket["claim"]) == (True, gated.columns[2], None)
    assert ok(gated.wait())["answer"] == "approved"
    types = [each["type"] for each in history(gated, gated.id)]
    assert types.index("ticket.approval_requested") < types.index("ticket.approved")
    assert types[-1] == "ticket.work_finished"


def test_accepted_ticket_is_resolved_when_its_column_is_gone(gated: GateCase) -> None:
    ok(gated.finish(column="Done"))
    other = gated.new_project("Second")
    ok(gated.owner.web.post(f"/tickets/{gated.id}/move", json={"column_id": gated.columns_of(other)[0]}))
    ok(gated.decide(True))
    ticket = gated.read()
    assert (ticket["project_id"], ticket["resolved"]) == (other, True)


def test_declined_work_goes_on(gated: GateCase) -> None:
    ok(gated.finish(resolved=True))
    decided: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: decided.append(ok(gated.wait(50))))
    waiting.start()
    assert ok(gated.decide(False, note="No test"))["state"] == "active"
    waiting.join()
    assert (decided[0]["answer"], decided[0]["note"]) == ("declined", "No test")
    assert gated.read()["resolved"] is False
    report(gated.agent, gated.id, gated.lease, note="Adds a test")
    assert not ok(gated.finish(resolved=True))["finished"]
    ok(gated.decide(True))
    assert gated.read()["resolved"]


def test_work_that_leaves_the_ticket_open_needs_no_acceptance(gated: GateCase) -> None:
    assert ok(gated.finish(comment="Please look", column="In progress"))["finished"]
    expect_error(gated.decide(True), 409, "question_closed")


def test_people_are_asked_in_their_inbox(gated: GateCase) -> None:
    bob, eve = gated.join("Bob"), gated.join("Eve")
    ok(gated.api.put(f"/tickets/{gated.id}/assignees/{bob.id}"))
    ok(gated.finish(resolved=True))
    for person in (gated.owner, bob):
        newest = inbox(person)[0]
        assert (newest["reason"], newest["event_type"]) == ("approval", "ticket.approval_requested")
    assert inbox(eve) == []


def test_only_signed_in_people_of_the_project_decide(gated: GateCase) -> None:
    ok(gated.finish(resolved=True))
    path, given = f"/work-sessions/{gated.session}/approval", {"approve": True}
    revoked = gated.join("Eve")
    other = gated.join("Bob").client(*WRITING)
    for token in (gated.agent, gated.api, other):
        expect_error(token.post(path, json=given), 403, "forbidden")
    request = gated.show()["question"]["id"]
    for client in (gated.agent, other, gated.owner.web):
        expect_error(answer(client, request, "approved"), 403, "forbidden")
    hidden = gated.join("Mia", project_ids=[gated.new_project("Second")])
    for web in (hidden.web, World(gated.box, "Zoe").owner.web):
        expect_error(web.post(path, json=given), 404, "not_found")
    expect_error(gated.join("Vic", "viewer").web.post(path, json=given), 403, "forbidden")
    ok(gated.owner.web.delete(f"/companies/{gated.company}/members/{revoked.id}"))
    expect_error(revoked.web.post(path, json=given), 404, "not_found")
    assert gated.read()["resolved"] is False


def test_decision_counts_once_and_only_while_the_work_is_open(gated: GateCase) -> None:
    ok(gated.finish(resolved=True))
    ok(gated.decide(False))
    problem = expect_error(gated.decide(True), 409, "question_closed")
    assert problem["answer"] == "declined"
    ok(gated.finish(resolved=True))
    ok(stop(gated.agent, gated.id, gated.lease))
    expect_error(gated.decide(True), 409, "question_closed")
    gated.started = start(gated.agent, gated.id)
    gated.lease, gated.session = gated.started["lease"], gated.started["claim"]["session_id"]
    ok(gated.finish(resolved=True))
    expire(gated, gated.id)
    expect_error(gated.decide(True), 409, "question_closed")
    ok(gated.owner.web.post(f"/tickets/{gated.id}/archive"))
    expect_error(gated.decide(True), 409, "ticket_archived")

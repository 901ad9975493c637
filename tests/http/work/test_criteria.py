"""Acceptance criteria and their evidence, and the gate that asks for it (docs/use/criteria.md)."""

from typing import Any

import httpx
import pytest

from tests.http.git.test_git_hooks import Repository
from tests.http.work.test_claims import start
from tests.http.work.test_gates import PLAN, GateCase
from tests.http.work.test_questions import inbox
from tests.http.work.test_sessions import history, report
from tests.support.git_payloads import HEAD, OLD_HEAD, build_pull_request
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import VERIFICATION, WRITING, make_capture
from tests.support.pictures import png
from tests.support.server import World, eventually, expect_error, ok

Json = dict[str, Any]
PASSED = {"kind": "command", "text": "npm test", "exit_status": 0, "duration_ms": 900}
FAILED = {**PASSED, "exit_status": 2}


class Criteria:
    """A ticket with a criterion that a person wrote."""

    def __init__(self, world: World) -> None:
        self.world, self.web = world, world.owner.web
        self.ticket: Json = world.ticket("The total is wrong")
        self.path = f"/tickets/{self.ticket['id']}"
        self.id: str = ok(self.web.post(f"{self.path}/criteria", json={"text": "The total is right"}))["id"]

    def post(self, by: httpx.Client, **given: Any) -> httpx.Response:
        """Add evidence."""
        return by.post(f"/criteria/{self.id}/evidence", json=given)

    def read(self) -> Json:
        """The first criterion, as the ticket shows it."""
        found: Json = ok(self.world.api.get(self.path, params={"include": "criteria"}))["criteria"][0]
        assert found == ok(self.world.api.get(f"{self.path}/criteria"))["criteria"][0]
        return found


@pytest.fixture
def case(world: World) -> Criteria:
    return Criteria(world)


@pytest.fixture
def agent(world: World) -> httpx.Client:
    return world.owner.client(*WRITING, label="my agent")


def test_ticket_without_criteria_shows_nothing_new(world: World) -> None:
    ticket = ok(world.api.get(f"/tickets/{world.ticket()['id']}"))
    assert ticket["criteria_count"] is None
    assert "criteria" not in ticket


def test_grade_follows_from_kind_and_writer(case: Criteria, agent: httpx.Client) -> None:
    path = f"{case.path}/attachments"
    picture = ok(case.world.api.post(path, files={"file": ("total.png", png())}))["id"]
    posted = [
        (agent, {"kind": "statement", "text": "I looked at it"}, "stated", "open"),
        (agent, {"kind": "picture", "picture": picture}, "stated", "open"),
        (agent, {"kind": "check", "text": "ci / total", "passed": True}, "checked", "met"),
        (agent, FAILED, "checked", "open"),
        (agent, PASSED, "checked", "met"),
        (case.web, FAILED, "checked", "open"),
        (case.web, {"kind": "statement", "text": "I looked at it"}, "accepted", "met"),
    ]
    for by, given, grade, state in posted:
        added = ok(case.post(by, **given))
        assert (added["grade"], case.read()["state"]) == (grade, state)
        assert case.read()["evidence"][0] == added
    expect_error(case.post(agent, text="It is right", grade="accepted"), 400, "invalid_request")
    assert ok(case.world.api.get(case.path))["criteria_count"] == {"met": 1, "total": 1}


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "command", "text": "npm test"},
        {"kind": "command", "text": "npm test", "exit_status": 0, "passed": True},
        {"kind": "check", "text": "ci"},
        {"kind": "picture", "text": "a picture"},
        {"kind": "verification"},
        {"kind": "statement", "text": "  "},
        {"kind": "statement", "text": "Right", "passed": True},
    ],
)
def test_incomplete_evidence_is_refused(case: Criteria, agent: httpx.Client, given: Json) -> None:
    expect_error(case.post(agent, **given), 400, "invalid_request")
    assert case.read()["evidence"] == []


def test_verification_meets_a_criterion_only_if_it_proves_the_fix(world: World, agent: httpx.Client) -> None:
    capture = make_capture(world)
    path = f"/tickets/{capture['ticket_id']}"
    criterion = ok(world.owner.web.post(f"{path}/criteria", json={"text": "The error is gone"}))["id"]
    given = {**VERIFICATION, "capture_id": capture["capture_id"]}
    states: list[str] = []
    for commit, verdict in (("a" * 40, "reproduced"), ("b" * 40, "gone")):
        posted = ok(agent.post(f"{path}/verifications", json={**given, "commit": commit, "verdict": verdict}))
        evidence = {"kind": "verification", "verification_id": posted["id"]}
        added = ok(agent.post(f"/criteria/{criterion}/evidence", json=evidence))
        assert (added["grade"], added["commit"]) == ("checked", commit)
        states.append(ok(agent.get(f"{path}/criteria"))["criteria"][0]["state"])
    assert states == ["open", "met"]
    other = Criteria(world)
    evidence = {"kind": "verification", "verification_id": added["verification_id"]}
    assert "another ticket" in expect_error(other.post(agent, **evidence), 400, "invalid_request")["detail"]


def test_secrets_in_the_output_of_a_command_are_removed(case: Criteria, agent: httpx.Client) -> None:
    line = "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789"
    added = ok(case.post(agent, **PASSED, output=[line]))
    assert "abcdefghij" not in added["output"][0]
    assert added["output"][0].startswith("Authorization")


def test_evidence_is_stale_once_the_pull_request_has_a_newer_commit(case: Criteria, agent: httpx.Client) -> None:
    repository = Repository(case.world)
    name = case.ticket["key"]
    ok(repository.deliver(build_pull_request(name, head=OLD_HEAD)))
    eventually(lambda: ok(agent.get(case.path))["git_links"])
    ok(case.post(agent, **PASSED, commit=OLD_HEAD))
    ok(case.web.post(f"/criteria/{case.id}/accept", json={"note": "Looks right"}))
    assert [each["stale"] for each in case.read()["evidence"]] == [False, False]
    ok(repository.deliver(build_pull_request(name, action="synchronize", head=HEAD)))
    eventually(lambda: all(each["stale"] for each in ok(agent.get(f"{case.path}/criteria"))["criteria"][0]["evidence"]))
    assert [each["stale"] for each in case.read()["evidence"]] == [True, True]
    ok(case.web.patch(f"/projects/{case.world.project}", json={"criteria": True}))
    detail = expect_error(agent.patch(case.path, json={"resolved": True}), 409, "approval_required")["detail"]
    assert "“The total is right” has only stale evidence" in detail
    ok(case.post(agent, **PASSED, commit=HEAD))
    assert [each["stale"] for each in case.read()["evidence"]] == [False, True, True]
    ok(agent.patch(case.path, json={"resolved": True}))


def test_reopening_makes_evidence_stale(case: Criteria, agent: httpx.Client) -> None:
    ok(case.post(agent, **PASSED))
    ok(case.web.patch(f"/criteria/{case.id}", json={"state": "open"}))
    assert (case.read()["state"], case.read()["evidence"][0]["stale"]) == ("open", True)
    ok(case.post(agent, **PASSED))
    ok(case.web.patch(case.path, json={"resolved": True}))
    assert not case.read()["evidence"][0]["stale"]
    ok(case.web.patch(case.path, json={"resolved": False}))
    assert case.read()["evidence"][0]["stale"]


def test_another_text_needs_new_evidence(case: Criteria, agent: httpx.Client) -> None:
    ok(case.post(agent, **PASSED))
    changed = ok(case.web.patch(f"/criteria/{case.id}", json={"text": "The total and the tax are right"}))
    assert (changed["state"], changed["evidence"][0]["stale"]) == ("open", True)


def test_agent_changes_only_what_nobody_agreed_to(case: Criteria, agent: httpx.Client) -> None:
    path = f"/criteria/{case.id}"
    for refused in (agent.patch(path, json={"text": "Another"}), agent.delete(path)):
        assert "people have agreed" in expect_error(refused, 403, "forbidden")["detail"]
    for state in ("waived", "open"):
        expect_error(agent.patch(path, json={"state": state}), 403, "forbidden")
    expect_error(agent.post(f"{path}/accept", json={}), 403, "forbidden")
    expect_error(case.web.patch(path, json={"state": "met"}), 400, "invalid_request")
    expect_error(case.web.patch(path, json={}), 400, "invalid_request")
    proposed = ok(agent.post(f"{case.path}/criteria", json={"text": "The tax is right"}))
    assert proposed["proposed"]
    assert ok(agent.patch(f"/criteria/{proposed['id']}", json={"text": "Taxes are right"}))["proposed"]
    ok(agent.delete(f"/criteria/{proposed['id']}"))
    again = ok(agent.post(f"{case.path}/criteria", json={"text": "The tax is right"}))
    assert not ok(case.web.post(f"/criteria/{again['id']}/accept", json={}))["proposed"]
    expect_error(agent.delete(f"/criteria/{again['id']}"), 403, "forbidden")


def test_criteria_of_archived_tickets_are_only_read(case: Criteria, agent: httpx.Client) -> None:
    ok(case.web.post(f"{case.path}/archive"))
    assert len(ok(agent.get(f"{case.path}/criteria"))["criteria"]) == 1
    expect_error(case.post(agent, **PASSED), 409, "ticket_archived")
    expect_error(agent.post(f"{case.path}/criteria", json={"text": "More"}), 409, "ticket_archived")
    expect_error(case.web.delete(f"/criteria/{case.id}"), 409, "ticket_archived")


def test_ticket_has_at_most_fifty_criteria(case: Criteria) -> None:
    for number in range(49):
        ok(case.web.post(f"{case.path}/criteria", json={"text": f"Criterion {number}"}))
    expect_error(case.web.post(f"{case.path}/criteria", json={"text": "One more"}), 400, "invalid_request")


def test_history_tells_every_change(case: Criteria, agent: httpx.Client) -> None:
    before = ok(case.world.api.get(case.path))["version"]
    ok(case.post(agent, **FAILED))
    ok(case.web.patch(f"/criteria/{case.id}", json={"state": "waived"}))
    ok(case.web.delete(f"/criteria/{case.id}"))
    events = [(each["type"], each["data"].get("state")) for each in history(case.world, case.ticket["id"])]
    assert events[-4:] == [
        ("criterion.added", None), ("evidence.added", None), ("criterion.changed", "waived"),
        ("criterion.removed", None),
    ]  # fmt: skip
    assert ok(case.world.api.get(case.path))["version"] == before + 3


def test_gate_names_what_is_missing(case: Criteria, agent: httpx.Client) -> None:
    ok(case.web.patch(f"/projects/{case.world.project}", json={"criteria": True}))
    second = ok(case.web.post(f"{case.path}/criteria", json={"text": "The tax is right"}))["id"]
    third = ok(case.web.post(f"{case.path}/criteria", json={"text": "Prices are right"}))["id"]
    ok(case.post(agent, **FAILED, commit="9fceb02d"))
    ok(agent.post(f"/criteria/{second}/evidence", json={"text": "It is right"}))
    detail = expect_error(agent.patch(case.path, json={"resolved": True}), 409, "approval_required")["detail"]
    assert "1. “The total is right” failed on 9fceb02" in detail
    assert "2. “The tax is right” has only statements of agents" in detail
    assert "3. “Prices are right” has no evidence" in detail
    ok(case.post(agent, **PASSED))
    ok(case.web.post(f"/criteria/{second}/accept", json={}))
    ok(case.web.patch(f"/criteria/{third}", json={"state": "waived"}))
    assert ok(agent.patch(case.path, json={"resolved": True}))["resolved"]


def test_gate_counts_only_checks_of_the_verifiers(case: Criteria, agent: httpx.Client) -> None:
    machine = case.world.owner.client(*WRITING, label="ci")
    token = case.world.owner.find_token("ci")
    ok(case.web.patch(f"/projects/{case.world.project}", json={"criteria": True, "verifiers": [token]}))
    ok(case.post(agent, **PASSED))
    detail = expect_error(agent.patch(case.path, json={"resolved": True}), 409, "approval_required")["detail"]
    assert "only checks by others than the project's verifiers" in detail
    ok(case.post(machine, **PASSED))
    ok(agent.patch(case.path, json={"resolved": True}))


def test_finish_work_says_which_criteria_lack_proof(case: Criteria, agent: httpx.Client) -> None:
    lease = start(agent, case.ticket["id"])["lease"]
    finished = ok(agent.post(f"{case.path}/work/finish", json={"lease": lease, "resolved": True}))
    assert "1. “The total is right” has no evidence" in finished["note"]


def test_request_to_accept_the_work_says_which_criteria_lack_proof(world: World) -> None:
    gated = GateCase(world, done_approval=True)
    ok(world.owner.web.post(f"/tickets/{gated.id}/criteria", json={"text": "The total is right"}))
    ok(gated.finish(resolved=True))
    assert "1. “The total is right” has no evidence" in gated.show()["question"]["question"]


def test_criteria_are_approved_with_the_plan(world: World) -> None:
    planned = GateCase(world, plan_approval=True)
    report(planned.agent, planned.id, planned.lease, plan=PLAN, criteria=["The total is right"])
    question = planned.show()["question"]["question"]
    assert question == "Approve this plan?\n1. Write a test\n2. Fix it\n\nAcceptance criteria:\n- The total is right"
    assert inbox(world.owner)[0]["reason"] == "approval"
    ok(planned.decide(approve=True))
    listed = ok(planned.agent.get(f"/tickets/{planned.id}/criteria"))["criteria"]
    assert [each["proposed"] for each in listed] == [False]
    report(planned.agent, planned.id, planned.lease, plan=PLAN, criteria=["the total is right"])
    ok(planned.agent.post(f"/tickets/{planned.id}/move", json={"column_id": planned.columns[1]}))


def test_changed_criteria_of_an_approved_plan_ask_again(world: World) -> None:
    planned = GateCase(world, plan_approval=True)
    report(planned.agent, planned.id, planned.lease, plan=PLAN)
    ok(planned.decide(approve=True))
    added = ok(planned.agent.post(f"/tickets/{planned.id}/criteria", json={"text": "Tests pass"}))
    move = {"column_id": planned.columns[1]}
    expect_error(planned.agent.post(f"/tickets/{planned.id}/move", json=move), 409, "approval_required")
    assert planned.show()["question"]["question"].endswith("Acceptance criteria:\n- Tests pass")
    ok(planned.agent.patch(f"/criteria/{added['id']}", json={"text": "All tests pass"}))
    assert planned.show()["question"]["question"].endswith("Acceptance criteria:\n- All tests pass")
    ok(planned.agent.delete(f"/criteria/{added['id']}"))
    assert planned.show()["question"]["answer"] == "withdrawn"
    assert planned.show()["state"] == "active"
    ok(planned.agent.post(f"/tickets/{planned.id}/move", json=move))
    # A plan that begins like an approved one isn't that plan.
    report(planned.agent, planned.id, planned.lease, plan=PLAN[:1], criteria=[])
    assert planned.show()["question"]["answer"] is None


def test_agent_reads_criteria_and_adds_evidence_with_tools(case: Criteria) -> None:
    token = case.world.owner.token(*WRITING, label="my agent")
    given = {"criterion_id": case.id, "text": "The total is right in Firefox"}
    answer = call_tool(case.world, token, "add_evidence", given)
    assert answer["structuredContent"]["grade"] == "stated"
    shown = call_tool(case.world, token, "get_ticket", {"ticket_id": case.ticket["id"], "include": ["criteria"]})
    (criterion,) = shown["structuredContent"]["criteria"]
    assert (criterion["state"], criterion["evidence"][0]["text"]) == ("open", given["text"])

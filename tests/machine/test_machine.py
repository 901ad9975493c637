"""The rule machine: several people with tokens of all kinds drive two companies through all operations.

Each step is one operation, drawn like its arguments, over REST or MCP, or over both and compared, and must answer
what the model answers. Nothing else watches over the whole: that no order of changes of roles, restrictions, moves
and removals lets somebody see or do what they shouldn't, or loses something.
"""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.machine.arguments import ARGUMENTS, NOUNS, STEPS, Draw, capture_of
from tests.machine.client import OPERATIONS, Answer, Wire, arrive, differs, without_nulls
from tests.machine.contents import Model
from tests.machine.model import GATES, NEEDS, ExpectedError, Row, suffices
from tests.support.long_runs import Record, choose_rounds, hypothesis_settings
from tests.support.operation_cases import operations
from tests.support.server import Box

ELSEWHERE = {
    "find_failure": "changes nothing: tests/cli/test_failing_tests.py",
    "stream_events": "its answer doesn't end: tests/http/events/test_event_stream.py",
    "create_session": "an account's own: tests/http/accounts/test_sessions.py",
    "delete_session": "an account's own: tests/http/accounts/test_sessions.py",
    "list_sessions": "an account's own: tests/http/accounts/test_sessions.py",
    "revoke_session": "an account's own: tests/http/accounts/test_sessions.py",
    "confirm_password": "an account's own: tests/http/accounts/test_confirmation.py",
    "get_sign_in_methods": "an account's own: tests/http/accounts/test_single_sign_on.py",
    "unlink_provider": "an account's own: tests/http/accounts/test_single_sign_on.py",
    "start_second_factor": "an account's own: tests/http/accounts/test_second_factor.py",
    "enable_second_factor": "an account's own: tests/http/accounts/test_second_factor.py",
    "reset_member_second_factor": "an account's own: tests/http/accounts/test_required_second_factor.py",
    "disable_second_factor": "an account's own: tests/http/accounts/test_second_factor.py",
    "replace_recovery_codes": "an account's own: tests/http/accounts/test_second_factor.py",
    "start_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "add_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "list_passkeys": "an account's own: tests/http/accounts/test_passkeys.py",
    "rename_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "delete_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "start_passkey_sign_in": "an account's own: tests/http/accounts/test_passkeys.py",
    "sign_in_with_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "start_passkey_confirmation": "an account's own: tests/http/accounts/test_passkeys.py",
    "confirm_with_passkey": "an account's own: tests/http/accounts/test_passkeys.py",
    "list_security_events": "an account's own: tests/http/accounts/test_security_events.py",
    "get_profile": "an account's own: tests/http/accounts/test_sessions.py",
    "update_profile": "an account's own: tests/http/accounts/test_sessions.py",
    "change_password": "an account's own: tests/http/accounts/test_sessions.py",
    "list_connected_apps": "an account's own: tests/http/accounts/test_oauth_tokens.py",
    "revoke_connected_app": "an account's own: tests/http/accounts/test_oauth_tokens.py",
    "add_site": "changes an address pattern: tests/http/companies/test_sites.py",
    "reply_to_reporter": "needs a mail server: tests/http/reports/test_replies.py",
    "list_notifications": "counted here, read in tests/http/events/test_notifications.py",
    "read_notification": "counted here, read in tests/http/events/test_notifications.py",
    "mark_notification_unread": "tests/http/events/test_notifications.py",
    "snooze_notification": "tests/http/events/test_notifications.py",
    "rotate_webhook_secret": "needs a receiver: tests/http/events/test_webhooks.py",
    "list_attempts": "needs a receiver: tests/http/events/test_webhooks.py",
    "list_deliveries": "needs a receiver: tests/http/events/test_webhooks.py",
    "list_report_keys": "tests/http/reports/test_reports.py",
    "create_report_key": "tests/http/reports/test_reports.py",
    "update_report_key": "tests/http/reports/test_reports.py",
    "rotate_report_key": "tests/http/reports/test_reports.py",
    "delete_report_key": "tests/http/reports/test_reports.py",
    "create_identity_secret": "tests/http/reports/test_reporter_identity.py",
    "delete_identity_secret": "tests/http/reports/test_reporter_identity.py",
    "create_report": "tests/http/reports/test_reports.py",
    "get_report_settings": "tests/http/reports/test_reports.py",
    "get_reporter": "tests/http/reports/test_reports.py",
    "list_git_hooks": "tests/http/git/test_git_hooks.py",
    "create_git_hook": "tests/http/git/test_git_hooks.py",
    "update_git_hook": "tests/http/git/test_git_hooks.py",
    "rotate_git_hook_secret": "tests/http/git/test_git_hooks.py",
    "delete_git_hook": "tests/http/git/test_git_hooks.py",
    "get_thumbnail": "tests/http/captures/test_previews.py",
    "get_error": "tests/agents/test_answer_sizes.py",
    "wait_for_events": "tests/http/events/test_waiting.py",
    "add_occurrence": "tests/http/captures/test_occurrences.py",
    "add_verification": "tests/http/work/test_verifications.py",
    "list_verifications": "tests/http/work/test_verifications.py",
    "count_tickets": "tests/http/tickets/test_counts.py",
    "export_tickets": "tests/http/tickets/test_export.py",
    "export_search": "tests/http/tickets/test_export.py",
    "list_labels": "tests/http/companies/test_labels.py",
    "create_label": "tests/http/companies/test_labels.py",
    "update_label": "tests/http/companies/test_labels.py",
    "merge_labels": "tests/http/companies/test_labels.py",
    "delete_label": "tests/http/companies/test_labels.py",
    "list_views": "tests/http/companies/test_views.py",
    "create_view": "tests/http/companies/test_views.py",
    "update_view": "tests/http/companies/test_views.py",
    "delete_view": "tests/http/companies/test_views.py",
    "follow_ticket": "tests/http/events/test_watchers.py",
    "unfollow_ticket": "tests/http/events/test_watchers.py",
    "update_presence": "tests/http/events/test_presence.py",
    "delete_attachment": "tests/http/tickets/test_deletion.py",
    "upload_source_map": "tests/http/captures/test_source_maps.py",
    "list_source_maps": "tests/http/captures/test_source_maps.py",
    "delete_source_map": "tests/http/captures/test_source_maps.py",
    "delete_capture": "tests/http/tickets/test_deletion.py",
    "choose_bug": "tests/http/captures/test_bugs.py",
    "list_criteria": "tests/http/work/test_criteria.py",
    "add_criterion": "tests/http/work/test_criteria.py",
    "update_criterion": "tests/http/work/test_criteria.py",
    "remove_criterion": "tests/http/work/test_criteria.py",
    "accept_criterion": "tests/http/work/test_criteria.py",
    "add_evidence": "tests/http/work/test_criteria.py",
    "add_expectation": "tests/http/captures/test_expectations.py",
    "confirm_expectation": "tests/http/captures/test_expectations.py",
    "remove_expectation": "tests/http/captures/test_expectations.py",
    "confirm_capture": "tests/http/work/test_verifications.py",
    "delete_ticket": "tests/http/tickets/test_deletion.py",
    "replay_delivery": "needs a receiver: tests/http/events/test_webhooks.py",
}
# Tools shorten these (tests/agents/test_answer_sizes.py), so the model is compared with the answer of REST.
SHORTENED = {
    "list_tickets", "search", "find_similar_tickets", "get_ticket", "get_console", "get_network", "get_errors",
    "get_actions", "get_timeline", "get_replay_transcript", "get_network_request",
}  # fmt: skip
SEEN_ALONE = {  # bytes, which other tests compare
    "get_asset_content", "get_screenshot", "get_har", "get_replay", "get_reproduction",
}  # fmt: skip
# What changes tickets comes up three times as often as the rest.
OFTEN = [each for each in ARGUMENTS for _ in range(1 if each in NEEDS["session"] or not OPERATIONS[each].writes else 3)]
# What must meet to go wrong, and seldom does by chance: moves within one board, and several people at one ticket.
PLACING = (
    "move_ticket", "move_ticket", "move_ticket", "move_ticket", "bulk_move_tickets", "create_ticket",
    "archive_ticket", "restore_ticket", "crowd",
)  # fmt: skip
HAVING = (
    "start_work", "start_work", "start_work", "stop_work", "stop_work", "run_out", "assign_ticket", "assign_ticket",
    "unassign_ticket", "bulk_assign_tickets", "bulk_assign_tickets", "archive_ticket", "restore_ticket",
    "report_progress", "report_progress", "finish_work", "finish_work", "claim_next_ticket", "send_to_agent",
    "link_tickets", "link_tickets", "unlink_tickets",
)  # fmt: skip
ASKING = (
    "start_work", "ask_human", "ask_human", "ask_human", "wait_for_answer", "answer_question", "answer_question",
    "answer_question", "answer_question", "report_progress", "finish_work", "stop_work", "run_out", "archive_ticket",
    "restore_ticket", "decide_approval", "update_project",
)  # fmt: skip
DECIDING = (
    "decide_approval", "decide_approval", "decide_approval", "wait_for_answer", "finish_work", "ask_human",
    "report_progress", "stop_work", "run_out", "update_ticket", "update_project", "move_ticket", "report_progress",
)  # fmt: skip
BY_LEASE = {"ask_human", "wait_for_answer", "report_progress", "finish_work"}
PEOPLE = ("Ann", "Bea", "Cem", "Dov", "Eli", "Fay")


@pytest.fixture(scope="module")
def wire(box: Box) -> Wire:
    """One server for all runs: each has its own people and companies."""
    return Wire(box)


class Machine(RuleBasedStateMachine):
    """One run: two companies with three projects, six people, and eight tokens to begin with."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.wire = wire
        people = arrive(wire.box, PEOPLE)
        self.model = Model({user: each["name"] for user, each in people.items()})
        self.gone: dict[str, list[str]] = defaultdict(list)
        for user, each in people.items():
            row = {"id": user, "kind": "session", "user": user, "secret": each["secret"], "alive": True}
            self.model.credentials[user] = {**row, "scopes": [], "company": None, "projects": None}
        self.begin(*people)

    def begin(self, ann: str, bea: str, cem: str, dov: str, eli: str, _: str) -> None:
        """Ann's company with two projects, Bea's with one; Cem and Bea see all of both, Dov and Eli one of Ann's."""
        first, second = (self.do(user, "create_company", name=user)["id"] for user in (ann, bea))
        plenty = {"reads_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
        self.do(ann, "update_company", company_id=first, limits=plenty)
        self.do(bea, "update_company", company_id=second, limits=plenty)
        main, side = (self.do(ann, "create_project", company_id=first, name=name)["id"] for name in "AB")
        far = self.do(bea, "create_project", company_id=second, name="C")["id"]
        self.do(ann, "update_project", project_id=main, name="A", done_approval=True)
        self.do(ann, "update_project", project_id=side, name="B", plan_approval=True)
        self.join(ann, first, cem, "admin")
        self.join(ann, first, dov, "member", [main])
        self.join(ann, first, eli, "member", [side])
        self.join(ann, first, bea, "member")
        self.join(bea, second, ann, "member")
        self.join(bea, second, cem, "viewer")
        self.join(bea, second, eli, "member")
        self.give(ann, ["tickets:write", "tickets:assign"], company_id=first)
        self.give(ann, ["tickets:write", "tickets:assign"], project_ids=[side])
        self.give(ann, ["tickets:write"])
        self.give(bea, ["tickets:assign"])
        self.give(bea, ["tickets:write"], company_id=second)
        self.give(cem, ["comments"], company_id=first)
        self.give(dov, ["tickets:write", "tickets:assign"], company_id=first)
        self.give(dov, ["read"])
        for project, user in ((main, ann), (main, dov), (side, ann), (far, bea)):
            ticket = self.do(user, "create_ticket", project_id=project, title="Alpha")["id"]
            self.do(user, "add_comment", ticket_id=ticket, body="bravo")
        for title in ("Alpha", "Bravo", "Alpha Charlie"):
            self.do(ann, "create_ticket", project_id=main, title=title)
        self.do(ann, "create_capture", **capture_of(project_id=main, title="Alpha"))
        self.do(bea, "add_attachment", ticket_id=ticket, file=("note.txt", b"text"))
        self.do(bea, "archive_ticket", ticket_id=ticket)

    def join(self, owner: str, company: str, user: str, role: str, projects: list[str] | None = None) -> None:
        invitation = self.do(owner, "create_invitation", company_id=company, role=role, project_ids=projects)
        self.do(user, "accept_invitation", secret=invitation["secret"])

    def give(self, user: str, scopes: list[str], **pins: Any) -> None:
        self.do(user, "create_token", label="T", scopes=scopes, **pins)

    def do(self, user: str, name: str, /, **arguments: Any) -> Row:
        """A step with a session."""
        return self.step(self.model.credentials[user], name, arguments, ["rest"])

    @rule(data=st.data(), name=st.sampled_from(OFTEN))
    def draw_step(self, data: st.DataObject, name: str) -> None:
        """A step with everything drawn."""
        draw = Draw(data, self.model, self.gone)
        arguments = draw.call(name)
        self.step_drawn(draw, name, arguments, self.callers(name))

    @rule(data=st.data(), names=st.lists(st.sampled_from(PLACING), min_size=2, max_size=5))
    def draw_board_steps(self, data: st.DataObject, names: list[str]) -> None:
        """Steps about the positions of tickets on one board; most tickets are in one column."""
        for name in names:
            self.place(data, name)

    def place(self, data: st.DataObject, name: str) -> None:
        project = self.busiest()
        columns = [(key, row["tickets"]) for key, row in self.model.columns.items() if row["project"] == project]
        near = {
            "tickets": [*self.tickets_of(project, "active") * 3, *self.tickets_of(project, "archived")],
            "columns": [key for key, tickets in columns for _ in range(1 + len(tickets))],
        }
        draw = Draw(data, self.model, self.gone, near)
        if name == "crowd":
            self.wire.crowd(draw.id("columns"))
        else:
            self.step_drawn(draw, name, draw.call(name), self.callers(name) + self.able(name, project) * 9)

    @rule(data=st.data(), names=st.lists(st.sampled_from(HAVING), min_size=2, max_size=5))
    def draw_work_steps(self, data: st.DataObject, names: list[str]) -> None:
        """Steps about who has one of two tickets: who works on it, and who is assigned."""
        for name in names:
            self.have(data, name, self.find_near(2))

    @rule(data=st.data(), names=st.lists(st.sampled_from(ASKING), min_size=3, max_size=7))
    def draw_question_steps(self, data: st.DataObject, names: list[str]) -> None:
        """Steps about the questions of one ticket: most by the run that works on it, and by who can answer."""
        for name in ["start_work", "start_work", *names]:
            self.have(data, name, self.find_near(1))

    @rule(
        data=st.data(), gate=st.sampled_from(GATES), names=st.lists(st.sampled_from(DECIDING), min_size=1, max_size=4)
    )
    def draw_approval_steps(self, data: st.DataObject, gate: str, names: list[str]) -> None:
        """A run asks people to approve its plan or its work; then steps by the run, and by who can decide."""
        gated = {key for key, row in self.model.projects.items() if row[gate]}
        waiting = [key for key, row in self.model.tickets.items() if row["project"] in gated and not row["resolved"]]
        if not waiting:
            return
        ticket = data.draw(st.sampled_from(waiting[:3]))
        row = self.model.tickets[ticket]
        able = self.able("finish_work", row["project"])
        tokens = [each for each in able if each["kind"] == "api"]
        if not tokens:
            return
        who = data.draw(st.sampled_from(tokens))
        self.step(who, "start_work", {"ticket_id": ticket}, ["rest"])
        if row["leases"]:
            given = {"ticket_id": ticket, "lease": row["leases"][-1]["lease"]}
            if gate == "plan_approval":
                self.step(who, "report_progress", {**given, "plan": data.draw(st.sampled_from([STEPS, []]))}, ["rest"])
            else:
                self.step(who, "finish_work", {**given, "resolved": True}, ["rest"])
        for name in names:
            self.have(data, name, [ticket])

    def have(self, data: st.DataObject, name: str, near: list[str]) -> None:
        project = self.model.tickets[near[0]]["project"] if near else None
        asked = [key for key, row in self.model.questions.items() if row["ticket"] in near][-2:]
        sessions = [key for key, row in self.model.work_sessions.items() if row["ticket"] in near][-2:]
        ids = {"tickets": near, "questions": asked, "work_sessions": sessions, "projects": [project] if project else []}
        draw = Draw(data, self.model, self.gone, ids)
        arguments = draw.call("stop_work" if name == "run_out" else name)
        claim = self.model.tickets.get(arguments.get("ticket_id", ""), {"claim": None})["claim"]
        if name != "run_out":
            holder = claim and self.model.credentials[claim["by"]["token_id"] or claim["by"]["user"]["id"]]
            who = self.callers(name) + self.able(name, project) * 3
            often = len(who) * 2 if name in BY_LEASE else len(who) // 3
            self.step_drawn(draw, name, arguments, who + [holder] * (often if holder else 0))
        elif claim:
            self.wire.run_out(arguments["ticket_id"])
            self.model.run_out(self.model.tickets[arguments["ticket_id"]])

    def find_near(self, count: int) -> list[str]:
        """The first tickets of the busiest project, of which every step needs the same ones."""
        project = self.busiest()
        return [*self.tickets_of(project, "active")[:count], *self.tickets_of(project, "archived")][:count]

    def busiest(self) -> str | None:
        """The project with most tickets, the first of several."""
        projects = [row["project"] for row in self.model.tickets.values()]
        return max(dict.fromkeys(projects), key=projects.count, default=None)

    def tickets_of(self, project: str | None, status: str) -> list[str]:
        wanted = (project, status)
        return [key for key, row in self.model.tickets.items() if (row["project"], row["status"]) == wanted]

    def able(self, name: str, project: str | None) -> list[Row]:
        """Whose credential suffices for an operation, and who reads a project."""
        result: list[Row] = []
        for row in self.model.credentials.values():
            self.model.who = row
            if row["alive"] and suffices(row, name) and self.model.sees(project):
                result.append(row)
        return result

    def step_drawn(self, draw: Draw, name: str, arguments: Row, callers: list[Row]) -> None:
        """A step by one of these callers, in a way or two that are drawn."""
        who = draw.of(callers)
        if "limit" in OPERATIONS[name].arguments.__struct_fields__:
            arguments["limit"] = 50 if name == "find_similar_tickets" else draw.of([100, 2])
        only_rest = who["kind"] == "session" or OPERATIONS[name].tool is None or "file" in arguments
        ways = ["rest"] if only_rest else ["rest", "mcp", "newest"]
        first = draw.of(ways)
        others = [way for way in ways if (way == "rest") != (first == "rest")][:1]
        self.step(who, name, arguments, [first, *others])

    def callers(self, name: str) -> list[Row]:
        """Who may call: mostly those whose credential suffices, and where a session is needed, who owns something."""
        everybody = list(self.model.credentials.values())
        people = [row for row in everybody if row["kind"] == "session"]
        if name.endswith("_invitation"):
            return people
        if name in NEEDS["session"]:
            members = [row["members"].items() for row in self.model.companies.values()]
            owners = {user for each in members for user, row in each if row["role"] == "owner"}
            return [row for row in people if row["user"] in owners] * 6 + people * 2 + everybody
        tokens = [row for row in everybody if row["kind"] == "api" and row["alive"] and suffices(row, name)]
        return people * 2 + tokens * 4 + everybody

    def step(self, who: Row, name: str, arguments: Row, ways: list[str]) -> Row:
        """Call, and compare with the model. What reads or was refused is called in the second way as well."""
        operation = OPERATIONS[name]
        answer = self.ask(who, name, arguments, ways[0])
        for way in ways[1:] if answer.refusal is not None or not operation.writes else []:
            other = self.ask(who, name, arguments, way)
            result = f"{name} {arguments}: {ways[0]} and {way} differ"
            assert answer.refusal == other.refusal, f"{result}: {answer.refusal} {other.refusal}"
            if answer.refusal is None and name in SHORTENED:
                assert identify(answer.body) == identify(other.body), result
                answer = other if way == "rest" else answer
            elif answer.refusal is None and name not in SEEN_ALONE:
                same = [{**without_nulls(each.body), "budgets": None} for each in (answer, other)]
                assert same[0] == same[1], result
        before = {noun: list(getattr(self.model, noun)) for noun in NOUNS}
        via = "web" if who["kind"] == "session" else "rest" if ways[0] == "rest" else "mcp"
        result = f"{name} {arguments} by {self.model.people[who['user']]}"
        try:
            expected, outcome = self.model.call(who, via, name, arguments, answer.body), None
        except ExpectedError as refused:
            expected, outcome = None, refused.outcome
        assert answer.refusal == outcome, f"{result}: {outcome or 'an answer'} expected, not {answer}"
        if outcome == (409, "question_closed"):
            accepted = self.model.find_accepted_answer(**arguments)
            assert answer.body.get("answer") == accepted, result
        wrong = None if expected is None else differs(expected, answer.body)
        assert wrong is None, f"{result}: {wrong}"
        if expected is not None and name in {"link_tickets", "unlink_tickets"}:
            links = {(each["kind"], each["ticket"]["id"]) for each in answer.body["links"]}
            assert links == self.model.list_links(answer.body["ticket_id"]), result
        if outcome is None:
            self.learn(who, name, answer)
        for noun, keys in before.items():
            self.gone[noun] += [key for key in keys if key not in getattr(self.model, noun)]
        return answer.body

    def ask(self, who: Row, name: str, arguments: Row, way: str) -> Answer:
        """Call in one way; a list is read page by page to its end."""
        operation = OPERATIONS[name]
        items: list[Any] = []
        given = dict(arguments)
        while True:
            if way == "rest":
                answer = self.wire.rest(who, operation, given)
            else:
                answer = self.wire.mcp(who, operation, given, newest=way == "newest")
            if answer.refusal is not None or "cursor" not in operation.arguments.__struct_fields__:
                return answer
            items += answer.body["items"]
            cursor = answer.body.get("next_cursor")
            if cursor is None:
                return Answer(None, {**answer.body, "items": items, "next_cursor": None})
            assert len(answer.body["items"]) == given["limit"] or (way != "rest" and answer.body["omitted"])
            given["cursor"] = cursor

    def learn(self, who: Row, name: str, answer: Answer) -> None:
        """What the model can't make up."""
        if name == "create_project":
            columns = self.wire.rest(who, OPERATIONS["list_columns"], {"project_id": answer.body["id"]})
            self.model.adopt_columns(answer.body["id"], columns.body["items"])
        elif name == "create_capture":
            asked = {"ticket_id": answer.body["ticket_id"], "status": "all"}
            ticket = self.wire.rest(who, OPERATIONS["get_ticket"], asked).body
            if ticket["capture"]["id"] == answer.body["capture_id"]:
                self.model.adopt_screenshot(answer.body["capture_id"], ticket["capture"]["screenshot"]["id"])
        elif name == "accept_invitation":
            who["secret"] = answer.cookie

    def teardown(self) -> None:
        """Everybody sees in the end what they should; every board is in order."""
        people = [row for row in self.model.credentials.values() if row["kind"] == "session"]
        for who in people:
            self.step(who, "list_tickets", {"status": "all", "limit": 100}, ["rest"])
            self.step(who, "list_events", {"limit": 100}, ["rest"])
        for project in self.model.projects:
            seeing = next((who for who in people if self.model.place(project, who["user"])), None)
            if seeing is None:
                continue
            for column in self.model.projects[project]["columns"]:
                asked = {"column_id": [column], "sort": "position", "status": "all", "limit": 100}
                self.step(seeing, "list_tickets", asked, ["rest"])
        for company in list(self.model.companies):
            members = self.model.companies[company]["members"]
            owner = next(user for user, row in members.items() if row["role"] == "owner")
            self.do(owner, "get_audit", company_id=company, limit=100)


def run(wire: Wire, runs: int, steps: int) -> None:
    """Let the machine run; a divergence is shown as the shortest way to it."""
    run_state_machine_as_test(
        lambda: Machine(wire),  # pyright: ignore[reportArgumentType] (anything that makes one will do)
        settings=settings(hypothesis_settings(runs), stateful_step_count=steps),
    )


def identify(body: Row) -> list[Any]:
    """The ids of an answer's items, or of its only one; the number of lines of a stream."""
    items = body.get("items", [body])
    is_stream = any(isinstance(each, str) or "ts" in each for each in items)  # tools return its entries as lines
    return [None if is_stream else each.get("id") for each in items]


def test_every_operation_is_in_the_model_or_listed_elsewhere() -> None:
    assert set(ARGUMENTS) | set(ELSEWHERE) == {each.name for each in operations()}
    assert not set(ARGUMENTS) & set(ELSEWHERE)


@pytest.mark.long
def test_model_and_server_agree_in_a_long_run(wire: Wire, record_property: Record) -> None:
    runs = choose_rounds(25, 200)
    run(wire, runs, 50)
    record_property("runs", runs)
    record_property("calls", wire.calls)
    record_property("divergences", 0)

"""Arguments for each operation: mostly ids of rows that exist, now and then of one that is gone or never was."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.machine.contents import Model
from tests.machine.model import GATES, GRANTS, ROLES, Row
from tests.support.operation_cases import NEVER, capture_arguments

KINDS = ("todo", "doing", "done")
WORDS = ("alpha", "bravo", "charlie")
STEPS = [{"text": "alpha", "state": "done"}, {"text": "bravo", "state": "pending"}]
PAGES = ("https://shop.example/one", "https://shop.example/two")
NOUNS = {
    "companies": "company", "projects": "project", "columns": "column", "tickets": "ticket", "comments": "comment",
    "captures": "capture", "assets": "asset", "webhooks": "webhook", "invitations": "invitation",
    "questions": "question", "work_sessions": "work_session",
}  # fmt: skip


class Draw:
    """Draws arguments for a model as it is now; of the nouns in `near`, those ids alone."""

    def __init__(
        self, data: st.DataObject, model: Model, gone: dict[str, list[str]], near: dict[str, list[str]] | None = None
    ) -> None:
        self.model = model
        self.gone = gone
        self.near = near or {}
        self.of = lambda values: data.draw(st.sampled_from(list(values)))

    def id(self, noun: str) -> str:
        """The id of a row; every tenth or so of none."""
        if near := self.near.get(noun):
            return self.of(near)
        there = list(getattr(self.model, noun))
        gone = self.gone[noun][-2:]
        return self.of([*there * (1 + 8 // (len(there) or 1)), *gone, NEVER[NOUNS[noun]]])

    def user(self) -> str:
        return self.of([*self.model.people, NEVER["user"]])

    def assignee(self, ticket: str) -> str:
        """Mostly somebody who is assigned."""
        return self.of(["me", self.user(), *self.list_assignees(ticket) * 2])

    def list_assignees(self, ticket: str) -> list[str]:
        """Who is, in the order in which they came: their ids are others in each run, and a draw must mean the same."""
        there = self.model.tickets.get(ticket, {"assignees": ()})["assignees"]
        return [user for user in self.model.people if user in there]

    def maybe(self, **values: Callable[[], Any]) -> Row:
        """Some of these arguments."""
        return {name: value() for name, value in values.items() if self.of([False, True])}

    def some(self, value: Callable[[], str], least: int = 1) -> list[str]:
        """A few values, mostly each once."""
        values = [value() for _ in range(self.of(range(least, 4)))]
        return values if self.of([False] * 4 + [True]) else list(dict.fromkeys(values))

    def version(self, ticket: str) -> Callable[[], int]:
        row = self.model.tickets.get(ticket, {"version": 1})
        return lambda: row["version"] + self.of([0, 0, 1])

    def call(self, name: str) -> Row:
        """The arguments of an operation."""
        return ARGUMENTS[name](self)


def _ticket(draw: Draw) -> Row:
    return {"ticket_id": draw.id("tickets")}


def _draw_version(draw: Draw) -> Row:
    given = _ticket(draw)
    return given | draw.maybe(expected_version=draw.version(given["ticket_id"]))


def _draw_lease(draw: Draw) -> Row:
    """A lease of the ticket, mostly the one that it had last, or a wrong one."""
    given = _draw_version(draw)
    leases = [each["lease"] for each in draw.model.tickets.get(given["ticket_id"], {"leases": ()})["leases"]]
    return given | draw.maybe(lease=lambda: draw.of([*leases[-3:], *leases[-1:] * 6, "lease_wrong"]))


def _draw_held(draw: Draw) -> Row:
    """A lease of the ticket, mostly the one that it had last."""
    given = _draw_lease(draw)
    return {"lease": "lease_wrong", **given}


def _draw_run(draw: Draw) -> Row:
    """A ticket and a lease of it, for what takes no version."""
    return {name: value for name, value in _draw_held(draw).items() if name != "expected_version"}


def _draw_link(draw: Draw) -> Row:
    roles = ["blocks", "blocked_by", "duplicates", "duplicated_by", "relates", "parent", "child"]
    return {**_draw_version(draw), "kind": draw.of(roles), "other": draw.id("tickets")}


def _assignment(draw: Draw) -> Row:
    given = _draw_version(draw)
    return {**given, "user_id": draw.assignee(given["ticket_id"])}


def _assignments(draw: Draw) -> Row:
    tickets = draw.some(lambda: draw.id("tickets"))
    users = draw.some(lambda: draw.of([draw.user(), *draw.list_assignees(tickets[0]) * 2]), 0)
    return {"ticket_ids": tickets, "user_ids": users, "mode": draw.of(["add", "remove", "replace"])}


def _with(noun: str, name: str) -> Callable[[Draw], Row]:
    return lambda draw: {name: draw.id(noun)}


_company, _project = _with("companies", "company_id"), _with("projects", "project_id")
_column, _capture = _with("columns", "column_id"), _with("captures", "capture_id")
_asset, _comment = _with("assets", "asset_id"), _with("comments", "comment_id")
_webhook, _invitation = _with("webhooks", "webhook_id"), _with("invitations", "invitation_id")


def _fields(draw: Draw) -> dict[str, Callable[[], Any]]:
    return {
        "description": lambda: draw.of(WORDS),
        "priority": lambda: draw.of(["none", "high"]),
        "labels": lambda: draw.of([[], ["red"], ["red", "blue"]]),
        "due_on": lambda: draw.of(["2026-12-24", "2027-01-01"]),
    }


def _title(draw: Draw) -> str:
    return draw.of(["Alpha", "Bravo", "Alpha Charlie"])


def _status(draw: Draw) -> str:
    return draw.of(["active", "archived", "all"])


def _move(draw: Draw) -> Row:
    """To the end of a column, or mostly beside another ticket in it."""
    given = _draw_version(draw) | _column(draw)
    if draw.of([False, False, True]):
        return given
    there = draw.model.columns.get(given["column_id"], {"tickets": []})["tickets"]
    active = [key for key in there if draw.model.tickets[key]["status"] == "active" and key != given["ticket_id"]]
    return given | {draw.of(["before", "after"]): draw.of([*active * 3, draw.id("tickets")])}


def _filters(draw: Draw) -> Row:
    if draw.of([False, True]):
        return {"column_id": [draw.id("columns")], "sort": "position", "status": _status(draw)}
    return draw.maybe(
        company_id=lambda: draw.id("companies"),
        project_id=lambda: draw.id("projects"),
        column_id=lambda: draw.some(lambda: draw.id("columns")),
        status=lambda: _status(draw),
        assignee=lambda: draw.some(lambda: draw.of(["me", *draw.model.people])),
        label=lambda: draw.of([["red"], ["blue"], ["red", "blue"]]),
        priority=lambda: draw.of([["none"], ["high"], ["high", "none"]]),
    )


def _draw_projects(draw: Draw) -> list[str] | None:
    return draw.of([None, list(dict.fromkeys(draw.some(lambda: draw.id("projects"))))])


def capture_of(client_id: str = "capture-0", page: str = PAGES[0], **where: str) -> Row:
    """The parts of a small capture, for a ticket or for a project."""
    given = capture_arguments("", **{"project_id": None, **where, "page": {"url": page, "title": "Page"}})
    given["capture"]["id"] = client_id
    return given


def _new_capture(draw: Draw) -> Row:
    where = draw.of([_ticket, _project])(draw)
    title = {"title": _title(draw)} if "project_id" in where else {}
    return capture_of(f"capture-{draw.of('0123')}", draw.of(PAGES), **where, **title)


def _marks(draw: Draw) -> Row:
    mark = {"kind": "rectangle", "geometry": {"x": 1, "y": 1, "width": 4, "height": 4}}
    return {**_asset(draw), "annotations": [mark] * draw.of([0, 1, 2])}


def _secret(draw: Draw) -> Row:
    secrets = [row["secret"] for row in draw.model.invitations.values()]
    return {"secret": draw.of([*secrets, *secrets, "tok_nobody"])}


def _pins(draw: Draw) -> Row:
    return draw.maybe(company_id=lambda: draw.id("companies"), project_ids=lambda: [draw.id("projects")])


ARGUMENTS: dict[str, Callable[[Draw], Row]] = {
    "get_me": lambda _: {},
    "list_companies": lambda _: {},
    "list_projects": lambda d: d.maybe(company_id=lambda: d.id("companies")),
    "list_columns": _project,
    "list_members": lambda d: {**_company(d), **d.maybe(project_id=lambda: d.id("projects"))},
    "list_tickets": _filters,
    "get_ticket": lambda d: {**_ticket(d), **d.maybe(status=lambda: _status(d))},
    "search": lambda d: {"q": d.of(WORDS), **d.maybe(status=lambda: _status(d))},
    "find_similar_tickets": lambda d: {**d.of([_ticket(d), {"url": d.of(PAGES)}]), "status": _status(d)},
    "list_comments": _ticket,
    "get_ticket_history": _ticket,
    "get_console": _capture,
    "get_network": _capture,
    "get_errors": _capture,
    "get_actions": _capture,
    "get_timeline": _capture,
    "get_network_request": lambda d: {**_capture(d), "entry": "r1"},
    "get_har": _capture,
    "get_reproduction": _capture,
    "get_replay": _capture,
    "get_replay_transcript": _capture,
    "get_screenshot": _ticket,
    "get_asset": _asset,
    "get_asset_content": _asset,
    "list_attachments": _ticket,
    "list_captures": _ticket,
    "list_annotations": _asset,
    "list_events": lambda _: {},
    "create_ticket": lambda d: {
        "title": _title(d), **d.of([_project, _column])(d), **d.maybe(**_fields(d), source_url=lambda: d.of(PAGES)),
    },
    "create_capture": _new_capture,
    "update_ticket": lambda d: {
        **_draw_version(d), **d.maybe(**_fields(d), title=lambda: _title(d), resolved=lambda: d.of([True, False])),
    },
    "move_ticket": _move,
    "bulk_move_tickets": lambda d: {"ticket_ids": d.some(lambda: d.id("tickets")), **_column(d)},
    "archive_ticket": _draw_version,
    "restore_ticket": _draw_version,
    "start_work": lambda d: {
        **_draw_lease(d), **d.maybe(branch=lambda: "fix", run=lambda: "r", lease_minutes=lambda: d.of([1, 1440])),
    },
    "stop_work": _draw_lease,
    "report_progress": lambda d: {
        **_draw_run(d), **d.maybe(note=lambda: d.of(WORDS), plan=lambda: d.of([[], STEPS[:1], STEPS])),
    },
    "ask_human": lambda d: {
        **_draw_run(d), "question": d.of(WORDS[:2]), "choices": d.of([[], ["Yes", "No"]]),
    },
    "wait_for_answer": lambda d: {**_draw_run(d), "wait_seconds": 0},  # tools wait by default
    "answer_question": lambda d: {"question_id": d.id("questions"), "answer": d.of(["Yes", "No", "alpha"])},
    "decide_approval": lambda d: {"session_id": d.id("work_sessions"), "approve": d.of([True, False])},
    "finish_work": lambda d: {
        **_draw_held(d), **d.maybe(resolved=lambda: d.of([True, True, True, False]), release=lambda: True),
    },
    "claim_next_ticket": lambda d: {
        **_project(d), "wait_seconds": 0, **d.maybe(labels=lambda: ["agent"], run=lambda: "r"),
    },
    "send_to_agent": _draw_version,
    "link_tickets": _draw_link,
    "unlink_tickets": _draw_link,
    "list_work_sessions": lambda d: d.maybe(
        ticket_id=lambda: d.id("tickets"), company_id=lambda: d.id("companies")
    ),
    "add_attachment": lambda d: {**_ticket(d), "file": ("note.txt", b"text")},
    "save_annotations": _marks,
    "add_comment": lambda d: {**_ticket(d), "body": d.of(WORDS)},
    "edit_comment": lambda d: {**_comment(d), "body": d.of(WORDS)},
    "delete_comment": _comment,
    "assign_ticket": lambda d: {**_draw_version(d), "user_id": d.of(["me", d.user()])},
    "unassign_ticket": _assignment,
    "bulk_assign_tickets": _assignments,
    "create_company": lambda _: {"name": "Another"},
    "update_company": lambda d: {**_company(d), "name": d.of(WORDS)},
    "delete_company": _company,
    "create_project": lambda d: {**_company(d), "name": d.of(WORDS)},
    "update_project": lambda d: {
        **_project(d), "name": d.of(WORDS), **d.maybe(**dict.fromkeys(GATES, lambda: d.of([True, True, False]))),
    },
    "delete_project": _project,
    "create_column": lambda d: {
        **_project(d), "name": d.of(WORDS), **d.maybe(position=lambda: d.of(range(5)), kind=lambda: d.of(KINDS)),
    },
    "update_column": lambda d: {
        **_column(d),
        **d.maybe(name=lambda: d.of(WORDS), position=lambda: d.of(range(5)), kind=lambda: d.of(KINDS)),
    },
    "delete_column": lambda d: {**_column(d), **d.maybe(move_to=lambda: d.id("columns"))},
    "update_member": lambda d: {
        **_company(d), "user_id": d.user(), **d.maybe(role=lambda: d.of(ROLES), project_ids=lambda: _draw_projects(d)),
    },
    "remove_member": lambda d: {**_company(d), "user_id": d.user()},
    "list_invitations": _company,
    "create_invitation": lambda d: {**_company(d), "role": d.of(ROLES), "project_ids": _draw_projects(d)},
    "delete_invitation": _invitation,
    "get_invitation": _secret,
    "accept_invitation": _secret,
    "list_tokens": lambda _: {},
    "create_token": lambda d: {"label": "T", "scopes": [d.of(GRANTS)], **_pins(d)},
    "revoke_token": lambda d: {
        "token_id": d.of([*(k for k, row in d.model.credentials.items() if row["kind"] == "api"), NEVER["token"]]),
    },
    "get_audit": _company,
    "list_webhooks": _company,
    "create_webhook": lambda d: {**_company(d), "name": "H", "url": "https://h.invalid/", "types": ["project.removed"]},
    "update_webhook": lambda d: {**_webhook(d), "name": d.of(WORDS)},
    "delete_webhook": _webhook,
    "mute_ticket": _ticket,
    "unmute_ticket": _ticket,
    "mute_project": _project,
    "unmute_project": _project,
    "list_mutes": lambda _: {},
    "count_unread_notifications": lambda _: {},
    "read_all_notifications": lambda _: {},
}  # fmt: skip

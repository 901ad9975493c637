"""What ticketbox should do, in plain dictionaries: who sees what, and what each operation then does.

It is written from docs/use/tokens.md and docs/use/api.md, and takes nothing from the product. A call names the
credential, the operation and its arguments; it returns what the response must contain, or raises ExpectedError. What
the server generates (ids) is read from its response, which is why that is passed as `made`.
"""

from typing import Any

Row = dict[str, Any]

ROLES = ("viewer", "member", "admin", "owner")
GATES = ("plan_approval", "done_approval")
GRANTS = {
    "read": {"read"},
    "comments": {"read", "comments"},
    "tickets:write": {"read", "comments", "tickets:write"},
    "tickets:assign": {"read", "tickets:assign"},
}
NEEDS = {
    "comments": {"add_comment", "edit_comment", "delete_comment"},
    "tickets:write": {
        "create_ticket", "create_capture", "update_ticket", "move_ticket", "bulk_move_tickets", "archive_ticket",
        "restore_ticket", "start_work", "stop_work", "report_progress", "finish_work", "claim_next_ticket",
        "send_to_agent", "link_tickets", "unlink_tickets", "add_attachment", "save_annotations",
        "ask_human", "wait_for_answer", "answer_question",
    },
    "tickets:assign": {"assign_ticket", "unassign_ticket", "bulk_assign_tickets"},
    "session": {
        "create_company", "update_company", "delete_company", "create_project", "update_project", "delete_project",
        "create_column", "update_column", "delete_column", "update_member", "remove_member", "create_invitation",
        "list_invitations", "delete_invitation", "create_token", "list_tokens", "revoke_token", "get_audit",
        "create_webhook", "list_webhooks", "update_webhook", "delete_webhook", "mute_ticket", "unmute_ticket",
        "mute_project", "unmute_project", "list_mutes", "count_unread_notifications", "read_all_notifications",
        "decide_approval",
    },
    "nothing": {"get_me", "get_invitation", "accept_invitation"},
}  # fmt: skip


def suffices(who: Row, name: str) -> bool:
    """Whether a credential is of the kind, and has the scope, that an operation needs."""
    need = next((need for need, names in NEEDS.items() if name in names), "read")
    granted = set().union(*(GRANTS[scope] for scope in who["scopes"]))
    return who["kind"] == "session" or need == "nothing" or need in granted


class ExpectedError(Exception):
    """The call must be refused, with this status and code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.outcome = (status, code)


def forbidden() -> ExpectedError:
    return ExpectedError(403, "forbidden")


def not_found() -> ExpectedError:
    return ExpectedError(404, "not_found")


def conflict(code: str = "conflict") -> ExpectedError:
    return ExpectedError(409, code)


def invalid() -> ExpectedError:
    return ExpectedError(400, "invalid_request")


class State:
    """The rows, and the one rule of who sees and may write them."""

    def __init__(self, people: dict[str, str]) -> None:
        self.people = people
        self.companies: dict[str, Row] = {}
        self.projects: dict[str, Row] = {}
        self.columns: dict[str, Row] = {}
        self.tickets: dict[str, Row] = {}
        self.comments: dict[str, Row] = {}
        self.captures: dict[str, Row] = {}
        self.assets: dict[str, Row] = {}
        self.webhooks: dict[str, Row] = {}
        self.invitations: dict[str, Row] = {}
        self.credentials: dict[str, Row] = {}
        self.log: list[Row] = []
        self.told: list[Row] = []
        self.mutes: set[tuple[str, str]] = set()
        self.who: Row = {}
        self.via = ""
        self.made: Any = None

    def call(self, who: Row, via: str, name: str, arguments: Row, made: Any) -> Any:
        """What the call must answer. Raises Refused."""
        self.who, self.via, self.made = who, via, made
        self.admit(name)
        return getattr(self, name)(**arguments)

    def admit(self, name: str) -> None:
        """Refuse by the credential alone."""
        if not self.who["alive"]:
            raise ExpectedError(401, "unauthorized")
        if not suffices(self.who, name):
            raise forbidden() if name in NEEDS["session"] else ExpectedError(403, "insufficient_scope")

    def new_id(self) -> str:
        """The id of what the server made; it must have made something."""
        if not isinstance(self.made, dict) or "code" in self.made:
            raise ExpectedError(0, "should have succeeded")
        return self.made.get("webhook", self.made)["id"]

    def member(self, company: str, user: str | None = None) -> Row | None:
        """A user's place in a company; the caller's own unless another is named."""
        row = self.companies.get(company)
        return None if row is None else row["members"].get(user or self.who["user"])

    def place(self, project: str, user: str | None = None) -> Row | None:
        """The membership by which a user sees a project."""
        member = self.member(self.projects[project]["company"], user) if project in self.projects else None
        kept = member is not None and member["projects"] is not None and project not in member["projects"]
        return None if kept else member

    def within(self, project: str) -> bool:
        """Whether the credential's own restriction lets a project in."""
        pinned, kept = self.who["company"], self.who["projects"]
        return pinned in {None, self.projects[project]["company"]} and (kept is None or project in kept)

    def sees(self, project: str | None) -> bool:
        """Whether the caller reads what is in a project."""
        return project is not None and self.place(project) is not None and self.within(project)

    def project_of(self, noun: str, key: str) -> str | None:
        """The project that a row belongs to; None for one that isn't there."""
        row = getattr(self, noun).get(key)
        if row is None or noun == "projects":
            return None if row is None else key
        return self.project_of("tickets", row["ticket"]) if "ticket" in row else row["project"]

    def read(self, noun: str, key: str) -> Row:
        """A row that the caller may read."""
        if not self.sees(self.project_of(noun, key)):
            raise not_found()
        return getattr(self, noun)[key]

    def write(self, noun: str, key: str, least: str = "member") -> Row:
        """A row that the caller may write."""
        project = self.project_of(noun, key)
        member = None if project is None else self.place(project)
        if project is None or member is None:
            raise not_found()
        if not self.within(project):
            raise forbidden()
        self.least(member, least)
        return getattr(self, noun)[key]

    def company(self, key: str, least: str = "viewer") -> Row:
        """A company of the caller's, in which the caller has a role."""
        member = self.member(key)
        if member is None or self.who["company"] not in {None, key}:
            raise not_found()
        self.least(member, least)
        if least == "admin" and member["role"] == "admin" and member["projects"] is not None:
            raise forbidden()
        return self.companies[key]

    def least(self, member: Row, least: str) -> None:
        """Refuse a role that is too low."""
        if ROLES.index(member["role"]) < ROLES.index(least):
            raise forbidden()

    def by(self) -> Row:
        """Who writes now, as a record shows it."""
        token = None if self.who["kind"] == "session" else self.who["id"]
        return {"user": {"id": self.who["user"]}, "token_id": token, "via": self.via}

    def record(self, type_: str, company: str, project: str | None = None, ticket: str | None = None) -> None:
        """What the history and the audit log must say from now on."""
        result = {"type": type_, "company_id": company, "project_id": project, "ticket_id": ticket, "by": self.by()}
        self.log.append(result)

    def notify(self, users: set[str], ticket: Row) -> None:
        """Tell those of them who see the ticket and didn't mute it, but for the caller."""
        self.tell(users - {self.who["user"]}, ticket)

    def tell(self, users: set[str], ticket: Row) -> None:
        """Tell those of them who see the ticket and didn't mute it."""
        for user in users:
            muted = (user, ticket["id"]) in self.mutes or (user, ticket["project"]) in self.mutes
            if self.place(ticket["project"], user) is not None and not muted:
                self.told.append({"user": user, "ticket": ticket["id"], "read": False})

    def follow_column(self, row: Row, column_id: str) -> bool:
        """Whether a ticket is resolved once it is in another column."""
        origin, target = row["column"], self.columns[column_id]
        if target["kind"] == "done":
            return True
        kinds = {self.columns[key]["kind"] for key in self.projects[target["project"]]["columns"]}
        left = origin is not None and self.columns[origin]["kind"] == "done"
        return row["resolved"] and "done" not in kinds and not left

    def forget_ticket(self, key: str) -> None:
        """Remove a ticket with all that hangs on it; what happened stays in the log, without it."""
        for rows in (self.comments, self.captures, self.assets):
            for each in [each for each, row in rows.items() if row["ticket"] == key]:
                del rows[each]
        self.told = [each for each in self.told if each["ticket"] != key]
        self.mutes = {each for each in self.mutes if each[1] != key}
        for each in self.log:
            if each["ticket_id"] == key:
                each["ticket_id"] = None
        del self.tickets[key]

    def forget_project(self, key: str) -> None:
        """Remove a project with its board; who was kept to it is kept from it now."""
        for ticket in [each for each, row in self.tickets.items() if row["project"] == key]:
            self.forget_ticket(ticket)
        for column in self.projects[key]["columns"]:
            del self.columns[column]
        members = self.companies[self.projects[key]["company"]]["members"].values()
        for row in (*members, *self.credentials.values(), *self.invitations.values()):
            if row["projects"] is not None:
                row["projects"] = row["projects"] - {key}
        for each in self.log:
            if each["project_id"] == key:
                each["project_id"] = None
        self.mutes = {each for each in self.mutes if each[1] != key}
        del self.projects[key]

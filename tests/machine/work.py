"""The model of work on tickets: claims with their leases, the queue, links that block, and how work ends."""

from datetime import datetime, timedelta

from tests.machine.model import ROLES, ExpectedError, Row, conflict, forbidden, invalid, suffices
from tests.machine.tickets import Board

PRIORITIES = ("none", "low", "medium", "high", "urgent")
INVERSE = {"blocks": "blocked_by", "duplicates": "duplicated_by", "relates": "relates", "parent": "child"}
FORWARD = {inverse: kind for kind, inverse in INVERSE.items()}


class Work(Board):
    """One method for each operation, by its name. `links` are (kind, ticket, other)."""

    def __init__(self, people: dict[str, str]) -> None:
        super().__init__(people)
        self.links: set[tuple[str, str, str]] = set()

    def forget_ticket(self, key: str) -> None:
        """Remove a ticket with its links."""
        self.links = {each for each in self.links if key not in each[1:]}
        super().forget_ticket(key)

    def find_lease(self, row: Row, lease: str) -> Row | None:
        """What a lease of the caller's belongs to."""
        return next(
            (each for each in row["leases"] if (each["lease"], each["user"]) == (lease, self.who["user"])), None
        )

    def refuse_lease(self, row: Row) -> ExpectedError:
        return conflict("already_claimed" if row["claim"] else "lease_expired")

    def start_work(
        self, ticket_id: str, branch: str | None = None, lease_minutes: int = 60, lease: str | None = None,
        run: str | None = None, expected_version: int | None = None,
    ) -> Row:  # fmt: skip
        row = self.changeable(ticket_id, expected_version)
        claim = row["claim"]
        if lease is not None:
            held = self.find_lease(row, lease)
            if held is None or held["state"] != "current":
                raise self.refuse_lease(row)
        takes_back = lease is None and claim and self.is_same_run(claim, run)
        if takes_back:
            next(each for each in row["leases"] if each["state"] == "current")["lease"] = self.made["lease"]
        elif lease is None and claim and (self.who["kind"] != "session" or claim["by"] != self.by()):
            raise conflict("already_claimed")
        if claim is None:
            row["branch"] = branch or row["branch"] or f"{ticket_id}-{row['title'].lower().replace(' ', '-')}"
            row["claim"] = {"by": self.by(), "until": self.after(lease_minutes), "run": run}
            session = {"id": self.made["claim"]["session_id"], "ticket": {"id": ticket_id}, "run": run, "note": None}
            session |= {"user": self.who["user"], "question": None}
            gated = self.projects[row["project"]]["plan_approval"]
            session |= {"needs_plan": gated and self.who["kind"] != "session", "plan": [], "approved_plans": []}
            row["leases"].append({**session, "lease": self.made["lease"], "state": "current"})
            return self.touch(row, "ticket.work_started")
        row["claim"] = {**claim, "until": self.made["claim"]["until"]}
        if branch in {None, row["branch"]}:
            return self.ticket_view(ticket_id) | {"lease": self.made["lease"] if takes_back else None}
        row["branch"] = branch
        return self.touch(row, "ticket.updated")

    def is_same_run(self, claim: Row, run: str | None) -> bool:
        """Whether the caller, which lost its lease, has a claim."""
        token = self.by()["token_id"]
        return run is not None and token is not None and (claim["run"], claim["by"]["token_id"]) == (run, token)

    def after(self, minutes: int, change: str = "updated") -> str:
        """The time so long after the server's answer says that it made a change."""
        if not isinstance(self.made, dict) or change not in self.made:
            raise ExpectedError(0, "should have succeeded")
        ends = datetime.fromisoformat(self.made[change]["at"]) + timedelta(minutes=minutes)
        return ends.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def stop_work(self, ticket_id: str, lease: str | None = None, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version)
        if lease is not None:
            held = self.find_lease(row, lease)
            if held is not None and held["state"] == "done":
                return self.ticket_view(ticket_id)
            if held is None or held["state"] == "stale":
                raise self.refuse_lease(row)
        elif row["claim"] is None:
            return self.ticket_view(ticket_id)
        elif not self.may_release(row):
            raise conflict("already_claimed")
        self.end_work(row, "done")
        return self.touch(row, "ticket.work_stopped")

    def may_release(self, row: Row) -> bool:
        """Whether the caller is the person behind a claim, or an admin, in a session."""
        member = self.place(row["project"])
        assert member is not None
        own = row["claim"]["by"]["user"]["id"] == self.who["user"]
        return self.who["kind"] == "session" and (own or ROLES.index(member["role"]) >= ROLES.index("admin"))

    def run_out(self, row: Row) -> None:
        """Let a claim expire: recorded in the name of its holder."""
        by = row["claim"]["by"]
        self.end_work(row, "stale")
        where = {"company_id": self.projects[row["project"]]["company"], "project_id": row["project"]}
        self.log.append({"type": "ticket.work_stale", **where, "ticket_id": row["id"], "by": by})

    def require_lease(self, row: Row, lease: str) -> Row:
        """The session of a lease that holds the claim."""
        found = self.find_lease(row, lease)
        if found is None or found["state"] != "current":
            raise self.refuse_lease(row)
        return found

    def report_progress(
        self, ticket_id: str, lease: str, note: str | None = None, plan: list[Row] | None = None
    ) -> Row:
        row = self.changeable(ticket_id)
        session = self.require_lease(row, lease)
        row["claim"] = {**row["claim"], "until": self.made["until"]}
        session["note"] = note or session["note"]
        session["plan"] = session["plan"] if plan is None else plan
        if note is not None or plan is not None:
            self.record_for(row, "ticket.work_progress")
        if plan is not None and self.who["kind"] != "session" and self.projects[row["project"]]["plan_approval"]:
            self.check_plan(row, session)
        return {
            "id": session["id"],
            "ticket": session["ticket"],
            "note": session["note"],
            "plan": session["plan"],
            "state": self.show_state(session),
        }

    def check_plan(self, row: Row, session: Row) -> None:
        raise NotImplementedError

    def show_state(self, session: Row) -> str:
        """The state of a work session: it awaits input while its plan, or its newest question, needs a person."""
        question = session["question"]
        if session["state"] != "current":
            return session["state"]
        is_open = question is not None and question["answer"] is None
        return "awaiting_input" if session["needs_plan"] or is_open else "active"

    @property
    def work_sessions(self) -> dict[str, Row]:
        """The work sessions of all tickets."""
        return {each["id"]: {**each, "ticket": key} for key, row in self.tickets.items() for each in row["leases"]}

    def finish_work(
        self, ticket_id: str, lease: str, resolved: bool | None = None, release: bool = False,
        expected_version: int | None = None,
    ) -> Row:  # fmt: skip
        row = self.changeable(ticket_id, expected_version)
        self.require_lease(row, lease)
        if resolved is None and not release:
            raise invalid()
        row.update(version=row["version"] + 1, updated=self.by())
        if resolved is not None and resolved != row["resolved"]:
            self.set_status(row, resolved, "ticket.updated")
        self.end_work(row, "done")
        return {**self.record_for(row, "ticket.work_finished"), "finished": True}

    def set_status(self, row: Row, resolved: bool, type_: str) -> None:
        """Move a ticket to the column that its status means; without one, set the status."""
        target = self.column_of_status(row, resolved)
        if target is None:
            row["resolved"] = resolved
            self.record_for(row, type_)
        else:
            self.place_in(row, target, 0)
            self.record_for(row, "ticket.moved")

    def list_work_sessions(self, limit: int, ticket_id: str | None = None, company_id: str | None = None) -> Row:
        return {
            "items": {
                each["id"]: {"ticket": each["ticket"], "run": each["run"], "state": self.show_state(each)}
                for key, row in self.tickets.items()
                if self.sees(row["project"]) and ticket_id in {None, key}
                and company_id in {None, self.company_of(row)}
                for each in row["leases"]
            }
        }  # fmt: skip

    def is_ready(self, row: Row) -> bool:
        """Whether the queue serves a ticket."""
        blocking = [self.tickets[one] for kind, one, other in self.links if (kind, other) == ("blocks", row["id"])]
        return (
            (row["status"], row["resolved"], row["claim"]) == ("active", False, None)
            and self.columns[row["column"]]["kind"] == "todo"
            and all(each["resolved"] or each["status"] == "archived" for each in blocking)
        )

    def claim_next_ticket(
        self, project_id: str, wait_seconds: int, labels: list[str] | None = None, run: str | None = None
    ) -> Row | None:
        row = self.write("projects", project_id)
        board = [self.tickets[key] for column in row["columns"] for key in self.columns[column]["tickets"]]
        ready = [each for each in board if set(labels or []) <= set(each["labels"])]
        ready = [each for each in ready if each["column"] is not None and self.is_ready(each)]
        first = max(ready, key=lambda each: PRIORITIES.index(each["priority"]), default=None)
        if first is None:
            if self.made is not None:
                raise ExpectedError(0, "no ticket is ready")
            return None
        return self.start_work(first["id"], run=run)

    def send_to_agent(self, ticket_id: str, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version)
        board = self.projects[row["project"]]["columns"]
        target = next((key for key in board if self.columns[key]["kind"] == "todo"), None)
        there = [] if target is None else self.columns[target]["tickets"]
        top = next((key for key in there if self.tickets[key]["status"] == "active"), None)
        moves, labelled = target is not None and top != ticket_id, "agent" in row["labels"]
        if labelled and not moves:
            return self.ticket_view(ticket_id)
        row.update(version=row["version"] + 1, updated=self.by())
        if not labelled:
            row["labels"] = [*row["labels"], "agent"]
            self.record_for(row, "ticket.updated")
        if moves and target is not None:
            self.place_in(row, target, 0)
            self.record_for(row, "ticket.moved")
        return self.ticket_view(ticket_id)

    def sides(self, ticket_id: str, kind: str, other: str, version: int | None) -> tuple[str, Row, Row]:
        """The kind of a link, and its tickets in its direction."""
        row, second = self.changeable(ticket_id, version), self.changeable(other, archived=True)
        if self.company_of(row) != self.company_of(second):
            raise forbidden()
        if ticket_id == other:
            raise invalid()
        return (FORWARD[kind], second, row) if kind in FORWARD and kind not in INVERSE else (kind, row, second)

    def order_link(self, kind: str, one: Row, other: Row) -> tuple[str, str, str]:
        """A link as it is kept: one without a direction in one order."""
        keys = (one["id"], other["id"])
        return (kind, *sorted(keys)) if kind == "relates" else (kind, *keys)  # pyright: ignore[reportReturnType]

    def reaches(self, kind: str, start: str, wanted: str) -> bool:
        """Whether links of a kind lead from a ticket to another."""
        found, todo = {start}, [start]
        while todo:
            here = todo.pop()
            following = {other for each, one, other in self.links if (each, one) == (kind, here)} - found
            found |= following
            todo += following
        return wanted in found

    def link_tickets(self, ticket_id: str, kind: str, other: str, expected_version: int | None = None) -> Row:
        kind, one, two = self.sides(ticket_id, kind, other, expected_version)
        if kind != "relates" and self.reaches(kind, two["id"], one["id"]):
            raise conflict()
        has_parent = any(each[:2] == ("parent", one["id"]) for each in self.links)
        if kind == "parent" and has_parent and not self.reaches(kind, one["id"], two["id"]):
            raise conflict()
        link = self.order_link(kind, one, two)
        if link not in self.links:
            moves = one["column"] is not None and self.column_of_status(one, resolved=True) is not None
            if kind == "duplicates" and one["status"] == "active" and (moves or not one["resolved"]):
                self.check_gates(one, resolves=True)
            self.links.add(link)
            for each in (one, two):
                self.touch(each, "ticket.linked")
            if kind == "duplicates":
                self.close_duplicate(one, two)
        return self.links_view(ticket_id)

    def close_duplicate(self, row: Row, original: Row) -> None:
        """Resolve a duplicate, and assign its people to the original, which its watchers watch, if the caller may."""
        if row["status"] == "active":
            target = self.column_of_status(row, resolved=True)
            if not row["resolved"]:
                row["resolved"] = True
                self.touch(row, "ticket.updated")
            if target is not None:
                self.place_in(row, target, 0)
                self.record_for(row, "ticket.moved")
        original["watchers"] |= row["watchers"]
        row["watchers"] = set()
        if original["status"] == "active" and suffices(self.who, "assign_ticket"):
            seeing = [user for user in row["assignees"] if self.place(original["project"], user) is not None]
            self.change_assignees(original, seeing, [])

    def unlink_tickets(self, ticket_id: str, kind: str, other: str, expected_version: int | None = None) -> Row:
        kind, one, two = self.sides(ticket_id, kind, other, expected_version)
        link = self.order_link(kind, one, two)
        if link in self.links:
            self.links.remove(link)
            for each in (one, two):
                self.touch(each, "ticket.unlinked")
        return self.links_view(ticket_id)

    def links_view(self, ticket_id: str) -> Row:
        row = self.tickets[ticket_id]
        return {"ticket_id": ticket_id, "version": row["version"], "resolved": row["resolved"]}

    def list_links(self, ticket_id: str) -> set[tuple[str, str]]:
        """The links of a ticket that the caller sees: what it is to which other."""
        both = [(kind, other) for kind, one, other in self.links if one == ticket_id]
        both += [(INVERSE[kind], one) for kind, one, other in self.links if other == ticket_id]
        return {(role, key) for role, key in both if self.sees(self.tickets[key]["project"])}

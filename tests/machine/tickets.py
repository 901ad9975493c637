"""The model of what people and agents do with tickets: filing, moving, claiming, assigning, commenting, capturing."""

from collections.abc import Callable
from typing import Any

from tests.machine.model import ExpectedError, Row, State, conflict, invalid, not_found

SHOWN = ("title", "description", "priority", "labels", "resolved", "branch", "source_url", "version", "status",
         "due_on")  # fmt: skip


class Board(State):
    """One method for each operation, by its name."""

    def ticket_view(self, key: str) -> Row:
        """What every response must contain for this ticket."""
        row = self.tickets[key]
        said = {name: row[name] for name in SHOWN} | {"id": key, "project_id": row["project"], "claim": row["claim"]}
        said |= {"column_id": row["column"], "company_id": self.projects[row["project"]]["company"]}
        said |= {"assignees": {user: {} for user in row["assignees"]}, "archived": row["archived"]}
        said |= {"created": row["created"], "updated": row["updated"]}
        said["comment_count"] = sum(each["ticket"] == key for each in self.comments.values())
        captures = [each for each, capture in self.captures.items() if capture["ticket"] == key]
        return said | {"capture": {"id": captures[-1]} if captures else None}

    def touch(self, row: Row, type_: str) -> Row:
        """The ticket changed: the next version, by the caller."""
        row.update(version=row["version"] + 1, updated=self.by())
        return self.record_for(row, type_)

    def record_for(self, row: Row, type_: str) -> Row:
        self.record(type_, self.projects[row["project"]]["company"], row["project"], row["id"])
        return self.ticket_view(row["id"])

    def changeable(self, ticket_id: str, version: int | None = None, *, archived: bool = False) -> Row:
        """A ticket that the caller may change."""
        row = self.write("tickets", ticket_id)
        if row["status"] == "archived" and not archived:
            raise conflict("ticket_archived")
        if version not in {None, row["version"]}:
            raise conflict("version_conflict")
        return row

    def filter_tickets(self, status: str, matches: Callable[[Row], bool]) -> Row:
        """A list of tickets: those that the caller reads, of a status, as wanted."""
        rows = [row for row in self.tickets.values() if self.sees(row["project"]) and matches(row)]
        kept = [row["id"] for row in rows if status in {"all", row["status"]}]
        return {"items": {key: self.ticket_view(key) for key in kept}}

    def list_tickets(self, limit: int, status: str = "active", sort: str = "-updated", **filters: Any) -> Row:
        def matches(row: Row) -> bool:
            mine = {user: user for user in row["assignees"]} | {"me": self.who["user"]}
            return (
                filters.get("company_id") in {None, self.projects[row["project"]]["company"]}
                and filters.get("project_id") in {None, row["project"]}
                and row["column"] in filters.get("column_id", [row["column"]])
                and (
                    "assignee" not in filters or any(mine.get(each) in row["assignees"] for each in filters["assignee"])
                )
                and ("label" not in filters or not set(filters["label"]).isdisjoint(row["labels"]))
                and row["priority"] in filters.get("priority", [row["priority"]])
            )

        if sort == "position" and "column_id" not in filters:
            raise invalid()
        shown = self.filter_tickets(status, matches)
        if sort == "position":
            order = self.columns.get(filters["column_id"][0], {"tickets": []})["tickets"]
            return {"items": [shown["items"][key] for key in order if key in shown["items"]]}
        return shown

    def get_ticket(self, ticket_id: str, status: str = "active") -> Row:
        if status not in {"all", self.read("tickets", ticket_id)["status"]}:
            raise not_found()
        return self.ticket_view(ticket_id)

    def search(self, q: str, limit: int, status: str = "active") -> Row:
        def texts(row: Row) -> str:
            said = [each["body"] for each in self.comments.values() if each["ticket"] == row["id"]]
            return " ".join([row["title"], row["description"], *said]).lower()

        return self.filter_tickets(status, lambda row: q in texts(row).split())

    def find_similar_tickets(
        self, limit: int, ticket_id: str | None = None, url: str | None = None, status: str = "active"
    ) -> Row:
        if (ticket_id is None) == (url is None):
            raise invalid()
        pages = {url} if ticket_id is None else self.read("tickets", ticket_id)["pages"]
        return self.filter_tickets(status, lambda row: row["id"] != ticket_id and bool(pages & row["pages"]))

    def target(self, project_id: str | None, column_id: str | None) -> str:
        """The column that a new ticket goes to."""
        if column_id is None:
            if project_id is None:
                raise invalid()
            return self.write("projects", project_id)["columns"][0]
        column = self.write("columns", column_id)
        if project_id is not None:
            self.write("projects", project_id)
            if project_id != column["project"]:
                raise invalid()
        return column_id

    def file(self, key: str, column: str, title: str, **given: Any) -> Row:
        """Put a new ticket at the top of a column."""
        row = {
            "id": key, "project": self.columns[column]["project"], "column": column, "title": title, "version": 1,
            "status": "active", "resolved": self.columns[column]["kind"] == "done", "assignees": set(),
            "watchers": {self.who["user"]},
            "claim": None, "leases": [], "archived": None,
            "created": self.by(), "updated": self.by(), "description": "", "priority": "none", "labels": [],
            "branch": None, "source_url": None, "due_on": None, **given,
        }  # fmt: skip
        row["pages"] = {row["source_url"]} - {None}
        self.tickets[key] = row
        self.columns[column]["tickets"].insert(0, key)
        return self.record_for(row, "ticket.created")

    def create_ticket(
        self, title: str, project_id: str | None = None, column_id: str | None = None, **given: Any
    ) -> Row:
        column = self.target(project_id, column_id)
        return self.file(self.new_id(), column, title, **given)

    def update_ticket(self, ticket_id: str, expected_version: int | None = None, **given: Any) -> Row:
        if not given:
            raise invalid()
        row = self.changeable(ticket_id, expected_version)
        target = self.column_of_status(row, given["resolved"]) if "resolved" in given else None
        same = all(row[name] == value for name, value in given.items())
        if same and target is None:
            return self.ticket_view(ticket_id)
        if given.get("resolved", row["resolved"]) != row["resolved"]:
            self.check_gates(row, given["resolved"])
        row.update(given, version=row["version"] + 1, updated=self.by())
        if not same:
            self.record_for(row, "ticket.updated")
        if target is not None:
            self.place_in(row, target, 0)
            self.record_for(row, "ticket.moved")
        return self.ticket_view(ticket_id)

    def column_of_status(self, row: Row, resolved: bool) -> str | None:
        """The column that resolving or reopening moves a ticket to, if it moves."""
        wanted = "done" if resolved else "todo"
        if self.columns[row["column"]]["kind"] == wanted or not (resolved or row["resolved"]):
            return None
        board = self.projects[row["project"]]["columns"]
        return next((key for key in board if self.columns[key]["kind"] == wanted), None)

    def move_ticket(
        self,
        ticket_id: str,
        column_id: str,
        before: str | None = None,
        after: str | None = None,
        expected_version: int | None = None,
    ) -> Row:
        if before is not None and after is not None:
            raise invalid()
        row = self.changeable(ticket_id, expected_version)
        column = self.destination(row, column_id)
        anchor = before or after
        if anchor is None:
            return self.put(row, column_id, len(column["tickets"]))
        here = anchor in column["tickets"] and self.tickets[anchor]["status"] == "active"
        if not here or anchor == ticket_id:
            raise invalid()
        order = [each for each in column["tickets"] if each != ticket_id]
        return self.put(row, column_id, order.index(anchor) + (before is None))

    def destination(self, row: Row, column_id: str) -> Row:
        column = self.columns.get(column_id)
        if column is not None and self.company_of(column) != self.company_of(row):
            raise ExpectedError(403, "cross_company_move")
        return self.write("columns", column_id)

    def company_of(self, row: Row) -> str:
        return self.projects[row["project"]]["company"]

    def put(self, row: Row, column_id: str, place: int) -> Row:
        self.place_in(row, column_id, place)
        return self.touch(row, "ticket.moved")

    def check_gates(self, row: Row, resolves: bool, project: str | None = None) -> None:
        """Refuse a token before a person approves its plan, or where one must accept what it resolves or archives.

        What it resolves is also asked in the ticket's next project. A resolved ticket has passed the gates here.
        """
        if self.who["kind"] == "session":
            return
        asked = {row["project"], (resolves and project) or row["project"]}
        gates = [self.projects[key] for key in asked - ({row["project"]} if row["resolved"] else set())]
        if any(each["plan_approval"] for each in gates) and not self.is_plan_approved(row):
            raise conflict("approval_required")
        if resolves and any(each["done_approval"] for each in gates):
            raise conflict("approval_required")

    def is_plan_approved(self, row: Row) -> bool:
        """Whether a run of the caller's works on a ticket, with a plan that a person approved."""
        own = [each for each in row["leases"] if (each["state"], each["user"]) == ("current", self.who["user"])]
        return any(each["approved_plans"] and not each["needs_plan"] for each in own)

    def place_in(self, row: Row, column_id: str, place: int) -> None:
        if row["column"] != column_id:
            resolved = self.follow_column(row, column_id)
            self.check_gates(row, resolved, self.columns[column_id]["project"])
            row["resolved"] = resolved
        if row["column"] is not None:
            self.columns[row["column"]]["tickets"].remove(row["id"])
        self.columns[column_id]["tickets"].insert(place, row["id"])
        row.update(column=column_id, project=self.columns[column_id]["project"])

    def in_turn(self, ticket_ids: list[str], change: Callable[[str], object]) -> Row:
        """One result for each ticket, in order."""
        if len(set(ticket_ids)) < len(ticket_ids):
            raise invalid()
        results: list[Row] = []
        for key in ticket_ids:
            try:
                change(key)
                results.append({"ticket_id": key, "ok": True, "error": None})
            except ExpectedError as refused:
                status, code = refused.outcome
                results.append({"ticket_id": key, "ok": False, "error": {"status": status, "code": code}})
        return {"results": results}

    def bulk_move_tickets(self, ticket_ids: list[str], column_id: str) -> Row:
        if column_id not in self.columns:
            raise not_found()

        def move(key: str) -> None:
            row = self.changeable(key)
            self.put(row, column_id, len(self.destination(row, column_id)["tickets"]))

        return self.in_turn(ticket_ids, move)

    def archive_ticket(self, ticket_id: str, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version, archived=True)
        if row["status"] == "archived":
            return {**self.ticket_view(ticket_id), "changed": False}
        self.check_gates(row, resolves=True)
        self.end_work(row, "done")
        row.update(status="archived", archived=self.by())
        return {**self.touch(row, "ticket.archived"), "changed": True}

    def restore_ticket(self, ticket_id: str, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version, archived=True)
        if row["status"] == "active":
            return {**self.ticket_view(ticket_id), "changed": False}
        board = self.projects[row["project"]]["columns"]
        if self.columns[row["column"] or board[0]]["kind"] == "done":
            self.check_gates(row, resolves=True)
        row.update(status="active", archived=None)
        if row["column"] is None:
            first = self.projects[row["project"]]["columns"][0]
            row["resolved"] = self.follow_column(row, first)
            row["column"] = first
            self.columns[row["column"]]["tickets"].append(ticket_id)
        return {**self.touch(row, "ticket.restored"), "changed": True}

    def end_work(self, row: Row, state: str) -> None:
        """Release a claim; its lease is no longer valid."""
        row["claim"] = None
        for each in row["leases"]:
            if each["state"] == "current":
                each["state"] = state

    def assignable(self, row: Row, user_id: str) -> str:
        user = self.who["user"] if user_id == "me" else user_id
        if self.place(row["project"], user) is None:
            raise not_found()
        return user

    def change_assignees(self, row: Row, wanted: list[str], unwanted: list[str]) -> Row:
        added = {user for user in wanted if user not in row["assignees"]}
        removed = {user for user in unwanted if user in row["assignees"]}
        row["assignees"] = (row["assignees"] | added) - removed
        row["watchers"] |= added
        if added:
            self.touch(row, "ticket.assigned")
            self.notify(added, row)
        if removed:
            self.touch(row, "ticket.unassigned")
        return self.ticket_view(row["id"])

    def assign_ticket(self, ticket_id: str, user_id: str, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version)
        return self.change_assignees(row, [self.assignable(row, user_id)], [])

    def unassign_ticket(self, ticket_id: str, user_id: str, expected_version: int | None = None) -> Row:
        row = self.changeable(ticket_id, expected_version)
        return self.change_assignees(row, [], [self.assignable(row, user_id)])

    def bulk_assign_tickets(self, ticket_ids: list[str], user_ids: list[str], mode: str) -> Row:
        if len(set(user_ids)) < len(user_ids) or (not user_ids and mode != "replace"):
            raise invalid()

        def assign(key: str) -> None:
            row = self.changeable(key)
            users = [self.assignable(row, user) for user in user_ids]
            surplus = list(row["assignees"] - set(users)) if mode == "replace" else []
            self.change_assignees(row, *([], users) if mode == "remove" else (users, surplus))

        return self.in_turn(ticket_ids, assign)

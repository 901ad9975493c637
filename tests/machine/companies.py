"""The model of what admins do: companies, projects, columns, people, tokens, webhooks; and of what is read of it."""

from typing import Any

from tests.machine.model import GATES, ROLES, Row, State, conflict, forbidden, invalid, not_found


class Office(State):
    """One method for each operation, by its name."""

    def get_me(self) -> Row:
        reached = [key for key in self.companies if self.member(key) and self.who["company"] in {None, key}]
        me: Row = {"user": {"id": self.who["user"]}}
        if self.who["kind"] == "api":
            me["token"] = {"id": self.who["id"], "company_id": self.who["company"], "project_ids": self.who["projects"]}
        return me | {"companies": [{"id": key, "role": self.member(key)["role"]} for key in reached]}  # type: ignore[index]

    def list_companies(self, limit: int) -> Row:
        reached = [key for key in self.companies if self.member(key) and self.who["company"] in {None, key}]
        return {"items": {key: {"name": self.companies[key]["name"]} for key in reached}}

    def create_company(self, name: str) -> Row:
        owner = {"role": "owner", "projects": None}
        self.companies[self.new_id()] = {"name": name, "members": {self.who["user"]: owner}}
        self.record("member.joined", self.new_id())
        return {"name": name, "role": "owner"}

    def update_company(self, company_id: str, **given: Any) -> Row:
        company = self.company(company_id, "admin")
        for name, value in given.items():
            company[name] = value
            self.record("company.changed", company_id)
        return {"name": company["name"], **given}

    def delete_company(self, company_id: str) -> None:
        self.company(company_id, "owner")
        for project in [each for each, row in self.projects.items() if row["company"] == company_id]:
            self.forget_project(project)
        for row in self.credentials.values():
            row["alive"] = row["alive"] and row["company"] != company_id
        for rows in (self.invitations, self.webhooks):
            for key in [key for key, row in rows.items() if row["company"] == company_id]:
                del rows[key]
        self.log = [each for each in self.log if each["company_id"] != company_id]
        del self.companies[company_id]

    def list_projects(self, limit: int, company_id: str | None = None) -> Row:
        rows = {key: row for key, row in self.projects.items() if company_id in {None, row["company"]}}
        return {"items": {key: {"name": row["name"]} for key, row in rows.items() if self.sees(key)}}

    def create_project(self, company_id: str, name: str) -> Row:
        self.company(company_id)
        self.least(self.member(company_id) or {}, "admin")
        key = self.new_id()
        self.projects[key] = {"company": company_id, "name": name, "columns": [], **dict.fromkeys(GATES, False)}
        member = self.member(company_id)
        if member is not None and member["projects"] is not None:
            member["projects"] = member["projects"] | {key}
        self.record("project.created", company_id, key)
        return {"name": name, "company_id": company_id}

    def adopt_columns(self, project: str, columns: list[Row]) -> None:
        """Learn the ids of the columns that every project begins with."""
        for each in columns:
            self.columns[each["id"]] = {"project": project, "name": each["name"], "kind": each["kind"], "tickets": []}
            self.projects[project]["columns"].append(each["id"])

    def update_project(self, project_id: str, name: str, **gates: bool) -> Row:
        project = self.write("projects", project_id, "admin")
        project["name"] = name
        project.update(gates)
        self.record("project.changed", project["company"], project_id)
        return {"name": name}

    def delete_project(self, project_id: str) -> None:
        company = self.write("projects", project_id, "admin")["company"]
        self.forget_project(project_id)
        self.record("project.removed", company)

    def list_columns(self, project_id: str) -> Row:
        return {"items": [self.column_view(key) for key in self.read("projects", project_id)["columns"]]}

    def column_view(self, key: str) -> Row:
        column = self.columns[key]
        position = self.projects[column["project"]]["columns"].index(key)
        return {"id": key, "name": column["name"], "position": position, "kind": column["kind"]}

    def create_column(self, project_id: str, name: str, position: int | None = None, kind: str = "doing") -> Row:
        project = self.write("projects", project_id, "admin")
        key = self.new_id()
        self.columns[key] = {"project": project_id, "name": name, "kind": kind, "tickets": []}
        project["columns"].insert(len(project["columns"]) if position is None else position, key)
        self.record("column.created", project["company"], project_id)
        return self.column_view(key)

    def update_column(
        self, column_id: str, name: str | None = None, position: int | None = None, kind: str | None = None
    ) -> Row:
        if name is None and position is None and kind is None:
            raise invalid()
        column = self.write("columns", column_id, "admin")
        column["name"] = name or column["name"]
        project = self.projects[column["project"]]
        if position is not None:
            project["columns"].remove(column_id)
            project["columns"].insert(position, column_id)
        self.record("column.changed", project["company"], column["project"])
        before, column["kind"] = column["kind"], kind or column["kind"]
        if (before == "done") != (column["kind"] == "done"):
            for row in [row for row in self.tickets.values() if row["column"] == column_id]:
                if row["resolved"] != (column["kind"] == "done"):
                    row.update(resolved=not row["resolved"], updated=self.by(), version=row["version"] + 1)
                    self.record("ticket.updated", project["company"], column["project"], row["id"])
        return self.column_view(column_id)

    def delete_column(self, column_id: str, move_to: str | None = None) -> None:
        column = self.write("columns", column_id, "admin")
        project = self.projects[column["project"]]
        if len(project["columns"]) == 1:
            raise conflict()
        held = [key for key in column["tickets"] if self.tickets[key]["status"] == "active"]
        if held and move_to is None:
            raise conflict()
        if move_to is not None:
            target = self.write("columns", move_to, "admin")
            if target["project"] != column["project"] or move_to == column_id:
                raise invalid()
            for key in held:
                column["tickets"].remove(key)
                target["tickets"].append(key)
                row = self.tickets[key]
                row["resolved"] = self.follow_column(row, move_to)
                row.update(column=move_to, updated=self.by(), version=row["version"] + 1)
                self.record("ticket.moved", project["company"], column["project"], key)
        for key in column["tickets"]:
            self.tickets[key]["column"] = None
        project["columns"].remove(column_id)
        del self.columns[column_id]
        self.record("column.removed", project["company"], column["project"])

    def list_members(self, company_id: str, limit: int, project_id: str | None = None) -> Row:
        members = self.company(company_id)["members"]
        if project_id is not None and self.read("projects", project_id)["company"] != company_id:
            raise not_found()
        shown = {user: row for user, row in members.items() if project_id is None or self.place(project_id, user)}
        own = self.member(company_id) or {}
        items = {user: self.member_view(row) for user, row in shown.items()}
        if own["projects"] is not None and own["role"] != "owner":
            for view in items.values():
                view["project_ids"] = view["project_ids"] and view["project_ids"] & own["projects"]
        return {"items": items}

    def member_view(self, row: Row) -> Row:
        return {"role": row["role"], "project_ids": row["projects"]}

    def may_grant(self, company: str, role: str) -> None:
        member = self.member(company)
        assert member is not None
        self.company(company, "admin")
        if role == "owner" and member["role"] != "owner":
            raise forbidden()

    def keep_an_owner(self, company: Row, row: Row, role: str | None) -> None:
        owners = [each for each in company["members"].values() if each["role"] == "owner"]
        if row["role"] == "owner" and role != "owner" and len(owners) == 1:
            raise conflict()

    def projects_in(self, company: str, project_ids: list[str] | None) -> frozenset[str] | None:
        if any(self.projects.get(key, {}).get("company") != company for key in project_ids or ()):
            raise not_found()
        return None if project_ids is None else frozenset(project_ids)

    def update_member(self, company_id: str, user_id: str, **given: Any) -> Row:
        if not given:
            raise invalid()
        company = self.company(company_id, "admin")
        row = company["members"].get(user_id)
        if row is None:
            raise not_found()
        role = given.get("role", row["role"])
        self.may_grant(company_id, max(role, row["role"], key=ROLES.index))
        self.keep_an_owner(company, row, role)
        kept = self.projects_in(company_id, given["project_ids"]) if "project_ids" in given else row["projects"]
        row.update(role=role, projects=kept)
        self.record("member.changed", company_id)
        return self.member_view(row)

    def remove_member(self, company_id: str, user_id: str) -> None:
        leaving = user_id == self.who["user"]
        company = self.company(company_id, "viewer" if leaving else "admin")
        row = company["members"].get(user_id)
        if row is None:
            raise not_found()
        if not leaving:
            self.may_grant(company_id, row["role"])
        self.keep_an_owner(company, row, None)
        del company["members"][user_id]
        for ticket in self.tickets.values():
            if self.projects[ticket["project"]]["company"] == company_id:
                ticket["assignees"].discard(user_id)
        for each in self.credentials.values():
            each["alive"] = each["alive"] and (each["user"], each["company"]) != (user_id, company_id)
        self.record("member.removed", company_id)

    def create_invitation(self, company_id: str, role: str, project_ids: list[str] | None = None) -> Row:
        self.company(company_id, "admin")
        self.may_grant(company_id, role)
        kept = self.projects_in(company_id, project_ids)
        key = self.new_id()
        row = {"company": company_id, "role": role, "projects": kept, "secret": self.made["secret"]}
        self.invitations[key] = row
        self.record("member.invited", company_id)
        return {"role": role}

    def list_invitations(self, company_id: str, limit: int) -> Row:
        self.company(company_id, "admin")
        rows = {key: row for key, row in self.invitations.items() if row["company"] == company_id}
        return {"items": {key: {"role": row["role"]} for key, row in rows.items()}}

    def delete_invitation(self, invitation_id: str) -> None:
        row = self.invitations.get(invitation_id)
        if row is None or self.member(row["company"]) is None:
            raise not_found()
        self.may_grant(row["company"], "admin")
        del self.invitations[invitation_id]

    def offer(self, secret: str) -> str:
        keys = [key for key, row in self.invitations.items() if row["secret"] == secret]
        if not keys:
            raise not_found()
        return keys[0]

    def get_invitation(self, secret: str) -> Row:
        return {"role": self.invitations[self.offer(secret)]["role"]}

    def accept_invitation(self, secret: str) -> None:
        key = self.offer(secret)
        row = self.invitations[key]
        if self.member(row["company"]) is not None:
            raise conflict()
        member = {"role": row["role"], "projects": row["projects"]}
        self.companies[row["company"]]["members"][self.who["user"]] = member
        del self.invitations[key]
        self.record("member.joined", row["company"])

    def create_token(
        self, label: str, scopes: list[str], company_id: str | None = None, project_ids: list[str] | None = None
    ) -> Row:
        if any(key not in self.projects or self.place(key) is None for key in project_ids or ()):
            raise not_found()
        if company_id is not None and self.member(company_id) is None:
            raise not_found()
        pins = {self.projects[key]["company"] for key in project_ids or ()} | ({company_id} - {None})
        if len(pins) > 1:
            raise invalid()
        pinned = next(iter(pins), None)
        roles = [self.member(key) for key in self.companies if pinned in {None, key}]
        if all(each is None or each["role"] == "viewer" for each in roles):
            raise forbidden()
        key = self.new_id()
        self.credentials[key] = {
            "id": key, "kind": "api", "user": self.who["user"], "scopes": scopes, "company": pinned, "alive": True,
            "projects": None if project_ids is None else frozenset(project_ids), "secret": self.made["secret"],
        }  # fmt: skip
        self.record_token("token.created", pinned)
        return {"company_id": pinned}

    def record_token(self, type_: str, pinned: str | None) -> None:
        for company in [key for key in self.companies if self.member(key) and pinned in {None, key}]:
            self.record(type_, company)

    def list_tokens(self, limit: int) -> Row:
        own = [row for row in self.credentials.values() if (row["kind"], row["user"]) == ("api", self.who["user"])]
        return {"items": {row["id"]: {"company_id": row["company"]} for row in own if row["alive"]}}

    def revoke_token(self, token_id: str) -> None:
        row = self.credentials.get(token_id)
        if row is None or not row["alive"] or (row["kind"], row["user"]) != ("api", self.who["user"]):
            raise not_found()
        row["alive"] = False
        self.record_token("token.revoked", row["company"])

    def get_audit(self, company_id: str, limit: int) -> Row:
        self.company(company_id, "admin")
        return {"items": [each for each in reversed(self.log) if each["company_id"] == company_id]}

    def list_events(self, limit: int) -> Row:
        return {"items": [each for each in self.log if self.hears(each)]}

    def hears(self, event: Row) -> bool:
        if event["project_id"] is not None:
            return self.sees(event["project_id"])
        member = self.member(event["company_id"])
        whole = member is not None and member["projects"] is None and self.who["projects"] is None
        reached = self.who["company"] in {None, event["company_id"]}
        return whole and reached and not event["type"].startswith("token.")

    def create_webhook(self, company_id: str, name: str, url: str, types: list[str]) -> Row:
        self.company(company_id, "admin")
        self.webhooks[self.new_id()] = {"company": company_id, "name": name}
        self.record("webhook.created", company_id)
        return {"webhook": {"name": name}}

    def webhook(self, key: str) -> Row:
        row = self.webhooks.get(key)
        if row is None or self.member(row["company"]) is None:
            raise not_found()
        self.company(row["company"], "admin")
        return row

    def list_webhooks(self, company_id: str, limit: int) -> Row:
        self.company(company_id, "admin")
        rows = {key: row for key, row in self.webhooks.items() if row["company"] == company_id}
        return {"items": {key: {"name": row["name"]} for key, row in rows.items()}}

    def update_webhook(self, webhook_id: str, name: str) -> Row:
        row = self.webhook(webhook_id)
        row["name"] = name
        self.record("webhook.changed", row["company"])
        return {"name": name}

    def delete_webhook(self, webhook_id: str) -> None:
        company = self.webhook(webhook_id)["company"]
        del self.webhooks[webhook_id]
        self.record("webhook.removed", company)

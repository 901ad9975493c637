"""The model of what is said and shown on tickets: comments, history, captures, files, and what people hear of it."""

from typing import Any

from tests.machine.companies import Office
from tests.machine.model import Row, conflict, forbidden, invalid, not_found
from tests.machine.questions import Questions


class Model(Questions, Office):
    """The whole model: one method for each operation, by its name."""

    def comment_view(self, key: str) -> Row:
        row = self.comments[key]
        return {"id": key, "ticket_id": row["ticket"], "body": row["body"], "by": row["by"]}

    def list_comments(self, ticket_id: str, limit: int) -> Row:
        self.read("tickets", ticket_id)
        return {"items": [self.comment_view(key) for key, row in self.comments.items() if row["ticket"] == ticket_id]}

    def list_captures(self, ticket_id: str, limit: int = 100) -> Row:
        self.read("tickets", ticket_id)
        return {"items": {key: {} for key, row in self.captures.items() if row["ticket"] == ticket_id}}

    def get_ticket_history(self, ticket_id: str, limit: int) -> Row:
        self.read("tickets", ticket_id)
        return {"items": [each for each in self.log if each["ticket_id"] == ticket_id]}

    def add_comment(self, ticket_id: str, body: str) -> Row:
        ticket = self.changeable(ticket_id)
        key = self.new_id()
        self.comments[key] = {"ticket": ticket_id, "body": body, "by": self.by()}
        self.record_for(ticket, "comment.created")
        ticket["watchers"].add(self.who["user"])
        self.notify(ticket["watchers"], ticket)
        return self.comment_view(key)

    def own(self, comment_id: str) -> Row:
        """The caller's own comment, of a ticket that takes changes."""
        row = self.write("comments", comment_id)
        if row["by"]["user"]["id"] != self.who["user"]:
            raise forbidden()
        if self.tickets[row["ticket"]]["status"] == "archived":
            raise conflict("ticket_archived")
        return row

    def edit_comment(self, comment_id: str, body: str) -> Row:
        row = self.own(comment_id)
        row["body"] = body
        self.record_for(self.tickets[row["ticket"]], "comment.updated")
        return self.comment_view(comment_id)

    def delete_comment(self, comment_id: str) -> None:
        row = self.own(comment_id)
        del self.comments[comment_id]
        self.record_for(self.tickets[row["ticket"]], "comment.deleted")

    def create_capture(self, capture: Row, **parts: Any) -> Row:
        """`capture.id` is the client's own; a second time it names what is there already."""
        known = [(key, row) for key, row in self.captures.items() if row["known"] == (self.who["user"], capture["id"])]
        if known:
            ((key, row),) = known
            self.read("tickets", row["ticket"])
            return {"capture_id": key, "ticket_id": row["ticket"]}
        page = capture["page"]["url"]
        result = self.made if isinstance(self.made, dict) else {}
        key, at = result.get("capture_id", "none"), result.get("ticket_id", "none")
        if "ticket_id" in capture:
            ticket, tell = self.changeable(capture["ticket_id"]), self.touch
        else:
            self.file(at, self.target(capture["project_id"], None), capture["title"], source_url=page)
            ticket, tell = self.tickets[at], self.record_for
        self.captures[key] = {"ticket": ticket["id"], "known": (self.who["user"], capture["id"])}
        ticket["pages"].add(page)
        tell(ticket, "capture.attached")
        return {"capture_id": key, "ticket_id": ticket["id"]}

    def adopt_screenshot(self, capture: str, asset: str) -> None:
        """Learn the id of a capture's screenshot."""
        self.assets.setdefault(asset, {"ticket": self.captures[capture]["ticket"], "marks": 0, "picture": True})

    def stream(self, capture_id: str, limit: int = 0) -> Row:
        self.read("captures", capture_id)
        return {}

    get_console = get_network = get_errors = get_actions = get_timeline = get_replay_transcript = get_har = stream

    def get_reproduction(self, capture_id: str) -> None:
        self.read("captures", capture_id)

    get_replay = get_reproduction

    def get_network_request(self, capture_id: str, entry: str) -> Row:
        self.read("captures", capture_id)
        return {"id": entry}

    def get_screenshot(self, ticket_id: str) -> None:
        self.read("tickets", ticket_id)
        if not any(row["picture"] and row["ticket"] == ticket_id for row in self.assets.values()):
            raise not_found()

    def get_asset(self, asset_id: str) -> Row:
        return {"id": asset_id, "ticket_id": self.read("assets", asset_id)["ticket"]}

    def get_asset_content(self, asset_id: str) -> None:
        self.read("assets", asset_id)

    def list_attachments(self, ticket_id: str) -> Row:
        self.read("tickets", ticket_id)
        files = [key for key, row in self.assets.items() if row["ticket"] == ticket_id and not row["picture"]]
        return {"items": [{"id": key} for key in files]}

    def add_attachment(self, ticket_id: str, file: Any) -> Row:
        ticket = self.changeable(ticket_id)
        self.assets[self.new_id()] = {"ticket": ticket_id, "marks": 0, "picture": False}
        self.record_for(ticket, "attachment.added")
        return {"ticket_id": ticket_id}

    def list_annotations(self, asset_id: str) -> Row:
        return {"items": [{"kind": "rectangle"}] * self.read("assets", asset_id)["marks"]}

    def save_annotations(self, asset_id: str, annotations: list[Row]) -> Row:
        row = self.write("assets", asset_id)
        ticket = self.tickets[row["ticket"]]
        if ticket["status"] == "archived":
            raise conflict("ticket_archived")
        if not row["picture"]:
            raise invalid()
        row["marks"] = len(annotations)
        self.record_for(ticket, "annotations.saved")
        return self.list_annotations(asset_id)

    def mute_ticket(self, ticket_id: str) -> None:
        self.read("tickets", ticket_id)
        self.mutes.add((self.who["user"], ticket_id))

    def unmute_ticket(self, ticket_id: str) -> None:
        self.read("tickets", ticket_id)
        self.mutes.discard((self.who["user"], ticket_id))

    def mute_project(self, project_id: str) -> None:
        self.read("projects", project_id)
        self.mutes.add((self.who["user"], project_id))

    def unmute_project(self, project_id: str) -> None:
        self.read("projects", project_id)
        self.mutes.discard((self.who["user"], project_id))

    def list_mutes(self) -> Row:
        mine = {key for user, key in self.mutes if user == self.who["user"]}
        tickets = {key for key in mine if key in self.tickets and self.sees(self.tickets[key]["project"])}
        return {"ticket_ids": tickets, "project_ids": {key for key in mine if self.sees(key)}}

    def count_unread_notifications(self) -> Row:
        mine = [each for each in self.told if each["user"] == self.who["user"] and not each["read"]]
        return {"unread": sum(self.sees(self.tickets[each["ticket"]]["project"]) for each in mine)}

    def read_all_notifications(self) -> Row:
        for each in self.told:
            each["read"] = each["read"] or each["user"] == self.who["user"]
        return {"unread": 0}

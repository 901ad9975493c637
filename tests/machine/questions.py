"""The model of questions: a run asks people, waits for the answer, and one answer is accepted once."""

from tests.machine.model import ExpectedError, Row, conflict, forbidden, invalid, not_found
from tests.machine.work import Work


class Questions(Work):
    """One method for each operation, by its name. A work session keeps its newest question."""

    def __init__(self, people: dict[str, str]) -> None:
        super().__init__(people)
        self.questions: dict[str, Row] = {}

    def forget_ticket(self, key: str) -> None:
        """Remove a ticket with its questions."""
        self.questions = {each: row for each, row in self.questions.items() if row["ticket"] != key}
        super().forget_ticket(key)

    def question_view(self, row: Row) -> Row:
        shown = {name: value for name, value in row.items() if name not in {"ticket", "session"}}
        return {**shown, "session_id": row["session"]["id"]}

    def ask_human(self, ticket_id: str, lease: str, question: str, choices: list[str]) -> Row:
        row = self.changeable(ticket_id)
        session = self.require_lease(row, lease)
        asked = session["question"]
        if asked is not None and asked["answer"] is None:
            if (asked["question"], asked["choices"]) != (question, choices):
                raise conflict()
            row["claim"] = {name: value for name, value in row["claim"].items() if name != "until"}  # it isn't returned
            return self.question_view(asked)
        key = self.new_id()
        row["claim"] = {**row["claim"], "until": self.after(60, "asked")}
        self.questions[key] = self.insert_question(row, session, "question", question, choices)
        session["question"]["id"] = key
        self.record_for(row, "ticket.question_asked")
        self.tell(row["watchers"] | {self.who["user"]}, row)
        return self.question_view(session["question"])

    def insert_question(self, row: Row, session: Row, kind: str, question: str, choices: list[str]) -> Row:
        new = {"ticket": row["id"], "session": session, "kind": kind, "question": question}
        session["question"] = {**new, "choices": choices, "asked": self.by(), "answer": None, "answered": None}
        return session["question"]

    def finish_work(
        self, ticket_id: str, lease: str, resolved: bool | None = None, release: bool = False,
        expected_version: int | None = None,
    ) -> Row:  # fmt: skip
        row = self.changeable(ticket_id, expected_version)
        session = self.require_lease(row, lease)
        self.check_gates(row, resolves=False)
        newest = session["question"]
        if newest is not None and newest["kind"] == "done" and newest["answer"] is None:
            raise conflict("approval_required")
        try:
            if resolved:
                self.check_gates(row, resolves=True)
        except ExpectedError:
            row.update(version=row["version"] + 1, updated=self.by())
            row["claim"] = {**row["claim"], "until": self.after(7 * 24 * 60)}
            self.request_approval(row, session, "done", "Accept this work and resolve the ticket?")
            return {**self.ticket_view(ticket_id), "finished": False}
        return super().finish_work(ticket_id, lease, resolved, release)

    def check_plan(self, row: Row, session: Row) -> None:
        """Ask people to approve a plan, unless they approved it; an open question goes first."""
        steps = [f"{place}. {step['text']}" for place, step in enumerate(session["plan"], 1)]
        text = "\n".join(["Approve this plan?", *steps])
        session["needs_plan"] = text not in session["approved_plans"]
        newest = session["question"]
        waits = newest is not None and newest["kind"] == "question" and newest["answer"] is None
        if steps and session["needs_plan"] and not waits:
            self.request_approval(row, session, "plan", text)

    def request_approval(self, row: Row, session: Row, kind: str, text: str) -> None:
        """Ask people to approve, unless the same is asked already; what is open is withdrawn."""
        before = session["question"]
        if before is not None and before["answer"] is None:
            if (before["kind"], before["question"]) == (kind, text):
                return
            before.update(answer="withdrawn", answered=self.by())
        self.insert_question(row, session, kind, text, ["approved", "declined"])
        self.record_for(row, "ticket.approval_requested")
        self.tell(row["watchers"] | {self.who["user"]}, row)

    def decide_approval(self, session_id: str, approve: bool) -> Row:
        ticket = self.tickets[self.write("work_sessions", session_id)["ticket"]]
        session = next(each for each in ticket["leases"] if each["id"] == session_id)
        request = session["question"]
        if ticket["status"] == "archived":
            raise conflict("ticket_archived")
        if request is None or request["kind"] == "question" or request["answer"] or session["state"] != "current":
            raise conflict("question_closed")
        request.update(answer="approved" if approve else "declined", answered=self.by())
        self.record_for(ticket, f"ticket.{request['answer']}")
        if request["kind"] == "plan":
            session["needs_plan"] = session["needs_plan"] and not approve
            session["approved_plans"] += [request["question"]] if approve else []
            return {"id": session_id, "state": self.show_state(session)}
        if not approve:
            ticket["claim"] = {**ticket["claim"], "until": self.made["until"]}
            return {"id": session_id, "state": "active"}
        ticket.update(version=ticket["version"] + 1, updated=self.by())
        if not ticket["resolved"]:
            self.set_status(ticket, True, "ticket.updated")
        self.end_work(ticket, "done")
        self.record_for(ticket, "ticket.work_finished")
        return {"id": session_id, "state": "done"}

    def find_accepted_answer(
        self, question_id: str | None = None, session_id: str | None = None, **_: object
    ) -> str | None:
        """The answer that a refused one must be shown: of a question, or of a session's request."""
        row = self.questions[question_id] if question_id else self.work_sessions[session_id or ""]["question"]
        if row is None or (question_id is None and row["kind"] == "question"):
            return None
        return row["answer"]

    def wait_for_answer(self, ticket_id: str, lease: str, wait_seconds: int) -> Row:
        row = self.read("tickets", ticket_id)
        if row["status"] == "archived":
            raise conflict("ticket_archived")
        held = self.find_lease(row, lease)
        request = held and held["question"]
        if held and held["state"] != "current" and request and request["kind"] == "done" and request["answer"]:
            return self.question_view(request)  # the person who accepted the ticket ended the work
        session = self.require_lease(row, lease)
        if session["question"] is None:
            raise not_found()
        return self.question_view(session["question"])

    def answer_question(self, question_id: str, answer: str) -> Row:
        row = self.write("questions", question_id)
        ticket, session = self.tickets[row["ticket"]], row["session"]
        if ticket["status"] == "archived":
            raise conflict("ticket_archived")
        if self.who["kind"] != "session" and self.who["user"] == session["user"]:
            raise forbidden()
        if row["answer"] is not None or session["state"] == "done":
            raise conflict("question_closed")
        if row["choices"] and answer not in row["choices"]:
            raise invalid()
        row.update(answer=answer, answered=self.by())
        self.record_for(ticket, "ticket.question_answered")
        return self.question_view(row)

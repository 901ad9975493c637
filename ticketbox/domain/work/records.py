"""Work sessions, as every surface shows them (docs/use/work-sessions.md). Outputs have no defaults."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import By, Time
from ticketbox.domain.tickets.records import WorkRepository, WorkState


class StepState(StrEnum):
    """The state of a step of a plan."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    DROPPED = "dropped"


class PlanItem(msgspec.Struct, frozen=True):
    """A step of the plan of a work session."""

    text: str
    state: StepState


class WorkLinkKind(StrEnum):
    """What a link of a work session leads to."""

    BRANCH = "branch"
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"
    PREVIEW = "preview"


class WorkLink(msgspec.Struct, frozen=True):
    """A link to what a work session produced. `state` is a word such as `open` or `merged`."""

    kind: WorkLinkKind
    url: str
    state: str | None


class Usage(msgspec.Struct, frozen=True):
    """What a work session has used so far."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class QuestionKind(StrEnum):
    """What a run asks people: its own question, or an approval that its project requires."""

    QUESTION = "question"
    PLAN = "plan"
    DONE = "done"


class Decision(StrEnum):
    """The answers to a request for approval. A run withdraws a request when it makes another one."""

    APPROVED = "approved"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


class WorkQuestion(msgspec.Struct, frozen=True):
    """A question to people; `answer` is null until one of them answers. Without `choices`, any text answers it.

    `answered` names the token if another person's agent answered, and none if a person did. Of kind `plan` or `done`,
    it is a request for approval: the answer is `approved` or `declined`, and `note` is what the person added.
    """

    id: str
    session_id: str
    kind: QuestionKind
    question: str
    choices: list[str]
    asked: By
    answer: str | None
    answered: By | None
    note: str | None


class WorkTicket(msgspec.Struct, frozen=True):
    """The ticket of a work session. `url` is its page."""

    id: str
    key: str
    url: str
    title: str
    project_id: str
    company_id: str


class WorkSession(msgspec.Struct, frozen=True):
    """The work of one run on a ticket.

    `by` started it. `until` is when the claim ends unless it is renewed, null once the work has ended. `note` is the
    newest one, `question` the newest question.
    """

    id: str
    ticket: WorkTicket
    by: By
    run: str | None
    state: WorkState
    note: str | None
    plan: list[PlanItem]
    links: list[WorkLink]
    usage: Usage | None
    repository: WorkRepository | None
    question: WorkQuestion | None
    started: Time
    last_seen: Time
    until: Time | None
    ended: By | None

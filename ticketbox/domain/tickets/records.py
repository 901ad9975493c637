"""Tickets, comments and search results, as every surface shows them. Outputs have no defaults."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.core.records import By, Day, Person, Time


class Priority(StrEnum):
    """How urgent a ticket is."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    URGENT = "urgent"

    @classmethod
    def _missing_(cls, value: object) -> "Priority | None":
        """Ignore case, as in names."""
        wanted = value.strip().lower() if isinstance(value, str) else None
        return next((each for each in cls if each.value == wanted), None)


PRIORITIES: tuple[Priority, ...] = tuple(Priority)


class Sort(StrEnum):
    """The orders of a list; `-` is descending. `position` needs a column."""

    CREATED = "created"
    CREATED_DOWN = "-created"
    UPDATED = "updated"
    UPDATED_DOWN = "-updated"
    PRIORITY = "priority"
    PRIORITY_DOWN = "-priority"
    DUE = "due"
    DUE_DOWN = "-due"
    TITLE = "title"
    TITLE_DOWN = "-title"
    POSITION = "position"


class Status(StrEnum):
    """Whether a ticket is on its board."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class StreamCounts(msgspec.Struct, frozen=True):
    """How many entries each stream of a capture holds."""

    console: int
    network: int
    errors: int
    failed_requests: int
    actions: int


class FrequentError(msgspec.Struct, frozen=True):
    """A class of errors in a capture, or what those without one say, and how often it happened."""

    name: str
    count: int


class CaptureSummary(msgspec.Struct, frozen=True):
    """A summary of a capture; a ticket's own is that of its richest one.

    `screenshot_version` changes with the annotations. `main_error` is the most frequent class of errors. `external` is
    whether somebody without an account sent it.
    """

    id: str
    captured_at: Time
    counts: StreamCounts
    health_summary: str
    screenshot_id: str | None
    screenshot_version: int
    main_error: FrequentError | None
    external: bool


class FailureStream(StrEnum):
    """The streams that have failures."""

    ERRORS = "errors"
    CONSOLE = "console"
    NETWORK = "network"


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names one failure of a capture: a thrown error, an error in the console, or a failed request."""

    stream: Annotated[FailureStream, Meta(description="The stream that has it.")]
    entry: Annotated[
        str, Meta(min_length=1, max_length=64, description="The `id` of a request, else the `seq`.", examples=["14"])
    ]


class ExpectedWords(msgspec.Struct, frozen=True):
    """A confirmed expectation of a capture: its id, and what it says."""

    id: str
    words: str


class WorkState(StrEnum):
    """The state of the work session behind a claim."""

    ACTIVE = "active"
    AWAITING_INPUT = "awaiting_input"
    DONE = "done"
    STALE = "stale"


class WorkRepository(msgspec.Struct, frozen=True):
    """The git repository that a run works in, as it said last: the branch, the commit and the remote's address."""

    branch: str | None
    commit: str | None
    remote: str | None


class Claim(msgspec.Struct, frozen=True):
    """Who works on a ticket, and when the claim expires unless it is renewed.

    `run` is the label that the caller chose for its run; `state` and `repository` are those of the work session.
    """

    by: By
    until: Time
    run: str | None
    session_id: str
    state: WorkState
    repository: WorkRepository | None


class Blocker(msgspec.Struct, frozen=True):
    """An active, unresolved ticket that blocks another."""

    id: str
    key: str


class Verdict(StrEnum):
    """What the reproduction did: it saw the bug, no error, another error, not the page, or something else each time.

    It is unproven that the bug is gone while no run has seen it.
    """

    REPRODUCED = "reproduced"
    GONE = "gone"
    UNPROVEN = "unproven"
    DIFFERENT_ERROR = "different_error"
    NOT_REACHED = "not_reached"
    FLAKY = "flaky"


class LastVerification(msgspec.Struct, frozen=True):
    """What a ticket's newest verification says. `proven`: it is `gone`, and an earlier run saw the bug."""

    verdict: Verdict
    proven: bool
    commit: str


class CriteriaCount(msgspec.Struct, frozen=True):
    """How many of a ticket's acceptance criteria are met or waived."""

    met: int
    total: int


class PullRequest(msgspec.Struct, frozen=True):
    """An open pull request of a ticket. `name` is short, such as `#7`."""

    name: str
    url: str


class Ticket(msgspec.Struct, frozen=True):
    """A ticket. `key` and `number` change when it moves to another project, `id` never.

    `url` is its page, `project` and `column` are names. `position` orders it in its column; positions have gaps and
    may change. `blocked_by` lists the blockers that the caller sees, `verification` is the newest. `pull_request` is
    the newest that is open, as a git hook said, or else the last work session with links.
    `criteria_count` is null if the ticket has no criteria.
    """

    id: str
    key: str
    number: int
    url: str
    company_id: str
    project_id: str
    project: str
    column_id: str | None
    column: str | None
    position: int
    title: str
    description: str
    status: Status
    resolved: bool
    priority: Priority
    labels: list[str]
    assignees: list[Person]
    due_on: Day | None
    branch: str | None
    claim: Claim | None
    blocked_by: list[Blocker]
    source_url: str | None
    capture: CaptureSummary | None
    verification: LastVerification | None
    pull_request: PullRequest | None
    criteria_count: CriteriaCount | None
    comment_count: int
    version: int
    created: By
    updated: By
    archived: By | None


class Piece(msgspec.Struct, frozen=True):
    """A piece of a text; `match` marks a search term. The pieces joined are the text."""

    text: str
    match: bool


class Excerpt(msgspec.Struct, frozen=True):
    """A passage with a match, and the field that it is from."""

    field: str
    parts: list[Piece]


class Highlights(msgspec.Struct, frozen=True):
    """The matches of a search: the whole title, empty without a match there, and a passage of another field."""

    title: list[Piece]
    excerpt: Excerpt | None


class Hit(Ticket, frozen=True):
    """A ticket found by a search."""

    highlights: Highlights


class Similarity(StrEnum):
    """How two tickets are similar, strongest first."""

    ERROR = "same_error"
    MESSAGE = "same_message"
    PAGE = "same_page"
    TITLE = "similar_title"


class SimilarityReason(msgspec.Struct, frozen=True):
    """How a found ticket is similar: the error's message, the page or the title, as the found ticket has it."""

    similarity: Similarity
    text: str


class SimilarTicket(Ticket, frozen=True):
    """A ticket similar to another, and why, strongest reason first."""

    reasons: list[SimilarityReason]


class Comment(msgspec.Struct, frozen=True):
    """A comment on a ticket."""

    id: str
    ticket_id: str
    body: str
    by: By
    edited_at: Time | None

"""Work sessions: who works on a ticket, and the lease that lets only one run do so (docs/use/work-sessions.md)."""

import hashlib
import secrets
from enum import StrEnum

import msgspec

from ticketbox.domain.core.clock import MINUTE
from ticketbox.domain.core.ids import ALPHABET
from ticketbox.domain.core.records import By, Time

LEASE_PREFIX = "lease_"
# How long a start can be repeated with its idempotency key.
REPEAT_MS = MINUTE
_LEASE_LENGTH = 32


class WorkState(StrEnum):
    """The state of a work session."""

    ACTIVE = "active"
    AWAITING_INPUT = "awaiting_input"
    DONE = "done"
    STALE = "stale"


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


class WorkQuestion(msgspec.Struct, frozen=True):
    """A question to people; `answer` is null until one of them answers. Without `choices`, any text answers it."""

    id: str
    session_id: str
    question: str
    choices: list[str]
    asked: By
    answer: str | None
    answered: By | None


class WorkTicket(msgspec.Struct, frozen=True):
    """The ticket of a work session."""

    id: str
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
    question: WorkQuestion | None
    started: Time
    last_seen: Time
    until: Time | None
    ended: By | None


def generate_lease() -> str:
    """Generate a lease from the operating system's random numbers (160 bits)."""
    return LEASE_PREFIX + "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(_LEASE_LENGTH))


def hash_lease(lease: str) -> bytes:
    """Hash a lease with SHA-256, for the database."""
    return hashlib.sha256(lease.encode()).digest()


def hash_start_key(credential: int, key: str) -> bytes:
    """Hash the idempotency key of a start together with the caller's credential, whose key it is."""
    return hashlib.sha256(b"%d\0" % credential + key.encode()).digest()

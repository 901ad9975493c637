"""Reading a ticket with its capture, comments and history, shortened to fit an agent's context."""

from enum import StrEnum
from functools import partial
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.captures.actions import ActionEntry
from ticketbox.domain.captures.capture import (
    ConsoleEntry,
    ErrorEntry,
    Health,
    NetworkEntry,
    Page,
    Redaction,
    Stream,
)
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.records import Asset, AssetKind, CaptureBug, Expectation
from ticketbox.domain.captures.steps import Step
from ticketbox.domain.captures.summaries.excerpt import CaptureExcerpt, build_excerpt, estimate_by_length
from ticketbox.domain.captures.summaries.excerpt import Part as ExcerptPart
from ticketbox.domain.captures.summaries.overview import ErrorGroup, FailedRequest
from ticketbox.domain.core.access.policy import Actor, Via
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import InvalidField, NotFound
from ticketbox.domain.core.records import By, Person
from ticketbox.domain.events.records import Event
from ticketbox.domain.git.records import GitLink
from ticketbox.domain.reports.records import Reporter
from ticketbox.domain.tickets.links import TicketLink
from ticketbox.domain.tickets.records import CaptureSummary, Claim, Comment, Status, Ticket, WorkState
from ticketbox.domain.work.criteria import Criterion
from ticketbox.domain.work.records import WorkQuestion
from ticketbox.domain.work.verifications import Verification
from ticketbox.operations.core.lookups import CaptureId, TicketId, find_readable, resolve_ticket_id
from ticketbox.operations.core.paging import NEWEST
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.finding.lists import StatusFilter, TicketStatus
from ticketbox.store.captures import assets, captures
from ticketbox.store.captures.captures import StoredCapture
from ticketbox.store.core import blobs
from ticketbox.store.events import events, watchers
from ticketbox.store.file.database import Read
from ticketbox.store.git import git_links
from ticketbox.store.reports import reports
from ticketbox.store.tickets import comments, links, records
from ticketbox.store.work import criteria, questions, verifications

FULL_TOKENS = 250_000  # about 1 MB
FULL_TOOL_TOKENS = 14_000
MAX_LISTED = 50  # captures, comments, verifications, and events of the history


class Part(StrEnum):
    """What get_ticket can include."""

    CAPTURE = "capture"
    COMMENTS = "comments"
    HISTORY = "history"
    VERIFICATIONS = "verifications"
    CRITERIA = "criteria"


class Detail(StrEnum):
    """How much of the capture's streams get_ticket includes."""

    SUMMARY = "summary"
    FULL = "full"


class GetTicket(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An archived ticket is returned only with status `archived` or `all`."""

    ticket_id: TicketId
    status: TicketStatus = StatusFilter.ACTIVE
    include: Annotated[
        list[Part],
        Meta(
            max_length=len(Part),
            description=(
                "`capture` (default) adds the screenshot and excerpts of the streams; the others add up to 50 entries. "
                "An empty list is the light read: the ticket alone."
            ),
        ),
    ] = msgspec.field(default_factory=lambda: [Part.CAPTURE])
    detail: Annotated[
        Detail,
        Meta(description="`summary` limits streams to about 3,000 tokens; `full` to 1 MB, in tools to 14,000 tokens."),
    ] = Detail.SUMMARY
    capture_id: Annotated[CaptureId, Meta(description="Default: the ticket's richest.")] | None = None


class CaptureDetail(CaptureSummary, frozen=True):
    """A capture with its metadata, and an overview of its failures and excerpts of its streams if included.

    `confirmed` says who confirmed an external capture, `bug` which failure it is about, `expectations` what people say
    is wrong on the page.
    """

    ticket_id: str
    confirmed: By | None
    bug: CaptureBug | None
    expectations: list[Expectation]
    page: Page
    environment: Environment
    health: Health
    redaction: Redaction
    assets: list[Asset]
    screenshot: Asset | None
    error_groups: ExcerptPart[ErrorGroup] | UnsetType = UNSET
    failed_requests: ExcerptPart[FailedRequest] | UnsetType = UNSET
    errors: ExcerptPart[ErrorEntry] | UnsetType = UNSET
    network: ExcerptPart[NetworkEntry] | UnsetType = UNSET
    console: ExcerptPart[ConsoleEntry] | UnsetType = UNSET
    actions: ExcerptPart[Step] | UnsetType = UNSET


class TicketDetail(Ticket, frozen=True, kw_only=True):
    """A ticket with its richest capture, links, attachments and watchers, and other parts if included.

    The richest capture is the newest with a replay, else with a screenshot. `captures` are the newest 50, newest first,
    `questions` those that wait for an answer, `git_links` up to 50 pull requests, branches and commits. `occurrences`
    is how often the bug was seen, as `add_occurrence` counts it. `reporter` is who reported it without an account.
    """

    occurrences: int
    reporter: Reporter | None
    capture: CaptureDetail | None
    captures: list[CaptureSummary]
    links: list[TicketLink]
    git_links: list[GitLink]
    attachments: list[Asset]
    watchers: list[Person]
    questions: list[WorkQuestion]
    comments: list[Comment] | UnsetType = UNSET
    history: list[Event] | UnsetType = UNSET
    verifications: list[Verification] | UnsetType = UNSET
    criteria: list[Criterion] | UnsetType = UNSET


@operation(
    "get_ticket",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}",
    inline=True,
    tool=Tool(
        "Read a ticket",
        "Use this to understand a ticket.",
        {"ticket_id": "WEB-42", "include": ["capture", "comments"]},
        tool_set="core",
    ),
)
def get_ticket(tx: Read, actor: Actor, args: GetTicket) -> TicketDetail:
    """Read a ticket with its richest capture, shortened to the most important entries."""
    status = None if args.status is StatusFilter.ALL else Status(args.status.value)
    row = records.find_ticket(tx, actor.viewer, resolve_ticket_id(tx, actor, args.ticket_id), status)
    if row is None:
        raise NotFound("ticket")
    return load_detail(tx, actor, *row, args)


def load_detail(tx: Read, actor: Actor, key: int, ticket: Ticket, args: GetTicket) -> TicketDetail:
    """Load what belongs to a ticket, as far as it is asked for."""
    fields = msgspec.structs.asdict(ticket)
    has = records.find_related_rows(tx, key)
    has_capture = ticket.capture is not None or args.capture_id is not None
    fields["capture"] = _load_capture(tx, actor, key, args) if has_capture else None
    return TicketDetail(
        **fields,
        occurrences=has.occurrences,
        reporter=reports.find_reporter(tx, key) if has.reporter else None,
        captures=[] if ticket.capture is None else captures.list_summaries(tx, key, MAX_LISTED),
        questions=_list_open_questions(tx, key, ticket.claim),
        links=links.list_links(tx, actor.viewer, key) if has.links else [],
        git_links=git_links.list_links(tx, key) if has.git_links else [],
        attachments=assets.list_attachments(tx, key) if has.attachments else [],
        watchers=watchers.list_watchers(tx, key),
        comments=_list_comments(tx, key) if Part.COMMENTS in args.include else UNSET,
        history=_list_history(tx, key) if Part.HISTORY in args.include else UNSET,
        verifications=_list_verifications(tx, key) if Part.VERIFICATIONS in args.include else UNSET,
        criteria=criteria.list_criteria(tx, key) if Part.CRITERIA in args.include else UNSET,
    )


def _list_open_questions(tx: Read, ticket: int, claim: Claim | None) -> list[WorkQuestion]:
    if claim is None or claim.state is not WorkState.AWAITING_INPUT:
        return []
    question = questions.find_open_question(tx, ticket)
    return [] if question is None else [question]


def _list_comments(tx: Read, ticket: int) -> list[Comment]:
    return [comment for _, comment in comments.list_comments(tx, ticket, 0, MAX_LISTED)]


def _list_history(tx: Read, ticket: int) -> list[Event]:
    return [event for _, event in events.list_history(tx, ticket, 0, MAX_LISTED)]


def _list_verifications(tx: Read, ticket: int) -> list[Verification]:
    found = verifications.list_verifications(tx, ticket, NEWEST, MAX_LISTED)
    return [verification for _, verification in found]


def _load_capture(tx: Read, actor: Actor, ticket: int, args: GetTicket) -> CaptureDetail | None:
    key = captures.find_shown_capture(tx, ticket)
    if args.capture_id is not None:
        key = find_readable(tx, actor, "capture", args.capture_id).key
        if captures.load_ticket_key(tx, key) != ticket:
            raise InvalidField("capture_id", "the capture belongs to another ticket")
    if key is None:
        return None
    stored = captures.load_capture(tx, key)
    excerpt = _load_excerpt(tx, actor, stored, args.detail) if Part.CAPTURE in args.include else None
    capture = stored.capture
    screenshots = [asset for asset in capture.assets if asset.kind is AssetKind.SCREENSHOT]
    return CaptureDetail(
        **msgspec.structs.asdict(stored.summary),
        ticket_id=capture.ticket_id,
        confirmed=capture.confirmed,
        bug=capture.bug,
        expectations=capture.expectations,
        page=capture.page,
        environment=capture.environment,
        health=capture.health,
        redaction=capture.redaction,
        assets=capture.assets,
        screenshot=screenshots[0] if screenshots else None,
        **({} if excerpt is None else msgspec.structs.asdict(excerpt)),
    )


def _load_excerpt(tx: Read, actor: Actor, stored: StoredCapture, detail: Detail) -> CaptureExcerpt:
    if detail is Detail.SUMMARY:
        return msgspec.json.decode(blobs.load_content(tx, stored.excerpt), type=CaptureExcerpt)
    tx.require_thread()
    console = captures.load_entries(tx, stored, Stream.CONSOLE, ConsoleEntry)
    network = captures.load_entries(tx, stored, Stream.NETWORK, NetworkEntry)
    errors = captures.load_entries(tx, stored, Stream.ERRORS, ErrorEntry)
    actions = captures.load_entries(tx, stored, Stream.ACTIONS, ActionEntry)
    build = partial(build_excerpt, console, network, errors, actions, capture_id=stored.capture.id)
    if actor.via is Via.MCP:
        return build(budget_tokens=FULL_TOOL_TOKENS)
    return build(budget_tokens=FULL_TOKENS, estimate=estimate_by_length)

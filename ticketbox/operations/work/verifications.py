"""Verifications: posting and listing what a reproduction did on a commit (docs/use/verifications.md)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.expectations import MAX_EXPECTATIONS
from ticketbox.domain.captures.records import AssetKind
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField, TicketArchived
from ticketbox.domain.tickets.records import ExpectedWords, Failure, Verdict
from ticketbox.domain.work.verifications import MAX_ROUNDS, Verification
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import AnyBranch, Commit
from ticketbox.operations.core.lookups import (
    AssetId,
    CaptureId,
    ExpectationId,
    Key,
    TicketId,
    find_readable_ticket,
    find_writable,
)
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import assets, captures, expectations
from ticketbox.store.companies import projects
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.work import verifications
from ticketbox.store.work.verifications import NewVerification

MAX_CONSOLE = 50
LINE_CHARACTERS = 1_000
REMOVED = "an expectation that was removed since"

BaseUrl = Annotated[
    str,
    Meta(max_length=2_000, description="Where it ran, without a login.", examples=["http://localhost:3000"]),
    match_whole(r"[hH][tT][tT][pP][sS]?://[^\x00-\x20\x7f/?#@]+(?:[/?#][^\x00-\x20\x7f]*)?"),
]


class AddVerification(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A verification never changes; post another one when you run the reproduction again."""

    ticket_id: TicketId
    commit: Annotated[Commit, Meta(description="What ran: 7 to 64 hexadecimal digits.")]
    base_url: BaseUrl
    verdict: Annotated[Verdict, Meta(description="What the reproduction did.")]
    reason: (
        Annotated[
            str,
            Meta(min_length=1, max_length=LINE_CHARACTERS, description="Why it wasn't reached or differed."),
            match_whole(r"[^\x00]*"),
        ]
        | None
    ) = None
    branch: Annotated[AnyBranch, Meta(description="The branch of the commit.")] | None = None
    rounds: Annotated[int, Meta(ge=1, le=MAX_ROUNDS, description="How often it ran.")] = 1
    live: Annotated[bool, Meta(description="Whether the server answered all calls, not the recording.")] = False
    capture_id: Annotated[CaptureId, Meta(description="The capture it replayed.")] | None = None
    bug: Annotated[Failure, Meta(description="The failure it looked for; default: the capture's.")] | None = None
    expectations: (
        Annotated[
            list[ExpectationId],
            Meta(max_length=MAX_EXPECTATIONS, description="What it expected; default without `bug`: all confirmed."),
        ]
        | None
    ) = None
    console: Annotated[
        list[Annotated[str, Meta(max_length=LINE_CHARACTERS), match_whole(r"[^\x00]*")]],
        Meta(max_length=MAX_CONSOLE, description="Errors in the console."),
    ] = []
    screenshot: Annotated[AssetId, Meta(description="An attached picture.")] | None = None
    trace: Annotated[AssetId, Meta(description="An attached trace.")] | None = None
    idempotency_key: Key | None = None


async def redact_verification(
    services: Services, actor: Actor, args: AddVerification, context: RequestContext
) -> AddVerification:
    """Remove secrets from the console, the reason and the address, by the rules of the ticket's project."""

    def load_rules(tx: Read) -> list[str]:
        row, _ = find_writable_ticket(tx, actor, args.ticket_id)
        return projects.load_project(tx, actor.viewer, row.project).capture_policy.extra_redactions

    redactor = Redactor(await services.read(load_rules, actor.fair_share))

    def redact() -> AddVerification:
        console = [redactor.redact_text(line, LINE_CHARACTERS) for line in args.console]
        reason = args.reason and redactor.redact_text(args.reason, LINE_CHARACTERS)
        base_url = redactor.redact_url(args.base_url)
        return msgspec.structs.replace(args, console=console, reason=reason, base_url=base_url)

    return await services.small_captures.run(actor.fair_share, redact)


@operation(
    "add_verification",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /tickets/{ticket_id}/verifications",
    refuses=(TicketArchived,),
    creates=True,
    prepare=redact_verification,
    tool=Tool(
        "Post a verification",
        "Use this unless `ticketbox verify` ran it.",
        {"ticket_id": "WEB-42", "commit": "9fceb02", "base_url": "http://localhost:3000", "verdict": "gone"},
        tool_set="core",
        unlisted=("branch", "rounds", "live", "bug", "expectations", "trace", "idempotency_key"),
    ),
)
def add_verification(tx: Write, actor: Actor, args: AddVerification, redacted: AddVerification) -> Verification:
    """Record what a reproduction of a ticket's bug did on a commit."""
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    byline = bylines.ensure_byline(tx, actor)
    capture = _find_capture(tx, actor, row.key, args.capture_id)
    bug, expected = _find_subject(tx, capture, args)
    key = verifications.insert_verification(
        tx,
        NewVerification(
            ticket=row.key,
            capture=capture,
            commit=args.commit.lower(),
            branch=args.branch,
            base_url=redacted.base_url,
            verdict=args.verdict,
            reason=redacted.reason,
            bug=captures.encode_failure(bug),
            expectations=expected,
            rounds=args.rounds,
            live=args.live,
            console=redacted.console,
            screenshot=find_attachment(tx, actor, row.key, "screenshot", args.screenshot),
            trace=find_attachment(tx, actor, row.key, "trace", args.trace),
            byline=byline,
        ),
    )
    added = verifications.load_verification(tx, key)
    record_ticket_event(
        tx, actor, row, "verification.added",
        verification_id=added.id, verdict=added.verdict.value, reason=added.reason, proven=added.proven,
        commit=added.commit,
    )  # fmt: skip
    return added


def _find_capture(tx: Read, actor: Actor, ticket: int, capture_id: str | None) -> int | None:
    if capture_id is None:
        return None
    key = find_writable(tx, actor, "capture", capture_id).key
    if captures.load_ticket_key(tx, key) != ticket:
        raise InvalidField("capture_id", "this capture belongs to another ticket")
    return key


def _find_subject(tx: Read, capture: int | None, args: AddVerification) -> tuple[Failure | None, str]:
    """Find the failure and the expectations that a run looked for, encoded: by default, those of the capture now."""
    if capture is None:
        return args.bug, expectations.encode_expected([])
    if args.bug is None and args.expectations is None:
        return captures.load_subject(tx, capture)
    wanted = set(args.expectations or ())
    kept = [
        ExpectedWords(each.id, each.words) for each in expectations.list_expectations(tx, capture) if each.id in wanted
    ]
    removed = [ExpectedWords(each, REMOVED) for each in sorted(wanted - {each.id for each in kept})]
    return args.bug, expectations.encode_expected([*kept, *removed])


def find_attachment(tx: Read, actor: Actor, ticket: int, field: str, asset_id: str | None) -> int | None:
    """Find an attachment of the ticket. Raises NotFound, and InvalidRequest for any other file."""
    if asset_id is None:
        return None
    key = find_writable(tx, actor, "asset", asset_id).key
    _, asset = assets.load_asset(tx, key)
    if assets.load_ticket_key(tx, key) != ticket or asset.kind is not AssetKind.ATTACHMENT:
        raise InvalidField(field, "this isn't an attachment of the ticket; attach it first")
    if field == "screenshot" and asset.width is None:
        raise InvalidField(field, "this file isn't a picture")
    return key


class ListVerifications(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Verifications of archived tickets can be read too."""

    ticket_id: TicketId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_verifications",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/verifications",
    tool=Tool(
        "List verifications",
        "Use this to see whether a bug was reproduced, and is gone.",
        {"ticket_id": "WEB-42"},
    ),
)
def list_verifications(tx: Read, actor: Actor, args: ListVerifications) -> Page[Verification]:
    """List a ticket's verifications, newest first."""
    row = find_readable_ticket(tx, actor, args.ticket_id)
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, verifications.list_verifications(tx, row.key, before, args.limit + 1))

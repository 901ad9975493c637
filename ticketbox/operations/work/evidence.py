"""Evidence that a criterion is met, or isn't (docs/use/criteria.md, "Evidence")."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidField, TicketArchived
from ticketbox.domain.work.criteria import Evidence, EvidenceKind, decide_state, grade_evidence
from ticketbox.domain.work.verifications import Verification
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Commit, Text
from ticketbox.operations.core.lookups import AssetId, CriterionId, Key, VerificationId, find_writable
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.work.criteria import find_criterion, record_evidence
from ticketbox.operations.work.verifications import find_attachment
from ticketbox.store.companies import projects
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets
from ticketbox.store.work import criteria, verifications
from ticketbox.store.work.criteria import NewEvidence

MAX_OUTPUT = 50  # lines
LINE_CHARACTERS = 1_000
TEXT_CHARACTERS = 2_000


class AddEvidence(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Its grade follows from `kind` and from who adds it; evidence never changes."""

    criterion_id: CriterionId
    kind: Annotated[EvidenceKind, Meta(description="What it is.")] = EvidenceKind.STATEMENT
    text: Annotated[Text, Meta(description="What you say; of a command or a check, what ran.")] = ""
    passed: Annotated[bool, Meta(description="Whether a check passed.")] | None = None
    exit_status: Annotated[int, Meta(ge=-255, le=65_535, description="Of a command; 0 passed.")] | None = None
    duration_ms: Annotated[int, Meta(ge=0, le=2**53, description="How long it ran.")] | None = None
    output: Annotated[
        list[Annotated[str, Meta(max_length=LINE_CHARACTERS), match_whole(r"[^\x00]*")]],
        Meta(max_length=MAX_OUTPUT, description="The last lines of a command's output."),
    ] = []
    commit: Annotated[Commit, Meta(description="The commit that was checked out.")] | None = None
    dirty: Annotated[bool, Meta(description="Whether files differed from it.")] = False
    verification_id: Annotated[VerificationId, Meta(description="A verification of the ticket.")] | None = None
    picture: Annotated[AssetId, Meta(description="An attached picture.")] | None = None
    idempotency_key: Key | None = None


async def redact_evidence(services: Services, actor: Actor, args: AddEvidence, context: RequestContext) -> AddEvidence:
    """Remove secrets from the text and the output, by the rules of the ticket's project."""

    def load_rules(tx: Read) -> list[str]:
        _, row, _ = find_criterion(tx, actor, args.criterion_id)
        return projects.load_project(tx, actor.viewer, row.project).capture_policy.extra_redactions

    redactor = Redactor(await services.read(load_rules, actor.fair_share))

    def redact() -> AddEvidence:
        output = [redactor.redact_text(line, LINE_CHARACTERS) for line in args.output]
        return msgspec.structs.replace(args, output=output, text=redactor.redact_text(args.text, TEXT_CHARACTERS))

    return await services.small_captures.run(actor.fair_share, redact)


@operation(
    "add_evidence",
    scope=Scope.TICKETS_WRITE,
    budget=Budget.WRITE,
    rest="POST /criteria/{criterion_id}/evidence",
    refuses=(TicketArchived,),
    creates=True,
    prepare=redact_evidence,
    tool=Tool(
        "Add evidence",
        "Use this for what `ticketbox prove` can't run.",
        {"criterion_id": "crt_7f2m9x4k1q8d", "text": "The total has the discount in Firefox, too"},
        unlisted=("duration_ms", "output", "dirty", "idempotency_key"),
    ),
)
def add_evidence(tx: Write, actor: Actor, args: AddEvidence, redacted: AddEvidence) -> Evidence:
    """Add evidence to a criterion of a ticket.

    A command, a check or a verification that passed meets the criterion, and one that failed opens it again. A
    statement or a picture meets it only if a person adds it in the web app.
    """
    key, row, before = find_criterion(tx, actor, args.criterion_id)
    verification, found = _find_verification(tx, actor, row.key, args)
    commit = args.commit.lower() if args.commit else found and found.commit
    new = NewEvidence(
        criterion=key,
        kind=args.kind,
        grade=grade_evidence(args.kind, is_agent=actor.is_agent),
        text=redacted.text.strip(),
        passed=_find_result(args, found),
        exit_status=args.exit_status,
        duration_ms=args.duration_ms,
        output=redacted.output,
        commit=commit,
        dirty=args.dirty,
        verification=verification,
        picture=find_attachment(tx, actor, row.key, "picture", args.picture),
        byline=bylines.ensure_byline(tx, actor),
    )
    evidence_id = criteria.insert_evidence(tx, new)
    criteria.update_criterion(tx, key, state=decide_state(before.state, new.grade, new.passed))
    record_evidence(tx, actor, row, before, evidence_id, new)
    _, _, after = find_criterion(tx, actor, args.criterion_id)
    return after.evidence[0]


def _find_verification(
    tx: Read, actor: Actor, ticket: int, args: AddEvidence
) -> tuple[int | None, Verification | None]:
    if args.verification_id is None:
        return None, None
    key = find_writable(tx, actor, "verification", args.verification_id).key
    found = verifications.load_verification(tx, key)
    if found.ticket_id != tickets.load_state(tx, ticket).id:
        raise InvalidField("verification_id", "this verification belongs to another ticket")
    return key, found


def _find_result(args: AddEvidence, verification: Verification | None) -> bool | None:
    """Return whether it passed; None for what only says or shows something. Raises InvalidRequest for what is missing.

    Of a verification, only the proof that the bug is gone passes.
    """
    needed = {
        EvidenceKind.COMMAND: "exit_status",
        EvidenceKind.CHECK: "passed",
        EvidenceKind.VERIFICATION: "verification_id",
        EvidenceKind.PICTURE: "picture",
    }
    for kind, field in needed.items():
        given = getattr(args, field) is not None
        if given != (kind is args.kind):
            raise InvalidField(field, f"evidence of the kind {kind.value} has it" if given else "is required")
    if args.kind in {EvidenceKind.STATEMENT, EvidenceKind.COMMAND, EvidenceKind.CHECK} and not args.text.strip():
        raise InvalidField("text", "must not be empty")
    match args.kind:
        case EvidenceKind.COMMAND:
            return args.exit_status == 0
        case EvidenceKind.CHECK:
            return args.passed
        case EvidenceKind.VERIFICATION:
            return verification is not None and verification.proven
        case _:
            return None

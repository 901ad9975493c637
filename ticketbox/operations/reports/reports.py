"""Reports of people without an account: their intake, and what becomes of them (docs/use/reports.md).

A report is a ticket at the top of the project's first column, with the label `external`, written for the person who
created the key. Nothing else can be done with a key.
"""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import email_addresses, secrets
from ticketbox.domain.captures.capture import Health, Page, Redaction
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.companies.records import CapturePolicy
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.fairness.processor_time import Payer, list_payers
from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import (
    CompanyStorageFull,
    Conflict,
    InvalidField,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
)
from ticketbox.domain.core.unsafe_characters import REORDERING
from ticketbox.domain.reports.identity import MAX_TOKEN, Identity, verify_identity
from ticketbox.domain.reports.records import Reporter, ReportKind, ReportStatus
from ticketbox.domain.tickets.records import Priority
from ticketbox.operations.captures.assets import require_room_for_attachments, require_storage
from ticketbox.operations.captures.captures import store_capture
from ticketbox.operations.captures.processing.intake import (
    CreateCapture,
    Envelope,
    PreparedCapture,
    Upload,
    has_more_than,
    is_small,
    prepare_picture_upload,
    process_capture,
)
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Title
from ticketbox.operations.core.lookups import TicketId, find_readable_ticket
from ticketbox.operations.core.registry import Body, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.core.workers.worker_process import WorkerProcess
from ticketbox.operations.reports.key_access import (
    build_actor,
    find_key,
    find_policy,
    find_project,
    guard_report,
    guard_settings,
    require_day,
)
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.tickets import insert_ticket
from ticketbox.store.captures import assets
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.reports import report_keys, reports
from ticketbox.store.reports.report_keys import AddressedKey
from ticketbox.store.reports.reports import ReportText
from ticketbox.store.tickets import positions
from ticketbox.store.tickets.tickets import NewTicket

LABEL = "external"
MAX_REPORT = 8 * 1024 * 1024
MAX_INFLATED = 8 * 1024 * 1024  # of all streams of a report
MAX_FILES = 5
TIME_SHARE = 0.4  # of the processor time that a capture may take
# Seconds of processor time in a minute.
ADDRESS_SECONDS = 5
KEY_SECONDS = 15
MAX_DESCRIPTION = 10_000

_ID = match_whole(r"([A-Za-z0-9_\-]{22,64})?")
_ANYTHING = match_whole(r"[^\x00]*")
_LINE = match_whole(rf"[^\x00-\x1f\x7f{REORDERING}]*")
_EMAIL = match_whole(rf"(?:{email_addresses.PATTERN})?")


class ReportedPage(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the script recorded on the page, as in a capture."""

    page: Page
    health: Health
    captured_at: Annotated[datetime, Meta(tz=True, description="The browser's time, in RFC 3339.")]
    environment: Environment = msgspec.field(default_factory=Environment)
    redaction: Redaction = msgspec.field(default_factory=Redaction)


class CreateReport(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The parts of the request. Each stream is a JSON array and may be compressed with gzip."""

    key: Annotated[str, Meta(max_length=100, description="A report key, `pub_…`.")]
    title: Title
    description: Annotated[str, Meta(max_length=MAX_DESCRIPTION, description="What happened."), _ANYTHING] = ""
    name: Annotated[str, Meta(max_length=100, description="The reporter's name, if they like."), _LINE] = ""
    email: Annotated[str, Meta(max_length=254, description="The reporter's email address, if they like."), _EMAIL] = ""
    identity: Annotated[
        str,
        Meta(max_length=MAX_TOKEN, description="Who the person is, as their site signed it. Replaces name and email."),
    ] = ""
    id: Annotated[
        str,
        Meta(description="A random id that the client makes once. Sending the same report again changes nothing."),
        _ID,
    ] = ""
    website: Annotated[str, Meta(max_length=300, description="Leave it empty: only programs fill it in.")] = ""
    capture: ReportedPage | None = None
    console: Annotated[bytes, Meta(description="A JSON array of console entries.")] = b"[]"
    network: Annotated[bytes, Meta(description="A JSON array of network requests.")] = b"[]"
    errors: Annotated[bytes, Meta(description="A JSON array of errors.")] = b"[]"
    actions: Annotated[bytes, Meta(description="A JSON array of actions.")] = b"[]"
    replay: Annotated[bytes, Meta(description="What the page shows: a JSON array of rrweb events.")] = b""
    attachments: Annotated[list[Upload], Meta(max_length=MAX_FILES, description="Up to 5 files.")] = []

    @property
    def streams(self) -> tuple[bytes, ...]:
        """What is read entry by entry."""
        return self.console, self.network, self.errors, self.actions, self.replay


class ReportReceipt(msgspec.Struct, frozen=True):
    """The address where the reporter sees what becomes of the report. Only the same report gets it again."""

    repeated: ClassVar[bool] = False

    url: str


class RepeatedReportReceipt(ReportReceipt, frozen=True):
    """The receipt of a report that was already stored."""

    repeated: ClassVar[bool] = True


class _PreparedReport(msgspec.Struct, frozen=True):
    """A report that is ready to be stored, with the secret of its receipt."""

    receipt: str
    reported: ReportText
    description: str
    capture: PreparedCapture | None
    files: list[NewAsset]


async def prepare_report(
    services: Services, actor: Actor, args: CreateReport, context: RequestContext
) -> _PreparedReport | str:
    """Redact and compress what was sent, as the project's policy requires. Raises as `prepare_capture`.

    Returns the secret of its receipt alone for a report that was already stored.
    """
    if args.website:
        raise InvalidField("website", "leave it empty")

    def load(tx: Read) -> tuple[AddressedKey, CapturePolicy, str, bool]:
        key, policy = find_policy(tx, args.key)
        receipt = _build_receipt(key, args)
        return key, policy, receipt, _is_stored(tx, receipt)

    key, policy, receipt, is_stored = await services.read(load, (0, context.network))
    if is_stored:
        return receipt
    now = services.database.clock.now()
    identity = verify_identity(args.identity, key.identity_secrets, now) if args.identity else None
    # Reports of a company take turns with its own captures, however many there are.
    share = (key.company, "reports")
    payers = [
        Payer(("reports of an address", context.network), ADDRESS_SECONDS, "your network address"),
        Payer(("reports of a key", key.key), KEY_SECONDS, "this page"),
        *list_payers(share),
    ]
    workers = services.small_captures if is_small(args.streams, args.attachments) else services.captures
    return await workers.run(
        share, _process_report, receipt, args, identity, policy, services.public_url,
        services.max_capture_seconds * TIME_SHARE, services.captures.process, payers=payers,
    )  # fmt: skip


def _build_receipt(key: AddressedKey, args: CreateReport) -> str:
    """Build the secret of a receipt: with an id, the same for the same report."""
    if not args.id:
        return secrets.generate_secret(secrets.RECEIPT_PREFIX)
    files = (f"{each.name} {len(each.data)}" for each in args.attachments)
    return secrets.derive_secret(
        secrets.RECEIPT_PREFIX, key.public_id, args.id, args.title, args.description, args.name, args.email, *files
    )


def _is_stored(tx: Read, receipt: str) -> bool:
    return reports.find_status(tx, secrets.hash_secret(receipt)) is not None


def _process_report(
    receipt: str, args: CreateReport, identity: Identity | None, policy: CapturePolicy, public_url: str, seconds: float,
    process: WorkerProcess | None,
) -> _PreparedReport:  # fmt: skip
    if has_more_than(MAX_INFLATED, args.streams):
        raise PayloadTooLarge(f"the streams of a report have at most {MAX_INFLATED >> 20} MiB, inflated")
    redactor = Redactor(policy.extra_redactions)
    title = redactor.redact_text(args.title.strip())[:300]
    if identity is None:
        reported = ReportText(title, args.name.strip(), args.email.strip(), None)
    else:
        reported = ReportText(title, normalize_text(identity.name.strip()), identity.email.strip(), identity.sub)
    description = redactor.redact_text(args.description, MAX_DESCRIPTION)
    if args.capture is None:
        files = [prepare_picture_upload(part) for part in args.attachments]
        return _PreparedReport(receipt, reported, description, None, files)
    page = args.capture
    envelope = Envelope(
        secrets.generate_secret("report_"), page.page, page.health, page.captured_at, page.environment, page.redaction,
        title=args.title,
    )  # fmt: skip
    sent = CreateCapture(
        envelope, None, args.console, args.network, args.errors, args.actions, args.replay,
        attachments=args.attachments,
    )  # fmt: skip
    capture = process_capture(sent, None, policy, public_url, seconds, process)
    return _PreparedReport(receipt, reported, description, capture, [])


@operation(
    "create_report", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /reports/{key}", creates=True,
    refuses=(Conflict, CompanyStorageFull), prepare=prepare_report, guard=guard_report, body=Body.MULTIPART,
    max_body=MAX_REPORT, example={"title": "The cart stays empty", "description": "After I added the lamp."},
)  # fmt: skip
def create_report(tx: Write, actor: Actor, args: CreateReport, prepared: _PreparedReport | str) -> ReportReceipt:
    """Report a bug with a public key, without an account.

    The request needs no credential. A script's key is accepted only from pages of its origins.
    """
    key = find_key(tx, args.key)
    receipt = prepared if isinstance(prepared, str) else prepared.receipt
    if _is_stored(tx, receipt):
        return RepeatedReportReceipt(f"{tx.public_url}/r/{receipt}")
    if isinstance(prepared, str):
        raise InvalidRequest("the report was deleted during this request; send it again")
    require_day(key, tx.ceilings.reports_per_day, tx.now)
    actor = build_actor(key)
    project = find_project(tx, key)
    column = columns.find_first_column(tx, key.project)
    if column is None:
        raise NotFound("column")
    new = NewTicket(
        project=key.project,
        column=column,
        position=positions.find_top_position(tx, column),
        title=prepared.reported.title,
        description=prepared.description,
        priority=Priority.NONE,
        labels=[LABEL],
        source_url=prepared.capture and normalize_page_address(prepared.capture.capture.page.url),
    )
    row = insert_ticket(tx, actor, project, new, notifies=False)[0]
    if prepared.capture is not None:
        store_capture(tx, actor, row, prepared.capture, external=True)
        record_ticket_event(
            tx, actor, row, "capture.attached", capture_id=prepared.capture.capture.public_id,
            attachments=len(prepared.capture.attachments),
        )  # fmt: skip
    else:
        require_room_for_attachments(tx, row.key, len(prepared.files))
        for file in prepared.files:
            assets.insert_asset(tx, row.key, None, file, bylines.ensure_byline(tx, actor))
        require_storage(tx, row.company)
    reports.insert_report(tx, row.key, key.key, secrets.hash_secret(receipt), prepared.reported)
    report_keys.count_report(tx, key.key)
    return ReportReceipt(f"{tx.public_url}/r/{receipt}")


class GetReporter(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A ticket that somebody without an account may have reported."""

    ticket_id: TicketId


@operation("get_reporter", scope=Scope.READ, budget=Budget.READ, rest="GET /tickets/{ticket_id}/reporter")
def get_reporter(tx: Read, actor: Actor, args: GetReporter) -> Reporter:
    """Show who reported a ticket without an account, and whether the site where they reported signed who they are."""
    reporter = reports.find_reporter(tx, find_readable_ticket(tx, actor, args.ticket_id).key)
    if reporter is None:
        raise NotFound("reporter")
    return reporter


class GetReportSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key of a script."""

    key: Annotated[str, Meta(max_length=100, description="A report key, `pub_…`.")]


class ReportSettings(msgspec.Struct, frozen=True):
    """What a script on a page must know: CSS selectors of what it must not record, names of values that it reads.

    `accepts_pictures` is whether pictures of the page are stored.
    """

    mask_selectors: list[str]
    declared_names: list[str]
    accepts_pictures: bool


@operation(
    "get_report_settings", scope=Access.PUBLIC, budget=Budget.NONE, rest="GET /reports/{key}",
    guard=guard_settings,
)  # fmt: skip
def get_report_settings(tx: Read, actor: Actor, args: GetReportSettings) -> ReportSettings:
    """Show what a page's script must not record, and which values it reads. The request needs no credential."""
    policy = find_policy(tx, args.key)[1]
    return ReportSettings(policy.mask_selectors, policy.declared_names, policy.replay > 0)


class GetReportPage(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key of a link, whose page is asked for."""

    key: str


class ReportPage(msgspec.Struct, frozen=True):
    """What the page of a link shows."""

    name: str


@operation("get_report_page", scope=Access.PUBLIC, budget=Budget.NONE)
def get_report_page(tx: Read, actor: Actor, args: GetReportPage) -> ReportPage:
    """Load what the page of a report link shows."""
    key = find_key(tx, args.key)
    if key.kind is not ReportKind.LINK:
        raise NotFound("report key")
    return ReportPage(key.name)


class GetReportStatus(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The receipt of a report."""

    receipt: str


@operation("get_report_status", scope=Access.PUBLIC, budget=Budget.NONE)
def get_report_status(tx: Read, actor: Actor, args: GetReportStatus) -> ReportStatus:
    """Load what a reporter sees: the state of the report, and nothing else of its ticket."""
    well_formed = secrets.is_well_formed(args.receipt, secrets.RECEIPT_PREFIX)
    status = reports.find_status(tx, secrets.hash_secret(args.receipt)) if well_formed else None
    if status is None:
        raise NotFound("report")
    return status

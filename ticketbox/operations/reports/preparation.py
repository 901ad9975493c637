"""Check, redact and compress what people without an account report, before it is stored (docs/use/reports.md)."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import email_addresses, secrets
from ticketbox.domain.captures.capture import Health, Page, Redaction
from ticketbox.domain.captures.environment import Environment
from ticketbox.domain.captures.expectations import SentExpectations
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.companies.records import CapturePolicy
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.fairness.processor_time import Payer, list_payers
from ticketbox.domain.core.normalization import normalize_text
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import (
    InvalidField,
    PayloadTooLarge,
)
from ticketbox.domain.core.unsafe_characters import REORDERING
from ticketbox.domain.reports.identity import MAX_TOKEN, Identity, verify_identity
from ticketbox.domain.tickets.records import Failure
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
from ticketbox.operations.core.services import Services
from ticketbox.operations.core.workers.worker_process import WorkerProcess
from ticketbox.operations.reports.key_access import (
    find_policy,
)
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.file.database import Read
from ticketbox.store.reports import reports
from ticketbox.store.reports.report_keys import AddressedKey
from ticketbox.store.reports.reports import ReportText

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
    bug: Annotated[Failure, Meta(description="The failure that the report is about.")] | None = None
    expectations: SentExpectations = []


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


class PreparedReport(msgspec.Struct, frozen=True):
    """A report that is ready to be stored, with the secret of its receipt."""

    receipt: str
    reported: ReportText
    description: str
    capture: PreparedCapture | None
    files: list[NewAsset]


async def prepare_report(
    services: Services, actor: Actor, args: CreateReport, context: RequestContext
) -> PreparedReport | str:
    """Redact and compress what was sent, as the project's policy requires. Raises as `prepare_capture`.

    Returns the secret of its receipt alone for a report that was already stored.
    """
    if args.website:
        raise InvalidField("website", "leave it empty")

    def load(tx: Read) -> tuple[AddressedKey, CapturePolicy, str, bool]:
        key, policy = find_policy(tx, args.key)
        receipt = _build_receipt(key, args)
        return key, policy, receipt, is_stored_report(tx, receipt)

    key, policy, receipt, is_stored = await services.read(load, (0, context.network))
    if is_stored:
        return receipt
    now = services.database.clock.now()
    identity = verify_identity(args.identity, key.identity_secrets, now) if args.identity else None
    # Reports of a company take turns with its own captures, however many there are.
    fair_share = (key.company, "reports")
    payers = [
        Payer(("reports of an address", context.network), ADDRESS_SECONDS, "your network address"),
        Payer(("reports of a key", key.key), KEY_SECONDS, "this page"),
        *list_payers(fair_share),
    ]
    workers = services.small_captures if is_small(args.streams, args.attachments) else services.captures
    return await workers.run(
        fair_share, _process_report, receipt, args, identity, policy, services.public_url,
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


def is_stored_report(tx: Read, receipt: str) -> bool:
    return reports.find_status(tx, secrets.hash_secret(receipt)) is not None


def _process_report(
    receipt: str, args: CreateReport, identity: Identity | None, policy: CapturePolicy, public_url: str, seconds: float,
    process: WorkerProcess | None,
) -> PreparedReport:  # fmt: skip
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
        return PreparedReport(receipt, reported, description, None, files)
    page = args.capture
    envelope = Envelope(
        secrets.generate_secret("report_"), page.page, page.health, page.captured_at, page.environment, page.redaction,
        bug=page.bug, expectations=page.expectations, title=args.title,
    )  # fmt: skip
    sent = CreateCapture(
        envelope, None, args.console, args.network, args.errors, args.actions, args.replay,
        attachments=args.attachments,
    )  # fmt: skip
    capture = process_capture(sent, None, policy, public_url, seconds, process)
    return PreparedReport(receipt, reported, description, capture, [])

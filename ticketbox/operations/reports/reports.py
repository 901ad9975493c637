"""Reports of people without an account: how they are stored, and what becomes of them (docs/use/reports.md).

A report is a ticket at the top of the project's first column, with the label `external`, written for the person who
created the key. Nothing else can be done with a key.
"""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.problems import (
    CompanyStorageFull,
    Conflict,
    InvalidRequest,
    NotFound,
)
from ticketbox.domain.reports.records import Reporter, ReportKind, ReportStatus
from ticketbox.domain.tickets.records import Priority
from ticketbox.operations.captures.assets import require_room_for_attachments, require_storage
from ticketbox.operations.captures.captures import store_capture
from ticketbox.operations.core.lookups import TicketId, find_readable_ticket
from ticketbox.operations.core.registry import Body, operation
from ticketbox.operations.reports.key_access import (
    build_actor,
    find_key,
    find_policy,
    find_project,
    guard_report,
    guard_settings,
    require_day,
)
from ticketbox.operations.reports.preparation import (
    MAX_REPORT,
    CreateReport,
    PreparedReport,
    is_stored_report,
    prepare_report,
)
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.operations.tickets.tickets import insert_ticket
from ticketbox.store.captures import assets
from ticketbox.store.companies import columns
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write
from ticketbox.store.reports import report_keys, reports
from ticketbox.store.tickets import positions
from ticketbox.store.tickets.tickets import NewTicket

LABEL = "external"


class ReportReceipt(msgspec.Struct, frozen=True):
    """The address where the reporter sees what becomes of the report. Only the same report gets it again."""

    repeated: ClassVar[bool] = False

    url: str


class RepeatedReportReceipt(ReportReceipt, frozen=True):
    """The receipt of a report that was already stored."""

    repeated: ClassVar[bool] = True


@operation(
    "create_report", scope=Access.PUBLIC, budget=Budget.NONE, rest="POST /reports/{key}", creates=True,
    refuses=(Conflict, CompanyStorageFull), prepare=prepare_report, guard=guard_report, body=Body.MULTIPART,
    max_body=MAX_REPORT, example={"title": "The cart stays empty", "description": "After I added the lamp."},
)  # fmt: skip
def create_report(tx: Write, actor: Actor, args: CreateReport, prepared: PreparedReport | str) -> ReportReceipt:
    """Report a bug with a public key, without an account.

    The request needs no credential. A script's key is accepted only from pages of its origins.
    """
    key = find_key(tx, args.key)
    receipt = prepared if isinstance(prepared, str) else prepared.receipt
    if is_stored_report(tx, receipt):
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

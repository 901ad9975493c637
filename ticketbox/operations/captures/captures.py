"""Creating a capture with its ticket, and listing a ticket's captures."""

from typing import ClassVar

import msgspec

from ticketbox.domain.captures.health import describe_health
from ticketbox.domain.captures.records import ListedCapture
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.clock import format_rfc3339
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.network.page_address import normalize_page_address
from ticketbox.domain.core.problems import CompanyStorageFull, Conflict, InvalidRequest, NotFound, TicketArchived
from ticketbox.domain.tickets.records import CaptureSummary
from ticketbox.operations.captures.assets import require_room_for_attachments, require_storage
from ticketbox.operations.captures.expectations import store_expectations
from ticketbox.operations.captures.processing.intake import CreateCapture, Envelope, PreparedCapture
from ticketbox.operations.captures.processing.preparation import find_target, prepare_capture
from ticketbox.operations.core.inputs import normalize_labels
from ticketbox.operations.core.lookups import TicketId, find_readable, find_readable_ticket
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Body, Tool, operation
from ticketbox.operations.tickets.recording import record_change, record_ticket_event
from ticketbox.operations.tickets.tickets import insert_ticket
from ticketbox.store.captures import assets, captures, source_maps
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import positions
from ticketbox.store.tickets.search import similar
from ticketbox.store.tickets.tickets import NewTicket


class Receipt(msgspec.Struct, frozen=True):
    """The ids of a stored capture and its ticket, and the ticket's URL."""

    repeated: ClassVar[bool] = False

    ticket_id: str
    capture_id: str
    url: str


class RepeatedReceipt(Receipt, frozen=True):
    """The receipt of a capture that was already stored."""

    repeated: ClassVar[bool] = True


@operation(
    "create_capture", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="POST /captures", creates=True,
    refuses=(NotFound, Conflict, TicketArchived, CompanyStorageFull), prepare=prepare_capture, body=Body.MULTIPART,
    example={
        "capture": {
            "id": "5f0c1e3a-77c4-4a51-9a58-0f1f3f4f7c11",
            "project_id": "proj_9w4k2m7x0c3n",
            "page": {"url": "https://shop.example/cart", "title": "Cart"},
            "captured_at": 1795253400000,
            "health": {"console": {"status": "ok"}, "network": {"status": "ok"}, "errors": {"status": "ok"}},
        }
    },
)  # fmt: skip
def create_capture(tx: Write, actor: Actor, args: CreateCapture, prepared: PreparedCapture | str) -> Receipt:
    """Create a capture and its ticket, or attach it to `ticket_id`, in one transaction.

    Sending the same `capture.id` again returns 200 with the same ids and changes nothing, so retries are safe.
    """
    known = captures.find_capture_by_client_id(tx, actor.user, args.capture.id)
    if known is not None:
        find_readable(tx, actor, "ticket", known.ticket_id)
        public_url = prepared if isinstance(prepared, str) else prepared.public_url
        return RepeatedReceipt(known.ticket_id, known.public_id, f"{public_url}/tickets/{known.ticket_id}")
    if isinstance(prepared, str):
        raise InvalidRequest("the capture was deleted during this request; send it again")
    row, public_id = _find_or_create_ticket(tx, actor, args.capture, prepared)
    store_capture(tx, actor, row, prepared)
    details = {"capture_id": prepared.capture.public_id, "attachments": len(prepared.attachments)}
    if args.capture.ticket_id is None:
        record_ticket_event(tx, actor, row, "capture.attached", **details)
    else:
        record_change(tx, actor, row, public_id, "capture.attached", **details)
    return Receipt(public_id, prepared.capture.public_id, f"{prepared.public_url}/tickets/{public_id}")


def store_capture(
    tx: Write, actor: Actor, row: VisibleRow, prepared: PreparedCapture, *, external: bool = False
) -> None:
    """Store a capture and its files with a ticket; somebody without an account sent an `external` one.

    Raises Conflict and CompanyStorageFull.
    """
    require_room_for_attachments(tx, row.key, len(prepared.attachments))
    byline = bylines.ensure_byline(tx, actor)
    key = captures.insert_capture(tx, actor.user, row.key, prepared.capture, byline)
    store_expectations(tx, actor, key, prepared.capture.expectations, is_external=external)
    similar.insert_fingerprints(tx, row.key, prepared.fingerprints)
    screenshot_id = None
    if prepared.screenshot is not None:
        _, screenshot_id = assets.insert_asset(tx, row.key, key, prepared.screenshot, byline)
    for each in prepared.attachments:
        assets.insert_asset(tx, row.key, None, each, byline)
    require_storage(tx, row.company)
    summary = CaptureSummary(
        id=prepared.capture.public_id,
        captured_at=format_rfc3339(prepared.capture.captured_at),
        counts=prepared.counts,
        health_summary=describe_health(prepared.capture.health),
        screenshot_id=screenshot_id,
        screenshot_version=1,
        main_error=prepared.main_error,
        external=external,
    )
    captures.set_summary(tx, row.key, key, summary)
    if prepared.counts.errors or prepared.counts.console:
        source_maps.queue_capture(tx, row.project, key)


def _find_or_create_ticket(
    tx: Write, actor: Actor, envelope: Envelope, prepared: PreparedCapture
) -> tuple[VisibleRow, str]:
    """Find the capture's ticket, or create it."""
    target = find_target(tx, actor, envelope, prepared.project_id)
    if target.ticket_id is not None:
        return target.row, target.ticket_id
    assert target.column is not None
    new = NewTicket(
        project=target.row.project,
        column=target.column,
        position=positions.find_top_position(tx, target.column),
        title=prepared.title,
        description=prepared.description,
        priority=envelope.priority,
        labels=normalize_labels(prepared.labels),
        source_url=normalize_page_address(prepared.capture.page.url),  # None for a page of the browser itself
    )
    row, ticket = insert_ticket(tx, actor, target.row, new)
    return row, ticket.id


class ListCaptures(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Captures of archived tickets can be listed too."""

    ticket_id: TicketId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_captures",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/captures",
    tool=Tool(
        "List captures",
        "Use this to compare a ticket's captures; other tools read each by its capture_id.",
        {"ticket_id": "WEB-42"},
    ),
)
def list_captures(tx: Read, actor: Actor, args: ListCaptures) -> Page[ListedCapture]:
    """List the captures of a ticket, newest first."""
    ticket = find_readable_ticket(tx, actor, args.ticket_id)
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, captures.list_captures(tx, ticket.key, before, args.limit + 1))

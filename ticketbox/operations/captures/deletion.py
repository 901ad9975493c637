"""Deleting attachments and captures (docs/use/tickets.md, "Delete")."""

import msgspec

from ticketbox.domain.captures.capture import ErrorEntry
from ticketbox.domain.captures.fingerprints import Fingerprint, fingerprint_errors, fingerprint_page
from ticketbox.domain.captures.records import AssetKind
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, Forbidden, InvalidField, TicketArchived
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import AssetId, CaptureId, find_writable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.recording import record_change, record_ticket_event
from ticketbox.store.captures import assets, deletion
from ticketbox.store.captures.deletion import Origin, RemainingCapture
from ticketbox.store.core import blobs
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.tickets import tickets
from ticketbox.store.tickets.search import similar


class DeleteAttachment(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone. A screenshot is deleted with its capture."""

    asset_id: AssetId


@operation(
    "delete_attachment", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /assets/{asset_id}",
    refuses=(TicketArchived,),
)  # fmt: skip
def delete_attachment(tx: Write, actor: Actor, args: DeleteAttachment) -> None:
    """Delete an attached file. Requires the person who added it, or the role admin.

    Its content is overwritten. The ticket's history keeps a record of it, without name and content.
    """
    row = find_writable(tx, actor, "asset", args.asset_id)
    ticket = _find_ticket(tx, actor, row, deletion.load_asset_origin(tx, row.key))
    if assets.load_asset(tx, row.key)[1].kind is not AssetKind.ATTACHMENT:
        raise InvalidField("asset_id", "this is the screenshot of a capture; delete the capture instead")
    deletion.delete_attachment(tx, ticket.key, row.key)
    record_ticket_event(tx, actor, ticket, "attachment.deleted", asset_id=args.asset_id)


class DeleteCapture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone."""

    capture_id: CaptureId


class RemainingFingerprints(msgspec.Struct, frozen=True):
    """The fingerprints of the captures that a ticket keeps, and the keys of these captures."""

    captures: list[int]
    prints: list[Fingerprint]


async def fingerprint_remaining(
    services: Services, actor: Actor, args: DeleteCapture, context: RequestContext
) -> RemainingFingerprints:
    """Compute the fingerprints of the captures that the ticket keeps: they aren't stored for each capture."""
    rest = await services.read(lambda tx: _list_remaining(tx, actor, args.capture_id), actor.fair_share)
    return await services.captures.run(actor.fair_share, _build_fingerprints, rest)


def _list_remaining(tx: Read, actor: Actor, capture_id: str) -> list[RemainingCapture]:
    row = find_writable(tx, actor, "capture", capture_id)
    ticket = _find_ticket(tx, actor, row, deletion.load_capture_origin(tx, row.key))
    return deletion.list_remaining_captures(tx, ticket.key, row.key)


def _build_fingerprints(rest: list[RemainingCapture]) -> RemainingFingerprints:
    prints: list[Fingerprint] = []
    for capture in rest:
        entries = msgspec.json.decode(blobs.unpack_content(capture.encoding, capture.errors), type=list[ErrorEntry])
        prints += [*fingerprint_errors(entries), *filter(None, [fingerprint_page(capture.url)])]
    return RemainingFingerprints([capture.key for capture in rest], prints)


@operation(
    "delete_capture", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /captures/{capture_id}",
    refuses=(Conflict, TicketArchived), prepare=fingerprint_remaining,
)  # fmt: skip
def delete_capture(tx: Write, actor: Actor, args: DeleteCapture, remaining: RemainingFingerprints) -> None:
    """Delete a capture: screenshot, annotations and streams. Requires the person who sent it, or the role admin.

    Its content is overwritten. The ticket keeps its title and description, and its history a record of the capture.
    """
    row = find_writable(tx, actor, "capture", args.capture_id)
    ticket = _find_ticket(tx, actor, row, deletion.load_capture_origin(tx, row.key))
    if [each.key for each in deletion.list_remaining_captures(tx, ticket.key, row.key)] != remaining.captures:
        raise Conflict("the ticket's captures changed at the same time; try again")
    deletion.delete_capture(tx, ticket.key, row.key)
    state = tickets.load_state(tx, ticket.key)
    source = [] if state.source_url is None else [fingerprint_page(state.source_url)]
    similar.replace_fingerprints(tx, ticket.key, [*remaining.prints, *filter(None, source)])
    record_change(tx, actor, ticket, state.id, "capture.deleted", capture_id=args.capture_id)


def _find_ticket(tx: Read, actor: Actor, row: VisibleRow, origin: Origin) -> VisibleRow:
    """Find the ticket that something belongs to, for somebody who may delete it.

    Raises Forbidden for others than the person who added it and admins, and TicketArchived.
    """
    if origin.user != actor.user and row.role < Role.ADMIN:
        raise Forbidden("this requires the role admin; others can delete only what they added themselves")
    if tickets.load_state(tx, origin.ticket).is_archived:
        raise TicketArchived
    return VisibleRow(origin.ticket, row.project, row.company, row.role, row.within)

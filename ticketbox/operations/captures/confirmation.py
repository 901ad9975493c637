"""Confirming a capture that somebody without an account sent (docs/use/reports.md, "External captures")."""

import msgspec

from ticketbox.domain.captures.records import Capture
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, TicketArchived
from ticketbox.operations.core.lookups import CaptureId, find_writable
from ticketbox.operations.core.registry import operation
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import captures
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Write
from ticketbox.store.tickets import tickets


class ConfirmCapture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """If a member has confirmed the capture already, this changes nothing."""

    capture_id: CaptureId


@operation(
    "confirm_capture",
    scope=Access.SESSION,
    budget=Budget.WRITE,
    rest="POST /captures/{capture_id}/confirm",
    refuses=(Conflict, TicketArchived),
)
def confirm_capture(tx: Write, actor: Actor, args: ConfirmCapture) -> Capture:
    """Confirm that a capture of somebody without an account shows the bug. After that, it counts for gates.

    Who confirmed it, and when, is kept and shown. No token can do this.
    """
    row = find_writable(tx, actor, "capture", args.capture_id)
    ticket = captures.load_ticket_key(tx, row.key)
    if tickets.load_state(tx, ticket).is_archived:
        raise TicketArchived
    capture = captures.load_capture(tx, row.key).capture
    if not capture.external:
        raise Conflict("a member sent this capture, so it needs no confirmation")
    if capture.confirmed is not None:
        return capture
    captures.confirm_capture(tx, row.key, bylines.ensure_byline(tx, actor))
    ticket_row = VisibleRow(ticket, row.project, row.company, row.role, row.within)
    record_ticket_event(tx, actor, ticket_row, "capture.confirmed", capture_id=args.capture_id)
    return captures.load_capture(tx, row.key).capture

"""Preparing a capture before its transaction: refuse what can't be stored, then process it on a worker."""

from ticketbox.domain.companies.records import CapturePolicy
from ticketbox.domain.companies.url_patterns import choose_best_match
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import InvalidField
from ticketbox.operations.captures.processing.intake import (
    CreateCapture,
    Envelope,
    PreparedCapture,
    is_small,
    process_capture,
)
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import find_writable
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.tickets import resolve_target
from ticketbox.store.captures import captures, storage
from ticketbox.store.companies import projects
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read


async def prepare_capture(
    services: Services, actor: Actor, args: CreateCapture, context: RequestContext
) -> PreparedCapture | str:
    """Decode, redact, shorten and compress a capture. For one that is already stored, return only the public URL.

    Raises InvalidRequest, UnsupportedMediaType and PayloadTooLarge for invalid parts, and CompanyStorageFull,
    StorageFull and Unavailable where it is known before the work that it can't be stored.
    """
    known = await services.read(
        lambda tx: captures.find_capture_by_client_id(tx, actor.user, args.capture.id), actor.share
    )
    if known:
        return services.public_url
    least = 1 + sum(map(len, (args.screenshot or b"", *(part.data for part in args.attachments))))

    def find_project(tx: Read) -> tuple[VisibleRow, str | None, CapturePolicy]:
        found = _find_project(tx, actor, args.capture)
        services.ceilings.require_storage(storage.load_stored_bytes(tx, found[0].company) + least)
        return found

    row, project_id, policy = await services.read(find_project, actor.share)
    services.database.require_room(least)
    workers = services.small_captures if is_small(args.streams, args.attachments) else services.captures
    return await workers.run(
        (row.company, actor.credential), process_capture, args, project_id, policy, services.public_url,
        services.max_capture_seconds, services.captures.process,
    )  # fmt: skip


def _find_project(tx: Read, actor: Actor, envelope: Envelope) -> tuple[VisibleRow, str | None, CapturePolicy]:
    """Find a capture's row, project (None if a ticket or column decides) and policy. Raises InvalidRequest."""
    project_id = envelope.project_id
    if envelope.ticket_id is not None:
        if project_id is not None or envelope.column_id is not None:
            raise InvalidField("capture.ticket_id", "send ticket_id, or project_id and column_id, not both")
        row, _ = find_writable_ticket(tx, actor, envelope.ticket_id)
    elif envelope.column_id is not None:
        row, _ = resolve_target(tx, actor, project_id, envelope.column_id)
    else:
        project_id = project_id or choose_best_match(projects.list_url_patterns(tx, actor.viewer), envelope.page.url)
        if project_id is None:
            raise InvalidField("capture.project_id", "this page matches no project's URL patterns; send project_id")
        row = find_writable(tx, actor, "project", project_id)
    return row, project_id, projects.load_project(tx, actor.viewer, row.project).capture_policy

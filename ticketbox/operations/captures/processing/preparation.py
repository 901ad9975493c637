"""Preparing a capture before its transaction: refuse what can't be stored, then process it on a worker."""

from typing import NamedTuple

from ticketbox.domain.captures.capture import Stream
from ticketbox.domain.companies.records import Project
from ticketbox.domain.companies.url_patterns import choose_best_match
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.problems import InvalidField
from ticketbox.operations.captures.processing.intake import (
    CreateCapture,
    Envelope,
    PreparedCapture,
    apply_trace,
    is_small,
    process_capture,
)
from ticketbox.operations.captures.processing.trace_parts import read_trace_parts
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.tickets import resolve_target
from ticketbox.store.captures import captures, storage
from ticketbox.store.companies import projects
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read


class Target(NamedTuple):
    """Where a capture belongs: a ticket with its id, or the column for a new one."""

    row: VisibleRow
    ticket_id: str | None
    column: int | None


async def prepare_capture(
    services: Services, actor: Actor, args: CreateCapture, context: RequestContext
) -> PreparedCapture | str:
    """Decode, redact, shorten and compress a capture. For one that is already stored, return only the public URL.

    Raises InvalidRequest, UnsupportedMediaType and PayloadTooLarge for invalid parts, and CompanyStorageFull,
    StorageFull and Unavailable where it is known before the work that it can't be stored.
    """
    known = await services.read(
        lambda tx: captures.find_capture_by_client_id(tx, actor.user, args.capture.id), actor.fair_share
    )
    if known:
        return services.public_url
    files = [args.screenshot or b"", *(part.data for part in args.attachments)]
    if args.trace is not None and args.capture.keep_trace:
        files.append(args.trace)
    least = 1 + sum(map(len, files))

    def find_project(tx: Read) -> tuple[VisibleRow, Project]:
        row = find_target(tx, actor, args.capture).row
        services.ceilings.require_storage(storage.load_stored_bytes(tx, row.company) + least)
        return row, projects.load_project(tx, actor.viewer, row.project)

    if args.trace is not None:
        if args.capture.has_target:
            await services.read(find_project, actor.fair_share)  # refuse before the work
        args = await _read_trace(services, actor, args.trace, args)
    row, project = await services.read(find_project, actor.fair_share)
    services.database.require_room(least)
    workers = services.small_captures if is_small(args.streams, args.attachments) else services.captures
    return await workers.run(
        (row.company, actor.credential), process_capture, args, project.id, project.capture_policy,
        services.public_url, services.max_capture_seconds, services.captures.process,
    )  # fmt: skip


async def _read_trace(services: Services, actor: Actor, trace: bytes, args: CreateCapture) -> CreateCapture:
    """Read the trace of a capture in the worker process, however small it is: it can be a bomb."""
    process, seconds = services.captures.process, services.max_capture_seconds
    sent = dict(zip(Stream, args.streams, strict=False))
    parts = await services.captures.run(actor.fair_share, process.call, seconds, read_trace_parts, trace, sent, seconds)
    return apply_trace(args, parts)


def find_target(tx: Read, actor: Actor, envelope: Envelope, project_id: str | None = None) -> Target:
    """Find where a capture belongs: where it says, or else the project whose URL patterns match its page.

    `project_id` is what an earlier call found. Raises InvalidRequest, NotFound, Forbidden and TicketArchived.
    """
    if envelope.ticket_id is not None:
        if envelope.project_id is not None or envelope.column_id is not None:
            raise InvalidField("capture.ticket_id", "send ticket_id, or project_id and column_id, not both")
        row, state = find_writable_ticket(tx, actor, envelope.ticket_id)
        return Target(row, state.id, None)
    project_id = project_id or envelope.project_id
    if project_id is None and envelope.column_id is None:
        project_id = choose_best_match(projects.list_url_patterns(tx, actor.viewer), envelope.page.url)
        if project_id is None:
            raise InvalidField("capture.project_id", "this page matches no project's URL patterns; send project_id")
    row, column = resolve_target(tx, actor, project_id, envelope.column_id)
    return Target(row, None, column)

"""Source maps of a project: upload, list, delete. Their contents are never returned."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.records import SourceMapRecord
from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap
from ticketbox.domain.captures.source_maps.source_map import MAX_BYTES, clean_file
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import CompanyStorageFull, Conflict, InvalidField, PayloadTooLarge
from ticketbox.operations.captures.assets import require_storage
from ticketbox.operations.captures.processing.intake import Upload
from ticketbox.operations.captures.processing.stack_resolution import check_map
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import ProjectId, SourceMapId, find_readable, find_writable
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Body, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.core.workers.worker_process import WorkerProcess
from ticketbox.store.captures import source_maps
from ticketbox.store.captures.source_maps import NewSourceMap
from ticketbox.store.core import blobs, bylines
from ticketbox.store.file.database import Read, Write

MAX_MAPS = 10_000
# Above this size, a map is checked in the worker process.
LONG_MAP = 64 * 1024
PAUSE_MS = 2_000  # after an upload, because others mostly follow

_ENDING = re.compile(r"\.map$", re.IGNORECASE)


class UploadSourceMap(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Send one map as the multipart part `file`. It replaces the one of the same release and script."""

    project_id: ProjectId
    file: Annotated[Upload, Meta(description="The map, up to 32 MB.")]
    release: Annotated[str, Meta(max_length=200, description="The release that the script belongs to.")] = ""
    name: Annotated[
        str,
        Meta(max_length=400, description="The script's path or URL. Default: the file's name without `.map`."),
    ] = ""


async def prepare_source_map(
    services: Services, actor: Actor, args: UploadSourceMap, context: RequestContext
) -> NewSourceMap:
    """Check and compress a map. Raises InvalidField and PayloadTooLarge."""
    return await services.captures.run(
        actor.fair_share, _prepare_map, args, services.max_capture_seconds, services.captures.process
    )


def _prepare_map(args: UploadSourceMap, seconds: float, process: WorkerProcess) -> NewSourceMap:
    data = args.file.data
    if len(data) > MAX_BYTES:
        raise PayloadTooLarge(f"file: more than {MAX_BYTES // 1024 // 1024} MB")
    try:
        debug_id = check_map(data) if len(data) <= LONG_MAP else process.call(seconds, check_map, data)
    except InvalidSourceMap as error:
        raise InvalidField("file", str(error)) from None
    name = clean_file(args.name or _ENDING.sub("", args.file.name))
    return NewSourceMap(args.release.strip(), name, debug_id, blobs.pack_content(data, compress=True))


@operation(
    "upload_source_map", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE,
    rest="POST /projects/{project_id}/source-maps", creates=True, refuses=(Conflict, CompanyStorageFull),
    prepare=prepare_source_map, body=Body.MULTIPART,
)  # fmt: skip
def upload_source_map(tx: Write, actor: Actor, args: UploadSourceMap, new: NewSourceMap) -> SourceMapRecord:
    """Upload the source map of a script, so that stacks show the author's files.

    Requires the role member. Stacks of the project's newest captures are resolved again.
    """
    row = find_writable(tx, actor, "project", args.project_id)
    if source_maps.count_source_maps(tx, row.key) >= MAX_MAPS:
        raise Conflict(f"a project can have at most {MAX_MAPS:,} source maps; delete those of old releases")
    record = source_maps.save_source_map(tx, row.key, new, bylines.ensure_byline(tx, actor))
    require_storage(tx, row.company)
    source_maps.queue_newest_captures(tx, row.key, tx.now + PAUSE_MS)
    record_company_event(
        tx, actor, "source_map.added", row.company, row.project, source_map_id=record.id, name=record.name,
        release=record.release,
    )  # fmt: skip
    return record


class ListSourceMaps(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Without `release`, the maps of all releases."""

    project_id: ProjectId
    release: Annotated[str, Meta(max_length=200, description="Only the maps of this release.")] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_source_maps", scope=Scope.READ, budget=Budget.READ,
    rest="GET /projects/{project_id}/source-maps",
)  # fmt: skip
def list_source_maps(tx: Read, actor: Actor, args: ListSourceMaps) -> Page[SourceMapRecord]:
    """List the source maps of a project, newest first."""
    row = find_readable(tx, actor, "project", args.project_id)
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, source_maps.list_source_maps(tx, row.key, args.release, before, args.limit + 1))


class DeleteSourceMap(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Stacks that were resolved with it stay resolved."""

    source_map_id: SourceMapId


@operation(
    "delete_source_map", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="DELETE /source-maps/{source_map_id}"
)
def delete_source_map(tx: Write, actor: Actor, args: DeleteSourceMap) -> None:
    """Delete a source map. Requires the role member."""
    row = find_writable(tx, actor, "source map", args.source_map_id)
    record = source_maps.load_source_map(tx, row.key)
    source_maps.delete_source_map(tx, row.key)
    record_company_event(
        tx, actor, "source_map.deleted", row.company, row.project, source_map_id=record.id, name=record.name,
        release=record.release,
    )  # fmt: skip

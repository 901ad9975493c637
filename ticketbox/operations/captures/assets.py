"""Reading stored files, and adding attachments."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.images import media_types
from ticketbox.domain.captures.records import Asset
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import CompanyStorageFull, Conflict, TicketArchived
from ticketbox.operations.captures.processing.intake import Upload, prepare_upload
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import AssetId, Key, TicketId, find_readable, find_readable_ticket
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import Body, Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import assets, storage
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.core import blobs, bylines
from ticketbox.store.file.database import Read, Write

MAX_ATTACHMENTS_PER_TICKET = 100


class GetAsset(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Files of archived tickets can be read too."""

    asset_id: AssetId


@operation("get_asset", scope=Scope.READ, budget=Budget.READ, rest="GET /assets/{asset_id}")
def get_asset(tx: Read, actor: Actor, args: GetAsset) -> Asset:
    """Read the metadata of a stored file."""
    return assets.load_asset(tx, find_readable(tx, actor, "asset", args.asset_id).key)[1]


@operation(
    "get_asset_content", scope=Scope.READ, budget=Budget.READ, rest="GET /assets/{asset_id}/content",
    media=("application/octet-stream",),
    tool=Tool(
        "Read an attachment",
        "Use this for a file that get_ticket lists: text is returned as text, an image as an image.",
        {"asset_id": "asset_6n9q2t5w8z1c"},
        name="get_attachment",
    ),
)  # fmt: skip
def get_asset_content(tx: Read, actor: Actor, args: GetAsset) -> Content:
    """Download a stored file. Browsers may display PNG, JPEG, WebP and GIF images; all other files are downloads."""
    blob, asset = assets.load_asset(tx, find_readable(tx, actor, "asset", args.asset_id).key)
    return Content(
        media_type=asset.media_type,
        data=blobs.load_content(tx, blob),
        name=asset.name,
        inline=asset.media_type in media_types.INLINE,
        etag=asset.sha256,
        width=asset.width,
        height=asset.height,
    )


class ListAttachments(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Attachments of archived tickets can be listed too."""

    ticket_id: TicketId


@operation("list_attachments", scope=Scope.READ, budget=Budget.READ, rest="GET /tickets/{ticket_id}/attachments")
def list_attachments(tx: Read, actor: Actor, args: ListAttachments) -> Page[Asset]:
    """List the files attached to a ticket, oldest first."""
    return Page(assets.list_attachments(tx, find_readable_ticket(tx, actor, args.ticket_id).key), None)


class AddAttachment(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Send one file as the multipart part `file`."""

    ticket_id: TicketId
    file: Annotated[Upload, Meta(description="The file; in a tool up to 5 MB.")]
    idempotency_key: Key | None = None


async def prepare_attachment(
    services: Services, actor: Actor, args: AddAttachment, context: RequestContext
) -> NewAsset:
    """Detect a file's type, and hash it."""
    return await services.small_captures.run(actor.fair_share, prepare_upload, args.file)


def require_room_for_attachments(tx: Read, ticket: int, count: int) -> None:
    """Raise Conflict if a ticket can't have so many more attachments, whichever way they come."""
    if count and len(assets.list_attachments(tx, ticket)) + count > MAX_ATTACHMENTS_PER_TICKET:
        raise Conflict(f"a ticket can have at most {MAX_ATTACHMENTS_PER_TICKET} attachments")


def require_storage(tx: Write, company: int) -> None:
    """Raise CompanyStorageFull if a company stores more than it may, after a write that added content."""
    tx.ceilings.require_storage(storage.load_stored_bytes(tx, company))


@operation(
    "add_attachment", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="POST /tickets/{ticket_id}/attachments",
    refuses=(Conflict, TicketArchived, CompanyStorageFull), creates=True, prepare=prepare_attachment,
    body=Body.MULTIPART,
    tool=Tool(
        "Attach a file",
        "Use this for a log, a patch or a picture that belongs to a ticket.",
        {"ticket_id": "WEB-42", "file": {"name": "test.log", "data": "MSBmYWlsZWQ="}},
    ),
)  # fmt: skip
def add_attachment(tx: Write, actor: Actor, args: AddAttachment, new: NewAsset) -> Asset:
    """Attach a file to a ticket. The server detects its type and ignores the type in the request."""
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    require_room_for_attachments(tx, row.key, 1)
    key, _ = assets.insert_asset(tx, row.key, None, new, bylines.ensure_byline(tx, actor))
    require_storage(tx, row.company)
    _, asset = assets.load_asset(tx, key)
    record_ticket_event(tx, actor, row, "attachment.added", asset_id=asset.id, name=asset.name)
    return asset

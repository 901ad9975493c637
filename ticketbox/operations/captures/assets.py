"""Reading stored files, adding attachments, and rendering screenshots."""

import contextlib
import hashlib
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.captures.images import drawing, media_types, processing
from ticketbox.domain.captures.images.annotations import Annotation
from ticketbox.domain.captures.records import Asset
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.policy import Actor
from ticketbox.domain.core.problems import Conflict, InvalidField, NotFound, Problem, TicketArchived
from ticketbox.domain.core.scopes import Scope
from ticketbox.operations.captures.preparation import Upload, prepare_upload
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.lookups import AssetId, CaptureId, Key, TicketId, find_readable, find_readable_ticket
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.registry import Body, Tool, operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.tickets.lookups import find_writable_ticket
from ticketbox.operations.tickets.recording import record_ticket_event
from ticketbox.store.captures import assets, captures, previews
from ticketbox.store.captures.assets import NewAsset
from ticketbox.store.captures.previews import Preview
from ticketbox.store.core import blobs, bylines
from ticketbox.store.file.database import Read, Write

MAX_ATTACHMENTS_PER_TICKET = 100


class GetAsset(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Files of archived tickets can be read too."""

    asset_id: AssetId


@operation("get_asset", scope=Scope.READ, budget=Budget.READ, brief=True, rest="GET /assets/{asset_id}")
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
    return await services.run_in_worker(prepare_upload, args.file)


@operation(
    "add_attachment", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="POST /tickets/{ticket_id}/attachments",
    refuses=(Conflict, TicketArchived), creates=True, prepare=prepare_attachment, body=Body.MULTIPART,
    tool=Tool(
        "Attach a file",
        "Use this for a log, a patch or a picture that belongs to a ticket.",
        {"ticket_id": "t-4k7m2q9x", "file": {"name": "test.log", "data": "MSBmYWlsZWQ="}},
    ),
)  # fmt: skip
def add_attachment(tx: Write, actor: Actor, args: AddAttachment, new: NewAsset) -> Asset:
    """Attach a file to a ticket. The server detects its type and ignores the type in the request."""
    row, _ = find_writable_ticket(tx, actor, args.ticket_id)
    if len(assets.list_attachments(tx, row.key)) >= MAX_ATTACHMENTS_PER_TICKET:
        raise Conflict(f"a ticket can have at most {MAX_ATTACHMENTS_PER_TICKET} attachments")
    key, _ = assets.insert_asset(tx, row.key, None, new, bylines.ensure_byline(tx, actor))
    _, asset = assets.load_asset(tx, key)
    record_ticket_event(tx, actor, row, "attachment.added", asset_id=asset.id, name=asset.name)
    return asset


class GetScreenshot(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The screenshot is that of the ticket's newest capture, unless `capture_id` names another one."""

    ticket_id: Annotated[TicketId, Meta(description="The ticket; not required with capture_id.")] | None = None
    capture_id: Annotated[CaptureId, Meta(description="A capture of the ticket. Default: the newest.")] | None = None
    annotated: Annotated[bool, Meta(description="Draw the annotations.")] = False
    max_side: (
        Annotated[
            int,
            Meta(ge=16, le=8192, description="Scale down to at most this width and height in pixels, and 900 KB."),
        ]
        | None
    ) = None


class StoredScreenshot(msgspec.Struct, frozen=True):
    """A screenshot and its annotations. `ready` says that `content` has the requested size and annotations."""

    asset: int
    blob: int
    made_of: bytes
    content: Content
    marks: list[Annotation]
    ready: bool = False


async def render_screenshot(services: Services, args: GetScreenshot, shot: StoredScreenshot) -> Content:
    """Draw the annotations and scale the image. Stores the size for models, for the next call."""
    content = await _render_image(services, args, shot)
    texts = tuple(mark.text for mark in shot.marks if mark.text.strip())
    return msgspec.structs.replace(content, annotation_texts=texts) if texts else content


async def _render_image(services: Services, args: GetScreenshot, shot: StoredScreenshot) -> Content:
    content = shot.content
    if shot.ready:
        return content
    if shot.marks:
        content = _build_content(await services.run_in_worker(processing.draw_annotations, content.data, shot.marks))
    if args.max_side is not None and not _is_small_enough(content, args.max_side):
        content = _build_content(await services.run_in_worker(processing.scale_image, content.data, args.max_side))
    if _is_for_models(args, shot.content) and content is not shot.content:
        packed = await services.run_in_worker(partial(blobs.pack_content, content.data, compress=False))
        preview = Preview(shot.made_of, packed, content.media_type, content.width or 0, content.height or 0)
        with contextlib.suppress(Problem):  # a full disk: the next call renders the image again
            await services.database.write(lambda tx: previews.save_preview(tx, shot.asset, shot.blob, preview))
    return content


def _is_for_models(args: GetScreenshot, original: Content | Asset) -> bool:
    """Whether this is the size in which get_ticket shows the screenshot."""
    side = processing.compute_model_side(original.width or 1, original.height or 1)
    return args.annotated and args.max_side == side


def _is_small_enough(content: Content, max_side: int) -> bool:
    longest = max(content.width or 0, content.height or 0)
    return longest <= max_side and len(content.data) < processing.MODEL_BYTES


def _build_content(image: processing.Picture) -> Content:
    return Content(
        media_type=image.media_type,
        data=image.data,
        name="screenshot." + image.media_type.rpartition("/")[2],
        inline=True,
        width=image.width,
        height=image.height,
    )


@operation(
    "get_screenshot",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /tickets/{ticket_id}/screenshot",
    finish=render_screenshot,
    media=("image/png", "image/jpeg", "image/webp"),
    tool=Tool(
        "View a ticket's screenshot",
        "Use this to see what the reporter saw, with their annotations if annotated is true.",
        {"ticket_id": "t-4k7m2q9x", "annotated": True},
        defaults={"max_side": processing.MODEL_SIDE},
        core=True,
    ),
)
def get_screenshot(tx: Read, actor: Actor, args: GetScreenshot) -> StoredScreenshot:
    """Download the screenshot of a ticket's newest capture, with or without annotations, at the requested size."""
    capture = _find_capture(tx, actor, args)
    key = None if capture is None else assets.find_screenshot(tx, capture)
    if key is None:
        raise NotFound("screenshot")
    blob, asset = assets.load_asset(tx, key)
    marks = assets.list_annotations(tx, key) if args.annotated else []
    made_of = hashlib.sha256(b"%d" % drawing.VERSION + asset.sha256.encode() + msgspec.json.encode(marks)).digest()
    preview = previews.find_preview(tx, key, made_of) if _is_for_models(args, asset) else None
    if preview is not None:
        image = processing.Picture(
            blobs.load_content(tx, preview.blob), preview.media_type, preview.width, preview.height
        )
        return StoredScreenshot(key, blob, made_of, _build_content(image), marks, ready=True)
    content = Content(
        media_type=asset.media_type,
        data=blobs.load_content(tx, blob),
        name=asset.name,
        inline=True,
        etag=asset.sha256,
        width=asset.width,
        height=asset.height,
    )
    return StoredScreenshot(key, blob, made_of, content, marks)


def _find_capture(tx: Read, actor: Actor, args: GetScreenshot) -> int | None:
    """Find the capture whose screenshot is wanted. Raises NotFound, and InvalidRequest for one of another ticket."""
    if args.capture_id is None and args.ticket_id is None:
        raise InvalidField("ticket_id", "ticket_id or capture_id is required")
    ticket = None if args.ticket_id is None else find_readable_ticket(tx, actor, args.ticket_id).key
    if args.capture_id is None:
        return None if ticket is None else captures.find_newest_capture(tx, ticket)
    capture = find_readable(tx, actor, "capture", args.capture_id).key
    if ticket not in {None, captures.load_ticket_key(tx, capture)}:
        raise InvalidField("capture_id", "the capture belongs to another ticket")
    return capture
